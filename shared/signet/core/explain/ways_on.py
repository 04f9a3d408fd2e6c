"""The acts that bring on an instance which no incident holds: each with who may do it, and how.

They are those that the server accepts as the record stands. It may be the resuming of a pause, or a vote. It
may be the next attempt of what is on its way, or a request for a transition.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from signet.core.documents.amendments import keeps_original
from signet.core.explain.incidents import ENDED, WHY, ExplainedAct, write_command, write_request
from signet.core.explain.instance_record import ApprovalRecord, EffectRecord, InstanceRecords
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import name_transition
from signet.core.explain.vocabulary import describe_list, escape
from signet.core.explain.waits import ASKED, INTERRUPTS, is_paused_by_person, list_asked_gates, may_ask
from signet.core.integrations.effect_acts import EffectState, check_try_now
from signet.core.runtime.position import parse_position


def explain_ways_on(outline: Outline, record: InstanceRecords) -> Iterator[ExplainedAct]:
    is_held = parse_position(record.instance.active_tokens).is_held
    is_paused = record.instance.status == "paused" and not is_held
    if is_paused and is_paused_by_person(record):
        yield _explain_resume(record)
        return
    if not is_paused:
        yield from _explain_running(outline, record)
    yield from _explain_requests(outline, record, is_paused=is_paused)
    yield from _explain_amending(outline, record)
    yield from _explain_amendment(outline, record)


def _explain_running(outline: Outline, record: InstanceRecords) -> Iterator[ExplainedAct]:
    for request in record.approvals:
        if request.status == "open" and not request.is_stale:
            yield from _explain_vote(outline, request)
    for effect in record.effects:
        state = EffectState(effect.status, False, effect.endpoint, effect.held_by)
        if check_try_now(state) is None:
            yield _explain_attempt(record, effect)


def write_ways_on(acts: tuple[ExplainedAct, ...]) -> Iterator[str]:
    if acts:
        yield from ("", "What people can do")
    for act in acts:
        permission = f" ({escape(act.permission)})" if act.permission else ""
        yield f"  {act.name}{permission}: {act.text}"
        yield from (f"    {line}" for line in (act.command, act.request) if line)


def _explain_resume(record: InstanceRecords) -> ExplainedAct:
    command, request = write_command(record, "resume", {}), write_request(record, "resume", {})
    return ExplainedAct("resume", "workflow:resume", (), "lifts the pause", command, request)


def _explain_vote(outline: Outline, request: ApprovalRecord) -> Iterator[ExplainedAct]:
    """Name the people who may approve now; nobody votes by the command line."""
    voters = sorted({voter.person for voter in request.voters if voter.obstacle is None})
    if not voters:
        return
    named = describe_list((outline.words.describe_subject(person) for person in voters), "or")
    call = f'POST /v1/approvals/{request.id}/decision  {{"vote": "approved"}}'
    permissions = describe_list(map(escape, request.voter_permissions or ()))
    text = f"{named} may decide: approved, rejected or abstained"
    yield ExplainedAct("vote", permissions, (), text, "", call)


def _explain_attempt(record: InstanceRecords, effect: EffectRecord) -> ExplainedAct:
    tail = f"{effect.id} --tenant {record.tenant_id} --actor YOU"
    return ExplainedAct(
        "try_now",
        "workflow:try_now",
        (),
        "tries at once what waits for its next attempt; it is tried by itself when it is due",
        f'signet effect try-now {tail} --reason "{WHY}"',
        f'POST /v1/effects/{effect.id}/try_now  {{"reason": "{WHY}"}}',
    )


def _explain_requests(
    outline: Outline, record: InstanceRecords, *, is_paused: bool
) -> Iterator[ExplainedAct]:
    """Name the transitions that a person may ask for. What is under way, or held, takes interrupts alone."""
    instance, document = record.instance, record.document
    if document is None or document.is_deleted:
        return
    state = f"sys:state:{document.status}"
    if state not in outline.workflow.nodes:
        return
    rests = any(token["node"] == state and "hold" not in token for token in instance.active_tokens)
    is_over = instance.status in ENDED
    is_free = (rests or is_over) and record.request is None and not is_paused
    for gate in list_asked_gates(outline, state, ASKED if is_free else INTERRUPTS):
        config = outline.workflow.config_of(gate)
        if may_ask(outline, record, config["transition"]):
            act = _explain_request(outline, config, instance.entity_id, document.version, is_over=is_over)
            yield act if is_free else replace(act, text=f"{act.text}, which ends what is under way")


def _explain_amending(outline: Outline, record: InstanceRecords) -> Iterator[ExplainedAct]:
    """Name the amendment that a person may make, where the contract allows one and none is open."""
    document, contract = record.document, outline.contract
    if document is None or document.is_deleted or contract is None or contract.amendment is None:
        return
    if document.status not in contract.amendment.from_states or record.amendment is not None:
        return
    is_kept = keeps_original(contract, document.status)
    # An amendment suspends no workflow that is under way.
    if is_kept and contract.amendment.while_open == "suspended" and record.instance.status not in ENDED:
        return
    permission = contract.amendment.permission or f"{contract.contract}:amend"
    stays = "stays in force until that settles" if is_kept else "ends at once"
    body = {"patch": {}, "reason": WHY}
    place = f"POST /v1/documents/{record.instance.entity_id}/amendments"
    call = f'{place}  If-Match: "{document.version}"  {json.dumps(body, ensure_ascii=False)}'
    text = f"makes a new document with the changed fields; this one {stays}"
    yield ExplainedAct("amend", permission, (), text, "", call)


def _explain_amendment(outline: Outline, record: InstanceRecords) -> Iterator[ExplainedAct]:
    """Name what people may ask of the open amendment; where it is paused, its own explanation says more."""
    amendment = record.amendment
    if amendment is None or amendment.is_paused:
        return
    state = f"sys:state:{amendment.status}"
    gates = list_asked_gates(outline, state) if state in outline.workflow.nodes else []
    is_over = amendment.instance_id is None
    for gate in gates:
        config, document_id = outline.workflow.config_of(gate), amendment.document_id
        act = _explain_request(outline, config, document_id, amendment.version, is_over=is_over)
        yield replace(act, text=f"{act.text}, of the amendment")


def _explain_request(
    outline: Outline, config: Mapping[str, Any], document_id: UUID | None, version: int, *, is_over: bool
) -> ExplainedAct:
    name = config["transition"]
    declared = outline.contract.transitions.get(name) if outline.contract is not None else None
    body = {"transition": name}
    if declared is not None and declared.reason_required:
        body["reason"] = WHY
    text = f"asks for {name_transition(outline, name)}"
    if is_over:
        text += "; a new workflow begins at the document's status"
    place = f"POST /v1/documents/{document_id}/requests"
    call = f'{place}  If-Match: "{version}"  {json.dumps(body, ensure_ascii=False)}'
    return ExplainedAct("ask", config["permission"], (), text, "", call)
