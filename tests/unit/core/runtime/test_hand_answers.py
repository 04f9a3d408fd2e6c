"""Answers by hand have the shape of what the node would have saved, and are whole."""

from itertools import pairwise
from typing import Any

import pytest

from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.contracts.contract import Contract
from signet.core.contracts.reader import parse_contract
from signet.core.documents.payload_limits import MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH, check_payload
from signet.core.errors import Rejected
from signet.core.runtime.hand_answers import (
    MAX_AUDITED_BYTES,
    MAX_LEFT_OUT,
    check_readers,
    describe_answer,
    make_answer,
    read_answer,
)
from signet.core.runtime.workflow import WorkflowNode
from tests.support.core.small_workflows import compile_slot, make_contract
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.runtime.test_execution import CFO, load

OUTPUT = {"total": {"type": "int", "required": True}, "note": {"type": "string"}}
DECLARED: dict[str, Any] = {
    **CONTRACT,
    "actions": {**CONTRACT["actions"], "run": {"kind": "python", "output": OUTPUT}},
}
MADE = {"document_id": "01900000-0000-7000-8000-00000000de30", "version": 1}
REFUSED = "FIELDS_INVALID"


def read_contract() -> Contract:
    contract, mistakes = parse_contract(DECLARED)
    assert contract is not None, mistakes
    return contract


def make_node(node_type: str, **config: Any) -> WorkflowNode:
    node = {"id": "a", "type": node_type, "config": config}
    slot: dict[str, Any] = {"nodes": [node]}
    if node_type == "wait_event":
        slot["edges"] = [{"source": "a", "target": "out", "on": "timeout"}]
    return load({"checks": slot}, DECLARED).nodes["usr:checks:a"]


def make_event(save_as: str | None = "got") -> WorkflowNode:
    return make_node("wait_event", key="k", save_as=save_as, timeout="P1D")


def make_call() -> WorkflowNode:
    return make_node("webhook_out", endpoint="erp", save_as="got")


def make_action(action: str = "run", **config: Any) -> WorkflowNode:
    return make_node("action", action=action, save_as="got", **config)


def refuse(node: WorkflowNode, payload: Any, contract: Contract | None = None) -> list[tuple[str, str]]:
    """Return the pointers and codes of what is wrong."""
    answer = read_answer(node, payload, contract or read_contract())
    assert isinstance(answer, Rejected) and answer.code == REFUSED
    return [(each.pointer, each.code) for each in answer.fields]


@pytest.mark.parametrize(
    ("node", "shape"),
    [
        (make_event(), "what the event would have brought"),
        (make_call(), "an object with `status`, from 100 to 599, and `body`"),
        (make_action(), "an object with `total`, `note`"),
        (make_action("spawn"), "an object with `document_id`, `version`"),
        (make_action("post", payload={"at": "2026-01-01"}), "an object"),
        (make_action("store.set"), "an object"),
        (
            make_action(for_each="entity.lines", max_items=2),
            "a list of at most 2 objects with `total`, `note`",
        ),
    ],
)
def test_a_node_that_saves_wants_an_answer_and_names_its_shape(node: WorkflowNode, shape: str) -> None:
    assert refuse(node, None) == [("/payload", "ANSWER_MISSING")]
    answer = read_answer(node, None, read_contract())
    assert answer.message == f"the payload is missing: the node saves it as 'got', and wants {shape}"


@pytest.mark.parametrize("node", [make_node("wait_timer", **{"for": "P1D"}), make_event(None)])
def test_a_node_that_saves_nothing_takes_no_answer(node: WorkflowNode) -> None:
    assert read_answer(node, None, None) is None
    assert refuse(node, {"a": 1}) == [("/payload", "PAYLOAD_NOT_KEPT")]
    assert read_answer(make_node("notification", channel="email", to=CFO, text="x"), None, None) is None


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ("paid", "/payload/status"),
        ({"status": "200"}, "/payload/status"),
        ({"status": 99}, "/payload/status"),
        ({"status": 200}, "/payload/body"),
        ({"status": 200, "headers": {}}, "/payload/headers"),
    ],
)
def test_the_answer_of_a_call_has_a_status_and_a_body(payload: Any, pointer: str) -> None:
    assert [each for each, _ in refuse(make_call(), payload)] == [pointer]
    given = {"status": 200, "body": None}
    assert read_answer(make_call(), given, None) == given


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ("text", [("/payload", "FIELD_TYPE")]),
        ({}, [("/payload/total", "FIELD_REQUIRED")]),
        ({"total": 1}, [("/payload/note", "FIELD_REQUIRED")]),
        ({"total": "x", "note": None}, [("/payload/total", "FIELD_TYPE")]),
        (
            {"nonsense": [1], "total": None},
            [("/payload/total", "FIELD_REQUIRED"), ("/payload/nonsense", "FIELD_UNKNOWN")],
        ),
    ],
)
def test_the_answer_of_an_action_is_what_the_contract_declares(payload: Any, found: list[Any]) -> None:
    assert refuse(make_action(), payload) == found
    given = {"total": 7, "note": None}
    assert read_answer(make_action(), given, read_contract()) == given


