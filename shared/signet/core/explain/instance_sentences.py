"""What is on record of an instance, in sentences: where it stands, what happened, what it waits for."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from signet.core.explain.instance_record import (
    EffectRecord,
    ExplainedStep,
    InstanceRecords,
    TriggerRecord,
    TurnRecord,
)
from signet.core.explain.node_sentences import describe_kind, describe_step
from signet.core.explain.outline import Outline
from signet.core.explain.vocabulary import describe_list, describe_name, escape
from signet.core.runtime.document_changes import DRIFT
from signet.core.runtime.projection import CONTROL

LIVE = ("running", "paused")
_Data = Mapping[str, Any]


def describe_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def describe_actor(node_id: str, run_as: str, actor: str) -> str:
    match run_as:
        case "system":
            return "(by the system)"
        case "service_account":
            return "(by the service account)"
        case _:
            return f"({'by' if node_id.startswith(CONTROL) else 'for'} {escape(actor)})"


def describe_node(outline: Outline, node_id: str) -> str:
    """In the middle of a sentence: `the gate "Submit"`."""
    node_type = outline.workflow.type_of(node_id)
    match node_type:
        case "start" | "end":
            return f"the {node_type}"
        case "lifecycle_gate":
            return f"the gate {outline.name(node_id)}"
        case "policy_gate":
            return f"the policy gate of {outline.name(outline.workflow.pass_policy(node_id))}"
        case _:
            return f"the {describe_kind(node_type)} {outline.name(node_id)}"


def describe_standing(outline: Outline, node_id: str) -> str:
    return f"{begin_sentence(describe_node(outline, node_id))} [{escape(node_id)}]"


def begin_sentence(text: str) -> str:
    """As a sentence begins."""
    return text[:1].upper() + text[1:]


def end_sentence(text: str) -> str:
    """As a sentence ends, whatever somebody else wrote."""
    said = escape(text).strip()
    return said if said.endswith((".", "!", "?")) else f"{said}."


# --- in one sentence ---


def describe_summary(outline: Outline, record: InstanceRecords) -> str:
    instance, document = record.instance, record.document
    about = "Its workflow" if document is not None else "The workflow"
    words = [_describe_document(outline, record)] if document is not None else []
    nodes = [token["node"] for token in instance.active_tokens if token["state"] in ("ready", "waiting")]
    where = f" at {describe_list(describe_node(outline, node) for node in nodes)}" if nodes else ""
    match instance.status:
        case "running":
            is_ready = any(token["state"] == "ready" for token in instance.active_tokens)
            words.append(f"{about} {'runs' if is_ready else 'waits'}{where}.")
        case "paused":
            words.append(end_sentence(f"{about} is paused{where}: {instance.reason}"))
        case "completed":
            words.append(f"{about} has ended.")
        case status:
            words.append(end_sentence(f"{about} is over, {status}: {instance.reason}"))
    return " ".join(words)


def _describe_document(outline: Outline, record: InstanceRecords) -> str:
    document = record.document
    assert document is not None
    state = outline.contract.states.get(document.status) if outline.contract is not None else None
    label = escape(state.label) if state is not None and state.label else describe_name(document.status)
    deleted = " and deleted" if document.is_deleted else ""
    what = begin_sentence(outline.words.document)
    return f'{what} {record.instance.entity_id} is "{label}"{deleted}, at version {document.version}.'


# --- what it waits for ---


def describe_wait(
    outline: Outline, record: InstanceRecords, node_id: str, step: ExplainedStep | None
) -> Iterator[str]:
    if step is None:
        yield from _describe_not_begun(outline, record, node_id)
        return
    match outline.workflow.type_of(node_id):
        case "state":
            yield from _describe_state(outline, record, node_id)
        case "webhook_out" | "notification":
            yield from _describe_effects(outline, record, step)
        case node_type:
            yield from describe_step(node_type, outline.workflow.config_of(node_id), outline.words)
            if step.waiting_for_event_key is not None:
                yield f'The key is "{escape(step.waiting_for_event_key)}".'
    if step.resume_at is not None:
        yield f"It goes on by itself at {describe_time(step.resume_at)}."


def _describe_not_begun(outline: Outline, record: InstanceRecords, node_id: str) -> Iterator[str]:
    if record.instance.status == "running":
        yield "It is the next to be executed."
        return
    yield "It has not been executed yet."
    condition = outline.workflow.config_of(node_id).get("condition")
    if condition is not None:
        yield f"It passes only if {outline.words.describe_condition(condition)}."


def _describe_state(outline: Outline, record: InstanceRecords, node_id: str) -> Iterator[str]:
    request = record.request
    if request is not None:
        reason = f' ("{escape(request.reason)}")' if request.reason else ""
        yield (
            f"{escape(request.actor_id)} asked for {name_transition(outline, request.transition)}"
            f" at {describe_time(request.created_at)}{reason}; that is not taken up yet."
        )
    for outcome in ("requested", "interrupted"):
        for edge in outline.workflow.edges_from(node_id, outcome):
            yield _describe_exit(outline, _exit_gate_of(outline, edge["target"]))


def _describe_exit(outline: Outline, gate: str) -> str:
    config = outline.workflow.config_of(gate)
    transition = (
        outline.contract.transitions.get(config["transition"]) if outline.contract is not None else None
    )
    sentence = f"A person with the permission {escape(config['permission'])} may ask for {outline.name(gate)}"
    if config["permission_condition"] is not None:
        sentence += f", only if {outline.words.describe_condition(config['permission_condition'])}"
    if transition is not None and transition.reason_required:
        sentence += ", with a reason"
    return f"{sentence}."


def _exit_gate_of(outline: Outline, node_id: str) -> str:
    if outline.workflow.type_of(node_id) == "slot_in":
        return outline.workflow.exit_of(outline.workflow.slot_of(node_id))
    return node_id


def name_transition(outline: Outline, name: str) -> str:
    declared = outline.contract.transitions.get(name) if outline.contract is not None else None
    return f'"{escape(declared.label) if declared is not None and declared.label else describe_name(name)}"'


def _describe_effects(outline: Outline, record: InstanceRecords, step: ExplainedStep) -> Iterator[str]:
    own = [effect for effect in record.effects if effect.step_execution_id == step.id]
    if not own:
        yield "Nothing was sent for it: that should not be."
    for effect in own:
        yield f"{_name_effect(effect)} {_describe_delivery(effect)}"


def _name_effect(effect: EffectRecord) -> str:
    if effect.endpoint:
        return f'The call to the endpoint "{escape(effect.endpoint)}"'
    return "The event for other systems" if effect.effect_type == "integration" else "The message"


def _describe_delivery(effect: EffectRecord | TriggerRecord) -> str:
    last = f" The last time: {end_sentence(effect.error)}" if effect.error else ""
    tried = f"attempt {effect.attempts} of {effect.max_attempts}"
    match effect.status:
        case "pending":
            return f"is due at {describe_time(effect.due_at)}.{last}"
        case "processing":
            return f"is under way, {tried}.{last}"
        case "failed":
            return f"failed, {tried}; it is tried again at {describe_time(effect.due_at)}.{last}"
        case "completed":
            return "has been delivered; the workflow has not taken the answer yet."
        case _:
            return f"was given up after {tried}.{last}"


# --- what happened ---

_OUTCOMES = {
    "created": "the document was created",
    "amended": "the document was made by an amendment",
    "automatic": "it goes on by itself",
    "ended": "the workflow ends here",
    "error": "it failed",
}


def describe_happened(outline: Outline, step: ExplainedStep) -> str:
    output = step.output_json or {}
    if step.node_id.startswith(CONTROL):
        return _describe_control(outline, step.node_id.removeprefix(CONTROL), step, output)
    name = begin_sentence(describe_node(outline, step.node_id))
    if step.status in ("cancelled", "skipped"):
        return f"{name}: {step.status}."
    asked = _describe_asked(outline, output)
    outcome = str(output.get("outcome"))
    error = f", {end_sentence(step.error)}" if step.error else "."
    on = _describe_edges(outline, output.get("chosen_edge_ids", ()))
    return " ".join(
        part
        for part in (f"{name}: {asked or _OUTCOMES.get(outcome, describe_name(outcome))}{error}", on)
        if part
    )


def _describe_asked(outline: Outline, output: _Data) -> str:
    """Of a state that a person's request has ended."""
    if "actor" not in output:
        return ""
    wanted = output.get("evidence", {}).get("request", "")
    return f"{escape(output['actor']['id'])} asked for {name_transition(outline, wanted)}"


