"""The open incidents of an instance in words: what holds it, and the commands that bring it on.

The acts are those that the server accepts now: the checks that refuse the others have found them.
"""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from signet.core.contracts.examples import PLACEHOLDER, make_example
from signet.core.contracts.fields import DecimalField, Field
from signet.core.explain.instance_record import AcceptedAct, IncidentRecord, InstanceRecords, PermittedRole
from signet.core.explain.instance_sentences import find_empty_variables
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import describe_node, describe_time, end_sentence
from signet.core.explain.vocabulary import describe_list, escape
from signet.core.incidents.remedies import READ_IN_VAIN, find_remedy
from signet.core.runtime.hand_answers import make_answer

WHY = PLACEHOLDER
_ACTS: Mapping[str, str] = MappingProxyType(
    {
        "retry": "goes on at the same place; what was done before is not repeated",
        "resume": "lifts the pause; what is held stays so until it is retried",
        "ask_again": "voids the approval; the people of today are asked at the same node",
        "restart": "begins a new instance where the last one stood",
        "correct": "changes fields in spite of the edit window, and tries again; people are asked again",
        "skip": "ends the node as if it had acted; what it would have done is left undone",
        "go_to": "begins again at an earlier node; approvals given after it count no more",
        "cancel_token": "goes on as rejected",
        "cancel": "ends the instance, because nobody wants it any more",
        "fail": "gives the instance up for good",
    }
)

_GO_ON = (
    "goes on at the state that its slot leads to; what is left behind the gate stays undone, and is shown as"
    " unfinished no more"
)
ENDED = ("completed", "failed", "cancelled")
_ON_DOCUMENTS = ("restart", "correct")


@dataclass(frozen=True)
class ExplainedAct:
    """An act that the server accepts now, with what it does, and how it is called.

    `command` is empty for what nobody does by the command line: to vote, and to ask for a transition.
    """

    name: str
    permission: str
    # The nodes that `go_to` may name, the nearest first.
    targets: tuple[str, ...]
    text: str
    command: str
    request: str


@dataclass(frozen=True)
class ExplainedIncident:
    """An open incident: what is held, since when and why, what removes the cause, and what brings it on."""

    id: UUID
    code: str
    kind: str
    token: str | None
    node: str | None
    endpoint: str | None
    since: datetime
    attempts: int
    acknowledged_by: str | None
    assignee: str | None
    text: str
    remedy: str
    acts: tuple[ExplainedAct, ...]


def explain_incidents(outline: Outline, record: InstanceRecords) -> Iterator[ExplainedIncident]:
    for incident in record.incidents:
        yield ExplainedIncident(
            incident.id,
            incident.code,
            incident.kind,
            incident.token,
            incident.node,
            incident.endpoint,
            incident.opened_at,
            incident.attempts,
            incident.acknowledged_by,
            incident.assignee,
            _describe(outline, incident),
            _find_remedy(outline, record, incident) + _describe_permitted(incident),
            tuple(_explain_act(outline, record, incident, act) for act in incident.acts),
        )


def write_incidents(incidents: tuple[ExplainedIncident, ...]) -> Iterator[str]:
    if incidents:
        yield from ("", "What holds it, and what brings it on")
    for incident in incidents:
        yield f"  {incident.text}"
        yield f"    {incident.remedy}"
        for act in incident.acts:
            yield f"    {act.name} ({act.permission}): {act.text}"
            yield from (f"      {act.command}", f"      {act.request}")


def _find_remedy(outline: Outline, record: InstanceRecords, incident: IncidentRecord) -> str:
    node = f"sys:state:{record.document.status}" if record.document is not None else ""
    is_locked = node in outline.workflow.nodes and outline.workflow.window_of(node) != "editable"
    is_correctable = is_locked and any(act.name == "correct" for act in incident.acts)
    failed = [step for step in record.steps if step.node_id == incident.node and step.error]
    if failed and incident.code == "FIELDS_INVALID" and find_empty_variables(failed[-1]):
        return READ_IN_VAIN
    return find_remedy(incident.code, incident.kind, is_correctable=is_correctable)


def _describe_permitted(incident: IncidentRecord) -> str:
    """Describe which roles have the permission that was denied, and who holds them."""
    if incident.permitted is None:
        return ""
    roles = [f"{escape(one.role)} ({_name_holders(one)})" for one in incident.permitted]
    return f" The permission is in: {describe_list(roles)}." if roles else " No role has the permission yet."


def _name_holders(one: PermittedRole) -> str:
    names = [escape(person) for person in one.people]
    names += [f"{one.count - len(names)} more"] if one.count > len(names) else []
    return describe_list(names) or "nobody"


def _describe(outline: Outline, incident: IncidentRecord) -> str:
    where = _describe_place(outline, incident.node)
    through = f" (endpoint {escape(incident.endpoint)})" if incident.endpoint is not None else ""
    times = f", held {incident.attempts} times there" if incident.attempts > 1 else ""
    known = f", acknowledged by {escape(incident.acknowledged_by)}" if incident.acknowledged_by else ""
    care = f", looked after by {escape(incident.assignee)}" if incident.assignee else ""
    since = describe_time(incident.opened_at)
    message = end_sentence(escape(incident.message.removeprefix(f"{incident.code}: ")))
    head = f"{incident.code} ({incident.kind}) holds {where}{through} since {since}"
    return f"{head}{times}{known}{care}: {message}"


