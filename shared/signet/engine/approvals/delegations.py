"""Delegations: given by oneself, or by an administrator from one person to a third; dated, without circles.

Nobody takes a voice that they give: an administrator is neither side of what they make for others. A key
gives none, because it is nobody's decision. Both sides are told of what is given and what is revoked.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from signet.core.approvals.eligibility import Delegation, find_delegation_cycle
from signet.core.errors import FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import author_of
from signet.core.validation.text import NAME
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import LAST, bound_page, reading
from signet.engine.documents.change import format_moment
from signet.engine.documents.command_checks import check_reason
from signet.ids import make_id
from signet.store.approvals import delegations as store
from signet.store.approvals.delegations import DelegationRecord as DelegationRecord
from signet.store.audit.write import lock_administration
from signet.store.database import Database
from signet.store.integrations.notifications import notify_people

DELEGATE = "approval:delegate"
MAX_DAYS = 366
# The open delegations that one person gives or takes. An inbox looks at each.
MAX_OPEN = 50
# The delegations that lead on from a new delegate. More could not be searched for circles.
MAX_LINKED = 50
# A beginning that is past by less is the moment of the call, by another clock.
TOLERANCE = timedelta(minutes=1)


class Delegations:
    """Votes that people let others cast for them. One in each process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def delegate(
        self,
        caller: Caller,
        user_id: str,
        delegate_id: str,
        *,
        to_time: datetime,
        from_time: datetime | None = None,
        entity_type: str | None = None,
        reason: str | None = None,
    ) -> Delegation:
        """Let `delegate_id` decide for `user_id` for a time, by default from now on."""
        with administering(self._database, caller) as act:
            begin = act.now if from_time is None else from_time
            author = author_of(caller)
            new = Delegation(
                make_id(),
                user_id,
                delegate_id,
                entity_type,
                begin,
                to_time,
                created_by=author.actor_id,
                given_by=author.persons,
                given_at=act.now,
            )
            _require_giver(act, new)
            _require_terms(new, reason, act.now)
            new = replace(new, from_time=max(new.from_time, act.now))
            tenant_id = caller.principal.tenant_id
            # Two delegations at once could close a circle that neither sees, so each waits for the other.
            lock_administration(act.connection, tenant_id)
            _require_people(act, new)
            _require_no_other(act, new)
            _require_no_circle(act, new)
            store.insert_delegation(
                act.connection,
                tenant_id,
                new,
                reason=reason,
                author=author,
                now=act.now,
            )
            _note(act, new, "delegate", reason)
            notify_of_delegation(act, "delegation_given", new.id, new.user_id, new.delegate_id)
        return new

    def revoke(self, caller: Caller, delegation_id: UUID) -> None:
        """Revoke a delegation for good. A decision that it allowed is committed before, or not at all."""
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            delegation = store.find_delegation(act.connection, tenant_id, delegation_id)
            if delegation is None or not (
                delegation.user_id == caller.principal.subject or act.may(DELEGATE)
            ):
                raise Rejected("DELEGATION_NOT_FOUND", f"there is no delegation {delegation_id}")
            if store.revoke_delegation(act.connection, tenant_id, delegation_id, author_of(caller), act.now):
                _note(act, delegation, "revoke")
                people = delegation.user_id, delegation.delegate_id
                notify_of_delegation(act, "delegation_revoked", delegation.id, *people)

    def list_given(
        self, caller: Caller, user_id: str | None = None, *, limit: int = 50, before: UUID | None = None
    ) -> list[DelegationRecord]:
        """List who decides for the person, the newest first. For another person this takes a permission."""
        return self._list(caller, user_id, "given", limit, before)

    def list_taken(
        self, caller: Caller, user_id: str | None = None, *, limit: int = 50, before: UUID | None = None
    ) -> list[DelegationRecord]:
        """List the people that the person decides for, the newest first."""
        return self._list(caller, user_id, "taken", limit, before)

    def _list(
        self,
        caller: Caller,
        user_id: str | None,
        side: Literal["given", "taken"],
        limit: int,
        before: UUID | None,
    ) -> list[DelegationRecord]:
        person = user_id or caller.principal.subject
        with reading(self._database, caller.principal) as read:
            if person != caller.principal.subject:
                read.require(DELEGATE)
            return store.list_page(
                read.connection,
                caller.principal.tenant_id,
                person,
                side,
                before=before or LAST,
                limit=bound_page(limit),
            )


def notify_of_delegation(
    act: AdminTransaction,
    kind: Literal["delegation_given", "delegation_revoked"],
    delegation_id: UUID,
    user_id: str,
    delegate_id: str,
) -> None:
    """Tell both sides of a delegation that it was given or revoked, and by which caller."""
    data = {
        "delegation_id": str(delegation_id),
        "user_id": user_id,
        "delegate_id": delegate_id,
        "by": act.caller.principal.subject,
    }
    tenant_id = act.caller.principal.tenant_id
    notify_people(act.connection, tenant_id, (user_id, delegate_id), kind, data, now=act.now)


