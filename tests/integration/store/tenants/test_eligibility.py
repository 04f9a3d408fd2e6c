"""Records of changed eligibility: one with every change, with the people who are responsible for it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest

from signet.core.approvals.seats.bench import Bench
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE, ELIGIBILITY_KINDS, EligibilityChange
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member, Role, TenantContent, TenantFile
from signet.engine.approvals.delegations import Delegations
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.install import install_tenant
from signet.engine.tenants.members import Members
from signet.engine.tenants.operator import TenantOperator
from signet.engine.tenants.org_chart import OrgChart
from signet.engine.tenants.roles import Roles
from signet.store.tenants.eligibility import has_lost_holder, read_eligibility_changes
from signet.store.tenants.tenants import save_members
from tests.support.company import Company, make_company
from tests.support.shared_company import CompanyWithWorkers, standing_company

Row = tuple[Any, ...]
RECORDS: LiteralString = (
    "SELECT kind, user_id, role, other_user_id FROM eligibility_changes"
    " WHERE tenant_id = %s AND changed_at > %s"
    " ORDER BY kind, user_id, role, other_user_id"
)
DAY = timedelta(days=1)


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


def caller_of(company: Company, *behind: str) -> Caller:
    return Caller(Principal(company.tenant_id, "root", ("admin",), behind=frozenset(behind)), via="test")


def save(company: Company, user_id: str, *roles: str, status: Any = "active", **more: Any) -> None:
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    Members(company.database).save(caller_of(company), member, status, **more)


def save_role(company: Company, role: str, *permissions: str) -> None:
    Roles(company.database).save(caller_of(company), role, permissions)


def since(standing: CompanyWithWorkers, company: Company, moment: datetime) -> list[Row]:
    return standing.rows(RECORDS, company.tenant_id, moment)


def now(standing: CompanyWithWorkers) -> datetime:
    (moment,) = standing.row("SELECT clock_timestamp()")
    assert isinstance(moment, datetime)
    return moment


def test_roles_that_are_given_and_taken(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    save(company, "anna", "finance", "reader")
    assert since(standing, company, moment) == [
        ("role_given", "anna", "finance", None),
        ("role_given", "anna", "reader", None),
        ("role_taken", "anna", "clerk", None),
    ]
    moment = now(standing)
    save(company, "anna", "finance", "reader")
    assert since(standing, company, moment) == [], "the same again changes nothing"


def test_members_who_come_go_and_come_again(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    save(company, "dora", "clerk")
    assert since(standing, company, moment) == [
        ("member_enabled", "dora", None, None),
        ("role_given", "dora", "clerk", None),
    ]
    moment = now(standing)
    save(company, "dora", "clerk", status="disabled")
    disabled = since(standing, company, moment)
    assert disabled == [("member_disabled", "dora", "clerk", None), ("member_disabled", "dora", None, None)]
    moment = now(standing)
    save(company, "dora", "clerk")
    enabled = since(standing, company, moment)
    assert enabled == [("member_enabled", "dora", "clerk", None), ("member_enabled", "dora", None, None)]


def test_reporting_lines(standing: CompanyWithWorkers, company: Company) -> None:
    chart, caller, moment = OrgChart(company.database), caller_of(company), now(standing)
    chart.set_manager(caller, "anna", "ben")
    assert since(standing, company, moment) == [("manager_set", "ben", None, "anna")]
    moment = now(standing)
    chart.set_manager(caller, "anna", "ben")
    assert since(standing, company, moment) == []
    chart.set_manager(caller, "anna", "cleo")
    assert since(standing, company, moment) == [
        ("manager_set", "ben", None, "anna"),
        ("manager_set", "cleo", None, "anna"),
    ]
    moment = now(standing)
    for _ in range(2):
        chart.remove_manager(caller, "anna")
    assert since(standing, company, moment) == [("manager_set", "cleo", None, "anna")]


def test_delegations_are_noted_for_both_sides(standing: CompanyWithWorkers, company: Company) -> None:
    delegations, caller, moment = Delegations(company.database), caller_of(company), now(standing)
    later = datetime.now(UTC) + DAY
    given = delegations.delegate(caller, "anna", "ben", from_time=datetime.now(UTC), to_time=later)
    assert since(standing, company, moment) == [
        ("delegation_given", "anna", None, "ben"),
        ("delegation_given", "ben", None, "anna"),
    ]
    moment = now(standing)
    for _ in range(2):
        delegations.revoke(caller, given.id)
    assert [row[:2] for row in since(standing, company, moment)] == [
        ("delegation_revoked", "anna"),
        ("delegation_revoked", "ben"),
    ]


def test_roles_that_are_made_changed_and_deleted(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    for permissions in ("pay", "pay", "pay read", "read pay", "pay", "read", ""):
        save_role(company, "payer", *(f"invoice:{one}" for one in permissions.split()))
    Roles(company.database).delete(caller_of(company), "payer")
    save_role(company, "payer", "invoice:pay")
    assert changes_of_roles(standing, company, moment) == [
        "role_widened",
        "role_widened",
        "role_widened",
        "role_permissions_changed",
        "role_permissions_changed",
        "role_permissions_changed",
        "role_deleted",
        "role_widened",
    ]


def changes_of_roles(standing: CompanyWithWorkers, company: Company, moment: datetime) -> list[str]:
    """List the changes of roles since a moment, in the order of time."""
    query = (
        "SELECT kind FROM eligibility_changes WHERE tenant_id = %s AND changed_at > %s AND user_id IS NULL"
        " ORDER BY changed_at"
    )
    return [row[0] for row in standing.rows(query, company.tenant_id, moment)]


def test_dependents_that_end_and_are_handed_over(standing: CompanyWithWorkers, company: Company) -> None:
    chart, caller = OrgChart(company.database), caller_of(company)
    chart.set_manager(caller, "anna", "ben")
    moment = now(standing)
    save(company, "ben", "clerk", status="disabled", succession=Succession("cleo"))
    lines = [row for row in since(standing, company, moment) if row[0] == "manager_set"]
    assert lines == [("manager_set", "ben", None, "anna"), ("manager_set", "cleo", None, "anna")]
    moment = now(standing)
    save(company, "cleo", "clerk", status="disabled", succession=Succession())
    lines = [row for row in since(standing, company, moment) if row[0] == "manager_set"]
    assert lines == [("manager_set", "cleo", None, "anna")]


def install(company: Company, *members: Member, by: str = "") -> None:
    roles = (Role(role="clerk", permissions=()), Role(role="finance", permissions=()))
    content: dict[str, Any] = {"name": "acme", "roles": roles, "members": members}
    if not by:
        install_tenant(company.database, TenantFile(tenant_id=company.tenant_id, **content), COMMAND_LINE)
        return
    operator = Caller(Principal(UUID(int=7), by, (), is_operator=True))
    TenantOperator(company.database).install(operator, company.tenant_id, TenantContent(**content))


@pytest.mark.parametrize(("by", "actor"), [("", "cli"), ("olga", "olga")])
def test_a_file_that_is_installed(
    standing: CompanyWithWorkers, company: Company, by: str, actor: str
) -> None:
    moment = now(standing)
    boss = Member(user_id="boss", display_name="Boss")
    install(
        company, boss, Member(user_id="anna", display_name="A", roles=("finance",), manager="boss"), by=by
    )
    assert since(standing, company, moment) == [
        ("manager_set", "boss", None, "anna"),
        ("member_enabled", "boss", None, None),
        ("role_given", "anna", "finance", None),
        ("role_permissions_changed", None, "clerk", None),
        ("role_taken", "anna", "clerk", None),
    ]
    query = (
        "SELECT DISTINCT actor_id, persons FROM eligibility_changes WHERE tenant_id = %s AND changed_at > %s"
    )
    assert standing.rows(query, company.tenant_id, moment) == [(actor, [actor])]
    moment = now(standing)
    install(company, boss, Member(user_id="anna", display_name="A", roles=("finance",)), by=by)
    assert since(standing, company, moment) == [("manager_set", "boss", None, "anna")]


def test_a_change_names_everybody_who_is_responsible(standing: CompanyWithWorkers, company: Company) -> None:
    member = Member(user_id="anna", display_name="anna", roles=("finance",))
    Members(company.database).save(caller_of(company, "mia", "ada"), member, "active")
    query = (
        "SELECT actor_id, persons FROM eligibility_changes WHERE tenant_id = %s AND kind = 'role_given'"
        " AND role = 'finance'"
    )
    assert standing.rows(query, company.tenant_id) == [("root", ["ada", "mia", "root"])]


def test_a_change_that_is_rolled_back_leaves_no_record(
    standing: CompanyWithWorkers, company: Company
) -> None:
    moment, new = now(standing), Member(user_id="new", display_name="N", roles=("unknown_role",))
    with (
        pytest.raises(psycopg.errors.ForeignKeyViolation),
        company.database.transaction(company.tenant_id) as connection,
    ):
        save_members(connection, company.tenant_id, (new,), COMMAND_LINE)
    assert since(standing, company, moment) == []


# --- reading ---


def read(
    company: Company,
    moment: datetime,
    users: str = "",
    roles: str = "",
    concerned: str = "root",
) -> list[EligibilityChange]:
    with company.database.transaction(company.tenant_id) as connection:
        return read_eligibility_changes(
            connection,
            company.tenant_id,
            since=moment,
            user_ids=users.split(),
            roles=roles.split(),
            concerned=concerned.split(),
            bench=Bench(line_holders=users.split()),
        )


def test_changes_are_read_by_people_and_by_roles(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    save(company, "anna", "clerk", "finance")
    save(company, "ben")
    assert [(each.kind, each.role) for each in read(company, moment, "anna")] == [("role_given", "finance")]
    assert [(each.kind, each.user_id) for each in read(company, moment, roles="clerk finance")] == [
        ("role_taken", "ben")
    ], "of others only what was taken"
    assert read(company, moment, "anna", "clerk", concerned="mia carl") == []
    assert read(company, now(standing), "anna ben", "clerk finance") == []
    (change,) = read(company, moment, "anna", concerned="mia root")
    assert (change.actor_id, list(change.persons)) == ("root", ["root"])
    other = make_company(company.database)
    assert read(other, moment, "anna ben", "clerk finance") == []


def test_a_change_that_is_repeated_is_read_once(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    for _ in range(3):
        save(company, "anna", "clerk", "finance")
        save(company, "anna", "clerk")
    assert [each.kind for each in read(company, moment, roles="finance")] == ["role_given", "role_taken"]
    assert read(company, moment, "anna") == [], "she has it no more, and nobody asks for it"


def test_what_cannot_bar_a_vote_is_not_read(standing: CompanyWithWorkers, company: Company) -> None:
    """A delegation is one between people who are judged. No reporting line is told twice."""
    moment, delegations = now(standing), Delegations(company.database)
    caller = caller_of(company)
    terms: dict[str, Any] = {"from_time": datetime.now(UTC), "to_time": datetime.now(UTC) + DAY}
    given = delegations.delegate(caller, "anna", "cleo", **terms)
    delegations.revoke(caller, given.id)
    chart = OrgChart(company.database)
    chart.set_manager(caller, "ben", "anna")
    for _ in range(2):
        chart.remove_manager(caller, "ben")
        chart.set_manager(caller, "ben", "anna")
    assert [(each.kind, each.other_user_id) for each in read(company, moment, "anna")] == [
        ("manager_set", "ben")
    ]
    kinds = ["delegation_given", "delegation_given", "manager_set"]
    assert [each.kind for each in read(company, moment, "anna cleo")] == kinds


def by(user_id: str, company: Company) -> Caller:
    return Caller(Principal(company.tenant_id, user_id, ("admin",)), via="test")


def test_a_role_is_given_back_by_a_person_who_is_not_concerned(
    standing: CompanyWithWorkers, company: Company
) -> None:
    """Each later setting of permissions by another answers for the role, also where it was deleted.

    What a role has gained is undone only where the other takes something away.
    """
    moment, roles = now(standing), Roles(company.database)
    save_role(company, "payer", "invoice:pay")
    save_role(company, "payer")
    widened, changed = "role_widened", "role_permissions_changed"
    assert kinds(company, moment, "payer") == [changed, widened]
    save_role(company, "payer", "invoice:read")
    assert kinds(company, moment, "payer") == [changed, widened], "the same person lifts nothing"
    roles.save(by("otto", company), "payer", ["invoice:read", "invoice:pay"])
    assert kinds(company, moment, "payer") == [widened]
    roles.save(by("otto", company), "payer", ["invoice:pay"])
    assert kinds(company, moment, "payer") == []
    everything = [changed, changed, widened, widened]
    assert kinds(company, moment, "payer", concerned="root otto") == everything
    save_role(company, "payer")
    roles.delete(caller_of(company), "payer")
    assert kinds(company, moment, "payer") == ["role_deleted", changed]
    roles.save(by("otto", company), "payer", [])
    assert kinds(company, moment, "payer") == []


def kinds(company: Company, moment: datetime, role: str, concerned: str = "root") -> list[str]:
    return sorted(each.kind for each in read(company, moment, roles=role, concerned=concerned))


def test_what_one_of_the_concerned_gives_back_is_read_too(
    standing: CompanyWithWorkers, company: Company
) -> None:
    """It lifts the bar of the votes that this person is not concerned with."""
    save(company, "anna", "finance")
    moment = now(standing)
    save(company, "anna")
    Members(company.database).save(
        by("otto", company), Member(user_id="anna", display_name="anna", roles=("finance",)), "active"
    )
    save(company, "ben", "finance")
    assert kinds(company, moment, "finance") == []
    assert kinds(company, moment, "finance", concerned="root otto") == ["role_given", "role_taken"]


def lost(company: Company, moment: datetime, users: str = "", roles: str = "") -> bool:
    with company.database.transaction(company.tenant_id) as connection:
        return has_lost_holder(
            connection, company.tenant_id, since=moment, user_ids=users.split(), roles=roles.split()
        )


def test_holders_who_were_lost(standing: CompanyWithWorkers, company: Company) -> None:
    moment = now(standing)
    save(company, "anna", "clerk", "finance")
    assert not lost(company, moment, "anna ben", "clerk finance"), "what is given is not lost"
    save(company, "anna", "clerk")
    assert lost(company, moment, roles="finance") and not lost(company, moment, "ben", "payer")
    assert lost(company, moment, "anna") and lost(company, moment, roles="clerk"), "it gave permissions"
    save(company, "ben", "clerk", status="disabled")
    assert lost(company, moment, "ben") and lost(company, moment, roles="clerk")
    assert not lost(company, now(standing), "ben", "clerk finance")
    moment = now(standing)
    save_role(company, "finance", "invoice:pay")
    assert not lost(company, moment, roles="finance"), "a role that gains permissions is lost by nobody"
    save_role(company, "finance")
    assert lost(company, moment, roles="finance")


def test_every_kind_is_allowed_by_the_table(standing: CompanyWithWorkers) -> None:
    (definition,) = standing.row(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = 'eligibility_changes'::regclass AND conname = 'eligibility_changes_kind_check'"
    )
    assert all(f"'{kind}'" in definition for kind in ELIGIBILITY_KINDS)
    assert definition.count("::text") == len(ELIGIBILITY_KINDS)
