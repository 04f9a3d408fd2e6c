"""Outages of the server while a worker is at work: they cost no attempt, strand no document and pause none.

The table is locked, or the server refuses every statement from the Nth on. The worker comes back more often
than a trigger has attempts. Then all is well again, and each document ends as if nothing had been.
"""

from collections.abc import Iterator
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from signet.core.errors import Transient
from signet.engine.execution.worker import Worker
from signet.engine.integrations.effects import Effects
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as
from tests.support.database.server import describe_url
from tests.support.database.wire_proxy import STATEMENTS, Answer, WireProxy
from tests.support.effects import Answering, add_endpoint, begin, come_due, rows
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

# More than the attempts of a trigger.
LOOKS = 7
QUEUE = "workflow_events_outbox"
POST = {"id": "post", "type": "action", "config": {"action": "post"}}
ASK_RULE = {"id": "known", "type": "rule", "config": {"rules": ["known"]}}
PASSING = ["25006", "40001", "40P01", "53100", "53200", "53300", "55P03", "57014", "58030"]
ENDING = ["08006", "25P03", "57P01", "57P02", "57P03", "XX000"]
TABLES: LiteralString = (
    "SELECT DISTINCT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
    " AND relnamespace = 'public'::regnamespace AND has_table_privilege('signet_worker', oid, 'SELECT')"
    " ORDER BY relname::text"
)
STRANDED: LiteralString = (
    "SELECT (SELECT count(*) FROM workflow_events_outbox WHERE status <> 'completed'),"
    " (SELECT count(*) FROM workflow_instances WHERE status = 'paused'),"
    " (SELECT count(*) FROM incidents)"
)


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture(scope="module")
def entity_type(stage: WorkflowStage) -> str:
    name = stage.publish(checks={"nodes": [ASK_RULE]}, posting={"nodes": [POST]})
    stage.add_rule(name, "known", "entity.amount > 5", on="delete")
    return name


@pytest.fixture(scope="module")
def proxy(stage: WorkflowStage) -> Iterator[WireProxy]:
    parts = describe_url(stage.standing.admin_url)
    with WireProxy(parts["host"], int(parts["port"])) as made:
        yield made


@pytest.fixture
def database(stage: WorkflowStage, proxy: WireProxy) -> Iterator[Database]:
    proxy.arm(None)
    url = act_as(stage.standing.admin_url, "signet_worker")
    url = make_conninfo(url, host="127.0.0.1", port=proxy.port, sslmode="prefer")
    made = Database(url, PoolSettings(size=1, wait_seconds=0.2))
    with made.tenantless_transaction():
        pass  # opens the connection
    yield made
    made.close()


def submit(stage: WorkflowStage, entity_type: str) -> Made:
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    return document


def look_often(stage: WorkflowStage, worker: Worker, *, looks: int = LOOKS, locked: str = "") -> set[str]:
    """Let the worker look again and again, and return the codes of what it met."""
    met = set[str]()
    for _ in range(looks):
        try:
            while worker.work(stage.tenant_id):
                pass
        except Transient as error:
            met.add(error.code)
        if locked != QUEUE:
            stage.make_due()
    return met


def check_untouched(stage: WorkflowStage, document: Made) -> None:
    """Expect that the document has ended, and that no trigger was tried twice."""
    assert stage.status_of(document.id) == "active"
    assert set(stage.triggers(document.instance_id)) == {("completed", 1)}
    assert stage.standing.row(STRANDED) == (0, 0, 0)


def test_a_locked_table_costs_no_attempt(stage: WorkflowStage, entity_type: str) -> None:
    tables = [name for (name,) in stage.standing.rows(TABLES)]
    stopped = set[str]()
    with stage.another_database(lock_seconds=0.01) as database:
        for table in tables:
            document, worker = submit(stage, entity_type), stage.worker(database=database)
            with psycopg.connect(stage.standing.admin_url) as other:
                statement = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE")
                other.execute(statement.format(sql.Identifier(table)))
                if look_often(stage, worker, locked=table):
                    stopped.add(table)
            stage.make_due()
            stage.drain()
            check_untouched(stage, document)
    assert {"workflow_step_executions", "workflow_instances", "documents", "rules"} <= stopped