def _require_giver(act: AdminTransaction, new: Delegation) -> None:
    principal = act.caller.principal
    if principal.is_key:
        raise Rejected("PERMISSION_DENIED", "an API key gives no delegation")
    if new.user_id == principal.subject:
        return
    act.require(DELEGATE)
    if not principal.responsible.isdisjoint((new.user_id, new.delegate_id)):
        raise Rejected(
            "SELF_GRANT_REFUSED",
            "nobody gives themselves the voice of another person",
            remedy="Ask that person to give it, or another administrator.",
        )


def _require_terms(new: Delegation, reason: str | None, now: datetime) -> None:
    rejected = check_reason(reason)
    if rejected is not None:
        raise rejected
    if new.from_time.tzinfo is None or new.to_time.tzinfo is None:
        raise _refuse("/from_time", "wants moments with their offset from UTC")
    if new.from_time < now - TOLERANCE:
        raise _refuse("/from_time", "wants a moment that is not past")
    if new.to_time <= max(new.from_time, now):
        raise _refuse("/to_time", "wants a moment after its beginning, and after now")
    if new.to_time - new.from_time > timedelta(days=MAX_DAYS):
        raise _refuse("/to_time", f"wants an end at most {MAX_DAYS} days after its beginning")
    if new.from_time > now + timedelta(days=MAX_DAYS):
        raise _refuse("/from_time", f"wants a beginning at most {MAX_DAYS} days from now")
    if new.delegate_id == new.user_id:
        raise _refuse("/delegate_id", "wants another person")
    if new.entity_type is not None and not NAME.fullmatch(new.entity_type):
        raise _refuse("/entity_type", "wants the name of an entity type")


def _require_people(act: AdminTransaction, new: Delegation) -> None:
    tenant_id = act.caller.principal.tenant_id
    if not store.are_active(act.connection, tenant_id, {new.user_id, new.delegate_id}):
        raise Rejected("MEMBER_NOT_FOUND", "both people must be active members")
    given, taken = store.count_open(act.connection, tenant_id, new.user_id, new.delegate_id, act.now)
    if max(given, taken) >= MAX_OPEN:
        sentence = f"a person gives or takes at most {MAX_OPEN} delegations at a time"
        raise Rejected("DELEGATION_TOO_MANY", sentence, remedy="Revoke one first.")


def _require_no_other(act: AdminTransaction, new: Delegation) -> None:
    """Refuse what the delegate may do already by another delegation for a part of the time.

    A person may give their own voice, also where others have given it: a vote may need that it is theirs.
    """
    is_own = new.user_id in new.given_by
    other = store.find_overlapping(act.connection, act.caller.principal.tenant_id, new, only_own=is_own)
    if other is not None:
        times = f"from {format_moment(other.from_time)} to {format_moment(other.to_time)}"
        sentence = f"{new.delegate_id} may decide for {new.user_id} {times} by the delegation {other.id}"
        raise Rejected("DELEGATION_OVERLAPS", sentence, remedy="Revoke that one, or begin when it ends.")


def _require_no_circle(act: AdminTransaction, new: Delegation) -> None:
    tenant_id = act.caller.principal.tenant_id
    linked = store.list_linked(act.connection, tenant_id, new, limit=MAX_LINKED + 1)
    if len(linked) > MAX_LINKED:
        sentence = f"more than {MAX_LINKED} delegations lead on from {new.delegate_id}"
        raise Rejected("DELEGATION_TOO_MANY", sentence, remedy="Choose a person who delegates less.")
    circle = find_delegation_cycle(new, linked)
    if circle is not None:
        raise Rejected(
            "DELEGATION_CYCLE", f"the delegation would lead back to its beginning: {' → '.join(circle)}"
        )


def _note(act: AdminTransaction, delegation: Delegation, action: str, reason: str | None = None) -> None:
    person = delegation.user_id
    act.note(
        ("delegation", str(delegation.id)),
        action,
        {
            "user_id": person,
            "delegate_id": delegation.delegate_id,
            "entity_type": delegation.entity_type,
            "from_time": format_moment(delegation.from_time),
            "to_time": format_moment(delegation.to_time),
        },
        reason=reason,
        on_behalf_of=person if person != act.caller.principal.subject else None,
    )


def _refuse(pointer: str, sentence: str) -> Rejected:
    mistake = FieldError(pointer, "FIELD_INVALID", sentence)
    return Rejected("FIELDS_INVALID", f"{pointer.removeprefix('/')} {sentence}", fields=(mistake,))
