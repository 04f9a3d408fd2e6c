"""The acting and waiting nodes of a simulation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from signet.core.calendars.terms import describe_term, find_due, read_term
from signet.core.calendars.working_calendar import make_working_calendar
from signet.core.contracts.field_values import validate_fields
from signet.core.contracts.fields import Fields
from signet.core.errors import Rejected
from signet.core.expressions.byte_budget import count_bytes
from signet.core.expressions.render import Rendered
from signet.core.integrations.retry_plan import describe_timeout
from signet.core.moments.durations import parse_duration_seconds
from signet.core.runtime.decisions import (
    WAITS,
    Decision,
    DecisionInput,
    check_length,
    conclude,
    conclude_refused,
    decide,
)
from signet.core.runtime.done_before import EarlierStep, conclude_earlier, hash_said
from signet.core.runtime.event_waits import conclude_received, find_unfit, read_event_keys
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.projection import Actor
from signet.core.runtime.result_bounds import ListBudget, render
from signet.core.runtime.tokens import ROOT
from signet.core.runtime.workflow import WorkflowNode
from signet.core.schedules.timer_due import WITHOUT_MOMENT, find_timer_due
from signet.core.simulation.done_before import (
    find_done_before,
    note_gate,
)
from signet.core.simulation.world import SimulatedRequest, SimulatedWait, SimulatedWorld
from signet.core.tenants.tenant_names import DEFAULT_CALENDAR

SimulatedResult = tuple[Decision, SimulatedWait | None]
# The output with its evidence, or the refusal.
_Run = tuple[Any, Mapping[str, Any]] | Rejected
# The reason in the words of the engine, for an effect that was given up.
SCRIPTED_FAILURE = "EFFECT_DEAD: the script has it fail"
MAX_SHOWN = 2_000
# The name of all nodes that a script does not name.
EVERY_NODE = "*"
_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


def prepare(world: SimulatedWorld, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
    """Plan what an acting node does; a gate that can neither pass nor send back blocks the instance."""
    account = world.find_account(node)
    if account is not None and account.problem is not None:
        return Blocked(account.problem)
    if node.type.name == "lifecycle_gate":
        decision = decide(world.workflow, token, world.decision_input(token))
        return (
            ActionPlan(decision)
            if decision.outcome is not None
            else Blocked(decision.reason or "", decision.evidence)
        )
    if node.type.name not in ("action", "webhook_out"):
        return ActionPlan()
    said = hash_said(node, world.env(node))
    done = find_done_before(world, node, token, said)
    if isinstance(done, Blocked):
        return done
    given = {"said": said}
    if isinstance(done, EarlierStep):
        return ActionPlan(done, given=given)
    if node.type.name == "webhook_out":
        return ActionPlan(given=given)
    items = _list_items(node, world.env(node))
    refused = check_length(node, items or ())
    count = 0 if items is None or refused is not None else len(items)
    return ActionPlan(refused or items, count, given=given)


def try_gate(world: SimulatedWorld, gate: str, asker: Actor) -> str | None:
    """Return why the gate cannot be passed. A script has one person, who is also the asker."""
    token = Token(ROOT, gate, TokenState.READY, world.version)
    prepared = prepare(world, world.workflow.nodes[gate], token)
    return prepared.reason if isinstance(prepared, Blocked) else None


def act(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    if isinstance(pending.plan, EarlierStep):
        return conclude_earlier(world.workflow, pending.node, pending.plan, world.env(pending.node)), None
    return _ACTORS[pending.node.type.name](world, pending)


def resolve_wait(world: SimulatedWorld, node: WorkflowNode, wait: SimulatedWait) -> Decision | None:
    """Return the script's answer, or None when it has none."""
    match node.type.name:
        case "approval":
            answer = scripted(world.script.approvals, node.id)
        case "webhook_out" | "notification":
            answer = scripted(world.script.effects, node.id) or node.type.outcomes[0]
            if answer == "timeout" and node.config.get("timeout") is not None:
                return _time_out(world, node)
        case "wait_event":
            return _receive(world, node, wait)
        case _:
            return None
    if answer is None or answer not in node.type.outcomes:
        return None
    if node.type.name == "approval" and answer not in node.edges and node.config["chain"] is None:
        return None  # the script has an approval expire that never does
    world.has_approved |= answer == "approved"
    saved = _save_response(world, node) if answer == "delivered" else {}
    env = {**world.env(node), "context": {**world.projection.context, **saved}}
    decision = conclude(world.workflow, node, answer, env, {"scripted": answer}, saved)
    return replace(decision, reason=SCRIPTED_FAILURE) if answer == "error" else decision


def _time_out(world: SimulatedWorld, node: WorkflowNode) -> Decision:
    """Let the answer be late, where the node says how long it may take."""
    decision = conclude(world.workflow, node, "error", world.env(node), {"scripted": "timeout"})
    return replace(decision, reason=describe_timeout(node.config["timeout"]))


