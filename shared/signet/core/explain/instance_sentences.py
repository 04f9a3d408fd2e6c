"""What is on record of an instance, in sentences: where it stands, what happened, what it waits for."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from signet.core.explain.instance_record import EffectRecord, Record, StepRecord, TriggerRecord, TurnRecord
from signet.core.explain.node_sentences import say_kind, say_step
from signet.core.explain.outline import Book
from signet.core.explain.vocabulary import plain, say_list, say_name
from signet.core.runtime.document_changes import DRIFT
from signet.core.runtime.projection import CONTROL

LIVE = ("running", "paused")
_Data = Mapping[str, Any]


def say_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def say_actor(node_id: str, run_as: str, actor: str) -> str:
    match run_as:
        case "system":
            return "(by the system)"
        case "service_account":
            return "(by the service account)"
        case _:
            return f"({'by' if node_id.startswith(CONTROL) else 'for'} {plain(actor)})"


def say_node(book: Book, node_id: str) -> str:
    """In the middle of a sentence: `the gate "Submit"`."""
    node_type = book.workflow.type_of(node_id)
    match node_type:
        case "start" | "end":
            return f"the {node_type}"
        case "lifecycle_gate":
            return f"the gate {book.name(node_id)}"
        case "policy_gate":
            return f"the policy gate of {book.name(book.workflow.pass_policy(node_id))}"
        case _:
            return f"the {say_kind(node_type)} {book.name(node_id)}"


def say_standing(book: Book, node_id: str) -> str:
    return f"{begin_sentence(say_node(book, node_id))} [{plain(node_id)}]"


def begin_sentence(text: str) -> str:
    """As a sentence begins."""
    return text[:1].upper() + text[1:]


def end_sentence(text: str) -> str:
    """As a sentence ends, whatever somebody else wrote."""
    said = plain(text).strip()
    return said if said.endswith((".", "!", "?")) else f"{said}."


# --- in one sentence ---


def say_summary(book: Book, record: Record) -> str:
    instance, document = record.instance, record.document
    about = "Its workflow" if document is not None else "The workflow"
    words = [_say_document(book, record)] if document is not None else []
    nodes = [token["node"] for token in instance.active_tokens if token["state"] in ("ready", "waiting")]
    where = f" at {say_list(say_node(book, node) for node in nodes)}" if nodes else ""
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


def _say_document(book: Book, record: Record) -> str:
    document = record.document
    assert document is not None
    state = book.contract.states.get(document.status) if book.contract is not None else None
    label = plain(state.label) if state is not None and state.label else say_name(document.status)
    deleted = " and deleted" if document.is_deleted else ""
    what = begin_sentence(book.words.document)
    return f'{what} {record.instance.entity_id} is "{label}"{deleted}, at version {document.version}.'


# --- what it waits for ---


def say_wait(book: Book, record: Record, node_id: str, step: StepRecord | None) -> Iterator[str]:
    if step is None:
        yield from _say_not_begun(book, record, node_id)
        return
    match book.workflow.type_of(node_id):
        case "state":
            yield from _say_state(book, record, node_id)
        case "webhook_out" | "notification":
            yield from _say_effects(book, record, step)
        case node_type:
            yield from say_step(node_type, book.workflow.config_of(node_id), book.words)
            if step.waiting_for_event_key is not None:
                yield f'The key is "{plain(step.waiting_for_event_key)}".'
    if step.resume_at is not None:
        yield f"It goes on by itself at {say_time(step.resume_at)}."


def _say_not_begun(book: Book, record: Record, node_id: str) -> Iterator[str]:
    if record.instance.status == "running":
        yield "It is the next to be executed."
        return
    yield "It has not been executed yet."
    condition = book.workflow.config_of(node_id).get("condition")
    if condition is not None:
        yield f"It passes only if {book.words.say_condition(condition)}."


def _say_state(book: Book, record: Record, node_id: str) -> Iterator[str]:
    request = record.request
    if request is not None:
        reason = f' ("{plain(request.reason)}")' if request.reason else ""
        yield (
            f"{plain(request.actor_id)} asked for {name_transition(book, request.transition)}"
            f" at {say_time(request.created_at)}{reason}; that is not taken up yet."
        )
    for outcome in ("requested", "interrupted"):
        for edge in book.workflow.edges_from(node_id, outcome):
            yield _say_exit(book, _gate_behind(book, edge["target"]))


def _say_exit(book: Book, gate: str) -> str:
    config = book.workflow.config_of(gate)
    transition = book.contract.transitions.get(config["transition"]) if book.contract is not None else None
    sentence = f"A person with the permission {plain(config['permission'])} may ask for {book.name(gate)}"
    if config["permission_condition"] is not None:
        sentence += f", only if {book.words.say_condition(config['permission_condition'])}"
    if transition is not None and transition.reason_required:
        sentence += ", with a reason"
    return f"{sentence}."


def _gate_behind(book: Book, node_id: str) -> str:
    if book.workflow.type_of(node_id) == "slot_in":
        return book.workflow.exit_of(book.workflow.slot_of(node_id))
    return node_id


def name_transition(book: Book, name: str) -> str:
    declared = book.contract.transitions.get(name) if book.contract is not None else None
    return f'"{plain(declared.label) if declared is not None and declared.label else say_name(name)}"'


def _say_effects(book: Book, record: Record, step: StepRecord) -> Iterator[str]:
    own = [effect for effect in record.effects if effect.step_execution_id == step.id]
    if not own:
        yield "Nothing was sent for it: that should not be."
    for effect in own:
        yield f"{_name_effect(effect)} {_say_delivery(effect)}"


def _name_effect(effect: EffectRecord) -> str:
    if effect.endpoint:
        return f'The call to the endpoint "{plain(effect.endpoint)}"'
    return "The event for other systems" if effect.effect_type == "integration" else "The message"


def _say_delivery(effect: EffectRecord | TriggerRecord) -> str:
    last = f" The last time: {end_sentence(effect.error)}" if effect.error else ""
    tried = f"attempt {effect.attempts} of {effect.max_attempts}"
    match effect.status:
        case "pending":
            return f"is due at {say_time(effect.due_at)}.{last}"
        case "processing":
            return f"is under way, {tried}.{last}"
        case "failed":
            return f"failed, {tried}; it is tried again at {say_time(effect.due_at)}.{last}"
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


def say_happened(book: Book, step: StepRecord) -> str:
    output = step.output_json or {}
    if step.node_id.startswith(CONTROL):
        return _say_control(book, step.node_id.removeprefix(CONTROL), step, output)
    name = begin_sentence(say_node(book, step.node_id))
    if step.status in ("cancelled", "skipped"):
        return f"{name}: {step.status}."
    asked = _say_asked(book, output)
    outcome = str(output.get("outcome"))
    error = f", {end_sentence(step.error)}" if step.error else "."
    on = _say_ways(book, output.get("chosen_edge_ids", ()))
    return " ".join(
        part for part in (f"{name}: {asked or _OUTCOMES.get(outcome, say_name(outcome))}{error}", on) if part
    )


def _say_asked(book: Book, output: _Data) -> str:
    """Of a state that a person's request has ended."""
    if "actor" not in output:
        return ""
    wanted = output.get("evidence", {}).get("request", "")
    return f"{plain(output['actor']['id'])} asked for {name_transition(book, wanted)}"


