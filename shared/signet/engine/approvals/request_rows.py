"""The rows of approval requests, and the notifications about them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.pins import hash_content, hash_likeness
from signet.core.approvals.policy import Policy, parse_policy
from signet.core.approvals.proof import RecordedVote
from signet.core.approvals.seats.rejecters import RejectedRequest
from signet.core.contracts.compiled_contract import Denial
from signet.engine.approvals.subject import ApprovalSubject
from signet.ids import make_id
from signet.store.approvals.requests import LiveRequest, Row


def make_request_row(
    request: LiveRequest,
    about: ApprovalSubject,
    chain: tuple[str | None, int | None],
    rejected: Sequence[RejectedRequest],
) -> dict[str, Any]:
    return {
        "id": request.id,
        "instance_id": request.instance_id,
        "step_execution_id": request.step_execution_id,
        "node_id": request.node_id,
        "document_id": about.document.id,
        "document_version": request.document_version,
        "snapshot_version_id": about.document.snapshot_id,
        "snapshot_hash": about.document.snapshot_hash,
        "definition_hash": about.definition_hash,
        "policy": request.policy,
        "policy_hash": request.policy_hash,
        "chain_name": chain[0],
        "chain_version": chain[1],
        "requester_id": request.requester_id,
        "voter_permissions": request.voter_permissions,
        "pins": request.pins,
        "pins_hash": request.pins_hash,
        "variables": request.variables,
        "repeats_request_id": rejected[0].id if rejected else None,
        "content_hash": hash_content(about.document.entity_type, about.document.data),
        "likeness_hash": hash_likeness(
            about.document.entity_type, about.document.data, about.contract.unique_fields
        ),
        "escalate_at": request.escalate_at,
        "expire_at": request.expire_at,
        "remind_at": request.remind_at,
        "trace_id": about.trace_id,
    }


def make_changed_row(request: LiveRequest) -> Row:
    return {
        "id": request.id,
        "stage": request.stage,
        "status": request.status,
        "outcome": request.outcome,
        "applied": request.applied,
        "escalate_at": request.escalate_at,
        "expire_at": request.expire_at,
        "remind_at": request.remind_at,
        "reminders": request.reminders,
    }


def make_seat_row(request: LiveRequest, seat: Seat) -> Row:
    return {
        "request_id": request.id,
        "stage": seat.stage,
        "position": seat.position,
        "holder_user_id": seat.holder_user_id,
        "holder_role": seat.holder_role,
        "needed_role": seat.needed_role,
        "origin": seat.origin,
        "lines": list(seat.lines or ()),
    }


def make_notification_row(request: LiveRequest, seat: Seat, kind: str = "approval_requested") -> Row:
    return {
        "id": make_id(),
        "user_id": seat.holder_user_id,
        "role": seat.holder_role,
        "kind": kind,
        "request_id": request.id,
        "data": {"node": request.node_id},
    }


def make_lapse_notifications(
    request: LiveRequest, again: Seat, vote: RecordedVote, denial: Denial
) -> list[Row]:
    """Make the notifications about a vote that lapsed: its seat is asked again, and its voters are told."""
    asked = make_notification_row(request, again)
    data = {"node": request.node_id, "code": "VOTE_NO_LONGER_VALID", "reason": denial.sentence}
    told = [
        {
            "id": make_id(),
            "user_id": voice,
            "role": None,
            "kind": "vote_lapsed",
            "request_id": request.id,
            "data": data,
        }
        for voice in vote.represented_people
    ]
    return [asked, *told]


def parse_policy_of(request: LiveRequest) -> Policy:
    return parse_policy(request.policy, request.policy_hash)


def seats_of_stage(request: LiveRequest) -> list[Seat]:
    return [replace(seat) for seat in request.seats if seat.stage == request.stage]
