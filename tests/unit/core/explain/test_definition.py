"""The auditor's reading: every type of node in sentences, every approval and gate accounted for."""

import copy
import json
from typing import Any

import pytest

from signet.core.compiler.artifact import Artifact
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.explain.definition import _letter, explain, write_explanation
from signet.core.explain.node_sentences import _SENTENCES, describe_step
from signet.core.explain.vocabulary import (
    Vocabulary,
    describe_duration,
    describe_json,
    describe_list,
    escape,
    short_id,
)
from tests.support.core.golden_files import assert_golden
from tests.support.core.small_workflows import (
    AUTOMATION,
    PATCH,
    compile_automatic,
    compile_patch,
    compile_slot,
    make_contract,
)

CONTRACT = make_contract()
WORDS = Vocabulary("invoice", CONTRACT)


def read(artifact: Artifact, **options: Any) -> str:
    """Return the whole text without its line breaks."""
    return " ".join(" ".join(write_explanation(explain(artifact, **options))).split())


def test_the_whole_statement() -> None:
    text = "\n".join(write_explanation(explain(compile_patch(PATCH), CONTRACT))) + "\n"
    assert_golden("explanation.txt", text)


def test_without_the_contract_it_says_what_the_artifact_holds() -> None:
    text = "\n".join(write_explanation(explain(compile_patch(PATCH)))) + "\n"
    assert_golden("explanation_without_contract.txt", text)


def test_an_automation() -> None:
    text = "\n".join(write_explanation(explain(compile_automatic(AUTOMATION)))) + "\n"
    assert_golden("explanation_of_automation.txt", text)


def test_another_contract_is_refused() -> None:
    with pytest.raises(ValueError, match="another contract"):
        explain(compile_patch(PATCH), make_contract(version=2))


def test_the_bare_envelope_says_that_nothing_was_added() -> None:
    text = read(compile_patch(None), contract=CONTRACT)
    assert "The organisation added nothing" in text
    assert "The workflow runs no actions" in text
    assert 'No approval is asked for before the gate "Approval"' in text


def test_numbers_are_unique_and_every_reference_exists() -> None:
    sections = explain(compile_patch(PATCH), CONTRACT)
    numbers = [statement.number for section in sections for statement in section.statements]
    assert len(numbers) == len(set(numbers))
    assert [section.number for section in sections] == list(range(1, len(sections) + 1))


def test_missing_parts_of_the_envelope_are_shouted() -> None:
    artifact = compile_patch(PATCH)
    integrity = {**artifact.content["system_gate_integrity"], "valid": False}
    broken = Artifact(artifact.text, artifact.hash, {**artifact.content, "system_gate_integrity": integrity})
    assert "PARTS OF IT ARE MISSING" in read(broken)


@pytest.mark.parametrize(
    ("may_decide", "sentence"),
    [
        ([], "A person who created it, edited it or asked for the change may not decide about the invoice."),
        (
            ["creator", "editor", "requester"],
            "The contract lets people decide even if they created it, edited it or",
        ),
        (["editor"], "The contract lets people decide even if they edited it."),
    ],
)
def test_who_may_decide(may_decide: list[str], sentence: str) -> None:
    contract = make_contract(separation_of_duties={"may_decide": may_decide})
    assert sentence in read(compile_patch(None, contract), contract=contract)


def test_a_contract_without_amendment_and_without_permissions() -> None:
    contract = make_contract(amendment=None, conditions={}, deletable_in=[])
    text = read(compile_patch(None, contract), contract=contract)
    assert "Amendment" not in text and "may be deleted" not in text and "holds only if" not in text
    open_to_all = make_contract(amendment={"from": ["active"]})
    assert "A person may also ask for one" in read(compile_patch(None, open_to_all), contract=open_to_all)
    suspending = make_contract(amendment={"from": ["active"], "while_open": "suspended"})
    text = read(compile_patch(None, suspending), contract=suspending)
    assert "Until it settles, the original is suspended." in text
    from_nowhere = make_contract(amendment={})
    assert "may also ask for one" not in read(compile_patch(None, from_nowhere), contract=from_nowhere)


# The nodes between a state and its gate, and whether a person must approve there.
ASK = {"type": "approval", "config": {"approvers": [{"by": "user", "user": "ada"}]}}


