"""Rendered templates, lists and variables of an instance are bounded, each with a code of its own."""

from dataclasses import replace
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.runtime.decisions import DecisionInput, decide
from signet.core.runtime.execution import ActionPlan, Blocked, InstanceExecution
from signet.core.runtime.position import Token
from signet.core.runtime.projection import start_projection
from signet.core.runtime.result_bounds import (
    MAX_LIST_BYTES,
    MAX_VARIABLES_BYTES,
    ListBudget,
    check_variables,
    render,
)
from signet.core.runtime.workflow import WorkflowNode
from tests.support.core.valid_workflow import CONTRACT, compile_patch, read_envelope
from tests.support.core.waiting_calls import load

TOLD = {"t": "{entity.vendor}"}
NODES = [
    {"id": "keep", "type": "script", "config": {"set": {"a": "entity.vendor", "b": "entity.vendor"}}},
    {"id": "ask", "type": "webhook_out", "config": {"endpoint": "bureau", "save_as": "answer"}},
    {
        "id": "tell",
        "type": "webhook_out",
        "config": {"endpoint": "bureau", "payload": {"t": "{entity.vendor}"}},
    },
]
EDGES = [{"source": "keep", "target": "ask"}, {"source": "ask", "target": "tell"}]
WORKFLOW = load({"nodes": NODES, "edges": EDGES})
FULL = {"known": "x" * MAX_VARIABLES_BYTES}


def node_of(name: str) -> WorkflowNode:
    return WORKFLOW.nodes[f"usr:checks:{name}"]


def run(name: str, env: dict[str, Any], context: dict[str, Any]) -> tuple[InstanceExecution, list[Token]]:
    execution = InstanceExecution(WORKFLOW, start_projection(f"usr:checks:{name}", 1, context=context))
    asked: list[Token] = []

    def prepare(node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        asked.append(token)
        return ActionPlan()

    execution.run_pure_nodes(lambda token: DecisionInput(env), prepare)
    execution.end_round()
    return execution, asked


def test_a_refused_template_names_its_node_and_its_place() -> None:
    refused = render(node_of("tell"), "/payload", {"entity": {"vendor": "x" * 300_000}})
    assert isinstance(refused, Rejected) and refused.code == "TEMPLATE_TOO_LARGE"
    assert refused.message.startswith("payload of usr:checks:tell: the template gives more than 262144")
    given = render(node_of("tell"), "/payload", {"entity": {"vendor": "v"}})
    assert given == ({"t": "v"}, {"entity.vendor": "v"})


def test_a_template_that_is_always_too_large_is_not_published() -> None:
    payload = {f"p{n}": "x" * 10_000 for n in range(27)}
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "payload": payload}}
    base = {"entity_type": "invoice", "envelope_version": 3}
    patch = {"patch": "p", "base": base, "slots": {"checks": {"nodes": [call]}}}
    compilation = compile_patch(patch, read_envelope(CONTRACT))
    (finding,) = compilation.findings
    assert compilation.artifact is None
    assert (finding.code, finding.parameters["mistake"]) == ("TEMPLATE_INVALID", "RESULT_TOO_LARGE")
    assert finding.place == "usr:checks:call/payload" and "at most 262144" in finding.sentence


def test_variables_fit_to_the_last_byte() -> None:
    around = len('{"a":"","b":""}')
    half = "x" * ((MAX_VARIABLES_BYTES - around) // 2)
    assert check_variables(node_of("keep"), {"a": half}, {"b": half}) is None
    refused = check_variables(node_of("keep"), {"a": half}, {"b": half + "xx"})
    assert refused is not None and refused.code == "VARIABLES_TOO_LARGE"
    # What is set again does not count twice.
    assert check_variables(node_of("keep"), {"a": half, "b": half}, {"b": half}) is None


@pytest.mark.parametrize("size", [100, MAX_VARIABLES_BYTES])
def test_a_script_that_sets_too_much_sets_nothing(size: int) -> None:
    text = "x" * size
    token = start_projection("usr:checks:keep", 1).tokens()[0]
    decision = decide(WORKFLOW, token, DecisionInput({"entity": {"vendor": text}, "context": {}}))
    if size == 100:
        assert (decision.outcome, decision.variables) == ("done", {"a": text, "b": text})
        return
    assert (decision.outcome, decision.edges, decision.variables) == ("error", (), {})
    assert decision.reason is not None and decision.reason.startswith(
        "VARIABLES_TOO_LARGE: with what usr:checks"
    )
    assert decision.evidence["code"] == "VARIABLES_TOO_LARGE"


def test_a_node_that_would_keep_an_answer_does_not_act_where_no_variable_fits() -> None:
    execution, asked = run("ask", {}, FULL)
    [token] = execution.projection.tokens()
    assert asked == [] and token.hold is not None and token.hold.code == "VARIABLES_TOO_LARGE"
    assert run("ask", {}, {"known": "x"})[1] != []


def test_a_node_that_keeps_nothing_acts_all_the_same() -> None:
    assert run("tell", {}, FULL)[1] != []


def test_items_take_together_what_they_are_given_write_and_give_back() -> None:
    budget = ListBudget(_saving(None))
    quarter = "x" * (MAX_LIST_BYTES // 4 - 2)
    budget.take(quarter, quarter, MAX_LIST_BYTES // 2)
    assert budget.refused is None
    budget.take(None, "", 0)
    assert budget.refused is not None and budget.refused.code == "LIST_TOO_LARGE"
    assert f"take more than {MAX_LIST_BYTES} bytes" in budget.refused.message


@pytest.mark.parametrize("name", [None, "made"])
def test_items_give_back_what_the_variables_can_hold(name: str | None) -> None:
    budget = ListBudget(_saving(name))
    budget.take(None, "x" * (MAX_VARIABLES_BYTES - 2), 0)
    assert budget.refused is None
    budget.take(None, "", 0)
    assert (budget.refused is not None) is (name is not None)
    if budget.refused is not None:
        assert f"give back more than {MAX_VARIABLES_BYTES} bytes" in budget.refused.message


def _saving(name: str | None) -> WorkflowNode:
    return replace(node_of("ask"), config={"save_as": name})
