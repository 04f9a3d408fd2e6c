"""Proposed changes of the control as people use them: read, confirmed, rejected, withdrawn.

Another person confirms exactly what was proposed, on the version that it was proposed for. Each kind of
change belongs to the use case that makes such changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

from signet.core.control.authorship import find_shared_persons, list_persons
from signet.core.control.change import ChangeStatus, list_differences
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import LAST, bound_page, reading
from signet.engine.control.four_eyes import refuse_single_person, require_person
from signet.engine.control.proposals import (
    ControlChange,
    change_not_found,
    describe_change,
    note_change,
    require_change,
    show_change,
    supersede,
)
from signet.engine.documents.command_checks import check_reason
from signet.store.audit.write import lock_administration
from signet.store.control import changes as store
from signet.store.database import Connection, Database


class ControlledThings(Protocol):
    """A use case whose changes may be proposed."""

    @property
    def read_control_permission(self) -> str: ...

    @property
    def change_control_permission(self) -> str: ...

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        """Return what the change would change as it is now, in the form of the change's body."""
        ...

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        """Make the change, or raise `change_is_stale` if its thing is not at the base version any more."""
        ...


class ControlChanges:
    """The use case, one in each process; `things` are the use cases by the kind of their changes."""

    def __init__(self, database: Database, things: Mapping[str, ControlledThings]) -> None:
        self._database = database
        self._things = things

    def list(
        self, principal: Principal, status: ChangeStatus | None, *, before: UUID | None, limit: int
    ) -> Sequence[ControlChange]:
        """List the changes of the kinds that the caller may read or make, the newest first."""
        with reading(self._database, principal) as read:
            kinds = [
                kind
                for kind, things in self._things.items()
                if read.may(things.read_control_permission) or read.may(things.change_control_permission)
            ]
            rows = store.list_changes(
                read.connection,
                principal.tenant_id,
                kinds,
                status,
                before=before or LAST,
                limit=bound_page(limit),
            )
            return [show_change(row) for row in rows]

    def read(self, principal: Principal, change_id: UUID) -> ControlChange:
        """Read a change with its difference from what is in force."""
        with reading(self._database, principal) as read:
            row = store.find_change(read.connection, principal.tenant_id, change_id)
            things = self._things.get(row.kind) if row is not None else None
            if row is None or things is None:
                raise change_not_found(change_id)
            if not (read.may(things.read_control_permission) or read.may(things.change_control_permission)):
                raise change_not_found(change_id)
            change = show_change(row)
            if change.status != "proposed":
                return change
            in_force = things.read_in_force(read.connection, principal.tenant_id, change)
            return replace(change, difference=list_differences(in_force, change.body))

    def confirm(self, caller: Caller, change_id: UUID, digest: str) -> ControlChange:
        """Make the change that another person proposed; `digest` is the hash of what was read."""
        with administering(self._database, caller) as act:
            things, change = self._open(act, change_id)
            act.require(things.change_control_permission)
            _require_other_person(act, change, things.change_control_permission)
            if change.hash != digest:
                raise Rejected(
                    "CONTROL_CHANGE_HASH_MISMATCH",
                    "the hash is not that of this change",
                    remedy="Read the change, and confirm it with the hash that it shows.",
                )
            _end(act, change, "confirmed")
            act.answer_for(change.responsible, {"control_change": describe_change(change)})
            things.apply_change(act, change)
            supersede(act, change.kind, change.name)
            note_change(act, change, "confirm_control_change")
            return require_change(act, change_id)

    def reject(self, caller: Caller, change_id: UUID, reason: str | None = None) -> ControlChange:
        """Reject a change, as a person who could have confirmed it or made it."""
        rejected = check_reason(reason)
        if rejected is not None:
            raise rejected
        with administering(self._database, caller) as act:
            things, change = self._open(act, change_id)
            act.require(things.change_control_permission)
            _end(act, change, "rejected")
            note_change(act, change, "reject_control_change", reason=reason)
            return require_change(act, change_id)

    def withdraw(self, caller: Caller, change_id: UUID) -> ControlChange:
        """Withdraw a change, as a person who proposed it."""
        with administering(self._database, caller) as act:
            _, change = self._open(act, change_id)
            if not find_shared_persons(change.responsible, list_persons(caller.principal)):
                raise Rejected(
                    "PERMISSION_DENIED",
                    f"only {' or '.join(change.responsible)} may withdraw this change",
                    remedy="Reject it, if you may make such changes.",
                )
            _end(act, change, "withdrawn")
            note_change(act, change, "withdraw_control_change")
            return require_change(act, change_id)

    def _open(self, act: AdminTransaction, change_id: UUID) -> tuple[ControlledThings, ControlChange]:
        """Lock the administration, and find a change that the caller may see and that has not ended."""
        lock_administration(act.connection, act.caller.principal.tenant_id)
        change = require_change(act, change_id)
        things = self._things.get(change.kind)
        if things is None or not self._may_see(act, things, change):
            raise change_not_found(change_id)
        if change.status != "proposed":
            raise _closed(change)
        return things, change

    def _may_see(self, act: AdminTransaction, things: ControlledThings, change: ControlChange) -> bool:
        is_own = bool(find_shared_persons(change.responsible, list_persons(act.caller.principal)))
        return is_own or act.may(things.read_control_permission) or act.may(things.change_control_permission)


def change_is_stale(change: ControlChange, version: int) -> Rejected:
    """Make the refusal of a change whose thing has moved on."""
    return Rejected(
        "CONTROL_CHANGE_VERSION_CONFLICT",
        f"the change was made on version {change.base_version}, and version {version} is in force",
        remedy="Reject or withdraw it, and propose the change of what is in force now.",
        details={"current_version": version},
    )


def _require_other_person(act: AdminTransaction, change: ControlChange, permission: str) -> None:
    require_person(act, permission)
    if act.caller.principal.is_key:
        raise Rejected(
            "FOUR_EYES_REQUIRED",
            "a key confirms no change of the control",
            remedy="A person confirms it, with a token of their own.",
        )
    shared = find_shared_persons(change.responsible, list_persons(act.caller.principal))
    if shared:
        sentence = f"{' and '.join(shared)} proposed this change, so that another person confirms it"
        raise refuse_single_person(act, sentence, change.responsible, permission)


def _end(act: AdminTransaction, change: ControlChange, status: ChangeStatus) -> None:
    principal = act.caller.principal
    if not store.end_change(act.connection, principal.tenant_id, change.id, status, principal.subject):
        raise _closed(change)


def _closed(change: ControlChange) -> Rejected:
    return Rejected("CONTROL_CHANGE_CLOSED", f"this change is {change.status}")
