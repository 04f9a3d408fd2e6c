"""Workflows with calls to the outside, alone or in a parallel block: begun, and not yet answered."""

from typing import Any

from signet.core.runtime.decisions import DecisionInput
from signet.core.runtime.execution import ActionPlan, Blocked, InstanceExecution
from signet.core.runtime.projection import start_projection
from signet.core.runtime.workflow import Workflow
from tests.support.core.valid_workflow import CONTRACT, compile_patch, read_envelope


def call(node_id: str) -> dict[str, Any]:
    return {"id": node_id, "type": "webhook_out", "config": {"endpoint": "bureau"}}


def make_block(mode: str) -> dict[str, Any]:
    return {
        "nodes": [
            {"id": "fork", "type": "parallel_split"},
            call("left"),
            call("right"),
            {"id": "both", "type": "parallel_join", "config": {"mode": mode}},
        ],
        "edges": [
            {"id": "a", "source": "fork", "target": "left"},
            {"id": "b", "source": "fork", "target": "right"},
            {"source": "left", "target": "both"},
            {"source": "right", "target": "both"},
        ],
    }


BLOCK = make_block("all")


def begin_block(mode: str) -> InstanceExecution:
    return begin(make_block(mode), "usr:checks:fork")


def load(nodes: dict[str, Any]) -> Workflow:
    patch = {
        "patch": "p",
        "base": {"entity_type": "invoice", "envelope_version": 3},
        "slots": {"checks": nodes},
    }
    artifact = compile_patch(patch, read_envelope(CONTRACT)).artifact
    assert artifact is not None
    return Workflow(artifact)


def begin(nodes: dict[str, Any], node: str) -> InstanceExecution:
    """Begin at a node of the slot, with every acting node begun."""
    execution = InstanceExecution(load(nodes), start_projection(node, 1))
    run(execution)
    return execution


def run(execution: InstanceExecution, blocked: str = "nowhere") -> None:
    execution.run_pure_nodes(
        lambda token: DecisionInput({}),
        lambda node, token: Blocked("NOT_NOW: later") if blocked in node.id else ActionPlan(),
    )
    execution.end_round()
