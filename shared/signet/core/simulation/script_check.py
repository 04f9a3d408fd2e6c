"""The check of a script before it runs: it names what the workflow has, and answers as a receiver could."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from signet.core.contracts.contract import Contract
from signet.core.errors import FieldError
from signet.core.expressions.errors import suggest
from signet.core.runtime.hand_answers import check_response
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.simulation.nodes import EVERY_NODE, last_part, name_receiver
from signet.core.simulation.world import WorldScript

_MAX_NAMED = 20


def find_script_mistakes(workflow: Workflow, script: WorldScript) -> list[FieldError]:
    """Find what the script names that the workflow does not have, and answers in a wrong shape."""
    return [*_find_unknown_names(workflow, script), *_find_wrong_answers(workflow, script.outputs)]


def _find_unknown_names(workflow: Workflow, script: WorldScript) -> Iterator[FieldError]:
    approvals, effects = (
        _list_nodes(workflow, "approval"),
        _list_nodes(workflow, "webhook_out", "notification"),
    )
    yield from _check("approvals", "approval", script.approvals, {EVERY_NODE, *_name_nodes(approvals)})
    yield from _check("effects", "call or notification", script.effects, {EVERY_NODE, *_name_nodes(effects)})
    yield from _check("outputs", "endpoint, event or action", script.outputs, _list_receivers(workflow))
    asked = {name for node in _list_nodes(workflow, "rule") for name in node.config["rules"]}
    yield from _check("rules", "rule", script.rules, asked)
    gates = _list_nodes(workflow, "lifecycle_gate")
    transitions = {str(node.config["transition"]) for node in gates}
    for index, name in enumerate(script.requests):
        if name not in transitions:
            yield _refuse(f"/requests/{index}", "transition", name, transitions)
    if script.contract is not None:
        yield from _check("refs", "field of the type ref", script.refs, _list_refs(script.contract))


def _list_nodes(workflow: Workflow, *types: str) -> list[WorkflowNode]:
    return [node for node in workflow.nodes.values() if node.type.name in types]


def _name_nodes(nodes: Sequence[WorkflowNode]) -> Iterator[str]:
    for node in nodes:
        yield from (node.id, last_part(node.id))


def _list_receivers(workflow: Workflow) -> set[str]:
    called = {name_receiver(node) for node in _list_nodes(workflow, "webhook_out")}
    return called | {str(node.config["action"]) for node in _list_nodes(workflow, "action")}


def _list_refs(contract: Contract) -> set[str]:
    return {name for name, field in contract.fields.items() if field.type == "ref"}


def _check(part: str, what: str, given: Mapping[str, Any], known: set[str]) -> Iterator[FieldError]:
    for name in given:
        if name not in known:
            yield _refuse(f"/{part}/{name}", what, name, known)


def _refuse(pointer: str, what: str, name: str, known: set[str]) -> FieldError:
    meant = suggest(name, known)
    named = ", ".join(sorted(known)[:_MAX_NAMED]) or "none"
    hint = f"Did you mean '{meant}'?" if meant is not None else f"It has: {named}."
    return FieldError(pointer, "NAME_UNKNOWN", f"names no {what} of the workflow. {hint}")


def _find_wrong_answers(workflow: Workflow, outputs: Mapping[str, Any]) -> Iterator[FieldError]:
    """Find the answers to calls that no receiver could give in this shape, by the name of the receiver."""
    calls = _list_nodes(workflow, "webhook_out")
    receivers = {name_receiver(node) for node in calls if node.config["save_as"]} & outputs.keys()
    for name in sorted(receivers):
        mistake = check_response(outputs[name], f"/outputs/{name}")
        if mistake is not None:
            yield mistake