def _say_ways(book: Book, edge_ids: Any) -> str:
    edges = [book.workflow.content["edges"][edge_id] for edge_id in edge_ids]
    if not edges:
        return ""
    named = (f"{_say_target(book, edge['target'])}{_say_label(edge)}" for edge in edges)
    return f"On to {say_list(named)}."


def _say_target(book: Book, node_id: str) -> str:
    if book.workflow.type_of(node_id) != "slot_in":
        return book.lead_to(node_id)
    slot = book.workflow.slot_of(node_id)
    declared = book.contract.slots.get(slot) if book.contract is not None else None
    label = plain(declared.label) if declared is not None and declared.label else say_name(slot)
    return f'the steps "{label}"'


def _say_label(edge: _Data) -> str:
    return f" ({plain(edge['label'])})" if edge.get("label") else ""


def _say_control(book: Book, name: str, step: StepRecord, data: _Data) -> str:
    say = _CONTROLS.get(name)
    return say(book, step, data) if say is not None else f"It was {say_name(name)}."


def _say_paused(book: Book, step: StepRecord, data: _Data) -> str:
    return end_sentence(f"It paused: {data['reason']}")


def _say_sent(book: Book, step: StepRecord, data: _Data) -> str:
    node = book.lead_to(data["node"])
    if "transition" in data:
        return f"{name_transition(book, data['transition'])} was asked for: it was sent to {node}."
    return f"It was sent to {node}: {plain(data['because'])}."


