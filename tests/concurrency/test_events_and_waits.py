"""An event and the wait for it come at the same time, in two transactions: neither misses the other."""

from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any, LiteralString

import pytest

from signet.engine.execution.wave import _Wave
from signet.engine.integrations import event_door
from signet.store.integrations.event_offers import offer_event
from tests.support.operated_instances import check
from tests.support.sent_events import send, wait_in, waiting
from tests.support.shared_company import WAIT_SECONDS
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

WAITS: LiteralString = "SELECT FROM workflow_event_waits WHERE instance_id = %s"


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def begin(act: Callable[[], object]) -> Thread:
    thread = Thread(target=act, daemon=True)
    thread.start()
    return thread


def join(thread: Thread) -> None:
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive(), "it did not end"


def come_to_wait(stage: WorkflowStage, number: str) -> Made:
    """Return a document whose next wave comes to its wait."""
    document = stage.create(stage.publish(CONTRACT, approval=waiting()), number=number)
    stage.ask(document.id, "submit")
    return document


def test_an_event_waits_for_the_wave_that_begins_its_wait(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, sent = come_to_wait(stage, "R-1"), list[Thread]()
    end = _Wave.end

    def end_late(wave: _Wave) -> None:
        waits = stage.standing.rows(WAITS, document.instance_id)
        assert waits == [], "nobody sees what has not committed"
        if not sent and wave._contexts[document.instance_id].waits:
            sent.append(begin(lambda: send(stage, "paid:R-1")))
            stage.standing.wait_until_blocked()
        end(wave)

    monkeypatch.setattr(_Wave, "end", end_late)
    stage.drain()
    monkeypatch.undo()
    (second,) = sent
    join(second)
    stage.drain()
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_a_wait_waits_for_the_event_that_comes_before_it(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, waves = come_to_wait(stage, "R-2"), list[Thread]()

    def offer_late(*given: Any, **named: Any) -> Any:
        offered = offer_event(*given, **named)
        assert offered == [], "the wave has not begun"
        waves.append(begin(stage.drain))
        stage.standing.wait_until_blocked()
        return offered

    monkeypatch.setattr(event_door, "offer_event", offer_late)
    send(stage, "paid:R-2")
    monkeypatch.undo()
    (wave,) = waves
    join(wave)
    stage.drain()
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_the_end_of_a_wait_hands_on_what_comes_meanwhile(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older wait ends while an event for one comes: the younger has it."""
    older, younger = (wait_in(stage, "R-3", waiting()) for _ in range(2))
    acts = list[Thread]()

    def end_older() -> None:
        stage.ask(older.id, "cancel")
        stage.drain()

    def offer_late(*given: Any, **named: Any) -> Any:
        offered = offer_event(*given, **named)
        acts.append(begin(end_older))
        stage.standing.wait_until_blocked()
        return offered

    monkeypatch.setattr(event_door, "offer_event", offer_late)
    send(stage, "paid:R-3", is_consumed=True)
    monkeypatch.undo()
    (act,) = acts
    join(act)
    stage.drain()
    assert [stage.status_of(made.id) for made in (older, younger)] == ["cancelled", "active"]
    check(stage, younger)
