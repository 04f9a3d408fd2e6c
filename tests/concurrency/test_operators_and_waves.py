"""An operator meets a wave, or another operator, at one instance: each acts on what the other left."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.compiled import CompiledCache
from signet.engine.documents.operations import Applied
from signet.engine.instances import CONTROL, Instances
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
