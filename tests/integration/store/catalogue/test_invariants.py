"""Frozen columns and statuses that never go back, attacked in SQL as each runtime role and as the owner."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from tests.support.database.attacks import (
    FROZEN,
    NO_PRIVILEGE,
    OWNER,
    ROLES,
    STATUS_REGRESSION,
    attack,
    filled_company,
)
from tests.support.shared_company import Admin, CompanyWithWorkers


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with filled_company(server_url) as made:
        yield made


# --- WF-04: published definitions are frozen, a default never changes ---

FREEZE_CONTRACT: list[LiteralString] = [
    "UPDATE contracts SET body = '{}' WHERE status = 'published'",
    "UPDATE contracts SET hash = repeat('0', 64) WHERE status = 'published'",
    "UPDATE contracts SET version = 99 WHERE status = 'published'",
    "UPDATE contracts SET entity_type = 'other' WHERE status = 'published'",
    "UPDATE contracts SET published_at = now() - interval '1 day' WHERE status = 'published'",
    "UPDATE contracts SET created_by = 'eve' WHERE status = 'published'",
    "UPDATE contracts SET authors = ARRAY['eve'] WHERE status = 'published'",
    "UPDATE contracts SET published_by = 'eve' WHERE status = 'published'",
    "UPDATE contracts SET publishers = ARRAY['eve'] WHERE status = 'published'",
    "DELETE FROM contracts WHERE status = 'published'",
]
FREEZE_DEFAULT: list[LiteralString] = [
    "UPDATE workflow_definitions SET nodes_json = '{}' WHERE is_default",
    "UPDATE workflow_definitions SET compiled_json = '{}' WHERE is_default",
    "UPDATE workflow_definitions SET status = 'archived' WHERE is_default",
    "UPDATE workflow_definitions SET is_default = false WHERE is_default",
    "UPDATE workflow_definitions SET canvas_json = '{\"a\": 1}' WHERE is_default",
    "DELETE FROM workflow_definitions WHERE is_default",
]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("statement", [*FREEZE_CONTRACT, *FREEZE_DEFAULT])
def test_wf_04_published_contracts_and_defaults_never_change(
    standing: CompanyWithWorkers, statement: LiteralString, role: str
) -> None:
    writes = role in ("signet_api", OWNER)
    assert attack(standing, role, statement) == (FROZEN if writes else NO_PRIVILEGE)


@pytest.mark.parametrize("role", ["signet_api", OWNER])
def test_wf_04_every_column_of_a_published_definition_is_frozen(
    standing: CompanyWithWorkers, role: str
) -> None:
    """Attack all columns but the status (which only advances), the revision and the editor's canvas."""
    free = {"status", "canvas_json", "updated_at", "revision"}
    columns = standing.rows(
        "SELECT attname, atttypid::regtype::text FROM pg_attribute"
        " WHERE attrelid = 'workflow_definitions'::regclass AND attnum > 0 AND NOT attisdropped"
    )
    other = {
        "uuid": "gen_random_uuid()",
        "integer": "4711",
        "jsonb": """'{"changed": 1}'""",
        "text": "repeat('f', 64)",
        "text[]": "ARRAY['eve']",
        "boolean": "true",
        "timestamp with time zone": "now() - interval '1 year'",
    }
    publish_effective(standing)
    for column, kind in columns:
        statement = sql.SQL("UPDATE workflow_definitions SET {} = {} WHERE definition_kind = 'effective'")
        changed = statement.format(sql.Identifier(column), sql.SQL(other[kind]))
        state = attack(standing, role, changed)
        if column in ("tenant_id", "definition_kind", "name"):
            assert state in (FROZEN, NO_PRIVILEGE), column
        elif column == "status":
            assert state == STATUS_REGRESSION
        else:
            assert state == ("" if column in free else FROZEN), column
    assert (
        attack(standing, role, "DELETE FROM workflow_definitions WHERE definition_kind = 'effective'")
        == FROZEN
    )


def publish_effective(standing: CompanyWithWorkers) -> None:
    """Write a published definition that is no default, as a patch's publication does."""
    standing.run(
        "INSERT INTO workflow_definitions (tenant_id, id, definition_kind, entity_type, name, status,"
        " contract_version, nodes_json, edges_json, compiled_json, compiled_hash, compiler_version,"
        " created_by, published_at) SELECT tenant_id, gen_random_uuid(), 'effective', 'unused', 'own',"
        " 'published', 1, nodes_json, edges_json, compiled_json, compiled_hash, compiler_version,"
        " created_by, published_at"
        " FROM workflow_definitions WHERE is_default ON CONFLICT DO NOTHING"
    )


