"""Waits for events: by a key that is read once, taken once, kept for the first that fits."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.instances.incidents import IncidentFilter, list_open
from signet.engine.instances.moves import InstanceMoves
from signet.engine.integrations.inbound_events import InboundEvents
from signet.engine.integrations.kept_events import SentEvents
from signet.engine.telemetry import EventFate, Silent
from tests.support.company import make_company
from tests.support.moved_instances import NOTE, move, pin_of
from tests.support.moved_instances import codes as codes_of_move
from tests.support.operated_instances import check, operating_on, version
from tests.support.sent_events import EDITABLE, MOMENTS, pass_time, send, steps, wait_in, waiting
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "integer", "minimum": 1}},
    "required": ["amount"],
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def offers(stage: WorkflowStage, event_id: Any) -> list[str]:
    query: Any = (
        "SELECT status FROM workflow_event_offers WHERE event_id = %s ORDER BY waiting_since, step_id"
    )
    return [row[0] for row in stage.standing.rows(query, event_id)]


def codes(stage: WorkflowStage, document: Made) -> list[str]:
    wanted = IncidentFilter(instance_id=document.instance_id)
    return [row.code for row in list_open(stage.standing.company.database, stage.tenant_id, wanted, limit=9)]


def set_limit(stage: WorkflowStage, limit: int) -> None:
    own = "jsonb_build_object('custom', jsonb_build_object('limit', jsonb_build_object("
    typed = "'type', 'int', 'value', %s::int)))"
    statement: Any = f"UPDATE tenants SET settings = settings || {own}{typed} WHERE tenant_id = %s"
    stage.standing.run(statement, limit, stage.tenant_id)


def open_waits(stage: WorkflowStage, document: Made) -> int:
    query: Any = "SELECT count(*) FROM workflow_event_waits WHERE instance_id = %s"
    return int(stage.standing.row(query, document.instance_id)[0])


def test_an_event_ends_the_wait_for_its_key_and_brings_its_payload(stage: WorkflowStage) -> None:
    document = wait_in(stage, "A-1", waiting(save_as="paid"))
    ((status, given, _, _),) = steps(stage, document)
    assert (status, given) == ("running", {"keys": ["paid:A-1"]})
    send(stage, "paid:A-2", {"amount": 1})
    stage.drain()
    assert stage.status_of(document.id) == "submitted"
    event = send(stage, "paid:A-1", {"amount": 7})
    stage.drain()
    assert stage.status_of(document.id) == "active"
    ((status, _, output, _),) = steps(stage, document)
    assert (status, output["outcome"], output["evidence"]["event_id"]) == (
        "completed",
        "received",
        str(event.id),
    )
    assert stage.instance(document.instance_id)["context_json"] == {"paid": {"amount": 7}}
    assert (open_waits(stage, document), offers(stage, event.id)) == (0, ["taken"])
    check(stage, document)


def test_a_message_that_comes_twice_is_taken_once(stage: WorkflowStage) -> None:
    document = wait_in(stage, "A-3", waiting(save_as="paid"))
    first = send(stage, "paid:A-3", 1, message_id="m-3")
    again = send(stage, "paid:A-3", 2, message_id="m-3")
    assert (again.id, again.was_known) == (first.id, True)
    stage.drain()
    assert stage.instance(document.instance_id)["context_json"] == {"paid": 1}
    assert send(stage, "paid:A-3", 3, message_id="m-3").was_known
    later = wait_in(stage, "A-3", waiting())
    assert stage.status_of(later.id) == "submitted", "it was consumed"


class CountedEvents(Silent):
    def __init__(self) -> None:
        self.fates: list[EventFate] = []

    def event_came(self, fate: EventFate) -> None:
        self.fates.append(fate)


def test_what_events_find_is_counted(stage: WorkflowStage) -> None:
    company, counted = stage.standing.company, CountedEvents()
    events = InboundEvents(company.database, lambda tenant_id, name: None, telemetry=counted)
    for message_id in ("o-1", "o-1", "o-2"):
        events.send(company.caller(), "paid:O-1", message_id, None)
    wait_in(stage, "O-2", waiting())
    events.send(company.caller(), "paid:O-2", None, None)
    stage.drain()
    assert counted.fates == ["unmatched", "known", "unmatched", "offered"]


def test_what_comes_before_its_wait_is_kept_for_the_first_that_fits(stage: WorkflowStage) -> None:
    send(stage, "paid:B-1", {"amount": 0})
    kept = send(stage, "paid:B-1", {"amount": 5})
    first = wait_in(stage, "B-1", waiting(save_as="paid", condition="event.amount > 1"))
    assert stage.status_of(first.id) == "active"
    assert stage.instance(first.instance_id)["context_json"] == {"paid": {"amount": 5}}
    assert offers(stage, kept.id) == ["taken"]
    second = wait_in(stage, "B-1", waiting(condition="event.amount > 1"))
    assert stage.status_of(second.id) == "submitted"
    third = wait_in(stage, "B-1", waiting(save_as="paid"))
    assert stage.instance(third.instance_id)["context_json"] == {"paid": {"amount": 0}}
    check(stage, first)


def test_what_has_expired_is_not_kept(stage: WorkflowStage) -> None:
    event = send(stage, "paid:B-2")
    stage.standing.run_unguarded(
        "UPDATE workflow_inbound_events SET received_at = received_at - interval '8 days',"
        " expires_at = expires_at - interval '8 days' WHERE id = %s",
        event.id,
    )
    document = wait_in(stage, "B-2", waiting())
    assert stage.status_of(document.id) == "submitted"


def test_an_event_goes_to_each_open_wait_that_fits(stage: WorkflowStage) -> None:
    one, two, other = (
        wait_in(stage, "C-1", waiting(condition=condition))
        for condition in ("event.amount > 1", "event.amount > 2", "event.amount > 9")
    )
    event = send(stage, "paid:C-1", {"amount": 5})
    stage.drain()
    assert [stage.status_of(made.id) for made in (one, two, other)] == ["active", "active", "submitted"]
    assert offers(stage, event.id) == ["taken", "taken", "unfit"]
    late = wait_in(stage, "C-1", waiting())
    assert stage.status_of(late.id) == "submitted", "a kept event would go to it, and this was taken"


def test_the_oldest_wait_that_fits_consumes_an_event_alone(stage: WorkflowStage) -> None:
    unfit, oldest, younger = (
        wait_in(stage, "D-1", waiting(condition=condition))
        for condition in ("event.amount > 9", "event.amount > 1", "event.amount > 1")
    )
    event = send(stage, "paid:D-1", {"amount": 5}, is_consumed=True)
    stage.drain()
    statuses = [stage.status_of(made.id) for made in (unfit, oldest, younger)]
    assert statuses == ["submitted", "active", "submitted"]
    assert offers(stage, event.id)[:2] == ["unfit", "taken"]
    following = send(stage, "paid:D-1", {"amount": 6}, is_consumed=True)
    stage.drain()
    assert stage.status_of(younger.id) == "active"
    ((_, _, output, _),) = steps(stage, younger)
    assert output["evidence"]["event_id"] == str(following.id)


def test_what_a_wait_leaves_goes_to_the_next(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    paused, younger = (wait_in(stage, "D-2", waiting()) for _ in range(2))
    instances.pause(olga, paused.instance_id, version(stage, paused), "the auditors are here")
    event = send(stage, "paid:D-2", is_consumed=True)
    stage.wake(younger.instance_id)
    stage.drain()
    assert stage.status_of(younger.id) == "submitted", "it is the older wait's"
    assert offers(stage, event.id) == ["open", "open"]
    instances.cancel(olga, paused.instance_id, version(stage, paused), "it is not needed", then="leave")
    stage.drain()
    assert offers(stage, event.id) == ["ended", "taken"]
    assert stage.status_of(younger.id) == "active"
    check(stage, younger)


def test_a_paused_instance_takes_what_came_when_it_is_resumed(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = wait_in(stage, "E-1", waiting(timeout="P1D"))
    instances.pause(olga, document.instance_id, version(stage, document), "the auditors are here")
    send(stage, "paid:E-1")
    stage.drain()
    assert stage.status_of(document.id) == "submitted"
    instances.resume(olga, document.instance_id, version(stage, document))
    stage.drain()
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_after_its_time_the_wait_ends_and_a_late_event_does_nothing(stage: WorkflowStage) -> None:
    document = wait_in(stage, "F-1", waiting(timeout="P1D"))
    pass_time(stage, document, timedelta(hours=25))
    ((status, _, output, _),) = steps(stage, document)
    assert (status, output["outcome"]) == ("completed", "timeout")
    late = send(stage, "paid:F-1")
    stage.drain()
    assert (stage.status_of(document.id), offers(stage, late.id)) == ("submitted", [])
    check(stage, document)


def test_what_came_too_late_loses_to_the_end_of_the_wait(stage: WorkflowStage) -> None:
    """The event is there when the wave looks, and the wait was over before it came."""
    document = wait_in(stage, "F-3", waiting(timeout="P1D"))
    for statement in MOMENTS:
        stage.standing.run_unguarded(statement, timedelta(hours=25), document.instance_id)
    late = send(stage, "paid:F-3")
    stage.drain()
    ((_, _, output, _),) = steps(stage, document)
    assert (output["outcome"], offers(stage, late.id)) == ("timeout", ["ended"])


def test_what_came_in_time_counts_though_it_is_looked_at_later(stage: WorkflowStage) -> None:
    """The worker was away: the event had come before the wait was over."""
    document = wait_in(stage, "F-2", waiting(timeout="P1D"))
    send(stage, "paid:F-2")
    passed = timedelta(hours=25)
    stage.standing.run_unguarded(
        "UPDATE workflow_inbound_events SET received_at = received_at - %s WHERE event_key = 'paid:F-2'",
        passed,
    )
    pass_time(stage, document, passed)
    assert stage.status_of(document.id) == "active"


def test_any_of_several_keys_ends_the_wait(stage: WorkflowStage) -> None:
    keys = ["paid:{entity.number}", "waived:{entity.number}"]
    node = {"id": "wait", "type": "wait_event", "config": {"any_of": keys}}
    document = wait_in(stage, "G-1", {"nodes": [node]})
    assert open_waits(stage, document) == 2
    send(stage, "waived:G-1")
    stage.drain()
    assert (stage.status_of(document.id), open_waits(stage, document)) == ("active", 0)
    left = send(stage, "paid:G-1")
    assert offers(stage, left.id) == []


def test_a_payload_that_no_open_wait_can_use_is_refused_at_the_door(stage: WorkflowStage) -> None:
    document = wait_in(stage, "H-1", waiting(schema=SCHEMA))
    with pytest.raises(Rejected) as refused:
        send(stage, "paid:H-1", {"amount": 0}, message_id="h-1")
    assert (refused.value.code, refused.value.fields[0].pointer) == (
        "EVENT_PAYLOAD_INVALID",
        "/payload/amount",
    )
    assert not send(stage, "paid:H-1", {"amount": 2}, message_id="h-1").was_known
    stage.drain()
    assert stage.status_of(document.id) == "active"


def test_where_one_wait_can_use_it_the_others_wait_on(stage: WorkflowStage) -> None:
    strict, easy = wait_in(stage, "H-2", waiting(schema=SCHEMA)), wait_in(stage, "H-2", waiting())
    event = send(stage, "paid:H-2", "paid by hand")
    stage.drain()
    assert [stage.status_of(made.id) for made in (strict, easy)] == ["submitted", "active"]
    assert offers(stage, event.id) == ["unfit", "taken"]


def test_a_kept_payload_is_checked_by_the_wait(stage: WorkflowStage) -> None:
    event = send(stage, "paid:H-3", {"amount": "much"})
    document = wait_in(stage, "H-3", waiting(schema=SCHEMA))
    assert (stage.status_of(document.id), offers(stage, event.id)) == ("submitted", ["unfit"])


def test_what_did_not_fit_is_offered_again(stage: WorkflowStage) -> None:
    slot = waiting(condition="event.amount <= org.limit", save_as="paid")
    set_limit(stage, 1)
    document = wait_in(stage, "M-1", slot)
    event = send(stage, "paid:M-1", {"amount": 5})
    stage.drain()
    kept, olga = SentEvents(stage.standing.company.database), stage.standing.company.caller("olga")
    (offer,) = kept.list_offers(olga.principal, event.id)
    assert (offer.status, offer.node_id) == ("unfit", "usr:approval:wait")
    assert "org.limit" in str(kept.read(olga.principal, event.id).reason)
    set_limit(stage, 9)
    stage.drain()
    assert stage.status_of(document.id) == "submitted", "nobody has offered it again"
    assert kept.replay(olga, event.id, "the limit is another").offered == 1
    stage.drain()
    assert stage.status_of(document.id) == "active"
    found = kept.read(olga.principal, event.id)
    assert (found.state, found.reason) == ("taken", None)
    check(stage, document)


def test_what_was_left_by_a_wait_is_offered_to_another_by_a_replay(stage: WorkflowStage) -> None:
    """An event that came too late for one document is kept, and its state says why it was not taken."""
    document = wait_in(stage, "M-2", waiting(timeout="P1D"))
    instances, olga = operating_on(stage)
    instances.pause(olga, document.instance_id, version(stage, document), "the auditors are here")
    event = send(stage, "paid:M-2")
    instances.cancel(olga, document.instance_id, version(stage, document), "not needed", then="leave")
    kept = SentEvents(stage.standing.company.database)
    found = kept.read(olga.principal, event.id)
    assert (found.state, found.reason) == ("kept", "the wait had ended: cancelled")
    next_one = wait_in(stage, "M-2", waiting())
    assert stage.status_of(next_one.id) == "active"


@pytest.mark.parametrize("number", [None, ""])
def test_a_key_with_a_hole_is_held(stage: WorkflowStage, number: str | None) -> None:
    document = stage.create(stage.publish(EDITABLE, approval=waiting()), number=number)
    stage.ask(document.id, "submit")
    stage.drain()
    assert codes(stage, document) == ["EVENT_KEY_INVALID"]
    stage.edit(document.id, number=f"I-1{number}")
    stage.drain()
    assert codes(stage, document) == []
    send(stage, f"paid:I-1{number}")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_an_edit_moves_the_wait_to_the_new_key(stage: WorkflowStage) -> None:
    document = wait_in(stage, "J-1", waiting(), states=EDITABLE["states"])
    stage.edit(document.id, number="J-2")
    stage.drain()
    assert [row[0] for row in steps(stage, document)] == ["cancelled", "running"]
    assert open_waits(stage, document) == 1
    unmatched = send(stage, "paid:J-1")
    send(stage, "paid:J-2")
    stage.drain()
    assert (stage.status_of(document.id), offers(stage, unmatched.id)) == ("active", [])
    check(stage, document)


@pytest.mark.parametrize(("act", "slot"), [("cancel", "approval"), ("delete", "checks")])
def test_a_document_that_is_cancelled_or_deleted_waits_no_more(
    stage: WorkflowStage, act: str, slot: str
) -> None:
    document = stage.create(stage.publish(**{slot: waiting()}), number=f"K-{act}")
    stage.ask(document.id, "submit")
    stage.drain()
    assert open_waits(stage, document) == 1
    if act == "cancel":
        stage.ask(document.id, "cancel")
    else:
        stage.delete(document.id)
    stage.drain()
    assert ([row[0] for row in steps(stage, document)], open_waits(stage, document)) == (["cancelled"], 0)
    event = send(stage, f"paid:K-{act}")
    assert offers(stage, event.id) == []
    check(stage, document)


def test_a_moved_instance_waits_on_where_its_terms_are_the_same(stage: WorkflowStage) -> None:
    entity_type = stage.publish(approval=waiting())
    document = stage.create(entity_type, number="N-1")
    stage.ask(document.id, "submit")
    stage.drain()
    newer = stage.publish_next(entity_type, approval=waiting(), checks={"nodes": [NOTE]})
    other = stage.publish_next(entity_type, approval=waiting("other:{entity.number}"))
    moves = InstanceMoves(stage.standing.company.database, stage.caches(), CompiledCache())
    assert codes_of_move(move(moves, stage, document, other)) == ["WAIT_CHANGED"]
    move(moves, stage, document, newer)
    stage.drain()
    assert (pin_of(stage, document)[2], open_waits(stage, document)) == (newer, 1)
    send(stage, "paid:N-1")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_an_event_of_another_tenant_ends_no_wait(stage: WorkflowStage) -> None:
    document = wait_in(stage, "N-2", waiting())
    other = make_company(stage.standing.company.database)
    events = InboundEvents(other.database, lambda tenant_id, name: None)
    sent = events.send(other.caller(), "paid:N-2", None, None)
    stage.drain()
    assert (stage.status_of(document.id), offers(stage, sent.id)) == ("submitted", [])
    send(stage, "paid:N-2")
    stage.drain()
    assert stage.status_of(document.id) == "active"


def test_an_operator_answers_for_the_event(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = wait_in(stage, "L-1", waiting(save_as="paid"))
    instances.advance(
        olga,
        document.instance_id,
        version(stage, document),
        "usr:approval:wait",
        "the bank rang",
        payload={"amount": 5},
    )
    stage.drain()
    assert (stage.status_of(document.id), open_waits(stage, document)) == ("active", 0)
    late = send(stage, "paid:L-1")
    assert offers(stage, late.id) == []
    check(stage, document)
