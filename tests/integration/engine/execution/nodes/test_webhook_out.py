"""Calls to the outside, delivered or given up, and the edges that the workflow then follows."""

from typing import Any

import pytest

from tests.support.workflow_stage import CALL, CONTRACT, WorkflowStage

TELL: dict[str, Any] = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "Look", "await": True},
}
# The text is too long for it.
RUN: dict[str, Any] = {
    "id": "run",
    "type": "action",
    "config": {"action": "note", "payload": {"text": "too long"}},
}
NOTE = {"kind": "update", "payload": {"text": {"type": "string", "max_length": 1}}, "set": {"number": "N"}}


@pytest.mark.parametrize("node", [CALL, TELL, RUN], ids=["call", "tell", "run"])
@pytest.mark.parametrize("amount", [1, 500])
def test_the_way_after_an_error_may_have_conditions(
    stage: WorkflowStage, node: dict[str, Any], amount: int
) -> None:
    nodes = [
        node,
        *({"id": name, "type": "script", "config": {"set": {name: "true"}}} for name in ("a", "b")),
    ]
    edges = [
        {"source": node["id"], "target": "a", "on": "error", "condition": "entity.amount > 100"},
        {"source": node["id"], "target": "b", "on": "error"},
        *({"source": name, "target": "out"} for name in (node["id"], "a", "b")),
    ]
    document = stage.create(
        stage.publish(
            {**CONTRACT, "actions": {"note": NOTE}}, checks={"nodes": nodes, "edges": edges, "exit": "join"}
        ),
        amount=amount,
    )
    stage.ask(document.id, "submit")
    stage.drain()
    if node is not RUN:
        stage.answer(document.instance_id, error="nobody there")
        stage.drain()
    taken = [name for name in stage.nodes(document.instance_id) if name.startswith("usr:checks:")]
    assert taken[-1] == ("usr:checks:a" if amount == 500 else "usr:checks:b")
    assert stage.status_of(document.id) == "active"
    stage.check_rebuild(document.instance_id)


def test_evidence_of_a_step_repeats_no_personal_value(stage: WorkflowStage) -> None:
    """Mask the input of an action and the value of an expression; the call itself must contain it."""
    actions = {"note": {"kind": "update", "payload": {"text": {"type": "string"}}, "set": {"number": "N"}}}
    note = {"action": "note", "payload": {"text": "Call {entity.contact}"}}
    nodes = [
        {"id": "note", "type": "action", "config": note},
        {"id": "known", "type": "condition"},
        {**CALL, "config": {"endpoint": "erp", "payload": {"who": "{entity.contact}"}}},
    ]
    edges = [
        {"source": "note", "target": "known"},
        {"source": "known", "target": "call", "condition": "entity.contact == 'Erna'"},
        {"source": "known", "target": "out"},
        {"source": "call", "target": "out"},
    ]
    slot = {"nodes": nodes, "edges": edges, "exit": "join"}
    document = stage.create(
        stage.publish({**CONTRACT, "actions": actions}, checks=slot), contact="Erna Ernst"
    )
    stage.ask(document.id, "submit")
    stage.drain()
    said = {step["node_id"]: step["output_json"] for step in stage.whole_steps(document.instance_id)}
    assert said["usr:checks:note"]["evidence"] == {
        "payload": {"text": "Call (personal)"},
        "variables": {"entity.contact": "(personal)"},
    }
    assert "Ernst" not in str(said)
    stage.check_rebuild(document.instance_id)