# --- a status never goes back ---


def status_machines(standing: CompanyWithWorkers) -> list[tuple[str, str, str]]:
    """Return each table with the trigger: its name, the allowed changes, and the CHECK of its statuses."""
    return standing.rows(
        "SELECT c.relname, encode(t.tgargs, 'escape'), pg_get_constraintdef(k.oid) FROM pg_trigger t"
        " JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'c'"
        " AND pg_get_constraintdef(k.oid) ~ '^CHECK \\(\\(status = ANY'"
        " WHERE t.tgfoid = 'restrict_status_regression'::regproc AND NOT c.relispartition ORDER BY c.relname"
    )


def test_every_table_with_a_life_has_the_trigger(standing: CompanyWithWorkers) -> None:
    found = standing.rows(
        "SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " WHERE a.attname = 'status' AND c.relnamespace = 'public'::regnamespace"
        " AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    )
    # Tenants, members, accounts and endpoints may be switched off and on.
    # The statuses of a document are its contract's.
    free = {"tenants", "members", "service_accounts", "endpoints", "inbound_endpoints", "documents"}
    assert {name for (name,) in found} - free == {name for name, _, _ in status_machines(standing)}


def test_every_illegal_change_of_status_is_refused(standing: CompanyWithWorkers) -> None:
    """Try each pair of statuses, legal or not, as the owner and as each role that may write the table."""
    publish_effective(standing)
    tried = 0
    for table, argument, check in status_machines(standing):
        allowed = {
            (before, after)
            for part in argument.split("\\000")[0].split(";")
            for before in [part.split(">")[0]]
            for after in part.split(">")[1].split(",")
        }
        statuses = re.findall(r"'(\w+)'::text", check)
        assert {status for pair in allowed for status in pair} <= set(statuses)
        with one_row_without_checks(standing, table) as connection:
            for role in writers_of(standing, table):
                for before, after in permutations(statuses, 2):
                    state = change_status(connection, role, table, before, after)
                    expected = "" if (before, after) in allowed else STATUS_REGRESSION
                    assert state == expected, f"{table} {before} > {after} as {role}: {state}"
                    tried += 1
    assert tried > 200


def writers_of(standing: CompanyWithWorkers, table: str) -> list[str]:
    roles = standing.rows(
        "SELECT role FROM unnest(%s::text[]) AS role WHERE has_any_column_privilege(role, %s, 'UPDATE')",
        ROLES,
        table,
    )
    return [role for (role,) in roles]


@contextmanager
def one_row_without_checks(standing: CompanyWithWorkers, table: str) -> Iterator[Admin]:
    """Yield a connection to one row without CHECKs, so that only the trigger can refuse a status."""
    name = sql.Identifier(table)
    with psycopg.connect(standing.admin_url) as connection:
        connection.execute("SET LOCAL session_replication_role = replica")
        checks = connection.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'c'"
            " AND pg_get_constraintdef(oid) ~ 'status'",
            [table],
        )
        for (constraint,) in checks.fetchall():
            drop = sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}")
            connection.execute(drop.format(name, sql.Identifier(constraint)))
        if table == "workflow_definitions":
            connection.execute("DELETE FROM workflow_definitions WHERE is_default")
        rest = sql.SQL("DELETE FROM {0} WHERE ctid <> (SELECT ctid FROM {0} LIMIT 1)")
        connection.execute(rest.format(name))
        tenant = str(standing.company.tenant_id)
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [tenant])
        yield connection
        connection.rollback()


def change_status(connection: Admin, role: str, table: str, before: str, after: str) -> str:
    update = sql.SQL("UPDATE {} SET status = {}")
    connection.execute("SAVEPOINT clean")
    connection.execute("SET LOCAL session_replication_role = replica")
    connection.execute(update.format(sql.Identifier(table), before))
    connection.execute("SET LOCAL session_replication_role = origin")
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
    try:
        hit = connection.execute(update.format(sql.Identifier(table), after)).rowcount
        return "" if hit else "no row"
    except psycopg.Error as error:
        return error.sqlstate or "?"
    finally:
        connection.execute("ROLLBACK TO SAVEPOINT clean")
