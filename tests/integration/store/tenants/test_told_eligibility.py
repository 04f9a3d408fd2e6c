"""Records of changed eligibility as votes read them: what each tells of the moments before it."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest

from signet.core.approvals.seats.bench import Bench
from signet.core.tenants.eligibility_changes import EligibilityChange
from signet.core.tenants.tenant_file import Member
from signet.engine.tenants.members import Members
from signet.engine.tenants.org_chart import OrgChart
from signet.store.tenants.eligibility import read_eligibility_changes
from tests.integration.store.tenants.test_eligibility import by, caller_of, now, save, save_role
from tests.support.company import Company, make_company
from tests.support.shared_company import CompanyWithWorkers, standing_company


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


@pytest.fixture
def company(standing: CompanyWithWorkers) -> Company:
    """Return a company of its own with three people and two roles."""
    made = make_company(standing.company.database)
    save_role(made, "finance")
    for user_id in ("anna", "ben", "cleo"):
        save(made, user_id, "clerk")
    return made


def read(
    company: Company,
    moment: datetime,
    users: str = "",
    roles: str = "",
    concerned: str = "root",
    needed: Sequence[str] = (),
    lines: str = "",
) -> list[EligibilityChange]:
    with company.database.transaction(company.tenant_id) as connection:
        return read_eligibility_changes(
            connection,
            company.tenant_id,
            since=moment,
            user_ids=users.split(),
            roles=roles.split(),
            concerned=concerned.split(),
            bench=Bench(needed=needed, lines=lines.split(), line_holders=users.split()),
        )


def test_many_changes_beside_the_vote_are_not_read(standing: CompanyWithWorkers, company: Company) -> None:
    """Otherwise a flood of them would bar a person. What they have of it, they may vote by."""
    moment = now(standing)
    for role in ("finance", "reader"):
        save(company, "anna", "clerk", role)
    found = [(each.kind, each.role) for each in read(company, moment, "anna", "clerk")]
    assert found == [("role_given", "reader")]


def test_a_change_of_a_role_tells_which_needed_permissions_it_granted_before(
    standing: CompanyWithWorkers, company: Company
) -> None:
    """Each is told apart by it, so that none is hidden by a newer one."""
    moment, needed = now(standing), ("invoice:pay", "api_key:pay")
    for permissions in ("read", "read pay", "read pay post"):
        save_role(company, "payer", *(f"invoice:{one}" for one in permissions.split()))
    save_role(company, "payer", "*:pay")
    save_role(company, "payer", "*:pay", "api_key:*")
    save_role(company, "payer", "*:pay", "api_key:*", "invoice:read")
    found = read(company, moment, roles="payer", needed=needed)
    assert [(one.kind, tuple(one.gave)) for one in found] == [
        ("role_permissions_changed", ("invoice:pay",)),
        ("role_widened", ()),
        ("role_widened", ("api_key:pay", "invoice:pay")),
        ("role_widened", ("invoice:pay",)),
    ]
    for one in found:
        assert {name: sorted(roles) for name, roles in one.granting.items()} == {
            "api_key:pay": ["admin", "payer"],
            "invoice:pay": ["admin", "payer"],
        }
    assert read(company, moment, roles="payer")[0].granting == {}


def test_a_taking_tells_who_gave_it_last_before(standing: CompanyWithWorkers, company: Company) -> None:
    """It does so where the giver is not concerned. A role that is held tells who gave it last."""
    moment, members = now(standing), Members(company.database)
    held = Member(user_id="anna", display_name="anna", roles=("clerk", "finance"))
    for giver in ("root", "otto", None):
        save(company, "anna", "clerk")
        if giver is not None:
            members.save(by(giver, company), held, "active")
    members.save(by("otto", company), held, "active")
    save(company, "anna", "clerk", "finance", status="disabled")
    takings = [
        (one.kind, one.given_by) for one in read(company, moment, roles="finance", concerned="root otto")
    ]
    assert takings == [
        ("member_disabled", ["otto"]),
        ("role_given", ["otto"]),
        ("role_given", ["otto"]),
        ("role_taken", ["otto"]),
        ("role_taken", ["root"]),
    ]


def test_a_line_tells_who_has_set_it_last(standing: CompanyWithWorkers, company: Company) -> None:
    """It is found by its person and by its managers, unless a person without a part has set it again."""
    moment, chart = now(standing), OrgChart(company.database)

    def given(**more: Any) -> list[Any]:
        return [(one.user_id, one.given_by) for one in read(company, moment, **more)]

    chart.set_manager(caller_of(company), "cleo", "anna")
    chart.set_manager(caller_of(company), "anna", "ben")
    assert given(lines="anna") == given(users="ben") == [("ben", ["root"])]
    chart.remove_manager(caller_of(company), "anna")
    chart.set_manager(by("hana", company), "anna", "ben")
    assert given(lines="anna") == [] == given(users="ben")
    assert given(lines="anna", concerned="root hana") == [("ben", ["hana"]), ("ben", ["hana"])]
    assert given(lines="cleo") == [("anna", ["root"])]
    chart.remove_manager(caller_of(company), "anna")
    assert given(lines="anna") == [("ben", ["root"])]


def test_a_line_that_changes_often_is_read_once_for_each_manager(
    standing: CompanyWithWorkers, company: Company
) -> None:
    moment, chart = now(standing), OrgChart(company.database)
    for manager in ("ben", "cleo", "ben", "cleo"):
        chart.set_manager(caller_of(company), "anna", manager)
    found = [(one.user_id, one.other_user_id) for one in read(company, moment, lines="anna")]
    assert found == [("ben", "anna"), ("cleo", "anna")]
