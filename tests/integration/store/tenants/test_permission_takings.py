"""Permissions that were taken from a bench: which changes of roles took one that its votes need."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest

from signet.core.approvals.seats.bench import Bench
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import EligibilityChange
from signet.core.tenants.permissions import OWN_RESOURCES, list_granting
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member
from signet.engine.tenants.members import Members
from signet.engine.tenants.roles import Roles
from signet.store.tenants.eligibility import read_eligibility_changes
from tests.support.company import Company, make_company
from tests.support.shared_company import CompanyWithWorkers, standing_company

NEEDED = "invoice:approve"
# Permissions that give it, and some that do not.
GIVEN_BY = ("invoice:approve", "invoice:*", "*:approve", "*:*", "invoice:read", "order:approve", "*:read")


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


@pytest.fixture
def company(standing: CompanyWithWorkers) -> Company:
    """Return a company of its own: anna and ben are of finance, and anna's permission comes by payer."""
    made = make_company(standing.company.database)
    for role, permissions in {
        "finance": (),
        "payer": ("*:approve",),
        "reader": ("*:read",),
        "second": (),
    }.items():
        set_role(made, role, *permissions)
    save(made, "anna", "finance", "payer", "reader")
    save(made, "ben", "finance", "reader")
    save(made, "cleo", "payer")
    return made


def caller(company: Company, user_id: str = "root") -> Caller:
    return Caller(Principal(company.tenant_id, user_id, ("admin",)), via="test")


def save(company: Company, user_id: str, *roles: str, by: str = "root", status: Any = "active") -> None:
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    Members(company.database).save(caller(company, by), member, status)


def set_role(company: Company, role: str, *permissions: str, by: str = "root") -> None:
    Roles(company.database).save(caller(company, by), role, permissions)


def now(standing: CompanyWithWorkers) -> datetime:
    (moment,) = standing.row("SELECT clock_timestamp()")
    assert isinstance(moment, datetime)
    return moment


def read(
    company: Company,
    moment: datetime,
    *holders: str,
    roles: Sequence[str] = ("finance",),
    needed: Sequence[str] = (NEEDED,),
    by_roles: Sequence[str] = (),
    concerned: Sequence[str] = ("root",),
) -> list[EligibilityChange]:
    bench = Bench(holders, roles, needed, by_roles)
    with company.database.transaction(company.tenant_id) as connection:
        return read_eligibility_changes(
            connection,
            company.tenant_id,
            since=moment,
            user_ids=(),
            roles=(),
            concerned=concerned,
            bench=bench,
        )


def takings(company: Company, moment: datetime, *holders: str, **more: Any) -> list[tuple[Any, ...]]:
    found = read(company, moment, *holders, **more)
    return sorted((one.kind, one.user_id, one.role) for one in found if one.takes_permission)


