"""The worker at the edges of a wave: retries, lost claims, leases, and work left to the next wave."""

import threading
from collections.abc import Callable
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest

from signet.authoring.actions import ActionInput, ActionResult, NewDocument
from signet.engine.cache import CompiledCache
from signet.engine.execution.claim import Claim
from signet.engine.execution.wave import MAX_ROUNDS, Waves
from signet.ids import make_id
from signet.store.outbox.queue import EVENTS, claim
from tests.support.shared_company import WAIT_SECONDS
from tests.support.workflow_stage import CONTRACT, Hurried, Made, WorkflowStage, stopped

RUN = {"id": "run", "type": "action", "config": {"action": "run"}}
TELL = {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "Look"}


class Once:
    """The function of the action `run`, with an extra act in its first call."""

    def __init__(self, act: Callable[[ActionInput], ActionResult | None]) -> None:
        self._act: Callable[[ActionInput], ActionResult | None] | None = act
        self.calls = 0

    def __call__(self, given: ActionInput) -> ActionResult:
        self.calls += 1
        act, self._act = self._act, None
        return (act(given) if act is not None else None) or ActionResult(output={"total": self.calls})


def publish_running(
    stage: WorkflowStage, function: Callable[[ActionInput], ActionResult], **changes: Any
) -> str:
    entity_type = stage.publish({**CONTRACT, **changes}, checks={"nodes": [RUN]})
    stage.registry.action(entity_type, "run")(function)
    return entity_type


def submit_several(stage: WorkflowStage, entity_type: str, count: int) -> list[Made]:
    documents = [stage.create(entity_type, number=str(make_id())) for _ in range(count)]
    for document in documents:
        stage.ask(document.id, "submit")
    return documents


def check_all_done(stage: WorkflowStage, documents: list[Made], attempts: int = 1) -> None:
    for document in documents:
        assert stage.status_of(document.id) == "active"
        assert set(stage.triggers(document.instance_id)) == {("completed", attempts)}
        nodes = stage.nodes(document.instance_id)
        assert len(nodes) == len(set(nodes)), nodes
        stage.check_rebuild(document.instance_id)


def test_a_connection_that_breaks_in_a_wave_costs_no_attempt(stage: WorkflowStage) -> None:
    def cut(given: ActionInput) -> None:
        stage.standing.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND state = 'idle in transaction'"
        )

    function = Once(cut)
    documents = submit_several(stage, publish_running(stage, function), 5)
    assert stage.worker().work(stage.tenant_id)
    assert function.calls == 6
    check_all_done(stage, documents)


def test_a_deadlock_costs_no_attempt(stage: WorkflowStage) -> None:
    """Let another transaction hold a key that the wave wants, and want a document that the wave holds."""
    admin = stage.standing.admin
    if admin.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() != (True,):
        pytest.skip("only a superuser may say who finds the deadlock")
    (name,) = stage.standing.row("SELECT current_database()")
    waiting: list[threading.Thread] = []
    fields = {
        **CONTRACT["fields"],
        "number": {"type": "string", "required": True, "unique": True, "max_length": 60},
    }

    def meet(given: ActionInput) -> ActionResult:
        other = psycopg.connect(stage.standing.admin_url)
        other.execute("SET deadlock_timeout = '1min'")
        other.execute(
            "INSERT INTO document_keys (tenant_id, entity_type, field, value, document_id)"
            " VALUES (%s, %s, 'number', 'N-1', %s)",
            [stage.tenant_id, entity_type, make_id()],
        )

        def want() -> None:
            with other:
                other.execute("SELECT FROM documents WHERE id = %s FOR UPDATE", [given.document.id])
                other.rollback()

        waiting.append(threading.Thread(target=want, daemon=True))
        waiting[0].start()
        stage.standing.wait_until_blocked()
        return ActionResult(creates=[NewDocument(entity_type, {"number": "N-1"})], output={"total": 1})

    function = Once(meet)
    entity_type = publish_running(stage, function, fields=fields)
    documents = submit_several(stage, entity_type, 3)
    admin.execute(f"ALTER DATABASE \"{name}\" SET deadlock_timeout = '50ms'".encode())
    with stage.another_database() as database:
        worker = stage.worker(database=database)
        while worker.work(stage.tenant_id):
            waiting[0].join(WAIT_SECONDS)
            stage.make_due()
    assert function.calls == 4
    check_all_done(stage, documents)


def claim_all(stage: WorkflowStage) -> Claim:
    """Claim all triggers, and do no more."""
    claim_id = make_id()
    with stage.database.transaction(stage.tenant_id) as connection:
        triggers = claim(connection, EVENTS, at_most=100, lease_seconds=60, claim_id=claim_id)
    return Claim(claim_id, stage.tenant_id, triggers)