def join(mode: str, *, approvals: int, direct: bool = False) -> Artifact:
    branches = [{"id": f"b{n}", **(ASK if n < approvals else {"type": "condition"})} for n in range(2)]
    edges = [{"source": "fork", "target": branch["id"]} for branch in branches]
    edges += [{"source": branch["id"], "target": "meet"} for branch in branches]
    edges += [{"source": "fork", "target": "meet"}] if direct else []
    return compile_slot(
        "approvals",
        accepts={"approval_can_be_lost": ["meet"] * (mode == "any" and (direct or approvals == 1))},
        nodes=[
            {"id": "fork", "type": "parallel_split"},
            *branches,
            {"id": "meet", "type": "parallel_join", "config": {"mode": mode}},
        ],
        edges=edges,
    )


FREE = 'The gate "Approval" (3.3) can be passed without an approval.'
ASKED = 'Nothing passes the gate "Approval" (3.3) without an approval.'


@pytest.mark.parametrize(
    ("artifact", "sentence"),
    [
        (join("all", approvals=2), ASKED),
        (join("all", approvals=1), ASKED),
        (join("any", approvals=1), FREE),
        (join("all", approvals=1, direct=True), ASKED),
        (join("any", approvals=2, direct=True), FREE),
        (join("all", approvals=0), 'No approval is asked for before the gate "Approval" (3.3).'),
    ],
)
def test_whether_a_gate_can_be_passed_without_an_approval(artifact: Artifact, sentence: str) -> None:
    assert sentence in read(artifact, contract=CONTRACT)


def test_a_block_of_choices_is_passed_freely_only_by_all_of_them() -> None:
    choice = {"source": "a", "target": "meet", "condition": "entity.grand_total < 100"}
    artifact = compile_slot(
        "approvals",
        nodes=[
            {"id": "fork", "type": "parallel_split"},
            {"id": "a", "type": "condition"},
            {"id": "b", "type": "condition"},
            {"id": "x", **ASK},
            {"id": "y", **ASK},
            {"id": "meet", "type": "parallel_join", "config": {"mode": "all"}},
        ],
        edges=[
            {"source": "fork", "target": "a"},
            {"source": "fork", "target": "b"},
            choice,
            {"source": "a", "target": "x"},
            {**choice, "source": "b"},
            {"source": "b", "target": "y"},
            {"source": "x", "target": "meet"},
            {"source": "y", "target": "meet"},
        ],
    )
    text = read(artifact, contract=CONTRACT)
    assert f'{FREE} One such way: a) At "a" (4.3)' in text
    assert 'b) At "b" (4.4)' in text


def test_an_approval_after_the_gate_is_used_by_none() -> None:
    body = {"nodes": [{"id": "ask", **ASK}], "edges": [{"source": "ask", "target": "out", "on": "rejected"}]}
    text = read(compile_slot("posting", **body), contract=CONTRACT)
    assert "is used by no gate" in text


def test_ways_that_leave_a_block_early() -> None:
    artifact = compile_slot(
        "approvals",
        exit="join",
        accepts={"approval_can_be_lost": ["meet"]},
        nodes=[
            {"id": "fork", "type": "parallel_split"},
            {"id": "check", "type": "condition"},
            {"id": "ask", **ASK},
            {"id": "also", **ASK},
            {"id": "meet", "type": "parallel_join", "config": {"mode": "all"}},
        ],
        edges=[
            {"source": "fork", "target": "check"},
            {"source": "fork", "target": "ask"},
            {"source": "fork", "target": "also"},
            {
                "source": "check",
                "target": "out",
                "role": "exit",
                "condition": "entity.grand_total > 1",
                "label": "too much",
            },
            {"source": "check", "target": "meet"},
            {"source": "ask", "target": "meet"},
            {"source": "also", "target": "meet"},
        ],
    )
    text = read(artifact, contract=CONTRACT)
    assert '("too much"): the gate "Approval" (3.3); everything that runs beside it is cancelled.' in text
    assert "All 3 branches" in text


def test_an_outcome_with_a_condition() -> None:
    artifact = compile_slot(
        "approvals",
        exit="join",
        nodes=[{"id": "ask", **ASK}, {"id": "again", **ASK}],
        edges=[
            {"source": "ask", "target": "again", "condition": "entity.grand_total > 1"},
            {"source": "ask", "target": "out"},
        ],
    )
    text = read(artifact, contract=CONTRACT)
    assert (
        'If approved, and if the invoice\'s "Total" is more than 0.01 (entity.grand_total > 1): "again"'
        in text
    )
    assert "If approved, and otherwise: " in text