def test_what_an_action_makes_is_named() -> None:
    assert read_answer(make_action("spawn"), MADE, read_contract()) == MADE
    assert refuse(make_action("spawn"), {**MADE, "version": "1"}) == [("/payload/version", "FIELD_TYPE")]


def test_an_action_that_no_contract_declares_gives_any_object() -> None:
    for contract in (None, read_contract()):
        assert read_answer(make_action("store.set"), {"a": 1}, contract) == {"a": 1}
    assert refuse(make_action("store.set"), [1]) == [("/payload", "FIELD_TYPE")]


def test_an_action_for_each_item_gives_a_list() -> None:
    node, one = make_action(for_each="entity.lines", max_items=2), {"total": 1, "note": "x"}
    assert read_answer(node, [one, one], read_contract()) == [one, one]
    for payload in (one, [one, one, one]):
        assert refuse(node, payload) == [("/payload", "ANSWER_SHAPE")]
    assert refuse(node, [one, {}]) == [("/payload/1/total", "FIELD_REQUIRED")]
    assert read_answer(node, [], read_contract()) == []


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("a\0", "FIELD_TEXT_INVALID"),
        ({"\ud800": 1}, "FIELD_TEXT_INVALID"),
        ({1: 1}, "FIELD_TYPE"),
        ([object()], "FIELD_TYPE"),
        ([float("nan")], "FIELD_NUMBER_UNSAFE"),
        ([2**60], "FIELD_NUMBER_UNSAFE"),
        (nested(MAX_PAYLOAD_DEPTH + 1), "FIELD_TOO_DEEP"),
        (nested(100_000), "FIELD_TOO_DEEP"),
        ("x" * MAX_PAYLOAD_BYTES, "FIELD_TOO_LONG"),
    ],
)
def test_a_payload_that_nothing_can_keep_is_refused(payload: Any, code: str) -> None:
    assert refuse(make_event(), payload) == [("/payload", code)]


def test_a_payload_may_be_as_large_and_as_deep_as_said() -> None:
    for payload in ("x" * (MAX_PAYLOAD_BYTES - 2), nested(MAX_PAYLOAD_DEPTH), {"a": [1.5, True, None, "é"]}):
        assert check_payload(payload) is None
        assert read_answer(make_event(), payload, None) == payload


def test_the_audit_row_has_the_hash_of_an_answer_and_a_short_one_of_an_action_itself() -> None:
    said = {"total": 1, "note": "x" * MAX_AUDITED_BYTES}
    digest = {"answer_hash": hash_bytes(canonical_bytes(said))}
    assert describe_answer(make_action(), said) == digest
    short = {"total": 1, "note": None}
    assert describe_answer(make_action(), short) == {
        "answer_hash": hash_bytes(canonical_bytes(short)),
        "answer": short,
    }
    assert describe_answer(make_call(), short).keys() == {"answer_hash"}
    assert describe_answer(make_call(), None) == {}


# --- an example ---

CREATE = {"kind": "create", "entity_type": "invoice", "permission": "invoice:create", "set": {"number": "1"}}
PYTHON = {"kind": "python", "permission": "invoice:post", "output": {"total": {"type": "decimal"}}}


@pytest.mark.parametrize(
    ("action", "answer"), [(CREATE, {"document_id": "…", "version": 0}), (PYTHON, {"total": 0})]
)
def test_the_answer_of_an_action_has_all_that_it_gives(
    action: dict[str, Any], answer: dict[str, Any]
) -> None:
    contract = make_contract(actions={"run": action})
    config = {"action": "run", "save_as": "made", "for_each": None}
    content = {"nodes": {"run": {"type": "action", "config": config}}, "edges": {}}
    assert make_answer(content, "run", contract) == answer


