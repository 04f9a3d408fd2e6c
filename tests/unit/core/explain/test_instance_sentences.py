"""The history of an instance, step by step, with the conditions that were read."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from signet.core.compiler.artifact import Artifact
from signet.core.explain.controls import CONTROLS
from signet.core.explain.instance import MAX_SHOWN_STEPS, Earlier, explain_instance
from signet.core.explain.instance_record import ExplainedStep, TurnRecord
from signet.core.runtime import projection
from signet.core.tenants.machine_label import MachineLabel
from tests.support.core.instance_records import (
    CONDITION,
    CONTRACT,
    DRAFT,
    FINANCE,
    LATER,
    NOW,
    WORKFLOW,
    at,
    control,
    record,
    step,
    tell,
)
from tests.support.core.small_workflows import compile_slot

GIVEN = {"calendar": "office", "calendar_version": 2, "zone": "UTC", "tzdata": "2026f"}


@pytest.mark.parametrize(
    ("happened", "sentence"),
    [
        (control("paused", reason="why"), "It paused: why. (by carl)"),
        (control("resumed"), "It was resumed. (by carl)"),
        (control("amended"), "It was amended. (by carl)"),
        # An action of a later release.
        (control("set_aside"), "It was set aside. (by carl)"),
        (control("failed", reason="why."), "It was given up: why. (by carl)"),
        (
            control("edited", seen=1, found=3),
            "The document was edited: it is at version 3; the workflow last saw version 1.",
        ),
        (
            control("asked_again", transition="submit"),
            '"submit" was asked for again; it was already under way.',
        ),
        (
            control("sent_to", node="sys:gate:cancel", transition="cancel"),
            '"cancel" was asked for: it was sent to the gate "cancel".',
        ),
        *(
            (
                control(
                    "rescheduled",
                    token="T",
                    node=FINANCE,
                    because=because,
                    given={**GIVEN, "due_at": "2026-03-04T00:00:00+00:00"},
                    **{"from": "2026-03-03T00:00:00+00:00"},
                ),
                'The approval "Finance" goes on at 2026-03-04 00:00:00 UTC,'
                f" and no more at 2026-03-03 00:00:00 UTC, because {why}.",
            )
            for because, why in (
                ("calendar", 'the calendar "office" counts, at version 2'),
                ("zone", "the time zone is UTC"),
                ("tzdata", "the rules of time zones are those of 2026f"),
                ("values", "what it reads has changed"),
            )
        ),
        (control("sent_to", node=DRAFT, because="edited"), 'It was sent to the state "draft": edited.'),
        (
            control("refused", transition="submit", reason="the books are closed"),
            'The request for "submit" was refused: the books are closed.',
        ),
        (control("amended"), "It was amended. (by carl)"),
        (
            control("moved", **{"from": {"name": "own", "version": 1}, "to": {"name": "own", "version": 2}}),
            "It was moved from own version 1 to own version 2. (by carl)",
        ),
        (
            control(
                "moved",
                reason="a new check",
                **{"from": {"name": "invoice", "version": 1}, "to": {"name": "own", "version": 2}},
            ),
            "It was moved from invoice version 1 to own version 2: a new check. (by carl)",
        ),
        (
            control(
                "moved",
                changes_approvals=True,
                **{"from": {"name": "own", "version": 1}, "to": {"name": "own", "version": 2}},
            ),
            "It was moved from own version 1 to own version 2. Other approvals are asked there. (by carl)",
        ),
        (control("retried", reason="the bank answers again"), "It was retried: the bank answers again."),
        (control("cancelled", reason="ordered twice"), "It was cancelled: ordered twice. (by carl)"),
        (
            control("token_cancelled", token="T", node=FINANCE, reason="nobody is there"),
            'The approval "Finance" was cancelled: nobody is there.',
        ),
        (
            control("renewed", token="T", node=FINANCE, reason="anna is away"),
            'The approval "Finance" is asked again: anna is away.',
        ),
        (
            control("advanced", token="T", node=DRAFT, reason="it came by phone"),
            'The state "draft" need not be waited for any more: it came by phone.',
        ),
        (
            control("references_changed", refs=["vendor"]),
            "What the document refers to has changed: vendor, since people were asked.",
        ),
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
                "sys:end",
                "end",
                run_as="service_account",
                actor_user_id="service:posting",
                output_json={"outcome": "done"},
            ),
            'The end: done. (by the service account "posting" [posting])',
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
def test_what_happened_in_a_sentence(happened: ExplainedStep, sentence: str) -> None:
    assert f"     2  {sentence}" in tell(record(steps=[happened]))


def test_a_machine_is_called_by_its_label_and_its_owner() -> None:
    subject = "key:00000000-0000-0000-0000-000000000009"
    key = MachineLabel(subject, "key", "erp", "olga")
    asked = {"actor": {"id": subject, "roles": []}, "evidence": {"request": "submit"}}
    found = record(
        steps=[
            step(DRAFT, output_json={"outcome": "requested", **asked}),
            step("sys:end", "end", seq=3, end_seq=3, actor_user_id=subject, output_json={"outcome": "done"}),
        ],
        turns=[TurnRecord(NOW, "started", subject, {})],
        machines={subject: key},
    )
    told = tell(replace(found, instance=replace(found.instance, actor_id=subject)))
    shown = 'the key "erp" (owned by olga)'
    assert f"acting for {shown}." in told
    assert f'The state "draft": {shown} asked for "submit".' in told
    assert f"The end: done. (for {shown})" in told
    assert f"started ({shown})." in told
    assert subject not in told


def test_each_control_that_an_instance_knows_has_a_sentence() -> None:
    assert CONTROLS.keys() == projection.CONTROLS.keys()


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


def test_how_many_steps_are_left_out_is_said() -> None:
    whole = record(steps=[step(DRAFT)])
    assert "left out" not in tell(replace(whole, ended_steps=1))
    assert "\n  214 earlier steps are left out.\n" in tell(replace(whole, ended_steps=215))


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


PAY = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "bank", "save_as": "paid"}}
POST = {"id": "post", "type": "action", "config": {"action": "post", "run_as": "system"}}
PAID = compile_slot("posting", nodes=[PAY, POST], edges=[{"source": "pay", "target": "post"}])
READ = "context.paid.body.reference"
NOT_GIVEN = {"code": "FIELDS_INVALID", "fields": [{"pointer": "/reference", "message": "is required"}]}


def tell_failed(read: dict[str, Any], *before: ExplainedStep) -> list[str]:
    """Return what is said below an action that failed for a field, with what it read for it."""
    failed = step(
        "usr:posting:post",
        "action",
        seq=9,
        end_seq=9,
        input_json={"payload": {"reference": None}, "variables": read},
        output_json={"outcome": "error", "evidence": NOT_GIVEN},
    )
    edges = [{"source": "pay", "target": "gone"}]
    named = compile_slot("posting", nodes=[PAY, {**PAY, "id": "gone"}], edges=edges)
    explained = explain_instance(
        PAID, CONTRACT, record(steps=[*before, failed]), [Earlier(8, named, CONTRACT)]
    )
    return list(explained.happened[-1].mistakes)


def answered(paid: Any, node: str = "usr:posting:pay", seq: int = 5) -> ExplainedStep:
    return step(node, "webhook_out", seq=seq, end_seq=seq + 1, output_json={"variables": {"paid": paid}})


@pytest.mark.parametrize(
    ("paid", "there"),
    [
        ({"status": 200, "body": {"order": "secret", "a": 1}}, "paid.body to an object with a, order"),
        ({"status": 200, "body": {}}, "paid.body to an empty object"),
        ({"status": 200, "body": None}, "paid.body to null"),
        ({"status": 200, "body": []}, "paid.body to a list"),
        ({"status": 200, "body": "secret"}, "paid.body to a single value"),
        ({"status": 200, "body": {"reference": None}}, "paid.body.reference to null"),
        (
            {"status": 200, "body": {f"f{number:02}": 1 for number in range(22)}},
            f"paid.body to an object with {', '.join(f'f{number:02}' for number in range(20))} and 2 more",
        ),
    ],
)
def test_a_failed_action_says_what_it_read_in_vain(paid: Any, there: str) -> None:
    sentence = f'{READ} read nothing: the call to an endpoint "pay" has set context.{there}.'
    assert tell_failed({READ: None, "entity.number": None}, answered(paid)) == [
        "/reference is required",
        sentence,
    ]


def test_what_was_set_last_is_told_also_by_a_step_that_is_gone() -> None:
    first = answered({"body": {"old": 1}}, "usr:posting:gone", seq=3)
    last = answered({"body": {"new": 1}}, "usr:posting:gone")
    said = tell_failed({READ: None}, first, last)
    assert said[1] == f"{READ} read nothing: a step has set context.paid.body to an object with new."


def test_what_nothing_has_set_is_told() -> None:
    assert tell_failed({READ: None})[1] == f"{READ} read nothing: nothing has set context.paid."
    assert tell_failed({READ: "P-1", "context": None}) == ["/reference is required"]


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


def test_what_was_done_before_a_move_is_said_in_the_words_of_then() -> None:
    """Each step is described by the artifact it ran under, because its node may not exist any more."""

    def names(label: str) -> Artifact:
        return compile_slot(
            "checks", nodes=[{"id": "note", "type": "script", "label": label, "config": {"set": {"x": "1"}}}]
        )

    done = {"outcome": "done", "chosen_edge_ids": []}
    steps = [
        step("usr:checks:note", "script", seq=seq, end_seq=end_seq, output_json=done)
        for seq, end_seq in [(2, 2), (3, 7), (5, 5), (8, 8)]
    ]
    earlier = [Earlier(4, names("First"), CONTRACT), Earlier(6, names("Second"), None)]
    explained = explain_instance(names("Third"), CONTRACT, record(steps=steps), earlier)
    said = [happened.text.partition(":")[0] for happened in explained.happened]
    assert said == ['The script "First"', 'The script "Second"', 'The script "Third"', 'The script "Third"']


def test_a_document_names_its_line() -> None:
    found = record()
    assert found.document is not None
    placed = replace(found.document, amends=UUID(int=31), amended_by=UUID(int=32))
    text = tell(replace(found, document=placed))
    line = f"It amends document {UUID(int=31)}. Document {UUID(int=32)} has replaced it."
    assert line in text and "has replaced it" not in tell(found)
