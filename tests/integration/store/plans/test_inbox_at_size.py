"""The cost of an inbox: independent of other open requests of the tenant, with statistics and without."""

import json
from dataclasses import asdict
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest

from signet.store.approvals import inbox
from signet.store.approvals.inbox import EVERYTHING, list_inbox
from signet.store.database import Database
from signet.store.statements import Statements

TENANT = UUID(int=9)
ALL, FEW, MINE = 100_000, 1_000, 60
PAGE = 50
FIRST = UUID(int=0)
# A request about each document, the oldest first. A few wait for the person: directly, by a role, and as a
# delegate in turn. All have ended but the newest FEW and those that wait for the person.
FILL: tuple[LiteralString, ...] = (
    "SET session_replication_role = replica",
    "SET synchronous_commit = off",
    """
    CREATE TEMP TABLE numbered AS
    SELECT n, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
           CASE WHEN n %% (%(all)s / %(mine)s) = 0 THEN n / (%(all)s / %(mine)s) %% 3 END AS mine,
           n > %(all)s - %(few)s OR n %% (%(all)s / %(mine)s) = 0 AS is_open
    FROM generate_series(1, %(all)s) n
    """,
    "INSERT INTO tenants (tenant_id, name, settings) VALUES (%(tenant)s, 'large', '{}')",
    """
    INSERT INTO members (tenant_id, user_id, display_name)
    SELECT %(tenant)s, name, name FROM unnest('{anna,absent}'::text[]) AS name
    UNION ALL SELECT %(tenant)s, 'u' || n, 'u' FROM generate_series(0, 499) n
    """,
    "INSERT INTO member_roles (tenant_id, user_id, role) VALUES (%(tenant)s, 'anna', 'finance')",
    """
    INSERT INTO approval_delegations VALUES (
        %(tenant)s, gen_random_uuid(), 'absent', 'anna', NULL, now() - interval '1 day',
        now() + interval '1 day', NULL, 'absent', now())
    """,
    """
    INSERT INTO documents (tenant_id, id, entity_type, contract_version, status, version, data, creator_id,
                           created_at, updated_at)
    SELECT %(tenant)s, id, 'invoice', 1, 'submitted', 1, '{}', 'carl', now(), now() FROM numbered
    """,
    """
    INSERT INTO approval_requests (tenant_id, id, instance_id, step_execution_id, node_id, document_id,
                                   document_version, snapshot_version_id, snapshot_hash, definition_hash,
                                   policy, policy_hash, requester_id, status, created_at, ended_at)
    SELECT %(tenant)s, id, id, id, 'a', id, 1, id, '', '', '', '', 'carl',
           CASE WHEN is_open THEN 'open' ELSE 'voided' END, now(), CASE WHEN NOT is_open THEN now() END
    FROM numbered
    """,
    """
    INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id, holder_role, status)
    SELECT %(tenant)s, id, 1, 1,
           CASE mine WHEN 0 THEN 'anna' WHEN 1 THEN NULL WHEN 2 THEN 'absent' ELSE 'u' || n %% 500 END,
           CASE mine WHEN 1 THEN 'finance' END, CASE WHEN is_open THEN 'open' ELSE 'closed' END
    FROM numbered
    """,
)
OPEN_ALL: tuple[LiteralString, ...] = (
    "SET session_replication_role = replica",
    "TRUNCATE approval_seats, approval_requests CASCADE",
    "UPDATE numbered SET is_open = true",
    *FILL[-2:],
)
Superuser = psycopg.Connection[tuple[object, ...]]


def fill(superuser: Superuser, statements: tuple[LiteralString, ...]) -> None:
    values = {"tenant": TENANT, "all": ALL, "few": FEW, "mine": MINE}
    for statement in statements:
        superuser.execute(statement, values)


def count_buffers(database: Database, after: UUID) -> int:
    statements = Statements(inbox.__file__)
    values = {"tenant_id": TENANT, "user_id": "anna", "after": after, "limit": PAGE, **asdict(EVERYTHING)}
    with database.transaction(TENANT) as connection:
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statements.list_inbox}"
        # The first time also reads the catalogue.
        connection.execute(explain, values)
        found: Any = connection.execute(explain, values).fetchone()
    plan = found[0][0]["Plan"]
    assert "Seq Scan" not in scans_of_large_tables(plan), json.dumps(plan, indent=1)
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def scans_of_large_tables(plan: dict[str, Any]) -> set[str]:
    large = ("approval_seats", "approval_requests", "documents")
    own = {plan["Node Type"]} if plan.get("Relation Name") in large else set()
    return own.union(*(scans_of_large_tables(inner) for inner in plan.get("Plans", ())))


def read_pages(database: Database) -> list[UUID]:
    with database.transaction(TENANT) as connection:
        seen: list[UUID] = []
        while page := list_inbox(connection, TENANT, "anna", after=seen[-1] if seen else FIRST, limit=PAGE):
            seen += [row.request_id for row in page]
    return seen


@pytest.mark.parametrize("is_analysed", [False, True])
def test_what_others_are_asked_costs_an_inbox_nothing(
    database: Database, superuser: Superuser, is_analysed: bool
) -> None:
    fill(superuser, FILL)
    if is_analysed:
        superuser.execute("ANALYZE")
    among_few, pages = count_buffers(database, FIRST), read_pages(database)
    assert len(pages) == len(set(pages)) == MINE
    fill(superuser, OPEN_ALL)
    superuser.execute("SET session_replication_role = origin")
    assert superuser.execute("SELECT count(*) FROM approval_requests WHERE status = 'open'").fetchone() == (
        ALL,
    )
    if is_analysed:
        superuser.execute("ANALYZE")
    among_all = count_buffers(database, FIRST)
    assert read_pages(database) == pages
    assert among_all <= among_few * 1.1, (among_few, among_all)
    # A later page costs no more than the first.
    assert count_buffers(database, pages[PAGE - 1]) <= among_all
