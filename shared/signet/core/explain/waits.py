"""The waits of an instance in sentences, and the events that would move it."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from signet.core.documents.request_check import RequestedDocument, check_asking
from signet.core.explain.instance_record import (
    EffectRecord,
    ExplainedStep,
    InstanceRecords,
    LeftRecord,
    OpenAmendment,
    TriggerRecord,
)
from signet.core.explain.node_sentences import describe_step
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import describe_node, describe_time, end_sentence, name_transition
from signet.core.explain.vocabulary import describe_list, describe_name, escape
from signet.core.incidents.given_back import describe_given_back
from signet.core.incidents.incident import DOCUMENT_WITHOUT_WORKFLOW
from signet.core.moments.followed import is_followed
from signet.core.runtime.position import parse_position
from signet.core.runtime.projection import CONTROL, DRIFT

LIVE = ("running", "paused")
# The ways out of a state that people ask for; an interrupt does not wait for what is under way.
INTERRUPTS = ("interrupted",)
ASKED = ("requested", *INTERRUPTS)

RESCHEDULED = f"{CONTROL}rescheduled"
_PAUSED = f"{CONTROL}paused"
_TURNS = (_PAUSED, f"{CONTROL}resumed", f"{CONTROL}retried")


def describe_wait(
    outline: Outline, record: InstanceRecords, token: Mapping[str, Any], step: ExplainedStep | None
) -> Iterator[str]:
    node_id = token["node"]
    if "hold" in token:
        yield end_sentence(f"It is held: {escape(token['hold']['reason'])}")
    if step is None:
        yield from _describe_not_begun(outline, record, token)
        return
    match outline.workflow.type_of(node_id):
        case "state":
            yield from _describe_state(outline, record, node_id)
        case "webhook_out" | "notification":
            yield from _describe_effects(outline, record, step)
        case node_type:
            yield from describe_step(node_type, outline.workflow.config_of(node_id), outline.words)
            if step.waiting_for_event_key is not None and not is_followed(step.waiting_for_event_key):
                yield _describe_keys(step)
    if step.resume_at is not None:
        yield f"It goes on by itself at {describe_time(step.resume_at)}."
        yield from _describe_calendar(record, step)


def _describe_calendar(record: InstanceRecords, step: ExplainedStep) -> Iterator[str]:
    """Say which version of which calendar gave the moment, where one did."""
    moved = (other.output_json or {} for other in reversed(record.steps) if other.node_id == RESCHEDULED)
    given = next((data["given"] for data in moved if data["token"] == step.token_id), step.input_json or {})
    if "calendar" in given:
        version, name = given["calendar_version"], escape(given["calendar"])
        yield f'That is by version {version} of the calendar "{name}", in {escape(given["zone"])}.'


def _describe_keys(step: ExplainedStep) -> str:
    """Return the keys that the step waits for, as they were read when it began."""
    keys = (step.input_json or {}).get("keys") or [step.waiting_for_event_key]
    named = [f'"{escape(key)}"' for key in keys]
    return f"The key is {named[0]}." if len(named) == 1 else f"Any of these keys ends it: {', '.join(named)}."


def _describe_not_begun(outline: Outline, record: InstanceRecords, token: Mapping[str, Any]) -> Iterator[str]:
    if token["state"] == "failed":
        yield "It has failed, and no edge takes the error."
        return
    if record.instance.status == "running" and "hold" not in token:
        yield "It is the next to be executed."
        return
    yield "It has not been executed yet."
    condition = outline.workflow.config_of(token["node"]).get("condition")
    if condition is not None:
        yield f"It passes only if {outline.words.describe_condition(condition)}."


def _describe_state(outline: Outline, record: InstanceRecords, node_id: str) -> Iterator[str]:
    request = record.request
    if request is not None:
        reason = f' ("{escape(request.reason)}")' if request.reason else ""
        asker = outline.words.describe_subject(request.actor_id)
        yield (
            f"{asker} asked for {name_transition(outline, request.transition)}"
            f" at {describe_time(request.created_at)}{reason}; that is not taken up yet."
        )
    if record.amendment is not None:
        yield describe_amendment(outline, record.amendment)
    for gate in list_asked_gates(outline, node_id):
        if may_ask(outline, record, outline.workflow.config_of(gate)["transition"]):
            yield _describe_exit(outline, gate)


def describe_amendment(outline: Outline, amendment: OpenAmendment) -> str:
    where = f'document {amendment.document_id}, which is "{describe_name(amendment.status)}"'
    instance_id = amendment.instance_id
    how = f": instance {instance_id}" if instance_id is not None else ", without a workflow"
    own = outline.contract.amendment if outline.contract is not None else None
    is_suspended = own is not None and own.while_open == "suspended"
    sentence = f"An amendment is open: {where}{how}."
    if is_suspended:
        sentence += " Until that settles or is given up, people can only interrupt this one."
    return sentence


def list_asked_gates(outline: Outline, node_id: str, outcomes: Sequence[str] = ASKED) -> list[str]:
    """List the gates of the transitions that people ask for in a state, the interrupts last."""
    return [
        exit_gate_of(outline, edge["target"])
        for outcome in outcomes
        for edge in outline.workflow.edges_from(node_id, outcome)
    ]


def may_ask(outline: Outline, record: InstanceRecords, transition: str) -> bool:
    """Return whether the server would take a request for the transition, of one who has the permission."""
    document, contract = record.document, outline.contract
    if document is None or contract is None:
        return True
    if transition not in contract.transitions:
        return False
    amendment = record.amendment.document_id if record.amendment is not None else None
    asked = RequestedDocument(document.status, open_amendment=amendment)
    return check_asking(contract, transition, asked) is None


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


def exit_gate_of(outline: Outline, node_id: str) -> str:
    if outline.workflow.type_of(node_id) == "slot_in":
        return outline.workflow.exit_of(outline.workflow.slot_of(node_id))
    return node_id


def _describe_effects(outline: Outline, record: InstanceRecords, step: ExplainedStep) -> Iterator[str]:
    own = [effect for effect in record.effects if effect.step_execution_id == step.id]
    if not own:
        yield "Nothing was sent for it: that should not be."
    is_paused = _rests_by_person(record)
    for effect in own:
        waits = is_paused and effect.status in ("pending", "failed")
        yield f"{_name_effect(effect)} {_describe_paused(effect) if waits else _describe_delivery(effect)}"


def _describe_paused(effect: EffectRecord) -> str:
    """Describe an effect that a person's pause holds, and whether an attempt was made before."""
    tried = " An attempt was made before: it may have left." if effect.may_have_left else ""
    return f"waits until the instance is resumed; then it goes on by itself.{tried}"


