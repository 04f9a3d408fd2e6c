"""A worker cut off, or killed, at the Nth message of its claim and wave: the wave is whole, or never was.

No document is lost and none is moved twice. After the lease has run out, the next worker brings all of them
to the expected end. Every N with SIGNET_TEST_CAMPAIGN; else some, and all near the commit.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import pytest
from psycopg.conninfo import make_conninfo

from signet.core.errors import Transient
from signet.engine.execution import worker as worker_module
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as
from tests.databases import describe_url
from tests.draining import drain
from tests.engine.callers import drain_from_process, processes
from tests.engine.standing_company import IS_CAMPAIGN
from tests.engine.waves.footprint import FOOTPRINT, Footprint
from tests.engine.waves.random_lives import TASK
from tests.engine.waves.stage import CALL, CONTRACT, Made, WorkflowStage, standing_stage
from tests.faults.cutting import BEYOND, choose, wait_for_the_server
from tests.faults.wire_proxy import FROM_CLIENT, FROM_SERVER, Cut, WireProxy

JOIN_SECONDS = 30
POST: dict[str, Any] = {"id": "post", "type": "action", "config": {"action": "post"}}
SPAWN: dict[str, Any] = {"id": "spawn", "type": "action", "config": {"action": "spawn"}}
TELL: dict[str, Any] = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "Look"},
}
ACTIONS = {
    **CONTRACT["actions"],
    "spawn": {"kind": "create", "entity_type": "task", "set": {"title": "for {entity.number}"}},
}
MADE: LiteralString = (
    "SELECT d.id FROM documents d JOIN audit_log a ON a.subject_id = d.id::text AND a.action = 'create'"
    " WHERE a.content::json -> 'detail' -> 'made_by' ->> 'document_id' = ANY (%s) ORDER BY d.id"
)
UNDONE: LiteralString = (
    "SELECT q.event_type, q.status FROM workflow_events_outbox q"
    " JOIN workflow_instances i ON i.id = q.instance_id"
    " WHERE i.entity_id = ANY (%s) AND q.status <> 'completed'"
)
# The index of the document that creates another one.
CALLED = 2


@dataclass
class WaveWork:
    """Documents for one wave: a birth, a request, and a call that came back."""

    stage: WorkflowStage
    documents: list[Made]

    def ids(self) -> list[UUID]:
        """Return the ids of the documents, and of those that their workflows created."""
        own = [document.id for document in self.documents]
        made = self.stage.standing.rows(MADE, [str(each) for each in own])
        return [*own, *(document_id for (document_id,) in made)]

    def footprint(self) -> list[Footprint]:
        admin = self.stage.standing.admin
        return [row for each in self.ids() for row in admin.execute(FOOTPRINT, {"id": each}).fetchall()]

    def finish(self) -> list[Footprint]:
        """Let another worker finish after the lease has run out, and expect nothing undone."""
        self.stage.expire_leases()
        self.stage.make_due()
        self.stage.drain()
        assert self.stage.standing.rows(UNDONE, self.ids()) == []
        return self.footprint()


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        company = made.standing.company
        company.definitions.create_contract(company.caller(), TASK)
        company.definitions.publish_contract(company.caller(), "task", 1)
        yield made


@pytest.fixture(scope="module")
def entity_type(stage: WorkflowStage) -> str:
    edges = [{"source": "post", "target": "tell"}, {"source": "tell", "target": "call"}]
    slots = {"checks": {"nodes": [POST, TELL, CALL], "edges": edges}, "posting": {"nodes": [SPAWN]}}
    return stage.publish({**CONTRACT, "actions": ACTIONS}, **slots)


@pytest.fixture(scope="module")
def proxy(stage: WorkflowStage) -> Iterator[WireProxy]:
    parts = describe_url(stage.standing.admin_url)
    with WireProxy(parts["host"], int(parts["port"])) as made:
        yield made


@pytest.fixture(scope="module")
def proxied_url(stage: WorkflowStage, proxy: WireProxy) -> str:
    url = act_as(stage.standing.admin_url, "signet_worker")
    return make_conninfo(url, host="127.0.0.1", port=proxy.port, sslmode="prefer")


@pytest.fixture(scope="module")
def database(proxied_url: str) -> Iterator[Database]:
    made = Database(proxied_url, PoolSettings(size=1, wait_seconds=10))
    yield made
    made.close()


def make_work(stage: WorkflowStage, entity_type: str) -> WaveWork:
    born, asked, called = (stage.create(entity_type, number=name) for name in ("one", "two", "three"))
    stage.drain()
    stage.ask(called.id, "submit")
    stage.drain()
    for _ in ("tell", "call"):
        stage.answer(called.instance_id)
    stage.ask(asked.id, "submit")
    return WaveWork(stage, [stage.create(entity_type, number="four"), asked, called, born])


def measure(stage: WorkflowStage, entity_type: str) -> list[list[Footprint]]:
    """Return the footprints before and after each wave, without a fault."""
    work, worker = make_work(stage, entity_type), stage.worker()
    states = [work.footprint()]
    while worker.work(stage.tenant_id):
        states.append(work.footprint())
    assert len(states) == 3 and states[1] != states[2] != states[0]
    return states


def check_whole(after: list[Footprint], states: list[list[Footprint]]) -> None:
    """Expect each document untouched or as a whole wave leaves it, with its created document or without.

    Some may be untouched, because the wave skips documents that a dying backend still holds.
    """
    before, *_, done = states
    for index, document in enumerate(after[: len(before)]):
        assert document in [state[index] for state in states]
    has_made = after[CALLED] == done[CALLED]
    assert len(after) == (len(done) if has_made else len(before))
    assert not has_made or after[-1] in [state[-1] for state in states[1:]]


def run(stage: WorkflowStage, database: Database) -> str:
    """Return the worker's result: "done", or the code of the error."""
    try:
        drain(stage.worker(database=database), [stage.tenant_id])
    except Transient as error:
        return error.code
    return "done"