def count_statements(stage: WorkflowStage, entity_type: str, proxy: WireProxy, database: Database) -> int:
    submit(stage, entity_type)
    proxy.arm(None)
    worker = stage.worker(database=database)
    assert worker.work(stage.tenant_id)
    total = proxy.seen(STATEMENTS)
    stage.drain()
    return total


@pytest.mark.parametrize("is_fatal", [False, True], ids=["passing", "ending"])
def test_a_server_that_refuses_from_the_nth_statement_on_costs_no_attempt(
    stage: WorkflowStage, entity_type: str, proxy: WireProxy, database: Database, is_fatal: bool
) -> None:
    total = count_statements(stage, entity_type, proxy, database)
    assert total > 4
    # A new connection is waited for each time.
    states, looks = (ENDING, 2) if is_fatal else (PASSING, LOOKS)
    for number in range(1, total + 1):
        state = states[number % len(states)]
        document, worker = submit(stage, entity_type), stage.worker(database=database)
        with database.tenantless_transaction():
            pass  # opens the connection
        proxy.arm(Answer(number, state, is_fatal=is_fatal, is_lasting=True))
        assert look_often(stage, worker, looks=looks), f"{state} at {number} of {total}"
        proxy.arm(None)
        look_often(stage, worker)
        check_untouched(stage, document)


@pytest.mark.parametrize("state", [*PASSING, "54000", "58P01", "XX001"])
def test_one_refusal_leaves_no_trace(
    stage: WorkflowStage, entity_type: str, proxy: WireProxy, database: Database, state: str
) -> None:
    total = count_statements(stage, entity_type, proxy, database)
    for number in range(1, total + 1):
        document, worker = submit(stage, entity_type), stage.worker(database=database)
        proxy.arm(Answer(number, state))
        try:
            worker.work(stage.tenant_id)
        except Exception as error:
            assert getattr(error, "code", "").startswith(("DATABASE_", "STATEMENT_")), f"{state} at {number}"
        proxy.arm(None)
        look_often(stage, worker)
        assert stage.status_of(document.id) == "active"
        assert stage.standing.row(STRANDED) == (0, 0, 0)
        if state in PASSING:
            check_untouched(stage, document)


@pytest.mark.parametrize("is_fatal", [False, True], ids=["passing", "ending"])
def test_an_outage_while_effects_leave_has_nothing_sent_twice(
    stage: WorkflowStage, proxy: WireProxy, database: Database, is_fatal: bool
) -> None:
    """Refuse every statement from the Nth on: what was sent is put on record when the server is back."""
    stage.standing.run("DELETE FROM workflow_side_effects_outbox")
    add_endpoint(stage)
    connector, number, refused = Answering(), 0, 1
    while refused:
        number += 1
        stage.standing.run("DELETE FROM workflow_side_effects_outbox")
        (document,) = begin(stage)
        connector.given.clear()
        effects = Effects(database, {"webhook": connector})
        with database.tenantless_transaction():
            pass  # opens the connection
        state = (ENDING if is_fatal else PASSING)[number % 6]
        proxy.arm(Answer(number, state, is_fatal=is_fatal, is_lasting=True))
        deliver(stage, effects, looks=2)
        refused = proxy.answered
        proxy.arm(None)
        deliver(stage, effects, looks=LOOKS)
        assert (rows(stage), len(connector.given)) == ([("completed", 1)], 1), f"{state} at {number}"
        look_often(stage, stage.worker())
        check_untouched(stage, document)
    assert number > 5


def deliver(stage: WorkflowStage, effects: Effects, *, looks: int) -> None:
    for _ in range(looks):
        try:
            effects.work(stage.tenant_id)
        except Transient:
            continue
        come_due(stage)
