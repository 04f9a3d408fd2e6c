"""Each thing that can be on record of an instance, in words; `tests/engine/waves` has whole texts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from signet.core.artifact import Artifact
from signet.core.contract import Contract
from signet.core.explain_instance import MAX_SHOWN_STEPS, explain_instance, write_instance
from signet.core.instance_record import (
    DocumentRecord,
    EffectRecord,
    InstanceRecord,
    Record,
    RequestRecord,
    StepRecord,
    TriggerRecord,
    TurnRecord,
)
from signet.core.instance_words import AWAITED
from signet.core.nodes.types import NODE_TYPES
from signet.core.reactions import DRIFT
from tests.unit.workflows_to_read import (
    AUTOMATION,
    PATCH,
    compile_automatic,
    compile_patch,
    compile_slot,
    make_contract,
)

CONTRACT = make_contract()
WORKFLOW = compile_patch(PATCH)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
INSTANCE = InstanceRecord(
    id=UUID(int=1),
    definition_id=UUID(int=2),
    definition_version=1,
    entity_type="invoice",
    entity_id=UUID(int=3),
    status="running",
    reason=None,
    version=2,
    actor_id="carl",
    request_id=None,
    active_tokens=[],
    started_at=NOW,
    updated_at=NOW,
)
DOCUMENT = DocumentRecord(contract_version=1, status="draft", version=1, is_deleted=False)
DRAFT, FINANCE = "sys:state:draft", "usr:approvals:finance"
CONDITION = {"expression": "entity.grand_total > 0", "variables": {"entity.grand_total": 7}, "result": True}


def token(node: str, state: str = "waiting") -> dict[str, Any]:
    return {"id": "T", "node": node, "state": state}


def step(node: str, node_type: str = "state", *, is_open: bool = False, **changes: Any) -> StepRecord:
    made = StepRecord(
        id=UUID(int=4),
        seq=2,
        end_seq=None if is_open else 2,
        node_id=node,
        node_type=node_type,
        token_id="T",
        status="running" if is_open else "completed",
        run_as="actor",
        actor_user_id="carl",
        output_json=None,
        error=None,
        started_at=NOW,
        completed_at=None if is_open else NOW,
        resume_at=None,
        waiting_for_event_key=None,
    )
    return replace(made, **changes)


def control(name: str, **data: Any) -> StepRecord:
    return step(f"sys:control:{name}", "control", output_json=data)


def record(**changes: Any) -> Record:
    """`status`, `reason`, `tokens` and `request_id` are the instance's."""
    own = {name: changes.pop(name) for name in ("status", "reason", "request_id") if name in changes}
    instance = replace(INSTANCE, active_tokens=changes.pop("tokens", []), **own)
    nothing: dict[str, Any] = {"steps": [], "request": None, "triggers": [], "effects": [], "turns": []}
    return Record(**{"instance": instance, "document": DOCUMENT, **nothing, **changes})


def at(node: str, **changes: Any) -> Record:
    """Waiting there."""
    node_type = changes.pop("node_type", "state")
    return record(tokens=[token(node)], steps=[step(node, node_type, is_open=True, **changes)])


def tell(found: Record, workflow: Artifact = WORKFLOW, contract: Contract | None = CONTRACT) -> str:
    return "\n".join(write_instance(explain_instance(workflow, contract, found)))


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
def test_it_begins_with_how_it_stands(found: Record, sentence: str) -> None:
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
    text = tell(Record(waiting, None, [opened], None, [], [], []), workflow, None)
    assert text.startswith('The workflow waits at the wait "wait".\nWorkflow reminder')
    assert "The workflow waits for 1 day (P1D)." in text
    assert "It goes on by itself at 2026-03-01 13:00:00 UTC." in text
    ended = replace(about_nothing, status="completed")
    over = tell(Record(ended, None, [], None, [], [], []), workflow, None)
    assert "Nothing: it is over.\n\nHow it came here" in over


# --- where it is, and what it waits for ---


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
    request = RequestRecord(UUID(int=9), "approve", "sam", "at once", NOW)
    found = replace(at(DRAFT), request=request)
    assert 'sam asked for "Approval" at 2026-03-01 12:00:00 UTC ("at once"); that is not' in tell(found)
    assert "What was asked for did not reach it: wake it." in tell(found)
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
    assert "The event from outside, or the time." in tell(found, workflow)


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
        ({"status": "pending", "endpoint": None}, "The message is due at 2026-03-01 13:00:00 UTC."),
    ],
)
def test_a_call_to_the_outside_says_how_far_it_is(changes: dict[str, Any], sentence: str) -> None:
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
    workflow = compile_slot("approvals", nodes=[call])
    effect = EffectRecord(UUID(int=4), "webhook", "erp", "pending", 2, 5, LATER, None)
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