def _describe_edges(outline: Outline, edge_ids: Any) -> str:
    edges = [outline.workflow.content["edges"][edge_id] for edge_id in edge_ids]
    if not edges:
        return ""
    named = (f"{_describe_target(outline, edge['target'])}{_describe_label(edge)}" for edge in edges)
    return f"On to {describe_list(named)}."


def _describe_target(outline: Outline, node_id: str) -> str:
    if outline.workflow.type_of(node_id) != "slot_in":
        return outline.lead_to(node_id)
    slot = outline.workflow.slot_of(node_id)
    declared = outline.contract.slots.get(slot) if outline.contract is not None else None
    label = escape(declared.label) if declared is not None and declared.label else describe_name(slot)
    return f'the steps "{label}"'


def _describe_label(edge: _Data) -> str:
    return f" ({escape(edge['label'])})" if edge.get("label") else ""


def _describe_control(outline: Outline, name: str, step: ExplainedStep, data: _Data) -> str:
    say = _CONTROLS.get(name)
    return say(outline, step, data) if say is not None else f"It was {describe_name(name)}."


def _describe_paused(outline: Outline, step: ExplainedStep, data: _Data) -> str:
    return end_sentence(f"It paused: {data['reason']}")


def _describe_sent(outline: Outline, step: ExplainedStep, data: _Data) -> str:
    node = outline.lead_to(data["node"])
    if "transition" in data:
        return f"{name_transition(outline, data['transition'])} was asked for: it was sent to {node}."
    return f"It was sent to {node}: {escape(data['because'])}."


