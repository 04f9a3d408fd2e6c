"""A tenant's file installed from the command line: on record, and without undoing what people did since."""

import json
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, TenantFile
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.tenants.install import install_tenant, write_member_status, write_members
from signet.engine.tenants.tenant_files import InstalledFile, install_tenant_file
from signet.store.database import Database
from signet.store.tenants.people import delete_role
from signet.store.tenants.tenants import find_tenant, list_members, read_now
from tests.conftest import make_tenant_file

Admin = psycopg.Connection[Any]


@pytest.fixture
def file(database: Database) -> TenantFile:
    file = make_tenant_file(uuid4())
    install(database, file)
    return file


def install(database: Database, file: TenantFile, claimed: str = "olga") -> InstalledFile:
    caller = read_command_line_caller(database, file.tenant_id, claimed)
    return install_tenant_file(database, caller, file)


def give(database: Database, tenant_id: UUID, user_id: str, *roles: str, **more: Any) -> None:
    member = Member(user_id=user_id, display_name=user_id.title(), roles=roles, **more)
    with database.transaction(tenant_id) as connection:
        write_members(connection, tenant_id, (member,), COMMAND_LINE)


def read_people(database: Database, tenant_id: UUID) -> dict[str, tuple[list[str], str | None]]:
    with database.transaction(tenant_id) as connection:
        members = list_members(connection, tenant_id, limit=10)
    return {member.user_id: (member.roles, member.manager_id) for member in members}


def read_audit(admin: Admin) -> list[dict[str, Any]]:
    rows = admin.execute(
        "SELECT content FROM audit_log WHERE subject_type = 'tenant' ORDER BY seq"
    ).fetchall()
    return [json.loads(content) for (content,) in rows]


def test_it_is_on_record_by_whom_it_was_installed(database: Database, file: TenantFile, admin: Admin) -> None:
    (noted,) = read_audit(admin)
    assert (noted["action"], noted["via"]) == ("install_tenant", "cli")
    assert noted["actor_id"].startswith("cli:") and "@" in noted["actor_id"]
    assert noted["detail"]["claimed"] == "olga"
    assert noted["detail"]["members"]["mona"]["roles"] == ["manager"]


def test_the_same_again_changes_nothing_and_writes_no_row(
    database: Database, file: TenantFile, admin: Admin
) -> None:
    assert install(database, file) == InstalledFile({}, [])
    assert len(read_audit(admin)) == 1
    with database.transaction(file.tenant_id) as connection:
        row = find_tenant(connection, file.tenant_id)
    assert row is not None and row.version == 1


def test_nobody_loses_or_gets_back_a_role(database: Database, file: TenantFile, admin: Admin) -> None:
    give(database, file.tenant_id, "mona")
    give(database, file.tenant_id, "carl", "clerk", "manager")
    outcome = install(database, file)
    assert read_people(database, file.tenant_id) == {"carl": (["clerk", "manager"], None), "mona": ([], None)}
    assert outcome.changes == {} and outcome.kept == [
        "mona is without 'manager', which the file gives",
        "the manager of carl is not as in the file",
        "carl has 'manager', which the file does not give",
    ]
    assert len(read_audit(admin)) == 1


def test_what_the_file_changes_arrives_and_is_on_record(
    database: Database, file: TenantFile, admin: Admin
) -> None:
    mona, carl = file.members
    changed = file.model_copy(
        update={"members": (mona, carl.model_copy(update={"roles": (), "manager": None}))}
    )
    outcome = install(database, changed)
    assert read_people(database, file.tenant_id)["carl"] == ([], None)
    change: dict[str, Any] = {"changed": ["manager", "roles"], "roles_before": ["clerk"], "roles": []}
    change |= {"manager_before": "mona", "manager": None}
    assert outcome.changes == {"members": {"carl": change}} and outcome.kept == []
    assert read_audit(admin)[-1]["detail"] == {"members": {"carl": change}, "claimed": "olga"}
    # Open requests that the role could decide are looked at again.
    lost = admin.execute("SELECT payload_json ->> 'role' FROM workflow_events_outbox").fetchall()
    assert ("clerk",) in lost


def test_a_disabled_member_stays_disabled(database: Database, file: TenantFile, admin: Admin) -> None:
    with database.transaction(file.tenant_id) as connection:
        write_member_status(
            connection, file.tenant_id, "carl", "disabled", read_now(connection), COMMAND_LINE
        )
    install(database, file.model_copy(update={"name": "acme two"}))
    assert admin.execute("SELECT status FROM members WHERE user_id = 'carl'").fetchone() == ("disabled",)


def test_a_role_that_was_deleted_does_not_come_back(
    database: Database, file: TenantFile, admin: Admin
) -> None:
    give(database, file.tenant_id, "carl", manager="mona")
    with database.transaction(file.tenant_id) as connection:
        delete_role(connection, file.tenant_id, "clerk", COMMAND_LINE)
    assert "the role clerk was deleted" in install(database, file).kept
    assert admin.execute("SELECT role FROM roles").fetchall() == [("manager",)]


def test_a_tenant_of_an_older_release_stays_as_it_is(
    database: Database, file: TenantFile, admin: Admin
) -> None:
    give(database, file.tenant_id, "mona")
    admin.execute("DELETE FROM tenant_files")
    outcome = install(database, file)
    assert outcome.changes == {} and outcome.kept == ["mona is without 'manager', which the file gives"]


def test_a_file_after_an_operators_put_begins_where_that_ended(database: Database, admin: Admin) -> None:
    file = make_tenant_file(uuid4())
    install_tenant(database, file, COMMAND_LINE)
    assert install(database, file) == InstalledFile({}, [])
    assert read_audit(admin) == []


def test_a_line_that_closes_a_circle_is_refused(database: Database, file: TenantFile) -> None:
    give(database, file.tenant_id, "dora", manager="carl")
    mona, carl = file.members
    dora = Member(user_id="dora", display_name="Dora")
    other = file.model_copy(update={"members": (mona.model_copy(update={"manager": "dora"}), carl, dora)})
    with pytest.raises(Rejected) as caught:
        install(database, other)
    assert caught.value.code == "ORG_CHART_CYCLE"
    assert read_people(database, file.tenant_id)["mona"] == (["manager"], None)


def test_nobody_who_is_claimed_gives_themselves_anything(
    database: Database, file: TenantFile, admin: Admin
) -> None:
    """Refuse as an operator would be refused. Another person may, and is noted beside the command line."""
    mona, carl = file.members
    promoted = file.model_copy(
        update={"members": (mona, carl.model_copy(update={"roles": ("clerk", "manager")}))}
    )
    with pytest.raises(Rejected) as caught:
        install(database, promoted, claimed="carl")
    assert caught.value.code == "SELF_GRANT_REFUSED"
    install(database, promoted, claimed="mona")
    (noted,) = admin.execute(
        "SELECT actor_id LIKE 'cli:%', persons FROM eligibility_changes"
        " WHERE kind = 'role_given' AND user_id = 'carl' AND role = 'manager'"
    ).fetchall()
    assert noted[0] and "mona" in noted[1] and len(noted[1]) == 2