def _say_refused(book: Book, step: StepRecord, data: _Data) -> str:
    asked = name_transition(book, data["transition"])
    return end_sentence(f"The request for {asked} was refused: {data['reason']}")


def _say_about_token(what: str) -> Callable[[Book, StepRecord, _Data], str]:
    return lambda book, step, data: end_sentence(
        f"{begin_sentence(say_node(book, data['node']))} {what}: {data['reason']}"
    )


def _say_moved(book: Book, step: StepRecord, data: _Data) -> str:
    old, new = (f"{plain(one['name'])} version {one['version']}" for one in (data["from"], data["to"]))
    because = f": {plain(data['reason'])}" if "reason" in data else ""
    return end_sentence(f"It was moved from {old} to {new}{because}")


_CONTROLS: Mapping[str, Callable[[Book, StepRecord, _Data], str]] = MappingProxyType(
    {
        "paused": _say_paused,
        "resumed": lambda book, step, data: "It was resumed.",
        "retried": lambda book, step, data: end_sentence(f"It was retried: {data['reason']}"),
        "failed": lambda book, step, data: end_sentence(f"It was given up: {data['reason']}"),
        "cancelled": lambda book, step, data: end_sentence(f"It was cancelled: {data['reason']}"),
        "token_cancelled": _say_about_token("was cancelled"),
        "advanced": _say_about_token("need not be waited for any more"),
        "edited": lambda book, step, data: (
            f"The document was edited: it is at version {data['found']}, and was seen at {data['seen']}."
        ),
        "asked_again": lambda book, step, data: (
            f"{name_transition(book, data['transition'])} was asked for again, which it was on its way to."
        ),
        "sent_to": _say_sent,
        "refused": _say_refused,
        "moved": _say_moved,
    }
)


def say_turn(turn: TurnRecord) -> str:
    reason = turn.data.get("reason")
    said = f"{say_name(turn.entry)} ({plain(turn.actor_id)})"
    return f"{said}: {end_sentence(str(reason))}" if reason else f"{said}."


# --- what moves it ---


def say_waking(book: Book, record: Record) -> Iterator[str]:
    instance = record.instance
    if instance.status == "paused":
        yield from _say_how_to_resume(record)
    elif instance.status == "running":
        yield from _say_what_wakes(book, record)
    else:
        yield "Nothing: it is over."
        yield from _say_what_begins_anew(book, record)
    for trigger in record.triggers:
        if instance.status in LIVE or trigger.status == "dead_letter":
            yield f"The trigger {plain(trigger.event_type)} [{trigger.id}] {_say_delivery(trigger)}"


def _say_how_to_resume(record: Record) -> Iterator[str]:
    if record.instance.reason == DRIFT:
        yield "Its document changed where it must not: it can only be failed, and asked for anew."
        return
    if _is_paused_by_person(record):
        yield "Nothing wakes it while it is paused: resume it, or fail it."
        return
    yield "Nothing wakes it while it is paused: retry it when the cause is gone, or fail it."
    if any(trigger.status == "dead_letter" for trigger in record.triggers):
        yield "That also tries its dead trigger again."


def _is_paused_by_person(record: Record) -> bool:
    pauses = [step for step in record.steps if step.node_id == f"{CONTROL}paused"]
    return bool(pauses) and max(pauses, key=lambda step: step.seq).run_as == "actor"


def _say_what_wakes(book: Book, record: Record) -> Iterator[str]:
    tokens = record.instance.active_tokens
    on_its_way = any(trigger.status != "dead_letter" for trigger in record.triggers)
    if any(token["state"] == "ready" for token in tokens):
        if not on_its_way:
            yield "It should go on, and nothing will wake it: wake it, or rebuild it."
        return
    types = {book.workflow.type_of(token["node"]) for token in tokens if token["state"] == "waiting"}
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


def _say_what_begins_anew(book: Book, record: Record) -> Iterator[str]:
    document = record.document
    if document is None or document.is_deleted or book.contract is None:
        return
    names = [
        name
        for name, transition in book.contract.transitions.items()
        if transition.kind != "automatic" and document.status in transition.from_states
    ]
    if names:
        asked = say_list((name_transition(book, name) for name in names), "or")
        yield f"A request for {asked} begins a new one where the document stands."