def _describe_refused(outline: Outline, step: ExplainedStep, data: _Data) -> str:
    asked = name_transition(outline, data["transition"])
    return end_sentence(f"The request for {asked} was refused: {data['reason']}")


def _describe_about_token(what: str) -> Callable[[Outline, ExplainedStep, _Data], str]:
    return lambda outline, step, data: end_sentence(
        f"{begin_sentence(describe_node(outline, data['node']))} {what}: {data['reason']}"
    )


def _describe_moved(outline: Outline, step: ExplainedStep, data: _Data) -> str:
    old, new = (f"{escape(one['name'])} version {one['version']}" for one in (data["from"], data["to"]))
    because = f": {escape(data['reason'])}" if "reason" in data else ""
    return end_sentence(f"It was moved from {old} to {new}{because}")


_CONTROLS: Mapping[str, Callable[[Outline, ExplainedStep, _Data], str]] = MappingProxyType(
    {
        "paused": _describe_paused,
        "resumed": lambda outline, step, data: "It was resumed.",
        "retried": lambda outline, step, data: end_sentence(f"It was retried: {data['reason']}"),
        "failed": lambda outline, step, data: end_sentence(f"It was given up: {data['reason']}"),
        "cancelled": lambda outline, step, data: end_sentence(f"It was cancelled: {data['reason']}"),
        "token_cancelled": _describe_about_token("was cancelled"),
        "advanced": _describe_about_token("need not be waited for any more"),
        "edited": lambda outline, step, data: (
            f"The document was edited: it is at version {data['found']}, and was seen at {data['seen']}."
        ),
        "asked_again": lambda outline, step, data: (
            f"{name_transition(outline, data['transition'])} was asked for again, which it was on its way to."
        ),
        "sent_to": _describe_sent,
        "refused": _describe_refused,
        "moved": _describe_moved,
    }
)


def describe_turn(turn: TurnRecord) -> str:
    reason = turn.data.get("reason")
    said = f"{describe_name(turn.entry)} ({escape(turn.actor_id)})"
    return f"{said}: {end_sentence(str(reason))}" if reason else f"{said}."


# --- what moves it ---


def describe_waking(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    instance = record.instance
    if instance.status == "paused":
        yield from _describe_how_to_resume(record)
    elif instance.status == "running":
        yield from _describe_what_wakes(outline, record)
    else:
        yield "Nothing: it is over."
        yield from _describe_restart(outline, record)
    for trigger in record.triggers:
        if instance.status in LIVE or trigger.status == "dead_letter":
            yield f"The trigger {escape(trigger.event_type)} [{trigger.id}] {_describe_delivery(trigger)}"


def _describe_how_to_resume(record: InstanceRecords) -> Iterator[str]:
    if record.instance.reason == DRIFT:
        yield "Its document changed where it must not: it can only be failed, and asked for anew."
        return
    if _is_paused_by_person(record):
        yield "Nothing wakes it while it is paused: resume it, or fail it."
        return
    yield "Nothing wakes it while it is paused: retry it when the cause is gone, or fail it."
    if any(trigger.status == "dead_letter" for trigger in record.triggers):
        yield "That also tries its dead trigger again."


def _is_paused_by_person(record: InstanceRecords) -> bool:
    pauses = [step for step in record.steps if step.node_id == f"{CONTROL}paused"]
    return bool(pauses) and max(pauses, key=lambda step: step.seq).run_as == "actor"


def _describe_what_wakes(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    tokens = record.instance.active_tokens
    on_its_way = any(trigger.status != "dead_letter" for trigger in record.triggers)
    if any(token["state"] == "ready" for token in tokens):
        if not on_its_way:
            yield "It should go on, and nothing will wake it: wake it, or rebuild it."
        return
    types = {outline.workflow.type_of(token["node"]) for token in tokens if token["state"] == "waiting"}
    for node_type in sorted(types):
        yield AWAITED[node_type]
    if record.request is not None and record.request.id != record.instance.request_id and not on_its_way:
        yield "What was asked for did not reach it: wake it."


# Each type that waits, and what for.
AWAITED: Mapping[str, str] = MappingProxyType(
    {
        "state": "A person's request, or an edit of the document.",
        "approval": "The decision of the people who were asked.",
        "wait_timer": "The time.",
        "wait_event": "The event from outside, or the time.",
        "webhook_out": "The answer from outside.",
        "notification": "The delivery of the message.",
    }
)


def _describe_restart(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    document = record.document
    if document is None or document.is_deleted or outline.contract is None:
        return
    names = [
        name
        for name, transition in outline.contract.transitions.items()
        if transition.kind != "automatic" and document.status in transition.from_states
    ]
    if names:
        asked = describe_list((name_transition(outline, name) for name in names), "or")
        yield f"A request for {asked} begins a new one where the document stands."
