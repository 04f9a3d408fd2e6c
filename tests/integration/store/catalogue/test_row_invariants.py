"""Rows written once, rows of other tenants, events that count once: attacked in SQL as every role."""

from collections.abc import Iterator
from typing import LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from signet.core.errors import Rejected
from signet.core.runtime.idempotency_keys import event_key
from signet.engine.documents.commands import Update
from signet.store.documents.write import WriteBatch, write_batch
from signet.store.tenants.tenants import read_now
from tests.support.company import Company, make_company
from tests.support.database.attacks import (
    NO_PRIVILEGE,
    NO_ROW,
    OWNER,
    ROLES,
    WRITTEN_ONCE,
    acting,
    attack,
    filled_company,
    tenant_tables,
)
from tests.support.shared_company import Admin, CompanyWithWorkers

APPEND_ONLY = [
    "document_versions",
    "audit_log",
    "audit_seals",
    "rule_executions",
    "personal_values",
    "workflow_event",
    "approval_decisions",
    "eligibility_changes",
    "calendar_versions",
]
# The columns of a table that a row brings along: the others follow from these.
WRITTEN: LiteralString = (
    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
    " AND attgenerated = ''"
)
RECEIPTS = ["workflow_step_receipts", "workflow_outbox_receipts"]
# Tables in which dispatch may see tenants and due times: tests/integration/store/outbox/test_due_tenants.py.
SEEN_BY_DISPATCH = {
    "workflow_events_outbox",
    "workflow_side_effects_outbox",
    "tenants",
    "audit_log",
    "audit_seals",
    "audit_anchors",
    "idempotency_keys",
    "workflow_inbound_events",
    "notifications",
    "quota_meters",
    "eligibility_changes",
    "incidents",
    "documents",
    "workflow_instances",
    "workflow_outbox_receipts",
}


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with filled_company(server_url) as made:
        yield made


@pytest.fixture(scope="module")
def other(standing: CompanyWithWorkers) -> Company:
    made = make_company(standing.company.database)
    made.publish("invoice")
    return made


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("table", APPEND_ONLY)
def test_append_only_tables(standing: CompanyWithWorkers, table: str, role: str) -> None:
    name = sql.Identifier(table)
    refused = (WRITTEN_ONCE,) if role == OWNER else (NO_PRIVILEGE, WRITTEN_ONCE)
    for statement in ("UPDATE {} SET tenant_id = tenant_id", "DELETE FROM {}", "TRUNCATE {}"):
        assert attack(standing, role, sql.SQL(statement).format(name)) in refused, statement


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("table", RECEIPTS)
def test_receipts_are_never_updated(standing: CompanyWithWorkers, table: str, role: str) -> None:
    statement = sql.SQL("UPDATE {} SET created_at = created_at").format(sql.Identifier(table))
    assert attack(standing, role, statement) == (WRITTEN_ONCE if role == OWNER else NO_PRIVILEGE)


@pytest.mark.parametrize("table", [*APPEND_ONLY, *RECEIPTS])
def test_no_runtime_role_may_take_rows_away(standing: CompanyWithWorkers, table: str) -> None:
    for role in set(ROLES) - {OWNER}:
        for statement in ("DELETE FROM {}", "TRUNCATE {}"):
            wanted = sql.SQL(statement).format(sql.Identifier(table))
            assert attack(standing, role, wanted) == NO_PRIVILEGE


PERSONAL: dict[LiteralString, str] = {
    "UPDATE personal_values SET value = '1'": WRITTEN_ONCE,
    "UPDATE personal_values SET salt = 'x'": WRITTEN_ONCE,
    "UPDATE personal_values SET field = 'number', salt = NULL, value = NULL, erased_at = now()": WRITTEN_ONCE,
    "UPDATE personal_values SET value = NULL, erased_at = now()": "23514",
    "UPDATE personal_values SET salt = NULL, erased_at = now()": "23514",
    "UPDATE personal_values SET salt = NULL, value = NULL, erased_at = now()": "",
}


@pytest.mark.parametrize("role", ["signet_api", "signet_worker", OWNER])
@pytest.mark.parametrize("statement", PERSONAL)
def test_a_personal_value_can_only_be_erased(
    standing: CompanyWithWorkers, statement: LiteralString, role: str
) -> None:
    """Steps erase nothing, so their role changes nothing here."""
    assert attack(standing, role, statement) == (
        NO_PRIVILEGE if role == "signet_worker" else PERSONAL[statement]
    )


