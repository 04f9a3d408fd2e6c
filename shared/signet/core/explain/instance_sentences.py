"""Sentences about an instance: its position, and the steps that led there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signet.core.compiler.rejection_edges import REJECTING
from signet.core.explain.controls import describe_control
from signet.core.explain.instance_record import ExplainedStep, InstanceRecords, RejectionRecord, TurnRecord
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import (
    begin_sentence,
    describe_node,
    describe_time,
    end_sentence,
    name_transition,
)
from signet.core.explain.vocabulary import describe_json, describe_list, describe_name, escape
from signet.core.runtime.position import STANDING
from signet.core.runtime.projection import CONTROL
from signet.core.tenants.principal import SERVICE_PREFIX

_Data = Mapping[str, Any]
# As many fields of an answer as are named.
MAX_NAMES = 20


@dataclass(frozen=True)
class ReadCondition:
    """An expression that was evaluated, the values that it read, and its result."""

    expression: str
    variables: Mapping[str, Any]
    result: Any
    text: str


def describe_actor(outline: Outline, node_id: str, run_as: str, actor: str) -> str:
    match run_as:
        case "system":
            return "(by the system)"
        case "service_account":
            account = actor.removeprefix(SERVICE_PREFIX) if actor.startswith(SERVICE_PREFIX) else None
            return f"(by {outline.words.describe_account(account)})"
        case _:
            word = "by" if node_id.startswith(CONTROL) else "for"
            return f"({word} {outline.words.describe_subject(actor)})"


def describe_standing(outline: Outline, node_id: str) -> str:
    return f"{begin_sentence(describe_node(outline, node_id))} [{escape(node_id)}]"


# --- in one sentence ---


def describe_summary(outline: Outline, record: InstanceRecords) -> str:
    instance, document = record.instance, record.document
    about = "Its workflow" if document is not None else "The workflow"
    words = [_describe_document(outline, record)] if document is not None else []
    nodes = [token["node"] for token in instance.active_tokens if token["state"] in STANDING]
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
    line = f" It amends document {document.amends}." if document.amends is not None else ""
    if document.amended_by is not None:
        line += f" Document {document.amended_by} has replaced it."
    return f'{what} {record.instance.entity_id} is "{label}"{deleted}, at version {document.version}.{line}'


# --- what happened ---

_OUTCOMES = {
    "created": "the document was created",
    "amended": "the document was made by an amendment",
    "automatic": "it goes on by itself",
    "ended": "the workflow ends here",
    "error": "it failed",
}


def follow_rejections(
    outline: Outline, steps: Iterable[ExplainedStep]
) -> Iterator[tuple[ExplainedStep, bool]]:
    """Yield the steps, in the order of their ends, and whether what came to each was rejected."""
    edges, rejected = outline.workflow.content["edges"], set[str]()
    for step in steps:
        was_rejected = step.node_id in rejected or step.node_id in outline.workflow.always_rejected
        rejected.discard(step.node_id)
        # An edge of an earlier definition may be gone.
        chosen = [edges[e] for e in (step.output_json or {}).get("chosen_edge_ids", ()) if e in edges]
        for edge in chosen:
            if edge["on"] in REJECTING or (was_rejected and outline.workflow.keeps_rejection(edge)):
                rejected.add(edge["target"])
        yield step, was_rejected


def describe_happened(outline: Outline, step: ExplainedStep, *, was_rejected: bool = False) -> str:
    """Say how a step ended, and where it led; a rejection before it stays one."""
    output = step.output_json or {}
    if step.node_id.startswith(CONTROL):
        return describe_control(outline, step)
    name = begin_sentence(describe_node(outline, step.node_id))
    if step.status in ("cancelled", "skipped"):
        return f"{name}: {step.status}."
    asked = _describe_asked(outline, output)
    outcome = str(output.get("outcome"))
    error = f", {end_sentence(step.error)}" if step.error else "."
    on = _describe_edges(outline, output.get("chosen_edge_ids", ()), was_rejected=was_rejected)
    return " ".join(
        part
        for part in (f"{name}: {asked or _OUTCOMES.get(outcome, describe_name(outcome))}{error}", on)
        if part
    )


def _describe_asked(outline: Outline, output: _Data) -> str:
    """Describe the request of a person that has ended a state."""
    if "actor" not in output:
        return ""
    wanted = output.get("evidence", {}).get("request", "")
    asker = outline.words.describe_subject(output["actor"]["id"])
    return f"{asker} asked for {name_transition(outline, wanted)}"


def _describe_edges(outline: Outline, edge_ids: Any, *, was_rejected: bool) -> str:
    edges = [outline.workflow.content["edges"][edge_id] for edge_id in edge_ids]
    if not edges:
        return ""
    named = (f"{_describe_target(outline, edge['target'])}{_describe_label(edge)}" for edge in edges)
    stays = was_rejected and any(
        outline.workflow.keeps_rejection(edge) and outline.is_told_of_rejections(edge["target"])
        for edge in edges
    )
    return f"On to {describe_list(named)}{', still rejected' if stays else ''}."


def _describe_target(outline: Outline, node_id: str) -> str:
    if outline.workflow.type_of(node_id) != "slot_in":
        return outline.lead_to(node_id)
    slot = outline.workflow.slot_of(node_id)
    declared = outline.contract.slots.get(slot) if outline.contract is not None else None
    label = escape(declared.label) if declared is not None and declared.label else describe_name(slot)
    return f'the steps "{label}"'


def _describe_label(edge: _Data) -> str:
    return f" ({escape(edge['label'])})" if edge.get("label") else ""


def find_conditions(outline: Outline, evidence: Any) -> Iterator[ReadCondition]:
    """Yield the conditions at any depth of the evidence: of gates, edges, rules and scripts."""
    if isinstance(evidence, list):
        for inner in evidence:
            yield from find_conditions(outline, inner)
    elif isinstance(evidence, Mapping):
        if {"expression", "variables", "result"} <= evidence.keys():
            yield read_condition(outline, evidence)
        else:
            for inner in evidence.values():
                yield from find_conditions(outline, inner)


def list_mistakes(outline: Outline, step: ExplainedStep, steps: Sequence[ExplainedStep]) -> Iterator[str]:
    """Yield what is wrong with each field that made a step fail, and what it read in vain."""
    mistakes = (step.output_json or {}).get("evidence", {}).get("fields", ())
    for mistake in mistakes:
        yield f"{escape(mistake['pointer'])} {escape(mistake['message'])}"
    if mistakes:
        yield from describe_empty_variables(outline, step, steps)


def read_condition(outline: Outline, evidence: Mapping[str, Any]) -> ReadCondition:
    text, variables, result = evidence["expression"], evidence["variables"], evidence["result"]
    words = outline.words
    if isinstance(result, bool):
        sentence = f"{words.describe_condition(text)}: {'yes' if result else 'no'}"
    else:
        sentence = f"{words.describe_expression(text)} ({escape(text)}): {describe_json(result)}"
    read = [f"{escape(name)} was {words.describe_value(name, variables[name])}" for name in sorted(variables)]
    sentence = "; ".join([sentence, *read])
    return ReadCondition(text, variables, result, sentence)


def find_empty_variables(step: ExplainedStep) -> list[tuple[str, ...]]:
    """Find the paths below variables that an action read for what it was given, and that were null."""
    read = (step.input_json or {}).get("variables", {})
    paths = (tuple(name.split(".")) for name in sorted(read) if read[name] is None)
    return [path for path in paths if path[0] == "context" and len(path) > 1]


def describe_empty_variables(
    outline: Outline, step: ExplainedStep, steps: Sequence[ExplainedStep]
) -> Iterator[str]:
    """Say what a failed action read in vain, and what is there, without its values."""
    for path in find_empty_variables(step):
        sentence = f"{escape('.'.join(path))} read nothing"
        setting = [one for one in steps if one.seq < step.seq and path[1] in _list_set(one)]
        if not setting:
            yield f"{sentence}: nothing has set {escape('.'.join(path[:2]))}."
            continue
        source = max(setting, key=lambda one: (one.end_seq or 0, one.seq))
        place, found = _find_deepest(path, _list_set(source)[path[1]])
        by = describe_node(outline, source.node_id) if source.node_id in outline.workflow.nodes else "a step"
        yield f"{sentence}: {by} has set {escape(place)} to {_describe_shape(found)}."


def _list_set(step: ExplainedStep) -> _Data:
    variables: _Data = (step.output_json or {}).get("variables", {})
    return variables


def _find_deepest(path: Sequence[str], value: Any) -> tuple[str, Any]:
    """Find the last part of the path that is there, and its value."""
    depth = 2
    while depth < len(path) and isinstance(value, Mapping) and path[depth] in value:
        value, depth = value[path[depth]], depth + 1
    return ".".join(path[:depth]), value


def _describe_shape(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "null" if value is None else "a list" if isinstance(value, list) else "a single value"
    names = [escape(str(name)) for name in sorted(value)]
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"an object with {', '.join(names[:MAX_NAMES])}{more}" if names else "an empty object"


def describe_given(given: _Data | None) -> Iterator[str]:
    """Say what an acting node was given, in one line."""
    if given is None:
        return
    yield f"It was given {describe_json(given.get('payload', given.get('items', given)))}"


def describe_rejection(outline: Outline, rejection: RejectionRecord) -> str:
    """Name the rule, what it has stopped, and who asked for that."""
    what = describe_name(rejection.operation)
    asker = outline.words.describe_subject(rejection.actor_id)
    rule = f'The rule "{escape(rejection.rule)}" (version {rejection.rule_version})'
    return f"{describe_time(rejection.created_at)}  {rule} rejected: {what} ({asker})."


def describe_turn(outline: Outline, turn: TurnRecord) -> str:
    reason = turn.data.get("reason")
    line = f"{describe_name(turn.entry)} ({outline.words.describe_subject(turn.actor_id)})"
    return f"{line}: {end_sentence(str(reason))}" if reason else f"{line}."
