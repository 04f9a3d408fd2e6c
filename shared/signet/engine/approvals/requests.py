"""The approval requests of a wave. They change in memory while it runs, and are written at its end."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from signet.core.approvals import withdrawals
from signet.core.approvals.eligibility import Seat, list_approving_voices
from signet.core.approvals.pins import hash_content, hash_pins, list_changed_variables
from signet.core.approvals.policy import Policy, Stage, hash_policy
from signet.core.approvals.proof import LapsedVote
from signet.core.approvals.seats.assignment import Deadlock, Lines, seat_escalation, seat_stage
from signet.core.approvals.seats.rejecters import RejectedRequest
from signet.core.approvals.votes import count_votes
from signet.core.runtime.document_changes import SendingBack
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.projection import Actor
from signet.core.runtime.workflow import WorkflowNode
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.engine.approvals.approver_lookup import ApproverLookup, can_anyone_vote_now, read_policy
from signet.engine.approvals.lost_approvers import has_lost_holder
from signet.engine.approvals.rejecters import seat_rejecters
from signet.engine.approvals.request_rows import (
    make_changed_row,
    make_lapse_notifications,
    make_notification_row,
    make_request_row,
    make_seat_row,
    parse_policy_of,
    seats_of_stage,
)
from signet.engine.approvals.stage_times import find_stage_times
from signet.engine.approvals.subject import ApprovalSubject, RequestDraft
from signet.ids import make_id
from signet.store.approvals.requests import (
    ApprovalRows,
    LiveRequest,
    VoteRow,
    list_earlier_requesters,
    list_rejected_alike,
    lock_roles_shared,
    read_last_requester,
    read_of_instances,
    read_votes,
    write_approvals,
)
from signet.store.approvals.voiding import Voiding
from signet.store.database import Connection
from signet.store.documents.write import DocumentRow
from signet.store.responsible_sets import keep_responsible


class ApprovalRequests:
    def __init__(self, connection: Connection, tenant_id: UUID, now: datetime) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._now = now
        self.rows = ApprovalRows()
        self._live: dict[UUID, list[LiveRequest]] = {}
        # By document, version and node: the rejections of the same content, each read once.
        self._rejected: dict[tuple[UUID, int, str], Sequence[RejectedRequest]] = {}
        # By instance: what was asked and given on a way from which this wave sends it back, with the reason.
        self._withdrawn: dict[UUID, Mapping[UUID, withdrawals.Void]] = {}
        self._requesters: dict[UUID, Actor | None] = {}
        self._holds_roles = False
        self._votes: list[VoteRow] | None = None
        self._approvers = ApproverLookup(connection, tenant_id, self.rows, self._lock_roles_shared)
        # The moments at which an instance must be woken again: (instance, moment).
        self.wakes: list[tuple[UUID, datetime]] = []

    @property
    def lapsed_count(self) -> int:
        """Return how many votes of this wave's gates have lapsed."""
        return len(self.rows.lapsed_seats)

    def load(self, instance_ids: Sequence[UUID]) -> None:
        if not instance_ids:
            return
        for request in read_of_instances(self._connection, self._tenant_id, instance_ids):
            self._live.setdefault(request.instance_id, []).append(request)

    def list_live(self, instance_id: UUID) -> list[LiveRequest]:
        # Most waves have no request at all, and the hash of an id is not free.
        return self._live.get(instance_id, []) if self._live else []

    def list_pending(self, instance_id: UUID) -> list[LiveRequest]:
        """List the requests that are open, or approved and not used yet."""
        return [r for r in self.list_live(instance_id) if r.status in ("open", "approved") and not r.applied]

    def list_unused(self, instance_id: UUID) -> list[LiveRequest]:
        """List the approved requests that no gate has used yet."""
        withdrawn = self._withdrawn.get(instance_id, {}) if self._withdrawn else {}
        return [r for r in self.list_live(instance_id) if r.is_unused and r.id not in withdrawn]

    def list_given(self, instance_id: UUID) -> list[LiveRequest]:
        """List what was approved and not used, also where a gate asks a seat of it again."""
        again = (r for r in self.list_live(instance_id) if r.status == "open" and r.is_reopened)
        return [*self.list_unused(instance_id), *again]

    def list_changes(
        self, instance_id: UUID, execution: InstanceExecution
    ) -> tuple[frozenset[str], frozenset[str]]:
        """List the refs and variables that differ from what people are asked about, and the erased fields."""
        counting = self._list_counting(instance_id)
        if not counting:
            return frozenset(), frozenset()
        # A request of an older release has pinned nothing, and is asked again.
        older = {withdrawals.OLDER_RELEASE} if any(r.pins is None for r in counting) else set()
        refs = older.union(*(r.changed_pins for r in counting))
        changed = self.list_changed_variables(instance_id, execution) | refs
        return changed, frozenset[str]().union(*(r.erased_fields for r in counting))

    def list_changed_variables(self, instance_id: UUID, execution: InstanceExecution) -> frozenset[str]:
        """List the variables that differ from what people are asked about, or have approved."""
        variables = execution.projection.context
        return frozenset(
            f"context.{name}"
            for request in (self._list_counting(instance_id) if variables else ())
            for name in list_changed_variables(
                request.variables, execution.workflow.live_variables.get(request.node_id, ()), variables
            )
        )

    def pin_variables(self, instance_id: UUID, execution: InstanceExecution) -> None:
        """Pin in new requests what is read behind them, as it is when the wave ends."""
        variables = execution.projection.context
        for row in self.rows.requests if variables else ():
            if row["instance_id"] == instance_id:
                read_behind = execution.workflow.live_variables.get(row["node_id"], frozenset())
                pinned = {name: variables[name] for name in sorted(read_behind) if name in variables}
                row |= {"variables": pinned, "pins_hash": hash_pins(row["pins"], pinned)}

    def _list_counting(self, instance_id: UUID) -> list[LiveRequest]:
        """List the requests that are open, or approved for the gate ahead."""
        live = self.list_live(instance_id)
        unused = self.list_unused(instance_id) if live else ()
        return [r for r in live if r.status == "open" or r in unused]

    def withdraw(self, instance_id: UUID, execution: InstanceExecution, sent: SendingBack) -> None:
        """Let nothing count any more that was asked or given so far; it is voided with this wave."""
        changes, workflow = self.list_changes(instance_id, execution), execution.workflow
        live = (r for r in self.list_live(instance_id) if r.status == "open" or r.is_unused)
        found = {r.id: withdrawals.withdraw(workflow, r.node_id, sent, *changes) for r in live}
        self._withdrawn[instance_id] = found

    def restore(self, instance_id: UUID) -> None:
        """Take back a withdrawal: the wave leaves the instance as it was."""
        self._withdrawn.pop(instance_id, None)

    def find_of_step(self, instance_id: UUID, step_id: UUID) -> LiveRequest | None:
        return next((r for r in self.list_live(instance_id) if r.step_execution_id == step_id), None)

    def find_last_requester(self, document_id: UUID) -> Actor | None:
        """Find who requested the transition performed last, as of before this wave."""
        if document_id not in self._requesters:
            last = read_last_requester(self._connection, self._tenant_id, document_id)
            self._requesters[document_id] = Actor(last[0], (), last[1]) if last is not None else None
        return self._requesters[document_id]

    def list_earlier_requesters(self, document: DocumentRow) -> ResponsiblePersons:
        """List everybody who asked before for what is asked for now: they stay barred."""
        is_asked = document.request_id is not None
        return list_earlier_requesters(self._connection, document.id) if is_asked else NOBODY

    def policy_of(self, node: WorkflowNode) -> tuple[Policy | None, str | None, int | None]:
        """Read the node's policy, with its chain's name and version."""
        return read_policy(self._connection, self._tenant_id, node)

    def begin_stage(self, about: ApprovalSubject, policy: Policy, number: int) -> list[Seat] | Deadlock:
        """Make the seats of a stage. It escalates at once where the people asked cannot decide it."""
        stage = policy.stage(number)
        approver_data = self._approvers.gather(about, stage.approvers)
        assignment = seat_stage(number, stage, approver_data)
        deadlock = assignment.deadlock
        seats: Sequence[Seat] = assignment.seats
        if rejected := self._find_rejected(about):
            self._lock_roles_shared()
            seats = seat_rejecters(self._connection, self._tenant_id, about, stage, seats, rejected)
        if deadlock is None:
            verdict = count_votes(stage, seats, can_vote=self.can_vote(about, stage, seats))
            deadlock = verdict.deadlock
        if deadlock is None:
            self._approvers.take_turns(about, stage.approvers)
            return list(seats)
        if stage.escalate is None:
            return deadlock
        if self.has_lost_holder(about, stage, seats):
            return list(seats)  # and wait for the time of the escalation
        return self.escalate(about, stage, number, list(seats), assignment.in_vain)

    def _find_rejected(self, about: ApprovalSubject) -> Sequence[RejectedRequest]:
        document, node_id = about.document, about.node_id
        key = document.id, document.version, node_id
        if key not in self._rejected:
            digest = hash_content(document.entity_type, document.data)
            self._rejected[key] = list_rejected_alike(
                self._connection, self._tenant_id, document.id, node_id, digest, document.data
            )
        return self._rejected[key]

    def escalate(
        self, about: ApprovalSubject, stage: Stage, number: int, seats: Sequence[Seat], in_vain: Lines = ()
    ) -> list[Seat] | Deadlock:
        if stage.escalate is None:
            return Deadlock.NOBODY_ELIGIBLE
        approver_data = self._approvers.gather(about, (stage.escalate.to,))
        added = seat_escalation(number, stage.escalate, approver_data, seats, in_vain)
        wider = [*seats, *added.seats]
        if added.deadlock is not None:
            return added.deadlock
        if not self.can_vote(about, stage, wider):
            return Deadlock.NOBODY_ELIGIBLE
        self._approvers.take_turns(about, (stage.escalate.to,))
        return wider

    def has_lost_holder(self, about: ApprovalSubject, stage: Stage, seats: Sequence[Seat]) -> bool:
        """Return if a person that the stage asks was disabled or lost the role since it was first asked."""
        return has_lost_holder(self._connection, self._tenant_id, about.document.id, stage, seats)

    def can_vote(self, about: ApprovalSubject, stage: Stage, seats: Sequence[Seat]) -> bool:
        """Return if anyone can still vote on the stage."""
        self._lock_roles_shared()
        return can_anyone_vote_now(self._connection, self._tenant_id, about, stage, seats, self._now)

    def list_approved_voices(
        self, instance_id: UUID, version: int, policy: Policy, request: LiveRequest | None, stage: int
    ) -> frozenset[str]:
        """List who has approved in other stages, and in other approvals that the same gate uses."""
        return frozenset(
            voice
            for other in self.list_live(instance_id)
            if other.status in ("open", "approved")
            and other.id not in self._withdrawn.get(instance_id, ())
            and other.document_version == version
            and not (policy.same_person and parse_policy_of(other).same_person)
            for voice in list_approving_voices(
                seat for seat in other.seats if other is not request or seat.stage != stage
            )
        )

    def _lock_roles_shared(self) -> None:
        """Lock the roles once, until the commit: who takes one away later sees the requests of this wave."""
        if not self._holds_roles:
            lock_roles_shared(self._connection, self._tenant_id)
            self._holds_roles = True

    def open(
        self, about: ApprovalSubject, node: WorkflowNode, step_id: UUID, draft: RequestDraft
    ) -> LiveRequest:
        policy_text = draft.policy.to_text()
        times = find_stage_times(self._connection, self._tenant_id, self._now, draft.policy.stage(1))
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
            responsible=about.responsible,
            voter_permissions=list(about.voter_permissions),
            pins=about.pins,
            pins_hash=hash_pins(about.pins),
            variables={},
            changed_pins=[],
            erased_fields=[],
            snapshot_hash=about.document.snapshot_hash or "",
            definition_hash=about.definition_hash,
            asked_since=self._now,
            escalate_at=times.escalate_at,
            expire_at=times.expire_at,
            remind_at=times.remind_at,
            reminders=0,
            outcome=None,
            seats=[],
        )
        chain = draft.chain_name, draft.chain_version
        row = make_request_row(request, about, chain, self._find_rejected(about))
        row["responsible"] = keep_responsible(self._connection, self._tenant_id, request.responsible)
        self.rows.requests.append(row)
        self._live.setdefault(about.instance_id, []).append(request)
        self.seat(request, draft.seats)
        self._wake(request)
        return request

    def go_to_stage(self, request: LiveRequest, number: int, seats: Sequence[Seat]) -> None:
        request.stage = number
        stage = parse_policy_of(request).stage(number)
        find_stage_times(self._connection, self._tenant_id, self._now, stage).set_on(request)
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
            self.rows.seats.append(make_seat_row(request, seat))
            self.rows.notifications.append(make_notification_row(request, seat))

    def end(self, request: LiveRequest, status: str, outcome: str | None) -> None:
        request.status, request.outcome = status, outcome
        request.applied = False if status == "approved" else None
        self.rows.ended.append(request.id)
        self._change(request)

    def read_votes(self, instance_id: UUID) -> list[VoteRow]:
        """Read the votes of the approvals that gates may use, for all instances of the wave at once."""
        if self._votes is None:
            unused = [r.id for instance in self._live for r in self.list_unused(instance)]
            self._votes = read_votes(self._connection, self._tenant_id, unused)
        own = {request.id for request in self.list_live(instance_id)}
        return [vote for vote in self._votes if vote.request_id in own]

    def reopen(self, request: LiveRequest, lapsed: Sequence[LapsedVote]) -> None:
        """Ask the seats again whose votes may not be used any more; every other vote still counts."""
        for vote, denial in ((lapse.vote, lapse.denial) for lapse in lapsed):
            index = next(
                i
                for i, seat in enumerate(request.seats)
                if (seat.stage, seat.position) == (vote.stage, vote.position)
            )
            seat = request.seats[index]
            request.seats[index] = replace(seat, status="lapsed")
            self.rows.lapsed_seats.append(make_seat_row(request, seat))
            position = 1 + max(other.position for other in request.seats if other.stage == seat.stage)
            again = replace(seat, position=position, status="open", decided_by=None, on_behalf_of=None)
            request.seats.append(again)
            self.rows.seats.append(make_seat_row(request, again))
            self.rows.notifications.extend(make_lapse_notifications(request, again, vote, denial))
        request.stage = min(lapse.vote.stage for lapse in lapsed)
        request.status, request.applied, request.outcome = "open", None, None
        # The next wave asks if anybody can give the vote at all.
        self.wakes.append((request.instance_id, self._now))
        stage = parse_policy_of(request).stage(request.stage)
        find_stage_times(self._connection, self._tenant_id, self._now, stage).set_on(request)
        self._change(request)
        self._wake(request)

    def ask_closed_seats(self, about: ApprovalSubject, stage: Stage, request: LiveRequest) -> bool:
        """Ask those again that the end of the stage let go, if they can give the vote that lapsed."""
        own = seats_of_stage(request)
        closed = {seat.position: replace(seat, status="open") for seat in own if seat.status == "closed"}
        seats = [closed.get(seat.position, seat) for seat in own]
        has_lapsed = any(seat.status == "lapsed" for seat in own)
        if not closed or not has_lapsed or not self.can_vote(about, stage, seats):
            return False
        others = [seat for seat in request.seats if seat.stage != request.stage]
        request.seats = sorted((*others, *seats), key=lambda seat: (seat.stage, seat.position))
        for seat in closed.values():
            self.rows.opened_seats.append(make_seat_row(request, seat))
            self.rows.notifications.append(make_notification_row(request, seat))
        return True

    def void(self, request: LiveRequest, why: withdrawals.Void) -> None:
        """Void a request. Everyone who was asked or has decided is told that it no longer counts."""
        request.status, request.outcome = "voided", why.reason
        self.rows.voided.append(Voiding(request.instance_id, why, request.id))

    def void_what_is_left(
        self, instance_id: UUID, open_steps: Collection[UUID], version: int, *, has_moved_on: bool
    ) -> None:
        """Void open requests whose step has ended, and unused approvals of a document that moved on."""
        withdrawn = self._withdrawn.get(instance_id, {}) if self._withdrawn else {}
        for request in self.list_live(instance_id):
            is_past = has_moved_on or request.document_version != version or request.id in withdrawn
            # A request that a gate has opened again is waited for there.
            is_waited_for = request.step_execution_id in open_steps or (request.is_reopened and not is_past)
            if request.status == "open" and not is_waited_for:
                self.void(request, withdrawn.get(request.id, withdrawals.STEP_WITHDRAWN))
            elif request.is_unused and is_past:
                self.void(request, withdrawn.get(request.id, withdrawals.MOVED_ON))

    def consume(self, instance_id: UUID) -> list[UUID]:
        """Use up the approvals as the gate's last act, so that they cannot be used again (WF-03)."""
        used = self.list_unused(instance_id)
        for request in used:
            request.applied = True
            self.rows.applied[request.id] = instance_id
            self._change(request)
        return [request.id for request in used]

    def write(self) -> None:
        write_approvals(self._connection, self._tenant_id, self.rows, self._now)

    def _change(self, request: LiveRequest) -> None:
        self.rows.changed[request.id] = make_changed_row(request)

    def _wake(self, request: LiveRequest) -> None:
        moments = (request.escalate_at, request.expire_at, request.remind_at)
        self.wakes.extend((request.instance_id, moment) for moment in moments if moment is not None)
