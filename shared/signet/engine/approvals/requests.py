"""The approval requests of a wave: opened, seated, ended, used up by a gate, voided by an edit.

Requests change in memory while the wave runs, and are written at its end.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from signet.core.approvals.eligibility import (
    ConflictCheck,
    Seat,
    VotingContext,
    can_anyone_vote,
    separation_conflict,
)
from signet.core.approvals.policy import (
    Policy,
    Stage,
    hash_policy,
    parse_policy,
    policy_of_chain,
    policy_of_node,
)
from signet.core.approvals.seats import ApproverData, Deadlock, list_needs, seat_escalation, seat_stage
from signet.core.approvals.votes import count_votes
from signet.core.compiler.node_configurations import Approver
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Defect
from signet.core.expressions import (
    Compiled,
    Environment,
    ExpressionError,
    compile_expression,
    parse_expression,
)
from signet.core.runtime.workflow import WorkflowNode
from signet.core.validation.strict_model import parse_duration_seconds
from signet.ids import make_id
from signet.store.approvals.requests import (
    ApprovalRows,
    LiveRequest,
    Row,
    lock_roles_shared,
    read_candidates,
    read_last_requester,
    read_managers,
    read_members,
    read_of_instances,
    read_published_chain,
    read_turns,
    write_approvals,
)
from signet.store.approvals.voiding import Voiding
from signet.store.database import Connection
from signet.store.documents.write import DocumentRow

MAX_LEVELS = 10
MAX_EXPRESSIONS = 1_000


@dataclass(frozen=True, slots=True)
class RequestDraft:
    """The policy and seats of a new request, resolved before its step has a receipt."""

    policy: Policy
    chain_name: str | None
    chain_version: int | None
    seats: Sequence[Seat]


@dataclass(frozen=True, slots=True)
class ApprovalSubject:
    """The document that is decided about, and the definition and contract it runs under."""

    instance_id: UUID
    document: DocumentRow
    contract: CompiledContract
    env: Environment
    definition_hash: str
    # The person whose request led here; and with them all who have asked for the same since.
    requester_id: str
    requesters: frozenset[str]
    trace_id: str | None


class ApprovalRequests:
    def __init__(self, connection: Connection, tenant_id: UUID, now: datetime) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._now = now
        self._rows = ApprovalRows()
        self._live: dict[UUID, list[LiveRequest]] = {}
        self._requesters: dict[UUID, str | None] = {}
        self._holds_roles = False
        # The moments at which an instance must be woken again: (instance, moment).
        self.wakes: list[tuple[UUID, datetime]] = []

    def load(self, instance_ids: Sequence[UUID]) -> None:
        if not instance_ids:
            return
        for request in read_of_instances(self._connection, self._tenant_id, instance_ids):
            self._live.setdefault(request.instance_id, []).append(request)

    def list_live(self, instance_id: UUID) -> list[LiveRequest]:
        return self._live.get(instance_id, [])

    def list_unused(self, instance_id: UUID) -> list[LiveRequest]:
        """List the approved requests that no gate has used yet."""
        return [r for r in self.list_live(instance_id) if r.status == "approved" and not r.applied]

    def find_of_step(self, instance_id: UUID, step_id: UUID) -> LiveRequest | None:
        return next((r for r in self.list_live(instance_id) if r.step_execution_id == step_id), None)

    def find_last_requester(self, document_id: UUID) -> str | None:
        """Find who requested the transition performed last, as of before this wave."""
        if document_id not in self._requesters:
            requester = read_last_requester(self._connection, self._tenant_id, document_id)
            self._requesters[document_id] = requester
        return self._requesters[document_id]

    def policy_of(self, node: WorkflowNode) -> tuple[Policy | None, str | None, int | None]:
        """Read the node's policy, with its chain's name and version.

        The policy is None when the chain is not published or can no longer be read.
        """
        name = node.config["chain"]
        if name is None:
            return policy_of_node(node.config), None, None
        chain = read_published_chain(self._connection, self._tenant_id, name)
        if chain is None:
            return None, name, None
        policy, _ = policy_of_chain(chain.steps, same_person=chain.same_person, permission=chain.permission)
        return policy, name, chain.version

    def begin_stage(self, about: ApprovalSubject, policy: Policy, number: int) -> list[Seat] | Deadlock:
        """Make the seats of a stage. It escalates at once where the people asked cannot decide it."""
        stage = policy.stage(number)
        approver_data = self._gather(about, stage.approvers)
        assignment = seat_stage(number, stage, approver_data)
        deadlock = assignment.deadlock
        if deadlock is None:
            verdict = count_votes(stage, assignment.seats, can_vote=self.can_vote(about, assignment.seats))
            deadlock = verdict.deadlock
        if deadlock is None:
            self._take_turns(stage.approvers)
            return list(assignment.seats)
        if stage.escalate is None:
            return deadlock
        return self.escalate(about, stage, number, list(assignment.seats))

    def escalate(
        self, about: ApprovalSubject, stage: Stage, number: int, seats: Sequence[Seat]
    ) -> list[Seat] | Deadlock:
        if stage.escalate is None:
            return Deadlock.NOBODY_ELIGIBLE
        approver_data = self._gather(about, (stage.escalate.to,))
        added = seat_escalation(number, stage.escalate, approver_data, seats)
        wider = [*seats, *added.seats]
        if added.deadlock is not None:
            return added.deadlock
        if not self.can_vote(about, wider):
            return Deadlock.NOBODY_ELIGIBLE
        self._take_turns((stage.escalate.to,))
        return wider

    def can_vote(self, about: ApprovalSubject, seats: Sequence[Seat]) -> bool:
        """Return if anyone can still vote.

        Delegates are not looked up: a delegate can vote only where the delegator can.
        """
        open_seats = [seat for seat in seats if seat.status == "open"]
        users = {seat.holder_user_id for seat in open_seats if seat.holder_user_id is not None}
        roles = {seat.holder_role for seat in open_seats if seat.holder_role is not None}
        self._lock_roles_shared()
        candidates = read_candidates(
            self._connection, self._tenant_id, users, roles, at_most=1 + _count_excluded(about, seats)
        )
        voting = VotingContext(
            about.contract.contract.contract, self._now, candidates, (), conflict_check_of(about)
        )
        return can_anyone_vote(seats, voting)

    def _lock_roles_shared(self) -> None:
        """Lock the roles once, until the commit: who takes one away later sees the requests of this wave."""
        if not self._holds_roles:
            lock_roles_shared(self._connection, self._tenant_id)
            self._holds_roles = True

    def open(
        self, about: ApprovalSubject, node: WorkflowNode, step_id: UUID, draft: RequestDraft
    ) -> LiveRequest:
        policy_text = draft.policy.to_text()
        escalate_at, expire_at = self._due(draft.policy.stage(1))
        request = LiveRequest(
            id=make_id(),
            instance_id=about.instance_id,
            step_execution_id=step_id,
            node_id=node.id,
            document_version=about.document.version,
            stage=1,
            status="open",
            applied=None,
            policy=policy_text,
            policy_hash=hash_policy(policy_text),
            requester_id=about.requester_id,
            escalate_at=escalate_at,
            expire_at=expire_at,
            outcome=None,
            seats=[],
        )
        self._rows.requests.append(_request_row(request, about, draft))
        self._live.setdefault(about.instance_id, []).append(request)
        self.seat(request, draft.seats)
        self._wake(request)
        return request

    def go_to_stage(self, request: LiveRequest, number: int, seats: Sequence[Seat]) -> None:
        request.stage = number
        request.escalate_at, request.expire_at = self._due(parse_policy_of(request).stage(number))
        self.seat(request, seats)
        self._change(request)
        self._wake(request)

    def seat(self, request: LiveRequest, seats: Iterable[Seat]) -> None:
        """Add the seats that are new, and notify their holders."""
        known = {(seat.stage, seat.position) for seat in request.seats}
        for seat in seats:
            if (seat.stage, seat.position) in known:
                continue
            request.seats.append(seat)
            self._rows.seats.append(_seat_row(request, seat))
            self._rows.notifications.append(_notification_row(request, seat))

    def end(self, request: LiveRequest, status: str, outcome: str | None) -> None:
        request.status, request.outcome = status, outcome
        request.applied = False if status == "approved" else None
        self._rows.ended.append(request.id)
        self._change(request)

    def void(self, request: LiveRequest, reason: str) -> None:
        """Void a request. Everyone who was asked or has decided is told that it no longer counts."""
        request.status, request.outcome = "voided", reason
        self._rows.voided.append(Voiding(request.instance_id, reason, request.id))

    def void_what_is_left(
        self, instance_id: UUID, open_steps: Collection[UUID], version: int, *, has_moved_on: bool
    ) -> None:
        """Void open requests whose step has ended, and unused approvals of a document that moved on."""
        for request in self.list_live(instance_id):
            if request.status == "open" and request.step_execution_id not in open_steps:
                self.void(request, "its step was withdrawn")
        for request in self.list_unused(instance_id):
            if has_moved_on or request.document_version != version:
                self.void(request, "the document went another way, or was edited")

    def consume(self, instance_id: UUID) -> list[UUID]:
        """Use up the approvals as the gate's last act, so that they cannot be used again (WF-03)."""
        used = self.list_unused(instance_id)
        for request in used:
            request.applied = True
            self._rows.applied[request.id] = instance_id
            self._change(request)
        return [request.id for request in used]

    def write(self) -> None:
        write_approvals(self._connection, self._tenant_id, self._rows, self._now)

    def _change(self, request: LiveRequest) -> None:
        self._rows.changed[request.id] = _changed_row(request)

    def _due(self, stage: Stage) -> tuple[datetime | None, datetime | None]:
        escalate = stage.escalate.after if stage.escalate is not None else None
        return self._after(escalate), self._after(stage.expire_after)

    def _after(self, duration: str | None) -> datetime | None:
        return self._now + timedelta(seconds=parse_duration_seconds(duration)) if duration else None

    def _wake(self, request: LiveRequest) -> None:
        for moment in (request.escalate_at, request.expire_at):
            if moment is not None:
                self.wakes.append((request.instance_id, moment))

    def _gather(self, about: ApprovalSubject, approvers: Sequence[Approver]) -> ApproverData:
        needs = list_needs(approvers)
        values = {text: _compile(text).value(about.env) for text in needs.expressions}
        people = {str(values[text]) for text in needs.managers_of if isinstance(values[text], str)}
        managers = read_managers(self._connection, self._tenant_id, people, MAX_LEVELS) if people else {}
        members: dict[str, Collection[str]] = {}
        turns: dict[str, int] = {}
        barred: set[str] = set()
        if needs.turns:
            self._lock_roles_shared()
            members = {role: read_members(self._connection, self._tenant_id, role) for role in needs.turns}
            find_conflict = conflict_check_of(about)
            barred = {p for people in members.values() for p in people if find_conflict(p) is not None}
            turns_taken = read_turns(self._connection, self._tenant_id, needs.turns)
            turns = {role: turns_taken.get(role, 0) + self._rows.turns.get(role, 0) for role in needs.turns}
        return ApproverData(values, managers, members, turns, barred)

    def _take_turns(self, approvers: Sequence[Approver]) -> None:
        for role in list_needs(approvers).turns:
            self._rows.turns[role] = self._rows.turns.get(role, 0) + 1


