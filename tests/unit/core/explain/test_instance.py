"""The place of an instance, what it waits for, and what would move it."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.explain.instance_record import (
    EffectRecord,
    ExplainedTransitionRequest,
    InstanceRecords,
    TriggerRecord,
)
from signet.core.explain.waits import AWAITED
from signet.core.runtime.projection import DRIFT, POINTED_BEHIND
from tests.support.core.instance_records import (
    DOCUMENT,
    DRAFT,
    FINANCE,
    INSTANCE,
    LATER,
    NOW,
    at,
    control,
    record,
    step,
    tell,
    token,
)
from tests.support.core.small_workflows import AUTOMATION, compile_automatic, compile_slot

# --- in one sentence ---


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            record(tokens=[token(DRAFT)]),
            'The invoice 00000000-0000-0000-0000-000000000003 is "draft", at version 1.'
            ' Its workflow waits at the state "draft".',
        ),
        (record(tokens=[token(FINANCE, "ready")]), 'Its workflow runs at the approval "Finance".'),
        (
            record(tokens=[token(DRAFT), token(FINANCE), token("usr:approvals:fork", "parted")]),
            'Its workflow waits at the state "draft" and the approval "Finance".',
        ),
        (record(status="paused", reason="why"), "Its workflow is paused: why."),
        (
            record(status="paused", reason="who?", tokens=[token("sys:gate:approve", "ready")]),
            'Its workflow is paused at the gate "Approval": who?',
        ),
        (record(status="completed"), "Its workflow has ended."),
        (record(status="cancelled", reason="amended"), "Its workflow is over, cancelled: amended."),
        (
            record(document=replace(DOCUMENT, status="submitted", is_deleted=True)),
            'is "Submitted" and deleted, at version 1.',
        ),
        (record(document=replace(DOCUMENT, status="amended")), 'is "amended", at version 1.'),
    ],
)
def test_it_begins_with_how_it_stands(found: InstanceRecords, sentence: str) -> None:
    assert sentence in tell(found).splitlines()[0]


def test_the_second_line_says_which_workflow_and_for_whom() -> None:
    line = "Workflow standard, instance 00000000-0000-0000-0000-000000000001, version 2, acting for carl."
    assert tell(record()).splitlines()[1] == line
    nobody = replace(record(), instance=replace(INSTANCE, actor_id=""))
    assert tell(nobody).splitlines()[1].endswith("acting for nobody.")


def test_without_a_document_and_a_contract() -> None:
    workflow = compile_automatic(AUTOMATION)
    about_nothing = replace(INSTANCE, entity_type=None, entity_id=None)
    waiting = replace(about_nothing, active_tokens=[token("usr:main:wait")])
    opened = step("usr:main:wait", "wait_timer", is_open=True, resume_at=LATER)
    text = tell(InstanceRecords(waiting, None, [opened], None, [], [], []), workflow, None)
    assert text.startswith('The workflow waits at the wait "wait".\nWorkflow reminder')
    assert "The workflow waits for 1 day (P1D)." in text
    assert "It goes on by itself at 2026-03-01 13:00:00 UTC." in text
    ended = replace(about_nothing, status="completed")
    over = tell(InstanceRecords(ended, None, [], None, [], [], []), workflow, None)
    assert "Nothing: it is over.\n\nHow it came here (steps in the order of their ends)\n" in over


# --- its place, and what it waits for ---


def test_a_wait_says_which_calendar_gave_its_moment() -> None:
    workflow = compile_automatic(AUTOMATION)
    waiting = replace(INSTANCE, entity_type=None, entity_id=None, active_tokens=[token("usr:main:wait")])
    given = {"calendar": "office", "calendar_version": 2, "zone": "UTC"}
    opened = replace(
        step("usr:main:wait", "wait_timer", is_open=True, resume_at=LATER),
        input_json=given,
        waiting_for_event_key="signet:calendar/office",
    )
    text = tell(InstanceRecords(waiting, None, [opened], None, [], [], []), workflow, None)
    assert 'That is by version 2 of the calendar "office", in UTC.' in text
    assert "signet:" not in text
    newer = {**given, "calendar_version": 3, "due_at": LATER.isoformat()}
    moved = control(
        "rescheduled",
        token="T",
        node="usr:main:wait",
        because="calendar",
        given=newer,
        **{"from": NOW.isoformat()},
    )
    again = tell(InstanceRecords(waiting, None, [opened, moved], None, [], [], []), workflow, None)
    assert 'That is by version 3 of the calendar "office", in UTC.' in again


def test_a_state_says_who_may_ask_for_what() -> None:
    text = tell(at(DRAFT))
    assert '  The state "draft" [sys:state:draft] since 2026-03-01 12:00:00 UTC.' in text
    assert (
        'A person with the permission invoice:submit may ask for "submit", only if the acting person' in text
    )
    assert 'A person with the permission invoice:cancel may ask for "cancel", with a reason.' in text
    assert text.index("invoice:submit") < text.index("invoice:cancel")
    assert "A person's request, or an edit of the document." in text
    assert 'may ask for "cancel".' in tell(at(DRAFT), contract=None)


def test_a_request_that_is_open_is_told() -> None:
    request = ExplainedTransitionRequest(UUID(int=9), "approve", "sam", "at once", NOW)
    found = replace(at(DRAFT), request=request)
    assert 'sam asked for "Approval" at 2026-03-01 12:00:00 UTC ("at once"); that is not' in tell(found)
    assert "A request did not reach it: wake it." in tell(found)
    plain = replace(found, request=replace(request, reason=None, transition="unknown_one"))
    assert 'sam asked for "unknown one" at 2026-03-01 12:00:00 UTC; that is not taken up yet.' in tell(plain)
    assert 'sam asked for "approve" at' in tell(found, contract=None)
    taken = replace(found, instance=replace(found.instance, request_id=UUID(int=9)))
    assert "did not reach it" not in tell(taken)
    on_its_way = replace(found, triggers=[trigger("pending")])
    assert "did not reach it" not in tell(on_its_way)


def test_an_approval_says_whom_it_asks() -> None:
    text = tell(at(FINANCE, node_type="approval"))
    assert 'Asked to approve: a person with the role "finance manager" [finance_manager]' in text
    assert "The decision of the people who were asked." in text


def test_an_event_from_outside_has_its_key() -> None:
    workflow = compile_slot("approvals", nodes=[{"id": "w", "type": "wait_event", "config": {"key": "k-1"}}])
    found = at("usr:approvals:w", node_type="wait_event", waiting_for_event_key="k-1")
    assert 'The key is "k-1".' in tell(found, workflow)
    both = at(
        "usr:approvals:w",
        node_type="wait_event",
        waiting_for_event_key="k-1",
        input_json={"keys": ["k-1", "k-2"]},
    )
    assert 'Any of these keys ends it: "k-1", "k-2".' in tell(both, workflow)
    assert "The event from outside, or the end of its wait." in tell(found, workflow)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": "pending"}, 'The call to the endpoint "erp" is due at 2026-03-01 13:00:00 UTC.'),
        ({"status": "processing"}, "is under way, attempt 2 of 5."),
        (
            {"status": "failed", "error": "HTTP 503"},
            "failed, attempt 2 of 5; it is tried again at 2026-03-01 13:00:00 UTC. The last time: HTTP 503.",
        ),
        ({"status": "completed"}, "has been delivered; the workflow has not taken the answer yet."),
        (
            {"status": "dead_letter", "error": "gone!"},
            "was given up after attempt 2 of 5. The last time: gone!",
        ),
        (
            {"status": "held", "error": "HTTP 410"},
            "is held until the endpoint is switched on; then it goes on by itself. The last time: HTTP 410.",
        ),
        (
            {"status": "withdrawn"},
            "was withdrawn after attempt 2 of 5; the workflow has not taken that in yet.",
        ),
        ({"status": "pending", "endpoint": None}, "The message is due at 2026-03-01 13:00:00 UTC."),
        (
            {"status": "held", "held_by": "ENDPOINT_DISABLED"},
            "is held until the endpoint is switched on; then it goes on by itself.",
        ),
        (
            {"status": "held", "held_by": "ENDPOINT_UNKNOWN"},
            "is held until there is an endpoint of that name; then it goes on by itself.",
        ),
        (
            {"status": "processing", "endpoint": None, "effect_type": "integration"},
            "The event for other systems is under way, attempt 2 of 5.",
        ),
    ],
)
def test_a_call_to_the_outside_says_how_far_it_is(changes: dict[str, Any], sentence: str) -> None:
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
    workflow = compile_slot("approvals", nodes=[call])
    effect = EffectRecord(UUID(int=4), "webhook", "erp", "pending", 2, 5, LATER, None, may_have_left=True)
    found = replace(
        at("usr:approvals:call", node_type="webhook_out"),
        effects=[replace(effect, **changes), replace(effect, step_execution_id=UUID(int=99))],
    )
    assert sentence in tell(found, workflow)
    assert tell(found, workflow).count("13:00:00") <= 1
    assert "Nothing was sent for it" in tell(replace(found, effects=[]), workflow)


def test_a_node_that_is_not_begun() -> None:
    ready = [token("sys:gate:submit", "ready")]
    assert "It is the next to be executed." in tell(record(tokens=ready))
    held = tell(record(tokens=ready, status="paused", reason="no"))
    assert "It has not been executed yet." in held
    assert 'It passes only if the invoice\'s "Total" is more than 0.00 (entity.grand_total > 0).' in held
    without = tell(record(tokens=[token("sys:end", "ready")], status="paused", reason="no"))
    assert "It passes only if" not in without


# --- its triggers ---


def trigger(status: str, error: str | None = None) -> TriggerRecord:
    return TriggerRecord(UUID(int=8), "mutation", status, 2, 5, LATER, error)


def test_each_type_that_waits_has_words_for_what_ends_it() -> None:
    waiting = {name for name, node_type in NODE_TYPES.items() if node_type.waits}
    # A gate waits where votes have lapsed.
    assert AWAITED.keys() == waiting | {"lifecycle_gate"}


def test_what_a_person_has_paused_wants_to_be_resumed_and_all_else_retried() -> None:
    text = tell(record(status="paused", reason="why"))
    assert "Nothing wakes it while it is paused: one of the acts of its incident brings it on." in text
    assert "dead trigger" not in text
    by_person = replace(control("paused", reason="why"), seq=5)
    by_engine = replace(by_person, run_as="system")
    by_hand = record(status="paused", reason="why", steps=[replace(by_engine, seq=3), by_person])
    assert "Nothing wakes it while it is paused: resume it, or fail it." in tell(by_hand)
    again = record(status="paused", reason="why", steps=[by_person, replace(by_engine, seq=6)])
    assert "one of the acts of its incident brings it on" in tell(again)


def test_what_an_endpoint_holds_goes_on_by_itself() -> None:
    text = tell(record(status="paused", reason="ENDPOINT_DISABLED: the endpoint is switched off"))
    assert "It goes on by itself when its endpoint is there and switched on." in text
    assert "Nothing wakes it" not in text
    dead = tell(record(status="paused", reason="why", triggers=[trigger("dead_letter", "E: x")]))
    assert "That also tries its dead trigger again." in dead
    assert (
        f"The trigger mutation [{UUID(int=8)}] was given up after attempt 2 of 5. The last time: E: x."
        in dead
    )
    assert "Its document changed where it must not: one of the acts" in tell(
        record(status="paused", reason=DRIFT)
    )


def test_who_asked_and_is_no_member_any_more_is_named_with_all_ways_out() -> None:
    absent = record(status="paused", reason="ACTOR_NOT_ACTIVE: carl", request_id=UUID(int=9))
    text = tell(absent)
    assert "Make the person who asked an active member again." in text
    assert "Or another member asks for the same." in text
    assert "Or cancel the token" not in text
    tokens = [token("sys:gate:approve", "ready"), token(DRAFT, "ready"), token(FINANCE)]
    gated = tell(record(status="paused", reason="ACTOR_NOT_ACTIVE: carl", tokens=tokens))
    assert gated.count("Or cancel the token at") == 1
    assert "Or another member asks for the same." not in gated


def test_what_outages_gave_back_and_what_only_waits_for_a_time() -> None:
    back = replace(
        trigger("pending"), given_back=2, given_back_since=NOW, given_back_code="DATABASE_UNAVAILABLE"
    )
    assert "It was given back 2 times since 2026-03-01 12:00:00 UTC" in tell(record(triggers=[back]))
    timed = replace(trigger("pending"), event_type="continue", attempts=0, is_scheduled=True, due_at=LATER)
    assert "The trigger continue" not in tell(record(triggers=[timed]))


def test_one_that_should_go_on_is_said_to_be_stuck_when_nothing_wakes_it() -> None:
    ready = record(tokens=[token(DRAFT, "ready")])
    assert "nothing will wake it: wake it, or rebuild it." in tell(ready)
    assert "nothing will wake it" in tell(replace(ready, triggers=[trigger("dead_letter")]))
    woken = tell(replace(ready, triggers=[trigger("failed", "E: x")]))
    assert "nothing will wake it" not in woken
    assert "failed, attempt 2 of 5; it is tried again at" in woken


def test_a_held_branch_is_told_beside_what_the_others_wait_for() -> None:
    hold = {"hold": {"seq": 4, "reason": "EFFECT_DEAD: gone"}}
    held = record(tokens=[{**token(DRAFT, "failed"), **hold}, token(DRAFT, "waiting")])
    told = tell(held)
    assert "What is held goes on by one of the acts of its incident." in told
    assert "It is held: EFFECT_DEAD: gone." in told


def test_one_that_is_over_says_what_begins_anew() -> None:
    over = record(status="failed", reason="why")
    begins = """A request for "submit" or "cancel" begins a new workflow at the document's status."""
    assert begins in tell(over)
    for document in (
        None,
        replace(DOCUMENT, is_deleted=True),
        replace(DOCUMENT, status="cancelled"),
    ):
        assert "begins a new workflow" not in tell(replace(over, document=document))
    assert "begins a new workflow" not in tell(over, contract=None)
    left = replace(over, triggers=[trigger("pending"), trigger("dead_letter")])
    assert tell(left).count("The trigger mutation") == 1


# --- what it reads of other documents ---


def test_what_was_approved_of_other_documents_is_listed_with_its_approval() -> None:
    pin = {"document_id": str(UUID(int=7)), "version": 2, "values": {"iban": "DE", "city": "Bonn"}}
    pins = {
        "vendor": {**pin, "approval": str(UUID(int=8)), "inherited_from": str(UUID(int=9))},
        "payer": {**pin, "version": None, "values": {}, "approval": str(UUID(int=8))},
        "agent": pin,
        "bank": {**pin, "version": None, POINTED_BEHIND: True},
    }
    text = tell(replace(record(), instance=replace(INSTANCE, pins=pins)))
    seven, eight, nine = UUID(int=7), UUID(int=8), UUID(int=9)
    assert f"vendor: city and iban of document {seven} as of version 2, by approval {eight}" in text
    assert f" of document {nine}, which made this one." in text
    assert f"payer: nothing of document {seven} which was not there, by approval {eight}." in text
    assert (
        f"agent: city and iban of document {seven} as of version 2, by an approval of an older release."
        in text
    )
    assert f"bank: a step has pointed it to document {seven}. Nobody has approved what that says." in text
    assert "as it was approved" not in tell(record())
