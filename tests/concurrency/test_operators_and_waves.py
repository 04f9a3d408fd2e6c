"""An operator meets a wave, or another operator, at one instance: each acts on the other's result."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from signet.authoring.actions import ActionInput, ActionResult
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Applied, RequestTransition
from signet.engine.execution.wave import _Wave
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import Instances
from signet.engine.instances.moves import InstanceMoves, MoveTarget
from signet.engine.instances.operator_transaction import OperatorTransaction
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.concurrency.steps import Second
from tests.draining import drain, work_once
from tests.engine.standing_company import CompanyWithWorkers, standing_company
from tests.engine.waves.operated import operating_on
from tests.engine.waves.stage import CallAnswer, Made, WorkflowStage, standing_stage
from tests.pooling.reaching import as_role


@pytest.fixture
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


@pytest.fixture
def worker(standing: CompanyWithWorkers) -> Iterator[Worker]:
    database = Database(as_role(standing.admin_url, "signet_worker"), PoolSettings(size=2))
    yield make_worker(database)
    database.close()


@pytest.fixture
def instances(standing: CompanyWithWorkers) -> Instances:
    company = standing.company
    return Instances(company.database, company.documents.caches, CompiledCache())


@pytest.fixture
def moves(standing: CompanyWithWorkers) -> InstanceMoves:
    company = standing.company
    return InstanceMoves(company.database, company.documents.caches, CompiledCache())


def trigger(standing: CompanyWithWorkers, made: Applied) -> tuple[Any, ...]:
    query = "SELECT status, attempts FROM workflow_events_outbox WHERE instance_id = %s"
    return standing.row(query, made.instance_id)


def test_a_wave_passes_by_what_an_operator_holds(
    standing: CompanyWithWorkers, worker: Worker, instances: Instances
) -> None:
    """Skip the locked instance and move it later: its trigger loses no attempt."""
    held, free = standing.create(), standing.create()
    assert held.instance_id is not None and free.instance_id is not None
    caller, tenant_id = standing.company.caller("olga"), standing.company.tenant_id
    with instances._locked(caller, held.instance_id, "fail"):
        assert drain(worker, [tenant_id]).instances == 1
        assert trigger(standing, held) == ("pending", 0)
        assert trigger(standing, free) == ("completed", 1)
    standing.run("UPDATE workflow_events_outbox SET due_at = now() WHERE status = 'pending'")
    drain(worker, [tenant_id])
    assert trigger(standing, held) == ("completed", 1)


def test_of_two_operators_the_second_learns_that_it_has_changed(
    standing: CompanyWithWorkers, worker: Worker, instances: Instances
) -> None:
    made = standing.create()
    assert made.instance_id is not None
    instance_id, caller = made.instance_id, standing.company.caller("olga")
    drain(worker, [standing.company.tenant_id])
    with instances._locked(caller, instance_id, "pause") as transaction:
        transaction.control(transaction.open(instance_id), "paused", "first")
        transaction.note(instance_id, "pause", "first")

        def fail() -> list[Any]:
            instances.fail(caller, instance_id, 2, "second")
            return [None]

        second = Second(fail)
        standing.wait_until_blocked()
    came = second.result()
    assert isinstance(came, Rejected) and came.details == {"current_version": 3}
    found = standing.row("SELECT status, reason FROM workflow_instances WHERE id = %s", instance_id)
    assert found == ("paused", "first")


NOTE = {"id": "note", "type": "script", "config": {"set": {"noted": "1"}}}


def publish_note(standing: CompanyWithWorkers) -> None:
    """Publish a patch of the envelope that the invoices run under."""
    definitions, caller = standing.company.definitions, standing.company.caller()
    base = {"entity_type": "invoice", "envelope_version": 1}
    patch = {"patch": "own", "base": base, "slots": {"draft_to_submitted": {"nodes": [NOTE]}}}
    definitions.publish(caller, definitions.create(caller, "org_patch", patch).id)


def definition_of(standing: CompanyWithWorkers, made: Applied) -> tuple[Any, ...]:
    query = (
        "SELECT d.name FROM workflow_instances i JOIN workflow_definitions d ON d.id = i.definition_id"
        " WHERE i.id = %s"
    )
    return standing.row(query, made.instance_id)


def test_a_move_waits_for_a_wave_and_then_learns_that_it_has_changed(
    standing: CompanyWithWorkers, worker: Worker, moves: InstanceMoves
) -> None:
    made = standing.create()
    assert made.instance_id is not None
    instance_id, caller = made.instance_id, standing.company.caller("olga")
    publish_note(standing)

    def move() -> list[Any]:
        return [moves.move(caller, instance_id, 0, MoveTarget(1, "own"))]

    came: list[Second] = []

    def begin_to_move(wave: _Wave, *arguments: Any) -> Any:
        """Move while the wave holds the instance, before it is written."""
        came.append(Second(move))
        standing.wait_until_blocked()
        return finish(wave, *arguments)

    finish = _Wave.collect_rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Wave, "collect_rows", begin_to_move)
        drain(worker, [standing.company.tenant_id])
    (second,) = came
    refused = second.result()
    assert isinstance(refused, Rejected) and refused.details == {"current_version": 2}
    assert definition_of(standing, made) == ("invoice",)
    assert moves.move(caller, instance_id, 2, MoveTarget(1, "own")).outcome == "moved"
    assert definition_of(standing, made) == ("own",)


def test_a_wave_passes_by_what_is_being_moved_and_then_goes_the_new_way(
    standing: CompanyWithWorkers, worker: Worker, moves: InstanceMoves
) -> None:
    made = standing.create()
    assert made.instance_id is not None
    instance_id, caller, tenant_id = (
        made.instance_id,
        standing.company.caller("olga"),
        standing.company.tenant_id,
    )
    publish_note(standing)
    write = OperatorTransaction.write

    def drain_meanwhile(transaction: OperatorTransaction) -> None:
        write(transaction)
        assert drain(worker, [tenant_id]).instances == 0
        assert trigger(standing, made) == ("pending", 0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OperatorTransaction, "write", drain_meanwhile)
        assert moves.move(caller, instance_id, 0, MoveTarget(1, "own")).outcome == "moved"
    standing.run("UPDATE workflow_events_outbox SET due_at = now() WHERE status = 'pending'")
    drain(worker, [tenant_id])
    request = RequestTransition(made.document_id, 1, "submit")
    standing.company.documents.mutate(caller, request)
    drain(worker, [tenant_id])
    nodes = standing.rows("SELECT node_id FROM workflow_step_executions WHERE instance_id = %s", instance_id)
    assert ("usr:draft_to_submitted:note",) in nodes


# --- each act on one branch of two, and a wave that moves the other ---

CALL, OTHER = "usr:checks:call", "usr:checks:other"
Act = Callable[[Instances, Caller, UUID, int], object]
ACTS: dict[str, Act] = {
    "cancel": lambda i, olga, id, version: i.cancel(olga, id, version, "why"),
    "cancel_token": lambda i, olga, id, version: i.cancel_token(olga, id, version, CALL, "why"),
    "advance": lambda i, olga, id, version: i.advance(olga, id, version, CALL, "why"),
    "fail": lambda i, olga, id, version: i.fail(olga, id, version, "why"),
}
SIDE_BY_SIDE: dict[str, Any] = {
    "nodes": [
        {"id": "fork", "type": "parallel_split"},
        {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}},
        {"id": "other", "type": "webhook_out", "config": {"endpoint": "erp"}},
        {"id": "run", "type": "action", "config": {"action": "run"}},
        {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
    ],
    "edges": [
        {"source": "fork", "target": "call"},
        {"source": "fork", "target": "other"},
        {"source": "other", "target": "run"},
        {"source": "call", "target": "both"},
        {"source": "run", "target": "both"},
    ],
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def submitted(stage: WorkflowStage, run: Callable[[ActionInput], ActionResult]) -> Made:
    """Submit a document with two open calls; the answer to the other one runs the action."""
    entity_type = stage.publish(checks=SIDE_BY_SIDE)
    stage.registry.action(entity_type, "run")(run)
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def answer_other(stage: WorkflowStage, document: Made) -> None:
    (step_id,) = stage.standing.row(
        "SELECT id FROM workflow_step_executions WHERE instance_id = %s AND node_id = %s",
        document.instance_id,
        OTHER,
    )
    stage.answer_steps({step_id: CallAnswer()})


def done(given: ActionInput) -> ActionResult:
    return ActionResult(output={"total": 1})


# The state in which a wave finds the instance after the act's commit.
AFTERWARDS = {
    "cancel": ("cancelled", []),
    "cancel_token": ("running", ["sys:state:draft"]),
    "advance": ("completed", []),
    "fail": ("failed", []),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_wave_that_comes_during_an_act_passes_by_and_goes_on_from_what_it_left(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Let the wave come when everything is written and nothing committed."""
    document = submitted(stage, done)
    answer_other(stage, document)
    version, steps = stage.instance(document.instance_id)["version"], stage.steps(document.instance_id)
    waves: list[tuple[int, list[tuple[Any, ...]]]] = []
    write = OperatorTransaction.write

    def write_and_meet(transaction: OperatorTransaction) -> None:
        write(transaction)
        drained = work_once(stage.worker(), stage.tenant_id)
        waves.append((drained.steps, stage.steps(document.instance_id)))

    monkeypatch.setattr(OperatorTransaction, "write", write_and_meet)
    instances, olga = operating_on(stage)
    ACTS[act](instances, olga, document.instance_id, version)
    assert waves == [(0, steps)]
    assert stage.triggers(document.instance_id)[2] == ("pending", 0)
    stage.check_rebuild(document.instance_id)
    stage.make_due()
    stage.drain()
    row = stage.instance(document.instance_id)
    assert (row["status"], row["current_nodes"]) == AFTERWARDS[act]
    stage.check_rebuild(document.instance_id)


