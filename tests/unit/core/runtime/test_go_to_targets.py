"""Targets of operators: none lies past an approval behind a gate, or before what was done there."""

from itertools import pairwise
from typing import Any

import pytest

from signet.core.compiler.artifact import Artifact
from signet.core.repair.restart_check import list_sequels
from signet.core.runtime.execution import Blocked, InstanceExecution
from signet.core.runtime.go_to_targets import (
    check_approval_ahead,
    check_go_to,
    find_undecided,
    is_behind_gate,
    list_targets,
)
from signet.core.runtime.operator_actions import list_acts
from signet.core.runtime.projection import start_projection
from signet.core.runtime.workflow import Workflow
from tests.support.core.approval_policies import role
from tests.support.core.valid_workflow import CONTRACT, compile_patch, read_envelope
from tests.support.core.waiting_calls import call

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
POST = {"id": "post", "type": "action", "config": {"action": "post", "payload": {"at": "2026-01-01"}}}
MAKE = {"id": "make", "type": "action", "config": {"action": "spawn"}}
# `close` is asked for behind the approval, `file` needs nobody.
GOING_ON: dict[str, Any] = {
    **CONTRACT,
    "states": {
        **CONTRACT["states"],
        "active": {"edit": "locked"},
        "closed": {"edit": "locked"},
        "filed": {"edit": "locked", "settled": True},
    },
    "transitions": {
        **CONTRACT["transitions"],
        "close": {"from": ["active"], "to": "closed", "kind": "requested"},
        "file": {"from": ["closed"], "to": "filed", "kind": "automatic", "rejected_to": "active"},
    },
    "amendment": {"from": ["filed"]},
    "slots": {**CONTRACT["slots"], "closing": {"transition": "close"}, "filing": {"transition": "file"}},
}
# Without amendments.
PLAIN: dict[str, Any] = {
    **{name: value for name, value in CONTRACT.items() if name != "amendment"},
    "states": {**CONTRACT["states"], "submitted": {"edit": "locked"}},
}
BEGINNING, ACTIVE = "sys:slot:posting:in", "sys:state:active"


def make_line(*nodes: dict[str, Any], is_behind: bool = False) -> dict[str, Any]:
    """Put nodes one behind the other; what is rejected behind a gate goes to the end of the slot."""
    names = [node["id"] for node in nodes]
    edges = [{"source": source, "target": target} for source, target in pairwise(names)]
    if not is_behind or "look" not in names:
        return {"nodes": list(nodes), "edges": edges}
    edges.append({"source": names[-1], "target": "out"})
    rejected = {"source": "look", "target": "told", "on": "rejected"}
    told = {**POST, "id": "told"}
    return {
        "nodes": [*nodes, told],
        "edges": [*edges, rejected, {"source": "told", "target": "out"}],
        "exit": "join",
    }


def compile_line(contract: dict[str, Any], **slots: Any) -> Artifact:
    base, filled = {"entity_type": "invoice", "envelope_version": 3}, slots or {"checks": make_line(POST)}
    compilation = compile_patch({"patch": "p", "base": base, "slots": filled}, read_envelope(contract))
    assert compilation.artifact is not None, compilation.findings
    return compilation.artifact


def stand(node: str, contract: dict[str, Any] = GOING_ON, **slots: Any) -> InstanceExecution:
    """Let a token stand at a node, ready."""
    return InstanceExecution(Workflow(compile_line(contract, **slots)), start_projection(node, 1))


def refuse(execution: InstanceExecution, status: str, node: str) -> tuple[str, str]:
    refused = check_go_to(execution, status, node)
    assert refused is not None
    return refused.code, refused.message


@pytest.mark.parametrize("node", [call("pay"), MAKE])
def test_behind_a_gate_what_was_done_is_not_begun_again(node: dict[str, Any]) -> None:
    line = make_line(node, POST)
    execution = stand("usr:posting:post", approval=make_line(LOOK), posting=line)
    assert list_targets(execution, "active") == [ACTIVE]
    code, sentence = refuse(execution, "active", BEGINNING)
    assert code == "INSTANCE_TARGET_REPEATS" and f"usr:posting:{node['id']}" in sentence
    assert check_go_to(execution, "active", ACTIVE) is None


def test_behind_a_gate_what_leaves_nothing_is_begun_again() -> None:
    execution = stand("usr:posting:post", posting=make_line(POST))
    assert list_targets(execution, "active") == [BEGINNING, ACTIVE]


def test_before_a_gate_the_call_is_made_again_where_nobody_has_approved() -> None:
    execution = stand("usr:checks:pay", checks=make_line(call("pay")))
    assert list_targets(execution, "draft") == ["sys:slot:checks:in", "sys:state:draft"]