def test_the_answer_of_an_event_has_what_is_read_of_it() -> None:
    wait = {"id": "wait", "type": "wait_event", "config": {"key": "k", "save_as": "sent"}}
    read = {"a": "context.sent.amount", "b": "context.sent", "c": "entity.number"}
    script = {"id": "keep", "type": "script", "config": {"set": read}}
    edges = [{"source": "wait", "target": "keep"}]
    content = compile_slot("approvals", nodes=[wait, script], edges=edges).content
    assert make_answer(content, "usr:approvals:wait", None) == {"amount": "…"}


CALL = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "bank", "save_as": "paid"}}
NOTE = {"channel": "in_app", "to": [{"by": "role", "role": "clerk"}]}
PAY = "usr:posting:pay"


def say(node_id: str, text: str) -> dict[str, Any]:
    return {"id": node_id, "type": "notification", "config": {**NOTE, "text": text}}


def check(answer: Any, *nodes: dict[str, Any], edges: list[dict[str, Any]] | None = None) -> list[str]:
    """Return what is refused of an answer to the call, with the nodes one behind the other."""
    ids = [node["id"] for node in (CALL, *nodes)]
    drawn = edges or [{"source": one, "target": next_} for one, next_ in pairwise(ids)]
    artifact = compile_slot("posting", exit="join", nodes=[CALL, *nodes], edges=drawn)
    refused = check_readers(artifact.content, PAY, answer)
    if refused is None:
        return []
    assert refused.code == REFUSED and refused.remedy == "Give it, as null where there is none."
    assert {mistake.code for mistake in refused.fields} == {"ANSWER_READ_BEHIND"}
    return [f"{mistake.pointer} {mistake.message}" for mistake in refused.fields]


KEEP = say("keep", "{context.paid.body.reference}")
LEFT_OUT = "/payload/body/reference is left out, and usr:posting:keep reads it (context.paid.body.reference)"


@pytest.mark.parametrize("body", [None, {}, "paid", {"order": "O-77"}])
def test_an_answer_that_leaves_out_what_is_read_behind_is_refused(body: Any) -> None:
    assert check({"status": 200, "body": body}, KEEP) == [LEFT_OUT]


@pytest.mark.parametrize("reference", [None, "P-1", ["P-1"]])
def test_an_answer_with_the_field_is_taken_also_as_null(reference: Any) -> None:
    assert check({"status": 200, "body": {"reference": reference}}, KEEP) == []


def test_what_reads_it_farther_behind_and_in_a_condition_is_named() -> None:
    later, nodes = say("later", "{context.paid.body.day}"), (say("x", "x"), KEEP)
    condition = {"source": "pay", "target": "x", "condition": "context.paid.body.ok == true"}
    edges = [condition, {"source": "pay", "target": "keep"}, {"source": "x", "target": "later"}]
    assert check({"status": 200, "body": None}, *nodes, later, edges=edges) == [
        "/payload/body/day is left out, and usr:posting:later reads it (context.paid.body.day)",
        "/payload/body/ok is left out, and usr:posting:pay reads it (context.paid.body.ok)",
        LEFT_OUT,
    ]


def test_what_nothing_reads_behind_it_may_be_left_out() -> None:
    again = {**CALL, "id": "again"}
    unread = {"status": 200, "body": None}
    assert (
        check(unread, say("keep", "{entity.number} {context.paid.status} {context.paid.duration_ms}")) == []
    )
    # Behind a node that sets the same name.
    assert check(unread, again, KEEP) == []
    # On a way back to a state nothing is followed: people are asked again.
    ask = {"id": "ask", "type": "approval", "config": {"approvers": [{"by": "role", "role": "clerk"}]}}
    edges = [{"source": "pay", "target": "ask"}]
    artifact = compile_slot("approvals", nodes=[CALL, ask], edges=edges)
    assert check_readers(artifact.content, "usr:approvals:pay", unread) is None
    # A list has no fields of its own, and nothing is kept of nothing.
    assert check([], KEEP) == [] and check(None, KEEP) == []
    assert check({"status": 200, "body": []}, KEEP) == []


def test_a_refusal_names_some_of_the_fields() -> None:
    text = " ".join(f"{{context.paid.body.field_{number:02}}}" for number in range(MAX_LEFT_OUT + 1))
    assert len(check({"status": 200, "body": {}}, say("keep", text))) == MAX_LEFT_OUT