@pytest.mark.parametrize("act", ACTS)
def test_who_acts_during_a_wave_waits_and_learns_that_it_has_moved(stage: WorkflowStage, act: str) -> None:
    """Act in the middle of the wave, which has locked the document and the instance."""
    late: list[Second] = []
    instances, olga = operating_on(stage)

    def run(given: ActionInput) -> ActionResult:
        def perform() -> list[Any]:
            return [ACTS[act](instances, olga, document.instance_id, version)]

        late.append(Second(perform))
        stage.standing.wait_until_blocked()
        return done(given)

    document = submitted(stage, run)
    version = stage.instance(document.instance_id)["version"]
    answer_other(stage, document)
    assert stage.worker().work(stage.tenant_id)
    came = late[0].result()
    assert isinstance(came, Rejected) and came.code == "INSTANCE_VERSION_CONFLICT"
    moved = stage.instance(document.instance_id)
    assert came.details == {"current_version": moved["version"]} and moved["version"] > version
    assert (moved["status"], moved["current_nodes"]) == ("running", [CALL])
    stage.check_rebuild(document.instance_id)
    # The same act succeeds on the present version.
    ACTS[act](instances, olga, document.instance_id, moved["version"])
    stage.drain()
    row = stage.instance(document.instance_id)
    assert (row["status"], row["current_nodes"]) == AFTERWARDS[act]
    stage.check_rebuild(document.instance_id)


def test_of_two_who_retry_the_second_finds_it_running(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refuse the second retry, or the dead trigger would get twice the attempts."""
    entity_type = stage.publish(
        checks={"nodes": [{"id": "a", "type": "rule", "config": {"rules": ["none"]}}]}
    )
    document = stage.create(entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.standing.run("UPDATE workflow_events_outbox SET max_attempts = 1 WHERE status = 'pending'")
    stage.drain()
    row = stage.instance(document.instance_id)
    assert row["status"] == "paused"
    instances, olga = operating_on(stage)
    late: list[Second] = []
    write = OperatorTransaction.write

    def retry() -> list[Any]:
        return [instances.retry(olga, document.instance_id, row["version"], "again")]

    def write_and_meet(transaction: OperatorTransaction) -> None:
        write(transaction)
        if not late:
            late.append(Second(retry))
            stage.standing.wait_until_blocked()

    monkeypatch.setattr(OperatorTransaction, "write", write_and_meet)
    retry()
    came = late[0].result()
    assert isinstance(came, Rejected) and came.code == "INSTANCE_VERSION_CONFLICT"
    assert stage.nodes(document.instance_id).count("sys:control:retried") == 1
    stage.check_rebuild(document.instance_id)
