"""Steps since people decided about a document: which ones count, and how often the gate is sought."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from signet.ids import make_id
from signet.store.database import Connection, Database
from signet.store.instances import earlier_steps
from signet.store.statements import read_statements

Admin = psycopg.Connection[tuple[Any, ...]]
TENANT, DOCUMENT = UUID(int=1), UUID(int=2)
PASSED = '{"outcome": "passed"}'


@pytest.fixture
def instance(superuser: Admin) -> Iterator[UUID]:
    """Put an instance on record, without its steps; no trigger looks at what follows."""
    instance = make_id()
    superuser.execute("SET session_replication_role = replica")
    superuser.execute(
        "INSERT INTO workflow_instances (tenant_id, id, kind, entity_type, entity_id, subject_id,"
        " partition_id, definition_id, definition_version, status, begin_node, begin_version, started_at,"
        " updated_at) VALUES (%s, %s, 'envelope', 'thing', %s, 's', 0, %s, 1, 'running', 'sys:start', 1,"
        " now(), now())",
        [TENANT, instance, DOCUMENT, make_id()],
    )
    yield instance
    superuser.execute("RESET session_replication_role")


def put(admin: Admin, instance: UUID, seqs: range, token: str, *, is_gate: bool = False) -> None:
    node, node_type = ("sys:gate:g", "lifecycle_gate") if is_gate else ("usr:a:call", "webhook_out")
    admin.cursor().executemany(
        "INSERT INTO workflow_step_executions (tenant_id, id, created_at, instance_id, seq, end_seq, node_id,"
        " node_type, token_id, entity_version, version_after, status, started_at, idempotency_key,"
        " actor_user_id, output_json)"
        " VALUES (%s, %s, now(), %s, %s, %s, %s, %s, %s, 1, 1, 'completed', now(), %s, 'ada', %s::jsonb)",
        [
            (TENANT, make_id(), instance, n, n, node, node_type, token, make_id().bytes * 2, PASSED)
            for n in seqs
        ],
    )


def tokens(connection: Connection) -> list[str]:
    rows = earlier_steps.list_earlier(connection, TENANT, "thing", DOCUMENT, "usr:a:call", ["sys:gate:g"], 1)
    return [row.token_id for row in rows]


def test_items_of_a_list_leave_out_no_other_step(
    superuser: Admin, instance: UUID, worker: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step of the list itself is older than its items, and says that a person has answered it."""
    monkeypatch.setattr(earlier_steps, "MAX_EARLIER", 2)
    put(superuser, instance, range(1, 2), "before")
    put(superuser, instance, range(2, 3), "gate", is_gate=True)
    put(superuser, instance, range(3, 4), "list")
    put(superuser, instance, range(4, 7), "list#1")
    with worker.transaction(TENANT) as connection:
        assert tokens(connection) == ["list#1", "list#1", "list", "before"]


def test_the_gate_is_sought_once(superuser: Admin, instance: UUID) -> None:
    put(superuser, instance, range(1, 3), "gate", is_gate=True)
    put(superuser, instance, range(3, 203), "main")
    values = {
        "tenant_id": TENANT,
        "entity_type": "thing",
        "document_id": DOCUMENT,
        "node": "usr:a:call",
        "gates": ["sys:gate:g"],
        "since": 1,
        "limit": 200,
    }
    statement = read_statements(earlier_steps.__file__)["list_earlier"]
    explained: Any = superuser.execute(
        f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}".encode(), values
    ).fetchone()
    (plan,) = explained[0]
    loops = [
        node["Actual Loops"] for node in list_nodes(plan["Plan"]) if node.get("Alias", "").startswith("g")
    ]
    assert loops and max(loops) == 1


def list_nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from list_nodes(child)