def test_what_a_worker_claimed_and_left_comes_back_when_its_lease_ends(stage: WorkflowStage) -> None:
    documents = submit_several(stage, stage.publish(), 3)
    claimed = claim_all(stage)
    assert len(claimed.triggers) == 6 and not stage.worker().work(stage.tenant_id)
    stage.expire_leases()
    stage.drain()
    check_all_done(stage, documents, attempts=2)


def test_a_worker_that_comes_too_late_moves_nothing(stage: WorkflowStage) -> None:
    """Let the lease run out, and another worker do the work."""
    documents = submit_several(stage, stage.publish(), 3)
    claimed = claim_all(stage)
    stage.expire_leases()
    stage.drain()
    before = [stage.instance(document.instance_id) for document in documents]
    waves = Waves(stage.database, stage.caches(), CompiledCache(), stopped)
    result = waves.run(claimed)
    assert (result.instances, result.steps, result.rounds, result.failed) == (0, 0, 0, {})
    assert [stage.instance(document.instance_id) for document in documents] == before
    check_all_done(stage, documents, attempts=2)


def test_a_trigger_that_kills_its_workers_pauses_its_instance_in_the_end(stage: WorkflowStage) -> None:
    """Lose the worker each time, so that no error is recorded; the other trigger of its claim goes on."""
    bad, good = (stage.create(stage.publish()) for _ in range(2))
    last: LiteralString = "UPDATE workflow_events_outbox SET attempts = 4 WHERE instance_id = %s"
    stage.standing.run(last, bad.instance_id)
    claim_all(stage)  # claims only the bad one
    stage.expire_leases()
    stage.drain()
    assert stage.triggers(bad.instance_id) == [("dead_letter", 5)]
    instance = stage.instance(bad.instance_id)
    assert instance["status"] == "paused" and instance["reason"].startswith("LEASE_EXPIRED: ")
    assert stage.nodes(bad.instance_id) == ["sys:control:paused"]
    stage.check_rebuild(bad.instance_id)
    assert stage.nodes(good.instance_id) == ["sys:start", "sys:state:draft"]


def tell_often(count: int) -> dict[str, Any]:
    nodes = [{"id": f"n{number}", "type": "notification", "config": TELL} for number in range(count)]
    edges = [{"source": f"n{number}", "target": f"n{number + 1}"} for number in range(count - 1)]
    return {"nodes": nodes, "edges": edges}


def events_of(stage: WorkflowStage, instance_id: UUID) -> list[str]:
    rows = stage.standing.rows(
        "SELECT event_type FROM workflow_events_outbox WHERE instance_id = %s ORDER BY id", instance_id
    )
    return [event_type for (event_type,) in rows]


def test_a_wave_has_so_many_rounds_and_leaves_the_rest_to_the_next(stage: WorkflowStage) -> None:
    (document,) = submit_several(stage, stage.publish(checks=tell_often(MAX_ROUNDS + 10)), 1)
    worker = stage.worker()
    assert worker.work(stage.tenant_id)
    # The action of the wave's last round is pending; the next wave performs it.
    told = [node for node in stage.nodes(document.instance_id) if node.startswith("usr:")]
    assert told == [f"usr:checks:n{number}" for number in range(MAX_ROUNDS)]
    assert stage.instance(document.instance_id)["current_nodes"] == [f"usr:checks:n{MAX_ROUNDS}"]
    stage.check_rebuild(document.instance_id)
    assert events_of(stage, document.instance_id)[2:] == ["continue"]
    assert worker.work(stage.tenant_id) and not worker.work(stage.tenant_id)
    check_all_done(stage, [document])
    effects = "SELECT count(*) FROM workflow_side_effects_outbox WHERE instance_id = %s"
    assert stage.standing.row(effects, document.instance_id) == (MAX_ROUNDS + 10,)


def test_a_wave_whose_time_is_over_leaves_the_rest_to_the_next(stage: WorkflowStage) -> None:
    documents = submit_several(stage, stage.publish(checks=tell_often(3)), 4)
    worker, waves = stage.worker(Hurried()), 0
    while worker.work(stage.tenant_id):
        waves += 1
        for document in documents:
            stage.check_rebuild(document.instance_id)
    # One round for each notification and each gate; in the last one nothing acts.
    assert waves == 6
    assert events_of(stage, documents[0].instance_id)[2:] == ["continue"] * 5
    check_all_done(stage, documents)


def test_of_a_suspended_tenant_nothing_moves(stage: WorkflowStage) -> None:
    documents = submit_several(stage, stage.publish(), 2)
    stage.standing.run("UPDATE tenants SET status = 'suspended' WHERE tenant_id = %s", stage.tenant_id)
    stage.drain()
    for document in documents:
        assert stage.triggers(document.instance_id) == [("pending", 0)] * 2
        assert stage.steps(document.instance_id) == []
    stage.standing.run("UPDATE tenants SET status = 'active' WHERE tenant_id = %s", stage.tenant_id)
    stage.make_due()
    stage.drain()
    check_all_done(stage, documents)