def test_a_step_that_handles_its_failure() -> None:
    artifact = compile_slot(
        "posting",
        exit="join",
        nodes=[
            {"id": "post", "type": "action", "config": {"action": "post"}},
            {"id": "tidy", "type": "action", "config": {"action": "tidy"}},
        ],
        edges=[{"source": "post", "target": "tidy", "on": "error"}],
    )
    text = read(artifact, contract=CONTRACT)
    assert 'If it fails: "tidy" (4.3).' in text
    assert text.count("If it fails, it is held there until a person brings it on.") == 1
    assert 'The permission holds only if the invoice\'s "posted" is yes (entity.posted).' in text


TRIGGERS = [
    ({"on": "transition", "from": "draft", "to": "submitted"}, 'status before "draft"'),
    ({"on": "event", "key": "paid:{payload.n}"}, 'key "paid:{payload.n}"'),
    ({"on": "mutation", "action": "post"}, 'action "post"'),
    ({"on": "create"}, "a document is created"),
    ({"on": "manual"}, "a person starts it"),
]


@pytest.mark.parametrize(("trigger", "sentence"), TRIGGERS)
def test_triggers(trigger: dict[str, Any], sentence: str) -> None:
    document = {**copy.deepcopy(AUTOMATION), "trigger": trigger, "entity_type": "invoice"}
    assert sentence in read(compile_automatic(document, CONTRACT), contract=CONTRACT)


STEPS: list[tuple[str, dict[str, Any], str]] = [
    ("start", {}, "The workflow begins."),
    ("end", {}, "The workflow ends."),
    ("state", {"state": "draft"}, 'The status of the invoice is "draft".'),
    ("slot_in", {"slot": "a_b"}, 'steps "a b" begin.'),
    ("slot_out", {"slot": "a_b"}, 'steps "a b" end.'),
    (
        "lifecycle_gate",
        {"transition": "x", "from_states": ["a", "b"], "to": "c", "kind": "automatic", "rejected_to": None}
        | {"permission": "i:x", "permission_condition": None, "condition": None},
        'The status changes from "a" or "b" to "c".',
    ),
    (
        "policy_gate",
        {"action": "post", "run_as": "system", "permission": "invoice:post", "permission_condition": None},
        "The action [post] runs only if the system has the permission invoice:post.",
    ),
    ("condition", {}, "the first of these that applies"),
    ("parallel_split", {}, "at the same time"),
    ("parallel_join", {"mode": "all"}, "Every branch must finish"),
    ("parallel_join", {"mode": "any"}, "The first branch to finish"),
    (
        "approval",
        {"chain": "big_money"},
        'The approval chain "big money" [big_money] is asked, stage by stage.',
    ),
    ("approval", {"approvers": [{"by": "user", "user": "ada"}], "quorum": "any"}, "The first vote decides."),
    ("approval", {"approvers": [{"by": "user", "user": "ada"}], "reason_required_for": []}, "must approve"),
    ("approval", {"approvers": [{"by": "role", "role": "r", "pick": "round_robin"}], "quorum": 1}, "in turn"),
    (
        "approval",
        {"approvers": [{"by": "manager", "levels": 2}]},
        "the manager's manager of the acting person",
    ),
    ("approval", {"approvers": [{"by": "manager", "levels": 3}]}, "the manager 3 levels up of"),
    ("wait_timer", {"for": "PT90M"}, "waits for 1 hour and 30 minutes (PT90M)."),
    ("wait_timer", {"until": "entity.due"}, 'waits until the invoice\'s "due" (entity.due)'),
    ("wait_event", {"key": "k", "timeout": "P1D", "save_as": "got"}, "kept as got (context.got)"),
    ("wait_event", {"any_of": ["k", "l"], "schema": {}, "condition": "event.a > 1"}, "if the event's"),
    ("webhook_out", {"endpoint": "erp", "payload": {"a": 1}}, 'It is sent {"a": 1}.'),
    ("webhook_out", {"event": "a.b"}, 'The event "a.b" is published for other systems, as the person'),
    ("webhook_out", {"endpoint": "erp", "run_as": "service_account"}, "as the service account;"),
    (
        "notification",
        {"channel": "sms", "to": [{"by": "user", "user": "a"}, {"by": "user", "user": "b"}], "text": "t"}
        | {"subject": "s", "await": True},
        'The subject is "s".',
    ),
    ("script", {"set": {"big": "entity.grand_total > 1"}}, 'becomes whether the invoice\'s "Total" is more'),
    ("rule", {"rules": ["budget_left"]}, 'rules decide: "budget left" [budget_left]'),
    (
        "action",
        {"action": "post"},
        "Post [post] runs as the person whose act led here. It sets in the invoice",
    ),
    ("action", {"action": "tidy", "payload": {"a": 1}, "save_as": "x"}, "The action [tidy]"),
    (
        "action",
        {"action": "store.set", "for_each": "entity.lines", "max_items": 5},
        'once for each of the invoice\'s "lines" (entity.lines), at most 5 of them',
    ),
]


