"""Waits for events: the keys of a node as its token arrives, and whether an event fits."""

from collections.abc import Mapping
from typing import Any

from signet.core.errors import Rejected
from signet.core.expressions import Environment
from signet.core.integrations.inbound_events import check_key
from signet.core.integrations.payload_schema import find_payload_mistakes
from signet.core.runtime.decisions import Decision, conclude
from signet.core.runtime.result_bounds import check_variables, render
from signet.core.runtime.workflow import Workflow, WorkflowNode

KEY_REMEDY = "Give the document the value, then retry; or publish the workflow with another key."


def read_event_keys(node: WorkflowNode, env: Environment) -> tuple[str, ...] | Rejected:
    """Render the keys that the node waits for. A key with a hole in it would take another's events."""
    pointers = [name for name in node.templates if name == "/key" or name.startswith("/any_of/")]
    keys: list[str] = []
    for pointer in pointers:
        rendered = render(node, pointer, env)
        if isinstance(rendered, Rejected):
            return rendered
        value, variables = rendered
        empty = [name for name, read in variables.items() if read is None or read == ""]
        if empty:
            sentence = f"{pointer[1:]} of {node.id} reads {', '.join(empty)}, and finds nothing there"
            return Rejected("EVENT_KEY_INVALID", sentence, remedy=KEY_REMEDY)
        refused = check_key(str(value))
        if refused is not None:
            sentence = f"{pointer[1:]} of {node.id} gives no key: {refused.message}"
            return Rejected("EVENT_KEY_INVALID", sentence, remedy=KEY_REMEDY)
        keys.append(str(value))
    return tuple(dict.fromkeys(keys))


def find_unfit(node: WorkflowNode, payload: Any, env: Environment) -> str | None:
    """Return why the node waits on though this event has come; None where the event fits."""
    schema = node.config.get("schema")
    mistakes = find_payload_mistakes(schema, payload, "/payload") if schema is not None else ()
    if mistakes:
        return f"EVENT_PAYLOAD_INVALID: {mistakes[0].pointer} {mistakes[0].message}"
    condition = node.expressions.get("/condition")
    if condition is not None and condition.value({**env, "event": payload}) is not True:
        return f"the condition '{condition.text}' does not hold"
    refused = check_variables(node, env.get("context", {}), _save(node, payload))
    return None if refused is None else f"{refused.code}: {refused.message}"


def conclude_received(
    workflow: Workflow, node: WorkflowNode, env: Environment, payload: Any, evidence: Mapping[str, Any]
) -> Decision:
    """Conclude with an event that fits; conditions on the edges read what it has brought."""
    saved = _save(node, payload)
    env = {**env, "context": {**env.get("context", {}), **saved}}
    return conclude(workflow, node, "received", env, evidence, saved)


def _save(node: WorkflowNode, payload: Any) -> dict[str, Any]:
    return {node.config["save_as"]: payload} if node.config["save_as"] else {}
