"""The part of a definition that decides which approvals are asked: two definitions agree on it, or differ.

A move between two that differ can pass approvals by. Some lie ahead of the token in the old definition, and
others behind it in the new one. Conditions of a slot that asks read variables and fields. The slots that set
those decide about it too.
"""

from collections.abc import Mapping
from typing import Any

from signet.core.contracts.contract import Contract
from signet.core.runtime.graph.deciding_slots import list_deciding_slots
from signet.core.runtime.workflow import Workflow


def asks_alike(
    old: Workflow, old_contract: Contract | None, new: Workflow, new_contract: Contract | None
) -> bool:
    """Return whether both ask for the same approvals, at the same places and under the same conditions."""
    return _describe(old, old_contract) == _describe(new, new_contract)


def _describe(workflow: Workflow, contract: Contract | None) -> tuple[Any, ...]:
    """Describe each slot that asks, or decides who is asked, as a whole, and what the contract says of it."""
    content = workflow.content
    slots, nodes, edges = content["slot_map"], content["nodes"], content["edges"]
    deciding = list_deciding_slots(content)
    inside = {node_id for node_id in nodes if slots.get(node_id) in deciding}
    run = {nodes[node_id]["config"].get("action") for node_id in inside}
    return (
        {node_id: _drop_label(nodes[node_id]) for node_id in inside},
        {
            edge_id: _drop_label(edge)
            for edge_id, edge in edges.items()
            if edge["source"] in inside or edge["target"] in inside
        },
        {name: action for name, action in content["actions"].items() if name in run},
        dict(workflow.shut_gates),
        None if contract is None else _describe_contract(contract),
    )


def _describe_contract(contract: Contract) -> tuple[Any, ...]:
    document = contract.to_json()
    return (
        {name: _drop_label(transition) for name, transition in document["transitions"].items()},
        {name: slot["requires"] for name, slot in document["slots"].items() if "requires" in slot},
        document["conditions"],
        document["separation_of_duties"],
    )


def _drop_label(described: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if name != "label"}