def _name_effect(effect: EffectRecord | LeftRecord) -> str:
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
        case "held":
            is_missing = isinstance(effect, EffectRecord) and effect.held_by == "ENDPOINT_UNKNOWN"
            until = "there is an endpoint of that name" if is_missing else "the endpoint is switched on"
            return f"is held until {until}; then it goes on by itself.{last}"
        case "withdrawn" | "discarded":
            return f"was {effect.status} after {tried}; the workflow has not taken that in yet.{last}"
        case "completed":
            return "has been delivered; the workflow has not taken the answer yet."
        case _:
            return f"was given up after {tried}.{last}"


# --- what was withdrawn ---


def describe_left(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    """Describe what was withdrawn, and has left or may have left before."""
    for left in record.left:
        is_known = left.node_id in outline.workflow.nodes
        where = describe_node(outline, left.node_id) if is_known else escape(left.node_id)
        what = f"{_name_effect(left)} of {where} was withdrawn at {describe_time(left.withdrawn_at)}"
        if left.status == "completed" and left.completed_at is not None:
            yield f"{what}, and was delivered at {describe_time(left.completed_at)}."
        elif left.status == "processing":
            yield f"{what} on its way: it may still arrive."
        else:
            yield f"{what} after an attempt: it may have left."


# --- what moves it ---


def describe_waking(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    instance = record.instance
    if instance.status == "paused":
        yield from _describe_how_to_resume(outline, record)
    elif instance.status == "running":
        yield from _describe_what_wakes(outline, record)
    else:
        is_left = any(incident.code == DOCUMENT_WITHOUT_WORKFLOW for incident in record.incidents)
        yield "Nothing by itself: a person has left it." if is_left else "Nothing: it is over."
        yield from _describe_restart(outline, record)
    for trigger in _list_triggers(record):
        if instance.status in LIVE or trigger.status == "dead_letter":
            yield f"The trigger {escape(trigger.event_type)} [{trigger.id}] {_describe_delivery(trigger)}"
        if trigger.given_back_since is not None and trigger.given_back_code is not None:
            back = describe_given_back(trigger.given_back, trigger.given_back_since, trigger.given_back_code)
            yield f"It was {back}."


def _list_triggers(record: InstanceRecords) -> list[TriggerRecord]:
    """List the triggers that are for something: the times of approvals that are over do nothing."""
    awaited = {
        moment
        for request in record.approvals
        if request.status == "open"
        for moment in (request.escalate_at, request.expire_at)
    }
    return [
        trigger
        for trigger in record.triggers
        if not _is_time_of_approval(trigger) or trigger.due_at in awaited
    ]


def _is_time_of_approval(trigger: TriggerRecord) -> bool:
    is_first_try = trigger.status == "pending" and trigger.attempts == 0
    return trigger.event_type == "continue" and trigger.is_scheduled and is_first_try


def _describe_how_to_resume(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    if record.instance.reason == DRIFT:
        yield "Its document changed where it must not: one of the acts of its incident brings it on."
        return
    if _rests_by_person(record):
        yield "Nothing wakes it while it is paused: resume it, or fail it."
        yield "What it has not sent waits meanwhile."
        return
    if (record.instance.reason or "").startswith(("ENDPOINT_DISABLED", "ENDPOINT_UNKNOWN")):
        yield "It goes on by itself when its endpoint is there and switched on."
        return
    yield "Nothing wakes it while it is paused: one of the acts of its incident brings it on."
    if (record.instance.reason or "").startswith("ACTOR_NOT_ACTIVE"):
        yield from _describe_absence(outline, record)
    if any(trigger.status == "dead_letter" for trigger in record.triggers):
        yield "That also tries its dead trigger again."


def _describe_absence(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    """Describe what ends the absence of the one who asked."""
    yield "Make the person who asked an active member again. A key wants an active owner: another accepts it."
    if record.instance.request_id is not None:
        yield "Or another member asks for the same."
    for token in record.instance.active_tokens:
        if token["state"] == "ready" and _is_sent_back(outline, token["node"]):
            yield (
                f"Or cancel the token at {describe_node(outline, token['node'])} and retry the instance: the"
                " document goes back as rejected, and another member asks."
            )


def _is_sent_back(outline: Outline, node_id: str) -> bool:
    workflow = outline.workflow
    is_gate = workflow.type_of(node_id) == "lifecycle_gate"
    return (
        is_gate
        and workflow.config_of(node_id)["kind"] == "automatic"
        and any(workflow.edges_from(node_id, "rejected"))
    )


def _rests_by_person(record: InstanceRecords) -> bool:
    """Return whether a person's pause is what it rests for, and not that all of its tokens are held."""
    is_held = parse_position(record.instance.active_tokens).is_held
    return record.instance.status == "paused" and not is_held and is_paused_by_person(record)


def is_paused_by_person(record: InstanceRecords) -> bool:
    """Return whether a person has paused it, and nobody has let it go on since, like the function in SQL."""
    turns = [step for step in record.steps if step.node_id in _TURNS]
    last = max(turns, key=lambda step: step.seq, default=None)
    return last is not None and last.node_id == _PAUSED and last.run_as == "actor"


def _describe_what_wakes(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    tokens = [token for token in record.instance.active_tokens if "hold" not in token]
    on_its_way = any(trigger.status != "dead_letter" for trigger in _list_triggers(record))
    if len(tokens) < len(record.instance.active_tokens):
        yield "What is held goes on by one of the acts of its incident."
    if any(token["state"] == "ready" for token in tokens):
        if not on_its_way:
            yield "It should go on, and nothing will wake it: wake it, or rebuild it."
        return
    types = {outline.workflow.type_of(token["node"]) for token in tokens if token["state"] == "waiting"}
    for node_type in sorted(types):
        yield AWAITED[node_type]
    if any(request.is_stale for request in record.approvals):
        yield "A vote, which is refused, or a wake: by either, people are asked again with what has changed."
    if record.request is not None and record.request.id != record.instance.request_id and not on_its_way:
        yield "A request did not reach it: wake it."


# The event that each waiting type waits for.
AWAITED: Mapping[str, str] = MappingProxyType(
    {
        "state": "A person's request, or an edit of the document.",
        "approval": "The decision of the people who were asked.",
        "lifecycle_gate": "The decision of the people who are asked again, because votes have lapsed.",
        "wait_timer": "The end of its wait.",
        "wait_event": "The event from outside, or the end of its wait.",
        "webhook_out": "The answer from outside.",
        "notification": "The delivery of the message.",
    }
)


def _describe_restart(outline: Outline, record: InstanceRecords) -> Iterator[str]:
    document = record.document
    if document is None or document.is_deleted or outline.contract is None:
        return
    if record.amendment is not None:
        yield describe_amendment(outline, record.amendment)
    names = [
        name
        for name, transition in outline.contract.transitions.items()
        if transition.kind != "automatic" and may_ask(outline, record, name)
    ]
    if names:
        asked = describe_list((name_transition(outline, name) for name in names), "or")
        yield f"A request for {asked} begins a new workflow at the document's status."