def test_each_change_of_a_role_notes_what_it_gave(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    save(company, "anna", "finance")
    set_role(company, "payer")
    set_role(company, "payer", "invoice:pay")
    save(company, "cleo")
    Roles(company.database).delete(caller(company), "payer")
    set_role(company, "payer")
    query = (
        "SELECT kind, role, permissions FROM eligibility_changes WHERE tenant_id = %s AND changed_at > %s"
        " ORDER BY changed_at, role"
    )
    assert standing.rows(query, company.tenant_id, moment) == [
        ("role_taken", "payer", ["*:approve"]),
        ("role_taken", "reader", ["*:read"]),
        ("role_permissions_changed", "payer", ["*:approve"]),
        ("role_widened", "payer", []),
        ("role_taken", "payer", ["invoice:pay"]),
        ("role_deleted", "payer", ["invoice:pay"]),
        ("role_widened", "payer", []),
    ]


def test_a_permission_is_taken_from_those_who_are_asked(
    standing: CompanyWithWorkers, company: Company
) -> None:
    moment = now(standing)
    for user_id in ("anna", "ben", "cleo"):
        save(company, user_id, *({"anna", "ben"} & {user_id} and ["finance"]))
    assert takings(company, moment) == [("role_taken", "anna", "payer")]
    assert takings(company, moment, "cleo", roles=()) == [("role_taken", "cleo", "payer")]
    assert takings(company, moment, roles=()) == [], "nobody is asked"
    assert takings(company, moment, needed=()) == [], "a vote needs none"
    assert takings(company, moment, needed=["invoice:read"]) == [
        ("role_taken", "anna", "reader"),
        ("role_taken", "ben", "reader"),
    ]
    assert takings(company, moment, concerned=["otto"]) == []
    assert takings(company, now(standing)) == []
    everybody = [
        ("role_taken", "anna", "payer"),
        ("role_taken", "anna", "reader"),
        ("role_taken", "ben", "reader"),
    ]
    assert takings(company, moment, by_roles=[NEEDED]) == everybody, "a condition reads roles"
    assert takings(company, moment, by_roles=["invoice:print"]) == [("role_taken", "anna", "payer")]


@pytest.mark.parametrize("needed", [NEEDED, *(f"{own}:approve" for own in sorted(OWN_RESOURCES)[:2])])
@pytest.mark.parametrize("given", [*GIVEN_BY, "api_key:*", "approval:approve"])
def test_what_gives_a_permission_is_as_everywhere(
    standing: CompanyWithWorkers, company: Company, needed: str, given: str
) -> None:
    set_role(company, "payer", given)
    moment = now(standing)
    set_role(company, "payer")
    is_taken = given in list_granting(needed)
    assert bool(takings(company, moment, needed=[needed])) == is_taken


def test_who_has_kept_it_has_lost_nothing(standing: CompanyWithWorkers, company: Company) -> None:
    """It counts what they had all the while, and not what came meanwhile, or was changed and set again."""
    set_role(company, "second", "invoice:approve")
    save(company, "anna", "finance", "payer", "second")
    moment = now(standing)
    save(company, "anna", "finance", "second")
    assert takings(company, moment) == []
    set_role(company, "second", "invoice:approve", "invoice:read")
    set_role(company, "second", "invoice:*")
    assert takings(company, moment) == [], "it has given it all the while"
    set_role(company, "second", by="otto")
    set_role(company, "second", "invoice:approve", by="otto")
    assert takings(company, moment) == [("role_taken", "anna", "payer")]
    later = now(standing)
    save(company, "anna", "finance", "second", "payer")
    save(company, "anna", "finance", "payer")
    assert takings(company, later) == [("role_taken", "anna", "second")], "payer was given meanwhile"


def test_a_role_takes_it_from_who_had_it_then(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    set_role(company, "payer")
    changed = [("role_permissions_changed", None, "payer")]
    assert takings(company, moment) == changed
    save(company, "anna", "finance", by="otto")
    assert takings(company, moment) == changed
    save(company, "anna", "finance", by="otto", status="disabled")
    assert takings(company, moment) == [], "who is no active member has no vote to lose"


def test_who_gives_it_back_lifts_it(standing: CompanyWithWorkers, company: Company) -> None:
    """A giver who is concerned is read too: it lifts the bar of the others."""
    save(company, "ben", "finance", "payer")
    moment = now(standing)
    save(company, "ben", "finance")
    save(company, "anna", "finance")
    both = [("role_taken", "anna", "payer"), ("role_taken", "ben", "payer")]
    assert takings(company, moment) == both
    save(company, "anna", "finance", "payer")
    assert takings(company, moment) == both, "the same person lifts nothing"
    save(company, "anna", "finance")
    save(company, "anna", "finance", "payer", by="otto")
    assert takings(company, moment) == both[1:]
    told_apart = [both[0], both[0], both[1]]
    assert takings(company, moment, concerned=["root", "otto"]) == told_apart, "by who gave it before"
    found = read(company, moment, concerned=["root", "otto"])
    given = sorted((one.kind, one.user_id, one.actor_id) for one in found if not one.takes_permission)
    assert given == [("role_given", "anna", "otto"), ("role_given", "anna", "root")]


def test_who_sets_a_role_again_lifts_it(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    set_role(company, "payer")
    changed = [("role_permissions_changed", None, "payer")]
    set_role(company, "payer", "invoice:pay")
    assert takings(company, moment) == changed, "the same person lifts nothing"
    set_role(company, "payer", "invoice:pay", "invoice:read", by="mia")
    assert takings(company, moment) == []
    found = read(company, moment, concerned=["root", "mia"])
    assert takings(company, moment, concerned=["root", "mia"]) == changed
    assert ("role_widened", "mia") in [(one.kind, one.actor_id) for one in found if not one.takes_permission]


def test_where_a_condition_reads_roles_any_that_is_given_may_take_a_vote(
    standing: CompanyWithWorkers, company: Company
) -> None:
    """It takes none from a person that the same people have asked. Another may have taken it away since."""
    moment, by_roles = now(standing), [NEEDED]
    save(company, "anna", "finance", "payer", "reader", "second")
    save(company, "cleo", "payer", "finance", "reader")
    given = [("role_given", "anna", "second")]
    assert takings(company, moment, by_roles=by_roles) == given
    assert takings(company, moment) == []
    assert takings(company, moment, "cleo", roles=(), by_roles=by_roles) == [
        ("role_given", "cleo", "finance"),
        ("role_given", "cleo", "reader"),
    ]
    save(company, "anna", "finance", "payer", "reader", by="otto")
    assert takings(company, moment, by_roles=by_roles) == []
    found = read(company, moment, by_roles=by_roles, concerned=["root", "otto"])
    assert sorted((one.kind, one.takes_permission) for one in found) == [
        ("role_given", True),
        ("role_taken", False),
        ("role_taken", True),
    ]
