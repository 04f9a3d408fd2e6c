"""The controls of an instance in sentences: acts of people and the engine from outside its graph.

`CONTROLS` has a line for each control that `projection` applies; a test compares their names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from signet.core.approvals.withdrawals import describe_withdrawal
from signet.core.explain.instance_record import ExplainedStep
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import (
    begin_sentence,
    describe_node,
    describe_time,
    end_sentence,
    name_transition,
)
from signet.core.explain.vocabulary import describe_name, escape
from signet.core.runtime.document_changes import REFERENCES_CHANGED, VALUES_ERASED
from signet.core.runtime.projection import CONTROL

Data = Mapping[str, Any]
Sentence = Callable[[Outline, ExplainedStep, Data], str]


@dataclass(frozen=True, slots=True)
class VoidingAct:
    """An act that may void an approval. `text` follows the name of the person who did it."""

    because: str
    text: str
    # The version of the document that the act made, where it made one.
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """The sentence of a control, and its act where it may void an approval."""

    sentence: Sentence
    act: Callable[[Outline, ExplainedStep, Data], VoidingAct | None] | None = None


def describe_control(outline: Outline, step: ExplainedStep) -> str:
    name = name_control(step)
    control = CONTROLS.get(name)
    if control is None:
        return f"It was {describe_name(name)}."
    return control.sentence(outline, step, step.output_json or {})


def find_act(outline: Outline, step: ExplainedStep) -> VoidingAct | None:
    control = CONTROLS.get(name_control(step))
    if control is None or control.act is None:
        return None
    return control.act(outline, step, step.output_json or {})


def name_control(step: ExplainedStep) -> str:
    return step.node_id.removeprefix(CONTROL)


def _describe_rescheduled(outline: Outline, step: ExplainedStep, data: Data) -> str:
    given = data["given"]
    match data["because"]:
        case "calendar":
            name, version = escape(given["calendar"]), given["calendar_version"]
            why = f'the calendar "{name}" counts, at version {version}'
        case "zone":
            why = f"the time zone is {escape(given['zone'])}"
        case "tzdata":
            why = f"the rules of time zones are those of {escape(given['tzdata'])}"
        case _:
            why = "what it reads has changed"
    before = describe_time(datetime.fromisoformat(data["from"]))
    now = describe_time(datetime.fromisoformat(given["due_at"]))
    where = begin_sentence(describe_node(outline, data["node"]))
    return f"{where} goes on at {now}, and no more at {before}, because {why}."


def _describe_sent(outline: Outline, step: ExplainedStep, data: Data) -> str:
    node = outline.lead_to(data["node"])
    if "transition" in data:
        return f"{name_transition(outline, data['transition'])} was asked for: it was sent to {node}."
    because = _SENT_BACK.get(data["because"], escape(data["because"]))
    return f"It was sent to {node}: {because}."


def _find_request(outline: Outline, step: ExplainedStep, data: Data) -> VoidingAct | None:
    """Return the request that sent the instance there; the engine also sends it without one."""
    if "transition" not in data:
        return None
    return VoidingAct("asked", f"asked for {name_transition(outline, data['transition'])}")


def _describe_refused(outline: Outline, step: ExplainedStep, data: Data) -> str:
    asked = name_transition(outline, data["transition"])
    return end_sentence(f"The request for {asked} was refused: {data['reason']}")


def _describe_moved(outline: Outline, step: ExplainedStep, data: Data) -> str:
    old, new = (
        f"{escape(workflow['name'])} version {workflow['version']}" for workflow in (data["from"], data["to"])
    )
    because = f": {escape(data['reason'])}" if "reason" in data else ""
    moved = end_sentence(f"It was moved from {old} to {new}{because}")
    return f"{moved} Other approvals are asked there." if data.get("changes_approvals") else moved


def _describe_change(data: Data) -> str:
    """Describe what people are not asked about any more, by the refs and fields that the engine has found."""
    return escape(describe_withdrawal(REFERENCES_CHANGED, data.get("refs", ()), data.get("erased", ())))


def _describe_retry(outline: Outline, step: ExplainedStep, data: Data) -> str:
    """Say why a person has retried it; a request that is asked again gives no reason."""
    because = f": {data['reason']}" if "reason" in data else ""
    return end_sentence(f"It was retried{because}")


def _end_document(verb: str) -> Control:
    return Control(
        lambda outline, step, data: f"It was {verb}.",
        lambda outline, step, data: VoidingAct(verb, f"{verb} the document", step.entity_version),
    )


def _with_reason(sentence: str, act: VoidingAct | None = None) -> Control:
    return Control(
        lambda outline, step, data: end_sentence(f"{sentence}: {data['reason']}"),
        (lambda outline, step, data: act) if act is not None else None,
    )


def _describe_token(verb: str) -> Sentence:
    return lambda outline, step, data: end_sentence(
        f"{begin_sentence(describe_node(outline, data['node']))} {verb}: {data['reason']}"
    )


_SENT_BACK: Mapping[str, str] = MappingProxyType(
    {REFERENCES_CHANGED: "what it refers to has changed", VALUES_ERASED: "personal values were erased"}
)
# An edit may void an approval too, by versions that the step alone does not know.
EDITED = "edited"

CONTROLS: Mapping[str, Control] = MappingProxyType(
    {
        "paused": _with_reason("It paused"),
        "held": Control(_describe_token("is held")),
        "resumed": Control(lambda outline, step, data: "It was resumed."),
        "retried": Control(_describe_retry),
        "failed": _with_reason("It was given up", VoidingAct("failed", "gave the workflow up")),
        "cancelled": _with_reason("It was cancelled", VoidingAct("cancelled", "cancelled the workflow")),
        "amended": _end_document("amended"),
        "deleted": _end_document("deleted"),
        "token_cancelled": Control(
            _describe_token("was cancelled"),
            lambda outline, step, data: VoidingAct(
                "token_cancelled", f"cancelled {describe_node(outline, data['node'])}"
            ),
        ),
        "skipped": Control(_describe_token("was skipped")),
        "gone_to": Control(
            lambda outline, step, data: end_sentence(
                f"It was sent to {outline.lead_to(data['node'])}: {data['reason']}"
            ),
            lambda outline, step, data: VoidingAct("gone_to", f"sent it to {outline.lead_to(data['node'])}"),
        ),
        "renewed": Control(
            _describe_token("is asked again"),
            lambda outline, step, data: VoidingAct(
                "renewed", f"had people asked again at {describe_node(outline, data['node'])}"
            ),
        ),
        "advanced": Control(_describe_token("need not be waited for any more")),
        EDITED: Control(
            lambda outline, step, data: (
                f"The document was edited: it is at version {data['found']};"
                f" the workflow last saw version {data['seen']}."
            )
        ),
        "rescheduled": Control(_describe_rescheduled),
        "references_changed": Control(
            lambda outline, step, data: f"{begin_sentence(_describe_change(data))}, since people were asked.",
            lambda outline, step, data: VoidingAct(
                "references_changed" if data.get("refs") else "values_erased",
                f"found that {_describe_change(data)}",
            ),
        ),
        "asked_again": Control(
            lambda outline, step, data: (
                f"{name_transition(outline, data['transition'])} was asked for again;"
                " it was already under way."
            )
        ),
        "sent_to": Control(_describe_sent, _find_request),
        "refused": Control(_describe_refused),
        "moved": Control(_describe_moved),
    }
)