@pytest.mark.parametrize("is_patient", [False, True] if IS_CAMPAIGN else [False])
@pytest.mark.parametrize("is_delivered", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("direction", [FROM_CLIENT, FROM_SERVER])
def test_a_worker_that_is_cut_off_leaves_whole_waves(
    stage: WorkflowStage,
    entity_type: str,
    proxy: WireProxy,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    direction: str,
    is_delivered: bool,
    is_patient: bool,
) -> None:
    if not is_patient:
        monkeypatch.setattr(worker_module, "MAX_TRANSIENT_RETRIES", 0)
    states = measure(stage, entity_type)
    make_work(stage, entity_type)
    proxy.arm(None)
    assert run(stage, database) == "done"
    total, said = proxy.seen(direction), set[str]()
    for number in [*choose(total), total + BEYOND]:
        work = make_work(stage, entity_type)
        proxy.arm(None)
        with database.tenantless_transaction():
            pass  # opens the connection first
        proxy.arm(Cut(direction, number, is_delivered))
        came = run(stage, database)
        wait_for_the_server(stage.standing, proxy)
        said.add(came)
        check_whole(work.footprint(), states)
        assert work.finish() == states[2], f"{direction} {number} of {total}: {came}"
    assert "done" in said and (is_patient or "DATABASE_UNAVAILABLE" in said)


@pytest.mark.parametrize("is_delivered", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("direction", [FROM_CLIENT, FROM_SERVER])
def test_a_worker_that_is_killed_leaves_whole_waves(
    stage: WorkflowStage,
    entity_type: str,
    proxy: WireProxy,
    proxied_url: str,
    direction: str,
    is_delivered: bool,
) -> None:
    states = measure(stage, entity_type)

    def work_in_process(cut: Callable[[Any], None]) -> None:
        arguments = (proxied_url, stage.tenant_id)
        process = processes().Process(target=drain_from_process, args=arguments, daemon=True)
        cut(process)
        process.start()
        process.join(JOIN_SECONDS)
        assert process.exitcode is not None

    work = make_work(stage, entity_type)
    work_in_process(lambda process: proxy.arm(None))
    assert work.footprint() == states[2]
    total, seen = proxy.seen(direction), list[bool]()
    for number in choose(total):
        work = make_work(stage, entity_type)
        cut = Cut(direction, number, is_delivered)
        work_in_process(lambda process, cut=cut: proxy.arm(cut, process.kill))  # type: ignore[misc]
        wait_for_the_server(stage.standing, proxy)
        after = work.footprint()
        check_whole(after, states)
        seen.append(after[CALLED] == states[2][CALLED])
        assert work.finish() == states[2], f"{direction} {number} of {total}"
    assert not seen[0] and any(seen)
