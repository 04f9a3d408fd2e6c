"""An operator meets a wave, or another operator, at one instance: each acts on what the other left."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.compiled import CompiledCache
from signet.engine.documents.operations import Applied, RequestTransition
from signet.engine.instances import CONTROL, Instances
from signet.engine.moving import Moving, Target
from signet.engine.operating import Operating
from signet.engine.waves.wave import _Wave
from signet.engine.waves.worker import Worker
from signet.store.database import Database, PoolSettings
from signet.store.server import act_as
from signet.wiring import make_worker
from tests.concurrency.steps import Second
from tests.engine.standing_company import Standing, standing_company


@pytest.fixture
def standing(server_url: str) -> Iterator[Standing]:
    with standing_company(server_url) as made:
        yield made


@pytest.fixture
def worker(standing: Standing) -> Iterator[Worker]:
    database = Database(act_as(standing.admin_url, "signet_worker"), PoolSettings(size=2))
    yield make_worker(database)
    database.close()


@pytest.fixture
def instances(standing: Standing) -> Instances:
    company = standing.company
    return Instances(company.database, company.documents.caches, CompiledCache())


@pytest.fixture
def moving(standing: Standing) -> Moving:
    company = standing.company
    return Moving(company.database, company.documents.caches, CompiledCache())


def trigger(standing: Standing, made: Applied) -> tuple[Any, ...]:
    query = "SELECT status, attempts FROM workflow_events_outbox WHERE instance_id = %s"
    return standing.row(query, made.instance_id)


def test_a_wave_passes_by_what_an_operator_holds(
    standing: Standing, worker: Worker, instances: Instances
) -> None:
    """And takes it up later: its trigger lost no attempt."""
    held, free = standing.create(), standing.create()
    assert held.instance_id is not None and free.instance_id is not None
    author, tenant_id = standing.company.author("olga"), standing.company.tenant_id
    with instances._locked(author, held.instance_id, CONTROL):
        assert worker.drain([tenant_id]).instances == 1
        assert trigger(standing, held) == ("pending", 0)
        assert trigger(standing, free) == ("completed", 1)
    standing.run("UPDATE workflow_events_outbox SET due_at = now() WHERE status = 'pending'")
    worker.drain([tenant_id])
    assert trigger(standing, held) == ("completed", 1)


def test_of_two_operators_the_second_learns_that_it_has_changed(
    standing: Standing, worker: Worker, instances: Instances
) -> None:
    made = standing.create()
    assert made.instance_id is not None
    instance_id, author = made.instance_id, standing.company.author("olga")
    worker.drain([standing.company.tenant_id])
    with instances._locked(author, instance_id, CONTROL) as operating:
        operating.control(operating.open(instance_id), "paused", "first")
        operating.note(instance_id, "pause", "first")

        def fail() -> list[Any]:
            instances.fail(author, instance_id, 2, "second")
            return [None]

        second = Second(fail)
        standing.wait_until_blocked()
    came = second.result()
    assert isinstance(came, Rejected) and came.details == {"current_version": 3}
    found = standing.row("SELECT status, reason FROM workflow_instances WHERE id = %s", instance_id)
    assert found == ("paused", "first")


NOTE = {"id": "note", "type": "script", "config": {"set": {"noted": "1"}}}


def publish_note(standing: Standing) -> None:
    """What the tenant made of the envelope that its invoices run under."""
    definitions, principal = standing.company.definitions, standing.company.principal()
    base = {"entity_type": "invoice", "envelope_version": 1}
    patch = {"patch": "own", "base": base, "slots": {"draft_to_submitted": {"nodes": [NOTE]}}}
    definitions.publish(principal, definitions.save_patch(principal, patch))


def definition_of(standing: Standing, made: Applied) -> tuple[Any, ...]:
    query = (
        "SELECT d.name FROM workflow_instances i JOIN workflow_definitions d ON d.id = i.definition_id"
        " WHERE i.id = %s"
    )
    return standing.row(query, made.instance_id)


def test_a_move_waits_for_a_wave_and_then_learns_that_it_has_changed(
    standing: Standing, worker: Worker, moving: Moving
) -> None:
    made = standing.create()
    assert made.instance_id is not None
    instance_id, author = made.instance_id, standing.company.author("olga")
    publish_note(standing)

    def move() -> list[Any]:
        return [moving.move(author, instance_id, 0, Target(1, "own"))]

    came: list[Second] = []

    def begin_to_move(wave: _Wave, *arguments: Any) -> Any:
        """While the wave holds the instance, and before it is written."""
        came.append(Second(move))
        standing.wait_until_blocked()
        return finish(wave, *arguments)

    finish = _Wave.finish
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Wave, "finish", begin_to_move)
        worker.drain([standing.company.tenant_id])
    (second,) = came
    refused = second.result()
    assert isinstance(refused, Rejected) and refused.details == {"current_version": 2}
    assert definition_of(standing, made) == ("invoice",)
    assert moving.move(author, instance_id, 2, Target(1, "own")).outcome == "moved"
    assert definition_of(standing, made) == ("own",)


def test_a_wave_passes_by_what_is_being_moved_and_then_goes_the_new_way(
    standing: Standing, worker: Worker, moving: Moving
) -> None:
    made = standing.create()
    assert made.instance_id is not None
    instance_id, author, tenant_id = (
        made.instance_id,
        standing.company.author("olga"),
        standing.company.tenant_id,
    )
    publish_note(standing)
    write = Operating.write

    def drain_meanwhile(operating: Operating) -> None:
        write(operating)
        assert worker.drain([tenant_id]).instances == 0
        assert trigger(standing, made) == ("pending", 0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Operating, "write", drain_meanwhile)
        assert moving.move(author, instance_id, 0, Target(1, "own")).outcome == "moved"
    standing.run("UPDATE workflow_events_outbox SET due_at = now() WHERE status = 'pending'")
    worker.drain([tenant_id])
    request = RequestTransition(made.document_id, 1, "submit")
    standing.company.documents.mutate(author, request)
    worker.drain([tenant_id])
    nodes = standing.rows("SELECT node_id FROM workflow_step_executions WHERE instance_id = %s", instance_id)
    assert ("usr:draft_to_submitted:note",) in nodes