def _describe_place(outline: Outline, node: str | None) -> str:
    """Name what is held; an incident may be older than the definition that its instance was moved to."""
    if node is None:
        return "all of it"
    return describe_node(outline, node) if node in outline.workflow.nodes else escape(node)


def _explain_act(
    outline: Outline, record: InstanceRecords, incident: IncidentRecord, act: AcceptedAct
) -> ExplainedAct:
    text = _ACTS[act.name]
    if act.name == "go_to" and _leads_on(outline, incident, act):
        text = _GO_ON
    if act.name == "correct" and record.instance.status in ENDED:
        text = "changes fields in spite of the edit window; restart it then, for it has no workflow"
    if len(act.targets) > 1:
        text += f"; also to {describe_list(map(escape, act.targets[1:]), 'or')}"
    body = dict(_list_body(outline, record, incident, act))
    if outline.contract is not None:
        text = "; ".join([text, *_describe_units(outline.contract.fields, body.get("patch", ()))])
    return ExplainedAct(
        act.name,
        act.permission,
        tuple(act.targets),
        text,
        write_command(record, act.name, body),
        write_request(record, act.name, body),
    )


def _leads_on(outline: Outline, incident: IncidentRecord, act: AcceptedAct) -> bool:
    """Return whether the first target is the state that a slot behind a gate leads to, and none before it."""
    workflow = outline.workflow
    slot = workflow.content["slot_map"].get(incident.node)
    return slot is not None and workflow.exit_of(slot) == act.targets[0]


def _list_body(
    outline: Outline, record: InstanceRecords, incident: IncidentRecord, act: AcceptedAct
) -> Iterator[tuple[str, Any]]:
    """Yield what the act wants beside the version that was seen."""
    if act.name == "go_to":
        yield "node", act.targets[0]
    if act.name in ("skip", "cancel_token", "ask_again"):
        yield "token", incident.token
    if act.name != "resume":
        yield "reason", WHY
    if act.name == "correct":
        yield "patch", _make_patch(outline, record, incident)
    if act.then:
        yield "then", act.then[0]
    if act.name == "skip":
        answer = make_answer(outline.workflow.content, incident.node or "", outline.contract)
        yield from () if answer is None else [("payload", answer)]


def _make_patch(outline: Outline, record: InstanceRecords, incident: IncidentRecord) -> dict[str, Any]:
    """Make an example of the field at fault, else of the first that the contract requires."""
    if outline.contract is None:
        return {}
    fields = outline.contract.fields
    steps = [step for step in record.steps if step.node_id == incident.node]
    outputs = (step.output_json or {} for step in reversed(steps))
    mistakes = [mistake for output in outputs for mistake in output.get("evidence", {}).get("fields", ())]
    at_fault = [
        mistake["pointer"].split("/")[1] for mistake in mistakes if mistake["pointer"].startswith("/")
    ]
    names = [name for name in at_fault if name in fields]
    names += [name for name, field in fields.items() if field.required]
    return {name: make_example(fields[name]) for name in names[:1]}


def _describe_units(fields: Mapping[str, Field], names: Iterable[str]) -> Iterator[str]:
    """Describe the decimals among these fields: the whole numbers that stand for them."""
    for name in names:
        one = fields[name]
        if isinstance(one, DecimalField) and one.scale:
            yield f"{escape(name)} is in units of 1/{10**one.scale}: 1 is written {10**one.scale}"


def write_command(record: InstanceRecords, act: str, body: Mapping[str, Any]) -> str:
    named = [body[name] for name in ("node", "token") if name in body]
    _, subject, version = _find_subject(record, act)
    words = ["signet", "instance", act.replace("_", "-"), str(subject), *named]
    words += ["--tenant", str(record.tenant_id), "--actor", "YOU", "--version", str(version)]
    words += ["--reason", body["reason"]] if "reason" in body else []
    words += ["--then", body["then"]] if "then" in body else []
    for name in ("payload", "patch"):
        if name in body:
            words += [f"--{name}", json.dumps(body[name], ensure_ascii=False)]
    return " ".join(_quote(word) for word in words)


def _quote(word: str) -> str:
    return f'"{word}"' if word == WHY else shlex.quote(word)


def write_request(record: InstanceRecords, act: str, body: Mapping[str, Any]) -> str:
    content = f"  {json.dumps(body, ensure_ascii=False)}" if body else ""
    kind, subject, version = _find_subject(record, act)
    return f'POST /v1/{kind}/{subject}/{act}  If-Match: "{version}"{content}'


def _find_subject(record: InstanceRecords, act: str) -> tuple[str, UUID, int]:
    """Find what the act is on, with the version that was seen: the document, or its instance."""
    document, document_id = record.document, record.instance.entity_id
    if act in _ON_DOCUMENTS and document is not None and document_id is not None:
        return "documents", document_id, document.version
    return "instances", record.instance.id, record.instance.version