def test_an_erased_value_stays_erased(standing: CompanyWithWorkers) -> None:
    with acting(standing, "signet_api") as connection:
        connection.execute("UPDATE personal_values SET salt = NULL, value = NULL, erased_at = now()")
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("UPDATE personal_values SET salt = 'x', value = '1', erased_at = NULL")
    assert caught.value.sqlstate == WRITTEN_ONCE


IDENTITY: dict[str, LiteralString] = {
    "created_at": "now()",
    "id": "gen_random_uuid()",
    "instance_id": "gen_random_uuid()",
    "seq": "4711",
    "node_id": "'other'",
    "node_type": "'other'",
    "token_id": "'other'",
    "entity_version": "4711",
    "run_as": "'system'",
    "idempotency_key": "sha256('other')",
    "input_json": "'{}'",
    "actor_user_id": "'eve'",
    "snapshot_version_id": "gen_random_uuid()",
}


@pytest.mark.parametrize("role", ["signet_api", "signet_worker", OWNER])
def test_a_step_stays_the_step_that_it_is(standing: CompanyWithWorkers, role: str) -> None:
    for column, value in IDENTITY.items():
        change = sql.SQL("UPDATE workflow_step_executions SET {} = {}")
        statement = change.format(sql.Identifier(column), sql.SQL(value))
        assert attack(standing, role, statement) == WRITTEN_ONCE, column
    refused = WRITTEN_ONCE if role == OWNER else NO_PRIVILEGE
    taken: list[LiteralString] = ["DELETE FROM workflow_step_executions", "TRUNCATE workflow_step_executions"]
    assert [attack(standing, role, each) for each in taken] == [refused, refused]


def test_an_outcome_is_kept_once(standing: CompanyWithWorkers) -> None:
    change: LiteralString = "UPDATE idempotency_keys SET outcome = '[1]' WHERE key = %s"
    for role in ("signet_api", OWNER):
        assert attack(standing, role, change, "kept") == WRITTEN_ONCE
        assert attack(standing, role, change, "open") == ""
    assert attack(standing, "signet_api", "UPDATE idempotency_keys SET request_hash = 'x'") == NO_PRIVILEGE


def test_an_audit_row_under_another_transaction_is_refused(standing: CompanyWithWorkers) -> None:
    copy: LiteralString = (
        "INSERT INTO audit_log SELECT tenant_id, gen_random_uuid(), 'x', 'x', NULL, NULL, hash, content,"
        " action, actor_id, created_at, epoch, %s::xid8 FROM audit_log LIMIT 1"
    )
    for role in ("signet_api", "signet_worker", "signet_janitor", OWNER):
        assert attack(standing, role, copy, "3") == WRITTEN_ONCE


# --- row security ---


def test_every_tenant_table_has_a_row_to_steal(standing: CompanyWithWorkers) -> None:
    empty = []
    for table in tenant_tables(standing):
        query = sql.SQL("SELECT count(*) FROM {} WHERE tenant_id = {}")
        counted = standing.admin.execute(
            query.format(sql.Identifier(table), str(standing.company.tenant_id))
        ).fetchone()
        if counted == (0,):
            empty.append(table)
    assert empty == []


@pytest.mark.parametrize("role", ROLES)
def test_no_role_reads_or_changes_rows_of_another_tenant(
    standing: CompanyWithWorkers, other: Company, role: str
) -> None:
    """Attack with another tenant's id, with none, and with an empty one."""
    mine = str(standing.company.tenant_id)
    for table in tenant_tables(standing):
        name = sql.Identifier(table)
        for statement in (
            "SELECT FROM {} WHERE tenant_id = {}",
            "UPDATE {} SET tenant_id = tenant_id WHERE tenant_id = {}",
            "DELETE FROM {} WHERE tenant_id = {}",
        ):
            wanted = sql.SQL(statement).format(name, mine)
            if role == "signet_dispatch" and table in SEEN_BY_DISPATCH and statement.startswith("SELECT"):
                continue
            for foreign in (str(other.tenant_id), ""):
                assert attack_in(standing, role, foreign, wanted) in (NO_ROW, NO_PRIVILEGE), (
                    table,
                    statement,
                )


