"""Waits for events: keys as they are read, and what fits."""

from typing import Any

import pytest

from signet.core.compiler.compiler import compile_automation
from signet.core.compiler.patch import Automation
from signet.core.errors import Rejected
from signet.core.runtime.event_waits import conclude_received, find_unfit, read_event_keys
from signet.core.runtime.result_bounds import MAX_VARIABLES_BYTES
from signet.core.runtime.workflow import Workflow
from signet.core.validation.strict_model import parse_strictly

NODE = "usr:main:wait"


def workflow_of(**config: Any) -> Workflow:
    document = {
        "automation": "waiting",
        "trigger": {"on": "manual"},
        "variables": {"n": {"type": "string"}, "least": {"type": "int"}},
        "nodes": [{"id": "wait", "type": "wait_event", "config": config}],
    }
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    compiled = compile_automation(automation)
    assert compiled.artifact is not None, compiled.findings
    return Workflow(compiled.artifact)


def test_equal_keys_are_one() -> None:
    workflow = workflow_of(any_of=["a:{context.n}", "b", "a:1"])
    env = {"context": {"n": 1}}
    assert read_event_keys(workflow.nodes[NODE], env) == ("a:1", "b")


@pytest.mark.parametrize("read", [None, ""])
def test_a_key_with_a_hole_is_refused(read: Any) -> None:
    node = workflow_of(key="a:{context.n}").nodes[NODE]
    refused = read_event_keys(node, {"context": {"n": read}})
    assert isinstance(refused, Rejected) and refused.code == "EVENT_KEY_INVALID"
    assert "context.n" in refused.message


@pytest.mark.parametrize(
    ("value", "code"), [("x" * 501, "EVENT_KEY_INVALID"), ("x" * 2**21, "TEMPLATE_TOO_LARGE")]
)
def test_a_key_that_is_too_long_is_refused(value: str, code: str) -> None:
    node = workflow_of(key="{context.n}").nodes[NODE]
    refused = read_event_keys(node, {"context": {"n": value}})
    assert isinstance(refused, Rejected) and refused.code == code


def test_what_does_not_fit_says_why() -> None:
    config = {"schema": {"required": ["sum"]}, "condition": "event.sum > context.least", "save_as": "paid"}
    node = workflow_of(key="k", **config).nodes[NODE]
    env = {"context": {"least": 2}}
    assert find_unfit(node, {}, env) == "EVENT_PAYLOAD_INVALID: /payload/sum is required"
    assert "event.sum" in str(find_unfit(node, {"sum": 2}, env))
    assert "event.sum" in str(find_unfit(node, {"sum": "a text"}, env))
    assert find_unfit(node, {"sum": 3}, env) is None
    full = {"context": {"least": 2, "much": "x" * MAX_VARIABLES_BYTES}}
    assert str(find_unfit(node, {"sum": 3}, full)).startswith("VARIABLES_TOO_LARGE: ")


def test_what_it_brings_is_kept_where_the_node_says_so() -> None:
    saving = workflow_of(key="k", save_as="paid")
    decision = conclude_received(saving, saving.nodes[NODE], {}, 5, {"key": "k"})
    assert (decision.outcome, decision.variables) == ("received", {"paid": 5})
    plain = workflow_of(key="k")
    assert conclude_received(plain, plain.nodes[NODE], {}, 5, {}).variables == {}
