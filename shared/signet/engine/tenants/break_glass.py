"""Break-glass: two operators seat a named member in an open request that nobody else can decide.

The first proposes and gives the reason, the second consents within a day. The seat decides its stage like
one of the wider circle. The person is held to every other rule: separation of duties, and one vote a person.
It is on record at the document and at the tenant, and everybody who decides is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from signet.core.audit.trail import chain_all, make_entry
from signet.core.audit.verification import DOCUMENT
from signet.core.errors import FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.engine.approvals.added_seats import find_vain_seat
from signet.engine.approvals.ballots import approval_not_found
from signet.engine.documents.command_checks import check_reason
from signet.engine.tenants.operator import TenantAccess, open_tenant
from signet.engine.tenants.self_grants import CODE as SELF_GRANT
from signet.engine.tenants.self_grants import OTHER_OPERATOR
from signet.ids import make_id
from signet.store.approvals import break_glass as store
from signet.store.approvals.break_glass import AskedRequest
from signet.store.approvals.break_glass import BreakGlassProposal as BreakGlassProposal
from signet.store.audit.write import append_rows, lock_administration, read_heads, read_transaction
from signet.store.database import Database
from signet.store.documents.personal_values import lock_document
from signet.store.tenants import people

KEPT_FOR = timedelta(hours=24)
# The proposals of one tenant that wait for a second operator.
MAX_WAITING = 20


@dataclass(frozen=True, slots=True)
class BreakGlass:
    database: Database

    def propose(
        self, caller: Caller, tenant_id: UUID, request_id: UUID, user_id: str, reason: str
    ) -> BreakGlassProposal:
        """Propose to seat an active member in the stage that the request is in."""
        _require_reason(reason)
        with open_tenant(self.database, caller, tenant_id) as act:
            act.read()
            _require_seatable(act, user_id)
            # Two at once are counted one after the other.
            lock_administration(act.connection, tenant_id)
            request = _require_open(act, request_id)
            _require_useful(act, request_id, user_id)
            if store.count_waiting(act.connection, tenant_id, act.now) >= MAX_WAITING:
                sentence = f"at most {MAX_WAITING} proposals of a tenant wait at a time"
                raise Rejected(
                    "BREAK_GLASS_TOO_MANY", sentence, remedy="Have one consented to, or let it end."
                )
            new = BreakGlassProposal(
                id=make_id(),
                request_id=request_id,
                stage=request.stage,
                user_id=user_id,
                reason=reason,
                proposed_by=caller.principal.subject,
                proposed_persons=sorted(caller.principal.responsible),
                proposed_at=act.now,
                expires_at=act.now + KEPT_FOR,
                consented_by=None,
                consented_at=None,
                position=None,
            )
            store.insert_proposal(act.connection, tenant_id, new)
            detail = {"proposal": str(new.id), "request": str(request_id), "user_id": user_id}
            act.note("propose_break_glass", {**detail, "stage": new.stage}, reason)
        return new

    def list_waiting(self, caller: Caller, tenant_id: UUID) -> Sequence[BreakGlassProposal]:
        """List the proposals that wait for a second operator."""
        with open_tenant(self.database, caller, tenant_id) as act:
            act.read()
            return store.list_waiting(act.connection, tenant_id, act.now)

    def consent(self, caller: Caller, tenant_id: UUID, proposal_id: UUID) -> BreakGlassProposal:
        """Consent to the proposal of another operator; the person has the seat at once."""
        with open_tenant(self.database, caller, tenant_id) as act:
            act.read()
            proposal = store.find_proposal(act.connection, tenant_id, proposal_id)
            if proposal is None:
                raise Rejected("BREAK_GLASS_NOT_FOUND", f"there is no proposal {proposal_id}")
            if not caller.principal.responsible.isdisjoint(proposal.proposed_persons):
                raise Rejected(SELF_GRANT, "nobody consents to their own proposal", remedy=OTHER_OPERATOR)
            _require_seatable(act, proposal.user_id)
            if _require_open(act, proposal.request_id).stage == proposal.stage and proposal.position is None:
                _require_useful(act, proposal.request_id, proposal.user_id)
            position = self._seat(act, proposal)
            if position is None:
                raise Rejected(
                    "BREAK_GLASS_EXPIRED",
                    "the proposal is over: it is too old, was consented to, or its stage has passed",
                    remedy="Propose again, if it is still needed.",
                )
            seated = store.find_proposal(act.connection, tenant_id, proposal_id)
            _note(act, proposal, position)
        return seated or proposal

    def _seat(self, act: TenantAccess, proposal: BreakGlassProposal) -> int | None:
        """Lock the document, then the request, as a vote does; then seat the person."""
        request = _require_open(act, proposal.request_id)
        lock_document(act.connection, act.tenant_id, request.document_id)
        store.lock_request(act.connection, act.tenant_id, proposal.request_id)
        consented_by = act.caller.principal.subject
        return store.seat(
            act.connection,
            act.tenant_id,
            proposal,
            consented_by=consented_by,
            consented_persons=act.caller.principal.responsible,
            data={
                "user_id": proposal.user_id,
                "proposed_by": proposal.proposed_by,
                "consented_by": consented_by,
            },
            now=act.now,
        )


def _require_reason(reason: str) -> None:
    rejected = check_reason(reason)
    if rejected is not None:
        raise rejected
    if not reason.strip():
        mistake = FieldError("/reason", "REASON_REQUIRED", "wants a reason")
        raise Rejected("FIELDS_INVALID", "break-glass needs a reason", fields=(mistake,))


def _require_open(act: TenantAccess, request_id: UUID) -> AskedRequest:
    request = store.find_request(act.connection, act.tenant_id, request_id)
    if request is None:
        raise approval_not_found(request_id)
    if request.status != "open":
        raise Rejected("APPROVAL_CLOSED", f"this approval is {request.status}")
    return request


def _require_seatable(act: TenantAccess, user_id: str) -> None:
    """Require an active member who is not the operator."""
    if user_id in act.caller.principal.responsible:
        raise Rejected(SELF_GRANT, "no operator seats themselves", remedy=OTHER_OPERATOR)
    member = people.find_member(act.connection, act.tenant_id, user_id)
    if member is None or member.status != "active":
        mistake = FieldError("/user_id", "MEMBER_UNKNOWN", "wants an active member")
        raise Rejected("FIELDS_INVALID", "the person is no active member", fields=(mistake,))


def _require_useful(act: TenantAccess, request_id: UUID, user_id: str) -> None:
    """Refuse a seat from which the person could not vote."""
    vain = find_vain_seat(act.connection, act.tenant_id, request_id, user_id)
    if vain is not None:
        raise Rejected(
            "BREAK_GLASS_IN_VAIN",
            f"a seat would not help {user_id} ({vain.code}): {vain.sentence}",
            remedy="Seat a member who is named for break-glass by the explanation of the instance.",
        )


def _note(act: TenantAccess, proposal: BreakGlassProposal, position: int) -> None:
    """Put the seat on record, at the document and at the tenant."""
    request = _require_open(act, proposal.request_id)
    detail = {
        "proposal": str(proposal.id),
        "request": str(proposal.request_id),
        "stage": proposal.stage,
        "seat": position,
        "user_id": proposal.user_id,
        "proposed_by": proposal.proposed_by,
    }
    entry = make_entry(
        make_id(),
        act.caller,
        act.tenant_id,
        act.now,
        (DOCUMENT, str(request.document_id)),
        "seat_by_break_glass",
        detail,
        reason=proposal.reason,
    )
    heads = read_heads(act.connection, act.tenant_id, [entry.subject])
    append_rows(act.connection, chain_all(heads, [entry], read_transaction(act.connection)))
    act.note("consent_to_break_glass", detail, proposal.reason)