@pytest.mark.parametrize("role", ROLES)
def test_no_role_inserts_a_row_of_another_tenant(
    standing: CompanyWithWorkers, other: Company, role: str
) -> None:
    """Insert a copy of a real row, so that only row security can object."""
    for table in tenant_tables(standing):
        state = insert_copy(standing, role, table, other.tenant_id)
        assert state == NO_PRIVILEGE, f"{table}: {state}"


def attack_in(standing: CompanyWithWorkers, role: str, tenant: str, statement: sql.Composed) -> str:
    with acting(standing, role, tenant) as connection:
        try:
            return "" if connection.execute(statement).rowcount else NO_ROW
        except psycopg.Error as error:
            return error.sqlstate or "?"


def insert_copy(standing: CompanyWithWorkers, role: str, table: str, acting_as: UUID) -> str:
    name = sql.Identifier(table)
    with psycopg.connect(standing.admin_url) as connection:
        copy = sql.SQL(
            "CREATE TEMP TABLE stolen ON COMMIT DROP AS SELECT * FROM {} WHERE tenant_id = {} LIMIT 1"
        )
        connection.execute(copy.format(name, str(standing.company.tenant_id)))
        connection.execute("GRANT SELECT ON stolen TO PUBLIC")
        columns = sql.SQL(", ").join(
            sql.Identifier(column) for (column,) in connection.execute(WRITTEN, [table])
        )
        if table == "audit_log":
            connection.execute("UPDATE stolen SET xid = pg_current_xact_id()")
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(acting_as)])
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
        try:
            insert = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM stolen")
            connection.execute(insert.format(name, columns, columns))
        except psycopg.Error as error:
            return error.sqlstate or "?"
        finally:
            connection.rollback()
        return ""


# --- WF-11: a mutation's event and its receipt come together, and count once ---


def test_wf_11_the_same_event_twice_is_one_row(standing: CompanyWithWorkers) -> None:
    company, event_id = standing.company, uuid4()
    payload = {"cause_id": str(event_id)}
    event = {
        "id": event_id,
        "created_at": "2026-01-01T00:00:00Z",
        "instance_id": event_id,
        "entity_version": 1,
        "definition_version": None,
        "event_type": "mutation",
        "payload": payload,
        "trace_id": None,
        "idempotency_key": f"\\x{event_key(event_id, 'mutation', payload, 1).hex()}",
    }
    for second in (event_id, uuid4()):
        with company.database.transaction(company.tenant_id) as connection:
            batch = WriteBatch(events=[{**event, "id": second}])
            now = read_now(connection)
            write_batch(connection, company.tenant_id, batch, now=now)
    query: LiteralString = "SELECT id FROM workflow_events_outbox WHERE instance_id = %s"
    assert standing.rows(query, event_id) == [(event_id,)]
    receipts = standing.row("SELECT count(*) FROM workflow_outbox_receipts WHERE instance_id = %s", event_id)
    assert receipts == (1,)


def test_wf_11_event_and_receipt_are_of_one_transaction(standing: CompanyWithWorkers) -> None:
    """Compare the transactions that wrote event, receipt and version of each mutation."""
    applied = standing.create()
    company = standing.company
    company.documents.mutate(company.caller(), Update(applied.document_id, 1, {"cost_center": "C"}))
    found = standing.rows(
        "SELECT e.xmin = r.xmin AND e.xmin = v.xmin FROM workflow_events_outbox e"
        " LEFT JOIN workflow_outbox_receipts r ON (r.instance_id, r.event_idempotency_key)"
        " = (e.instance_id, e.event_idempotency_key)"
        " LEFT JOIN document_versions v ON v.document_id = %s AND v.version = e.entity_version"
        " WHERE e.instance_id = %s",
        applied.document_id,
        applied.instance_id,
    )
    assert found == [(True,), (True,)]


def test_wf_11_a_rejected_mutation_leaves_neither(standing: CompanyWithWorkers) -> None:
    applied = standing.create()
    company = standing.company
    with pytest.raises(Rejected):
        company.documents.mutate(company.caller(), Update(applied.document_id, 1, {"grand_total": "much"}))
    for query in (
        "SELECT count(*) FROM workflow_events_outbox WHERE instance_id = %s",
        "SELECT count(*) FROM workflow_outbox_receipts WHERE instance_id = %s",
    ):
        found: Admin = standing.admin
        assert found.execute(query, [applied.instance_id]).fetchone() == (1,)