# --- what moves it ---


def trigger(status: str, error: str | None = None) -> TriggerRecord:
    return TriggerRecord(UUID(int=8), "mutation", status, 2, 5, LATER, error)


def test_each_type_that_waits_has_words_for_what_ends_it() -> None:
    assert AWAITED.keys() == {name for name, node_type in NODE_TYPES.items() if node_type.waits}


def test_a_paused_one_wants_to_be_resumed() -> None:
    text = tell(record(status="paused", reason="why"))
    assert "Nothing wakes it while it is paused: resume it when the cause is gone, or fail it." in text
    assert "Requeue" not in text
    dead = tell(record(status="paused", reason="why", triggers=[trigger("dead_letter", "E: x")]))
    assert "Requeue the dead trigger to try again what failed." in dead
    assert (
        f"The trigger mutation [{UUID(int=8)}] was given up after attempt 2 of 5. The last time: E: x."
        in dead
    )
    assert "it can only be failed" in tell(record(status="paused", reason=DRIFT))


def test_one_that_should_go_on_is_said_to_be_stuck_when_nothing_wakes_it() -> None:
    ready = record(tokens=[token(DRAFT, "ready")])
    assert "nothing will wake it: wake it, or rebuild it." in tell(ready)
    assert "nothing will wake it" in tell(replace(ready, triggers=[trigger("dead_letter")]))
    woken = tell(replace(ready, triggers=[trigger("failed", "E: x")]))
    assert "nothing will wake it" not in woken
    assert "failed, attempt 2 of 5; it is tried again at" in woken


def test_one_that_is_over_says_what_begins_anew() -> None:
    over = record(status="failed", reason="why")
    assert 'A request for "submit" or "cancel" begins a new one where the document stands.' in tell(over)
    for document in (
        None,
        replace(DOCUMENT, is_deleted=True),
        replace(DOCUMENT, status="cancelled"),
    ):
        assert "begins a new one" not in tell(replace(over, document=document))
    assert "begins a new one" not in tell(over, contract=None)
    left = replace(over, triggers=[trigger("pending"), trigger("dead_letter")])
    assert tell(left).count("The trigger mutation") == 1


# --- what happened ---


@pytest.mark.parametrize(
    ("happened", "sentence"),
    [
        (control("paused", reason="why"), "It paused: why. (by carl)"),
        (control("resumed"), "It was resumed. (by carl)"),
        (control("failed", reason="why."), "It was given up: why. (by carl)"),
        (
            control("edited", seen=1, found=3),
            "The document was edited: it is at version 3, and was seen at 1.",
        ),
        (
            control("asked_again", transition="submit"),
            '"submit" was asked for again, which it was on its way to.',
        ),
        (
            control("sent_to", node="sys:gate:cancel", transition="cancel"),
            '"cancel" was asked for: it was sent to the gate "cancel".',
        ),
        (control("sent_to", node=DRAFT, because="edited"), 'It was sent to the state "draft": edited.'),
        (
            control("refused", transition="submit", reason="the books are closed"),
            'The request for "submit" was refused: the books are closed.',
        ),
        (control("amended"), "It was amended. (by carl)"),
        (step(DRAFT, status="cancelled"), 'The state "draft": cancelled. (for carl)'),
        (
            step(
                DRAFT,
                output_json={
                    "outcome": "requested",
                    "actor": {"id": "sam", "roles": []},
                    "evidence": {"request": "submit"},
                    "chosen_edge_ids": ["sys:edge:state:draft>gate:submit#requested"],
                },
            ),
            'The state "draft": sam asked for "submit". On to the gate "submit". (for carl)',
        ),
        (
            step("sys:start", "start", run_as="system", output_json={"outcome": "created"}),
            "The start: the document was created. (by the system)",
        ),
        (
            step("sys:end", "end", run_as="service_account", output_json={"outcome": "done"}),
            "The end: done. (by the service account)",
        ),
        (
            step(
                "sys:policy:usr:posting:post",
                "policy_gate",
                output_json={"outcome": "denied"},
                error="PERMISSION_DENIED: no",
            ),
            'The policy gate of "post": denied, PERMISSION_DENIED: no. (for carl)',
        ),
    ],
)
def test_what_happened_in_a_sentence(happened: StepRecord, sentence: str) -> None:
    assert f"     2  {sentence}" in tell(record(steps=[happened]))