def test_behind_approvals_a_slot_before_a_gate_is_not_begun_again() -> None:
    slots = {"approval": make_line(LOOK), "closing": make_line(call("pay")), "filing": make_line(call("pay"))}
    asked = stand("usr:closing:pay", **slots)
    assert list_targets(asked, "active") == [ACTIVE], "it is left by another request"
    by_itself = stand("usr:filing:pay", **slots)
    assert list_targets(by_itself, "closed") == [], "its state leads there by itself"
    code, sentence = refuse(by_itself, "closed", "sys:state:closed")
    assert code == "INSTANCE_TARGET_REPEATS" and "usr:filing:pay" in sentence
    assert list_targets(stand("sys:gate:file", **slots), "closed") == []


@pytest.mark.parametrize("node", ["first", "look"])
def test_an_approval_behind_a_gate_is_not_passed(node: str) -> None:
    first = {**POST, "id": "first"}
    line = make_line(first, LOOK, POST, is_behind=True)
    execution = stand(f"usr:posting:{node}", posting=line)
    assert find_undecided(execution) == "usr:posting:look"
    assert list_targets(execution, "active") == [BEGINNING]
    code, sentence = refuse(execution, "active", ACTIVE)
    assert code == "INSTANCE_APPROVAL_AHEAD" and "usr:posting:look" in sentence
    ended = check_approval_ahead(execution)
    assert ended is not None and ended.code == code
    assert list_sequels(execution, {}, "active", is_amendment=False) == []
    acts = list_acts(
        execution, None, "active", is_paused_by_person=False, is_behind=False, is_correctable=False
    )
    assert not {"cancel", "fail"} & set(acts)


def test_what_stands_behind_the_approval_is_free() -> None:
    line = make_line(LOOK, POST, is_behind=True)
    execution = stand("usr:posting:post", posting=line)
    assert find_undecided(execution) is None and check_approval_ahead(execution) is None
    assert list_targets(execution, "active") == [BEGINNING, ACTIVE]


def test_an_instance_may_end_where_nothing_can_be_asked_for() -> None:
    execution = stand("usr:posting:look", CONTRACT, posting=make_line(LOOK, POST, is_behind=True))
    assert find_undecided(execution) == "usr:posting:look"
    assert check_approval_ahead(execution) is None


def test_an_approval_before_a_gate_is_left_by_any_act() -> None:
    """The lawful way beside it: the gate counts the votes."""
    execution = stand("usr:approval:look", approval=make_line(LOOK))
    assert find_undecided(execution) is None and check_approval_ahead(execution) is None
    assert list_targets(execution, "submitted") == ["sys:slot:approval:in", "sys:state:submitted"]


def test_an_amendment_goes_back_to_its_own_beginning() -> None:
    slots = {**CONTRACT["slots"], "amending": {"transition": "submit", "from": "amended"}}
    execution = stand("usr:amending:look", {**CONTRACT, "slots": slots}, amending=make_line(LOOK))
    assert list_targets(execution, "draft") == ["sys:slot:amending:in", "sys:state:amended"]
    assert refuse(execution, "draft", "sys:state:draft")[0] == "INSTANCE_TARGET_NOT_POSSIBLE"
    assert list_targets(stand("sys:start", CONTRACT), "draft") == ["sys:start"]


def test_a_gate_of_many_states_says_the_documents_own() -> None:
    """It cannot be told from the beginning of amendments."""
    assert list_targets(stand("sys:gate:cancel"), "draft") == []
    assert list_targets(stand("sys:gate:cancel"), "submitted") == ["sys:state:submitted"]
    assert list_targets(stand("sys:gate:cancel", PLAIN), "draft") == ["sys:state:draft"]


def test_what_stands_behind_a_gate() -> None:
    slots = {"approval": make_line(LOOK), "closing": make_line(POST), "posting": make_line(POST)}

    def is_behind(node: str, status: str, **filled: Any) -> bool:
        execution = stand(node, **filled)
        tokens = execution.projection.tokens()
        return is_behind_gate(execution.workflow, tokens, status, is_decided=False)

    assert is_behind("usr:posting:post", "active", posting=make_line(POST))
    assert is_behind("usr:closing:post", "active", **slots)
    assert not is_behind("usr:closing:post", "active", closing=make_line(POST))
    free = stand("usr:closing:post", closing=make_line(POST))
    assert is_behind_gate(free.workflow, free.projection.tokens(), "active", is_decided=True)
    assert not is_behind("usr:approval:look", "submitted", **slots)
    assert not is_behind("sys:gate:submit:draft", "draft", **slots)


def test_an_amendment_whose_original_moved_on_begins_again() -> None:
    execution = stand("sys:gate:approve", approval=make_line(LOOK))
    (token,) = execution.projection.position.tokens.values()
    assert list_targets(execution, "submitted") == ["sys:state:submitted"]
    execution.hold(token.id, Blocked("ORIGINAL_MOVED_ON: the original is at version 3"))
    assert list_targets(execution, "submitted") == ["sys:state:submitted", "sys:state:amended"]