def _save_response(world: SimulatedWorld, node: WorkflowNode) -> dict[str, Any]:
    """Save the answer in the shape of a real one; without one in the script the receiver says nothing."""
    if not node.config["save_as"]:
        return {}
    given = world.script.outputs.get(name_receiver(node), {})
    return {node.config["save_as"]: {"status": 200, "body": None, "duration_ms": 0.0, **given}}


def scripted(answers: Mapping[str, Any], node_id: str) -> Any:
    for name in (node_id, last_part(node_id), EVERY_NODE):
        if name in answers:
            return answers[name]
    return None


def last_part(node_id: str) -> str:
    return node_id.rsplit(":", 1)[-1]


def _pass_gate(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    """Change the status by a transition, or by a rejection that leads to another state."""
    decision: Decision = pending.plan
    target = pending.node.config["to"] if decision.outcome == "passed" else None
    if decision.outcome == "rejected" and decision.edges:
        target = world.workflow.nodes[decision.edges[0].target].config["state"]
    if target is not None and target != world.status:
        world.status = target
        world.version += 1
    note_gate(world, pending.node, decision, target)
    world.request = None
    return decision, None


def _run_actions(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    node, items = pending.node, pending.plan
    if isinstance(items, Rejected):
        return _refuse(world, node, items)
    if items is not None:
        return _run_list(world, pending, items)
    run = _run_action(world, node, None)
    return _refuse(world, node, run) if isinstance(run, Rejected) else (_save(world, node, *run), None)


def _run_list(world: SimulatedWorld, pending: PendingAction, items: Sequence[Any]) -> SimulatedResult:
    """Run the items in order: all of them, or none."""
    node, budget = pending.node, ListBudget(pending.node)
    document, version, outputs = dict(world.document), world.version, list[Any]()
    decisions: list[tuple[Decision, int]] = []
    refused = None
    for item in items:
        run = _run_action(world, node, item)
        if isinstance(run, Rejected):
            refused = run
            break
        budget.take(run[1], run[0], 0)
        refused = budget.refused
        if refused is not None:
            break
        outputs.append(run[0])
        decisions.append((Decision("done", evidence=run[1]), world.version))
    if refused is None:
        for step, (decision, after) in zip(pending.items, decisions, strict=True):
            world.execution.end(step, decision, after)
        return _save(world, node, outputs, {}), None
    world.document, world.version = document, version
    for index, step in enumerate(pending.items):
        is_wrong = index == len(outputs)
        ended = Decision("error", reason=refused.code) if is_wrong else Decision("skipped")
        world.execution.end(step, ended, version)
    return _refuse(world, node, refused)


def _refuse(world: SimulatedWorld, node: WorkflowNode, refused: Rejected) -> SimulatedResult:
    asked = DecisionInput(world.env(node), has_deciders=world.has_deciders)
    return conclude_refused(world.workflow, node, refused, asked), None


def _render(world: SimulatedWorld, node: WorkflowNode, pointer: str, env: Mapping[str, Any]) -> Rendered:
    rendered = render(node, pointer, env)
    if not isinstance(rendered, Rejected):
        world.rendered_bytes += count_bytes(rendered[0])
    return rendered


def _save(world: SimulatedWorld, node: WorkflowNode, result: Any, evidence: Mapping[str, Any]) -> Decision:
    saved = {node.config["save_as"]: result} if node.config["save_as"] else {}
    env = {**world.env(node), "context": {**world.projection.context, **saved}}
    return conclude(world.workflow, node, "done", env, evidence, saved)


def _list_items(node: WorkflowNode, env: Mapping[str, Any]) -> Sequence[Any] | None:
    if node.config["for_each"] is None:
        return None
    items = node.expressions["/for_each"].value(env)
    return items if isinstance(items, list) else []


def _run_action(world: SimulatedWorld, node: WorkflowNode, item: Any) -> _Run:
    rendered = _render(world, node, "/payload", {**world.env(node), "item": item})
    if isinstance(rendered, Rejected):
        return rendered
    payload, variables = rendered
    name = node.config["action"]
    action, contract = world.workflow.actions.get(name), world.script.contract
    declared = contract.actions.get(name) if contract is not None else None
    if declared is not None:
        payload = _read_fields(declared.payload, payload, "payload")
        if isinstance(payload, Rejected):
            return payload
    if action is not None and action.kind == "update":
        changes = action.set({**world.env(node), "payload": payload})
        if isinstance(changes, Rejected):
            return changes
        data: Any = {**world.document, **changes[0]}
        if contract is not None:
            data = _read_fields(contract.fields, data, "document")
        if isinstance(data, Rejected):
            return data
        world.document = data
        world.version += 1
    return world.script.outputs.get(name, {}), {"payload": payload, "variables": variables}


def _read_fields(fields: Fields, values: Mapping[str, Any], within: str) -> dict[str, Any] | Rejected:
    """Read what an action is given, or what it makes of the document, as the engine does."""
    read, mistakes = validate_fields(fields, dict(values))
    if read is not None:
        return read
    first = mistakes[0]
    sentence = f"{len(mistakes)} field(s) of the {within} are not as the contract says"
    return Rejected("FIELDS_INVALID", f"{sentence}: {first.pointer} {first.message}", fields=mistakes)


def _ask_people(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    node = pending.node
    people = describe_approvers(node, world.env())
    world.asked.append(SimulatedRequest(node.id, people))
    expire_after = node.config["expire_after"]
    due = _add_deadline(world, expire_after) if expire_after else None
    if isinstance(due, Rejected):
        return _refuse(world, node, due)
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
                named = str(node.expressions[f"/approvers/{index}/expression"].value(env))
                described.append(f"{named} as {person['who']}" if person.get("who") else named)
    return f"{node.config['quorum']} of {', '.join(described)}" if len(described) > 1 else described[0]


def _find_wait_end(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    """Return the moment until which a timer waits; an `until` that gives no moment holds it."""
    config, expressions = pending.node.config, pending.node.expressions
    if config.get("business") is not None:
        return _find_business_end(world, pending)
    until = expressions["/until"].value(world.env()) if "/until" in expressions else None
    zone = world.script.find_zone(config.get("zone") or world.script.org.get("time_zone", "UTC"))
    due = find_timer_due(config, until, world.now, zone)
    if due is None:
        return _refuse(world, pending.node, Rejected("TIMER_WITHOUT_MOMENT", WITHOUT_MOMENT))
    return WAITS, SimulatedWait(f"until {due.isoformat()}", due, "elapsed")


def _find_business_end(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    """Return the end of a term of a calendar; without the calendar, or beyond its years, it is held."""
    config = pending.node.config["business"]
    due = _add_deadline(world, config)
    if isinstance(due, Rejected):
        return _refuse(world, pending.node, due)
    name = world.script.calendars[config["calendar"] or DEFAULT_CALENDAR].calendar
    shown = f"until {due.isoformat()}, after {describe_term(read_term(config))} of '{name}'"
    return WAITS, SimulatedWait(shown, due, "elapsed")


def _add_deadline(world: SimulatedWorld, term: str | Mapping[str, Any]) -> datetime | Rejected:
    """Add time that passes, or a term of a calendar, or say why the calendar gives no moment."""
    if isinstance(term, str):
        return _after(world, term)
    name = term["calendar"]
    written = world.script.calendars.get(name or DEFAULT_CALENDAR)
    if written is None:
        missing = "no calendar is named" if name is None else f"there is no calendar '{name}'"
        return Rejected("CALENDAR_NOT_FOUND", missing)
    try:
        calendar = make_working_calendar(written, world.script.find_zone(written.zone))
        return find_due(calendar, world.now, read_term(term))
    except Rejected as refused:
        return refused


def _wait_for_event(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    node = pending.node
    keys = read_event_keys(node, world.env())
    if isinstance(keys, Rejected):
        return _refuse(world, node, keys)
    world.rendered_bytes += count_bytes(list(keys))
    timeout = node.config["timeout"]
    due = _after(world, timeout) if timeout else None
    shown = " or ".join(f"'{key}'" for key in keys)
    return WAITS, SimulatedWait(f"event {shown}", due, "timeout", keys=keys)


def _receive(world: SimulatedWorld, node: WorkflowNode, wait: SimulatedWait) -> Decision | None:
    """Take the first event of the script that fits; what does not fit keeps the wait."""
    for key in wait.keys:
        if key in world.script.events:
            payload = world.script.events[key]
            if find_unfit(node, payload, world.env()) is None:
                return conclude_received(world.workflow, node, world.env(), payload, {"key": key})
    return None


def _call_endpoint(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    node = pending.node
    rendered = _render(world, node, "/payload", world.env(node))
    if isinstance(rendered, Rejected):
        return _refuse(world, node, rendered)
    shown = f"delivery to '{name_receiver(node)}' of {rendered[0]}"
    return WAITS, SimulatedWait(shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}…")


def name_receiver(node: WorkflowNode) -> str:
    """Return the endpoint, or the event, which may have many receivers or none."""
    return str(node.config["endpoint"] or node.config["event"])


def _notify(world: SimulatedWorld, pending: PendingAction) -> SimulatedResult:
    node = pending.node
    for pointer in ("/subject", "/text"):
        rendered = _render(world, node, pointer, world.env(node))
        if isinstance(rendered, Rejected):
            return _refuse(world, node, rendered)
        text = rendered[0]
    if node.config["await"]:
        return WAITS, SimulatedWait(f"delivery of '{text}'")
    return conclude(world.workflow, node, "done", world.env(node), {"text": text}), None


def _after(world: SimulatedWorld, duration: str) -> datetime:
    """Add a duration to the clock. A few thousand timers of ten years come to the end of the calendar."""
    length = timedelta(seconds=parse_duration_seconds(duration))
    return world.now + length if length < _LAST_MOMENT - world.now else _LAST_MOMENT


_ACTORS: Mapping[str, Callable[[SimulatedWorld, PendingAction], SimulatedResult]] = {
    "lifecycle_gate": _pass_gate,
    "action": _run_actions,
    "approval": _ask_people,
    "wait_timer": _find_wait_end,
    "wait_event": _wait_for_event,
    "webhook_out": _call_endpoint,
    "notification": _notify,
}