def test_a_way_is_told_by_where_it_leads_and_its_label() -> None:
    edges = WORKFLOW.content["edges"]

    def chosen(source: str) -> str:
        ids = [edge_id for edge_id, edge in sorted(edges.items()) if edge["source"] == source]
        output = {"outcome": "done", "chosen_edge_ids": ids}
        node_type = WORKFLOW.content["nodes"][source]["type"]
        return tell(record(steps=[step(source, node_type, output_json=output)]))

    assert 'On to "Finance" and "owner" (who pays).' in chosen("usr:approvals:fork")
    assert 'On to the steps "approvals" and the gate "cancel".' in chosen("sys:state:submitted")


def test_a_slot_before_a_gate_is_called_by_its_label() -> None:
    workflow = compile_slot("checks", nodes=[{"id": "post", "type": "action", "config": {"action": "post"}}])
    assert 'A person with the permission invoice:submit may ask for "submit"' in tell(at(DRAFT), workflow)
    (entered,) = (
        edge_id
        for edge_id, edge in workflow.content["edges"].items()
        if edge["source"] == DRAFT and edge["on"] == "requested"
    )
    left = step(DRAFT, output_json={"outcome": "requested", "chosen_edge_ids": [entered]})
    assert 'On to the steps "Checks".' in tell(record(steps=[left]), workflow)
    assert 'On to the steps "checks".' in tell(record(steps=[left]), workflow, None)


def test_steps_that_only_pass_by_are_left_out_and_the_last_ones_are_kept() -> None:
    steps = [step(DRAFT, seq=number, end_seq=number) for number in range(1, MAX_SHOWN_STEPS + 3)]
    explained = explain_instance(WORKFLOW, CONTRACT, record(steps=[*steps, step("sys:slot", "slot_in")]))
    assert [happened.seq for happened in explained.happened] == list(range(3, MAX_SHOWN_STEPS + 3))
    first_ended_last = [step(DRAFT, seq=1, end_seq=9), step(DRAFT, seq=5, end_seq=5)]
    explained = explain_instance(WORKFLOW, CONTRACT, record(steps=first_ended_last))
    assert [happened.seq for happened in explained.happened] == [5, 1]


def test_conditions_are_found_wherever_they_stand_with_what_they_read() -> None:
    other = {"expression": "entity.vendor_id", "variables": {}, "result": "V-1"}
    no = {**CONDITION, "result": False, "variables": {"b": None, "a": 1}}
    evidence = {
        "conditions": [{**CONDITION, "edge": "x"}, no],
        "set": {"v": other},
        "rules": {"r": CONDITION},
    }
    happened = step(
        "usr:approvals:amount", "condition", output_json={"outcome": "done", "evidence": evidence}
    )
    (found,) = explain_instance(WORKFLOW, CONTRACT, record(steps=[happened])).happened
    assert [condition.text for condition in found.conditions] == [
        'the invoice\'s "Total" is more than 0.00 (entity.grand_total > 0): yes; entity.grand_total was 0.07',
        'the invoice\'s "Total" is more than 0.00 (entity.grand_total > 0): no; a was 1; b was null',
        'the invoice\'s "vendor id" (entity.vendor_id): "V-1"',
        'the invoice\'s "Total" is more than 0.00 (entity.grand_total > 0): yes; entity.grand_total was 0.07',
    ]
    assert [condition.result for condition in found.conditions] == [True, False, "V-1", True]


def test_a_failed_action_names_its_fields() -> None:
    evidence = {"code": "FIELDS_INVALID", "fields": [{"pointer": "/a", "message": "wants a date"}]}
    happened = step("usr:posting:post", "action", output_json={"outcome": "error", "evidence": evidence})
    assert "          /a wants a date" in tell(record(steps=[happened]))


def test_its_life_is_told_in_lines() -> None:
    turns = [
        TurnRecord(NOW, "started", "carl", {}),
        TurnRecord(LATER, "paused", "olga", {"reason": "wait\x1b[2J"}),
    ]
    lines = tell(record(turns=turns)).splitlines()
    assert lines[-2:] == [
        "  2026-03-01 12:00:00 UTC  started (carl).",
        "  2026-03-01 13:00:00 UTC  paused (olga): wait\\u001b[2J.",
    ]
