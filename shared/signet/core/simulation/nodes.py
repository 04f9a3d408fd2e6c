"""What each acting or waiting node does in a simulation."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from signet.core.decisions import WAITS, Decision, conclude, decide
from signet.core.projection import Step
from signet.core.routing import Token, name_item
from signet.core.simulation.world import Asked, SimulatedStep, SimulatedWait, World
from signet.core.strict import read_duration_seconds
from signet.core.workflow import WorkflowNode

Performed = tuple[Decision, SimulatedWait | None]


def perform(world: World, node: WorkflowNode, token: Token, requested: str | None = None) -> Performed:
    performer = _PERFORMERS.get(node.type.name)
    if performer is not None:
        return performer(world, node, token)
    decision = decide(world.workflow, token, world.situation(requested))
    if node.type.name == "lifecycle_gate" and decision.outcome is not None:
        _perform_gate(world, node, decision)
    if node.type.name == "state" and decision is WAITS:
        return decision, SimulatedWait(f"a request in state '{node.config['state']}'")
    return decision, None


def resolve_wait(world: World, node: WorkflowNode, wait: SimulatedWait) -> Decision | None:
    """The script's answer, or None when it has none."""
    match node.type.name:
        case "approval":
            answer = scripted(world.script.approvals, node.id)
        case "webhook_out" | "notification":
            answer = scripted(world.script.effects, node.id) or node.type.outcomes[0]
        case "wait_event":
            return _receive(world, node, wait)
        case _:
            return None
    if answer is None or answer not in node.type.outcomes:
        return None
    if node.type.name == "approval" and answer not in node.ways:
        return None  # an approval that never expires was told to
    saved = _save_response(world, node) if answer == "delivered" else {}
    env = {**world.env(), "context": {**world.projection.context, **saved}}
    return conclude(world.workflow, node, answer, env, {"scripted": answer}, saved)


def _save_response(world: World, node: WorkflowNode) -> dict[str, Any]:
    if not node.config["save_as"]:
        return {}
    return {node.config["save_as"]: world.script.outputs.get(node.config["endpoint"])}


def scripted(answers: Mapping[str, Any], node_id: str) -> Any:
    for name in (node_id, node_id.rsplit(":", 1)[-1], "*"):
        if name in answers:
            return answers[name]
    return None


def _perform_gate(world: World, node: WorkflowNode, decision: Decision) -> None:
    """Only a gate changes the status; a rejection that leads to another status changes it too."""
    target = node.config["to"] if decision.outcome == "passed" else None
    if decision.outcome == "rejected" and decision.ways:
        target = world.workflow.nodes[decision.ways[0].target].config["state"]
    if target is not None and target != world.status:
        world.status = target
        world.projection.entity_version += 1


def _perform_action(world: World, node: WorkflowNode, token: Token) -> Performed:
    env, outputs, evidence = world.env(), [], []
    items = _list_items(node, env)
    for index, item in enumerate(items):
        env = {**world.env(), "item": item}
        payload, variables = node.templates["/payload"](env)
        outputs.append(_run_action(world, node, payload))
        evidence.append({"payload": payload, "variables": variables})
        if node.config["for_each"] is not None:
            _record_item(world, node, token, index)
    result: Any = outputs if node.config["for_each"] is not None else outputs[0]
    saved = {node.config["save_as"]: result} if node.config["save_as"] else {}
    env = {**world.env(), "context": {**world.projection.context, **saved}}
    return conclude(world.workflow, node, "done", env, {"runs": evidence}, saved), None


def _list_items(node: WorkflowNode, env: Mapping[str, Any]) -> Sequence[Any]:
    if node.config["for_each"] is None:
        return [None]
    items = node.expressions["/for_each"].value(env)
    return items[: node.config["max_items"]] if isinstance(items, list) else []


def _run_action(world: World, node: WorkflowNode, payload: Any) -> Any:
    name = node.config["action"]
    action = world.workflow.actions.get(name)
    if action is not None and action.kind == "update":
        changes, _ = action.set({**world.env(), "payload": payload})
        world.document.update(changes)
        world.projection.entity_version += 1
    return world.script.outputs.get(name, {})


def _record_item(world: World, node: WorkflowNode, token: Token, index: int) -> None:
    seq = world.next_seq()
    world.projection.version = seq
    version = world.projection.entity_version
    item_token = name_item(token.id, node.id, index)
    step = Step(seq, seq, node.id, item_token, "completed", token.version, version)
    world.steps.append(SimulatedStep(step, "done", {"item": index}))


def _perform_approval(world: World, node: WorkflowNode, token: Token) -> Performed:
    people = describe_approvers(node, world.env())
    world.asked.append(Asked(node.id, people))
    expire_after = node.config["expire_after"]
    due = _after(world, expire_after) if expire_after else None
    return WAITS, SimulatedWait(f"approval by {people}", due, "expired")


def describe_approvers(node: WorkflowNode, env: Mapping[str, Any]) -> str:
    if node.config["chain"] is not None:
        return f"chain {node.config['chain']}"
    described = []
    for index, person in enumerate(node.config["approvers"]):
        match person["by"]:
            case "user":
                described.append(person["user"])
            case "role":
                described.append(f"role {person['role']}")
            case "manager":
                described.append(f"manager of {node.expressions[f'/approvers/{index}/of'].value(env)}")
            case _:
                described.append(str(node.expressions[f"/approvers/{index}/expression"].value(env)))
    return f"{node.config['quorum']} of {', '.join(described)}" if len(described) > 1 else described[0]


def _perform_timer(world: World, node: WorkflowNode, token: Token) -> Performed:
    if node.config["for"] is not None:
        due = _after(world, node.config["for"])
    else:
        due = _read_moment(node.expressions["/until"].value(world.env())) or world.now
    return WAITS, SimulatedWait(f"until {due.isoformat()}", due, "elapsed")


def _read_moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _perform_event(world: World, node: WorkflowNode, token: Token) -> Performed:
    key, _ = node.templates["/key"](world.env())
    timeout = node.config["timeout"]
    due = _after(world, timeout) if timeout else None
    return WAITS, SimulatedWait(f"event '{key}'", due, "timeout", key=key)


def _receive(world: World, node: WorkflowNode, wait: SimulatedWait) -> Decision | None:
    if wait.key is None or wait.key not in world.script.events:
        return None
    payload = world.script.events[wait.key]
    saved = {node.config["save_as"]: payload} if node.config["save_as"] else {}
    env = {**world.env(), "context": {**world.projection.context, **saved}}
    return conclude(world.workflow, node, "received", env, {"key": wait.key}, saved)


def _perform_webhook(world: World, node: WorkflowNode, token: Token) -> Performed:
    payload, _ = node.templates["/payload"](world.env())
    return WAITS, SimulatedWait(f"delivery to '{node.config['endpoint']}' of {payload}")


def _perform_notification(world: World, node: WorkflowNode, token: Token) -> Performed:
    text, _ = node.templates["/text"](world.env())
    if node.config["await"]:
        return WAITS, SimulatedWait(f"delivery of '{text}'")
    return conclude(world.workflow, node, "done", world.env(), {"text": text}), None


def _after(world: World, duration: str) -> datetime:
    return world.now + timedelta(seconds=read_duration_seconds(duration))


_PERFORMERS: Mapping[str, Callable[[World, WorkflowNode, Token], Performed]] = {
    "action": _perform_action,
    "approval": _perform_approval,
    "wait_timer": _perform_timer,
    "wait_event": _perform_event,
    "webhook_out": _perform_webhook,
    "notification": _perform_notification,
}