def _count_excluded(about: ApprovalSubject, seats: Sequence[Seat]) -> int:
    """Return at most how many people are barred, or are counted in the stage already."""
    counted = [
        person for seat in seats for person in (seat.decided_by, seat.on_behalf_of) if person is not None
    ]
    return 1 + len(about.document.editor_ids) + len(about.requesters) + len(counted)


def conflict_check_of(about: ApprovalSubject) -> ConflictCheck:
    return separation_conflict(about.contract, about.document, about.requesters)


def parse_policy_of(request: LiveRequest) -> Policy:
    return parse_policy(request.policy, request.policy_hash)


def seats_of_stage(request: LiveRequest) -> list[Seat]:
    return [replace(seat) for seat in request.seats if seat.stage == request.stage]


def _request_row(request: LiveRequest, about: ApprovalSubject, draft: RequestDraft) -> Row:
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
        "chain_name": draft.chain_name,
        "chain_version": draft.chain_version,
        "requester_id": request.requester_id,
        "escalate_at": request.escalate_at,
        "expire_at": request.expire_at,
        "trace_id": about.trace_id,
    }


def _changed_row(request: LiveRequest) -> Row:
    return {
        "id": request.id,
        "stage": request.stage,
        "status": request.status,
        "outcome": request.outcome,
        "applied": request.applied,
        "escalate_at": request.escalate_at,
        "expire_at": request.expire_at,
    }


def _seat_row(request: LiveRequest, seat: Seat) -> Row:
    return {
        "request_id": request.id,
        "stage": seat.stage,
        "position": seat.position,
        "holder_user_id": seat.holder_user_id,
        "holder_role": seat.holder_role,
        "origin": seat.origin,
    }


def _notification_row(request: LiveRequest, seat: Seat) -> Row:
    return {
        "id": make_id(),
        "user_id": seat.holder_user_id,
        "role": seat.holder_role,
        "kind": "approval_requested",
        "request_id": request.id,
        "data": {"node": request.node_id},
    }


@lru_cache(maxsize=MAX_EXPRESSIONS)
def _compile(text: str) -> Compiled:
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        raise Defect("APPROVAL_EXPRESSION_UNREADABLE", f"a published policy holds '{text}'")
    return compile_expression(parsed)