@pytest.mark.parametrize(("node_type", "config", "sentence"), STEPS)
def test_every_type_has_sentences(node_type: str, config: dict[str, Any], sentence: str) -> None:
    complete = NODE_TYPES[node_type].configuration.model_validate_json(json.dumps(config))
    assert sentence in " ".join(
        describe_step(node_type, complete.model_dump(mode="json", by_alias=True), WORDS)
    )


def test_no_type_is_forgotten() -> None:
    assert _SENTENCES.keys() == NODE_TYPES.keys() == {node_type for node_type, _, _ in STEPS}


@pytest.mark.parametrize(
    ("kind", "more", "sentence"),
    [
        ("create", {"entity_type": "credit_note", "set": {"a": 1}}, 'a document of the type "credit note"'),
        ("python", {}, "written in the tenant's Python code"),
    ],
)
def test_what_an_action_does(kind: str, more: dict[str, Any], sentence: str) -> None:
    contract = make_contract(actions={"post": {"kind": kind, **more}})
    config: dict[str, Any] = {
        "action": "post",
        "payload": {},
        "run_as": "actor",
        "save_as": None,
        "for_each": None,
    }
    assert sentence in " ".join(describe_step("action", config, Vocabulary("invoice", contract)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("entity.posted", 'the invoice\'s "posted" is yes'),
        ("!entity.posted", 'the invoice\'s "posted" is no'),
        ("!(entity.posted && entity.grand_total > 1)", "it is not so that "),
        ("entity.grand_total < -1234567", "is less than -12,345.67"),
        ("entity.grand_total in [1, 250]", "is one of 0.01 or 2.50"),
        ("entity.number in []", "is one of nothing"),
        ("entity.vendor.rating >= 5", '"rating" of the invoice\'s "vendor" is at least 5'),
        ("entity.address.city != null", '"Town" of the invoice\'s "address" is not empty'),
        ("entity.lines.sku contains 'a'", "contains 'a'"),
        ("entity.number == 'x' && (entity.posted || context.ok)", "and either the invoice's"),
        ("(entity.posted && context.ok) || now > org.closing", "both the invoice's"),
        ("now > org.closing", 'the current time is more than the organisation\'s "closing"'),
        ("actor.roles contains 'clerk'", 'the acting person\'s "roles" contains'),
        ("item == true", "the item is yes"),
        ("entity.unknown.deeper == 1", '"deeper" of the invoice\'s "unknown" is 1'),
        ("not an expression (", "not an expression ("),
    ],
)
def test_conditions_in_words(text: str, words: str) -> None:
    assert words in WORDS.describe_condition(text)


def test_expressions_that_cannot_be_read_are_shown() -> None:
    assert WORDS.describe_expression("no (") == "no ("
    assert Vocabulary().describe_expression("entity") == "the document"


def test_small_words() -> None:
    assert [describe_list(words) for words in ([], ["a"])] == ["", "a"]
    assert describe_list(["a", "b", "c"], "or") == "a, b or c"
    assert describe_duration("P1DT1H1M1S") == "1 day, 1 hour, 1 minute and 1 second"
    assert escape("a\x07\tb") == "a\\u0007 b"
    assert len(escape("x" * 9_999)) == 2_000
    assert describe_json("x" * 999).endswith("…")
    assert short_id("sys:policy:usr:slot:post") == "policy of post"
    assert [_letter(0), _letter(25), _letter(26), _letter(27)] == ["a", "z", "aa", "ab"]
