"""Changes that one person proposes, and that take effect when another one confirms them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.canonical_json import canonical_bytes
from signet.core.control.authorship import list_persons
from signet.core.control.change import (
    MAX_OPEN_CHANGES,
    MAX_OPEN_CHANGES_OF_PERSON,
    ChangeStatus,
    ControlDifference,
    ControlKind,
    hash_change,
)
from signet.core.errors import Defect, Rejected
from signet.core.tenants.permissions import list_granting
from signet.core.validation.unclear_text import list_unclear
from signet.engine.access.admin import AdminTransaction
from signet.engine.control.four_eyes import describe_other_people
from signet.ids import make_id
from signet.store.control import changes as store
from signet.store.control.changes import ControlChangeRow

SUBJECT = "control_change"
MAX_TOLD = 100


@dataclass(frozen=True, slots=True)
class ControlProposal:
    """A change of the control as its use case describes it.

    `base_version` is the version that it was made on, or 0 where there is nothing of the name.
    """

    kind: ControlKind
    name: str
    act: str
    body: Mapping[str, Any]
    base_version: int
    # The permission to make the change, and so to confirm it.
    permission: str
    reason: str | None = None
    # More permissions that a person needs to confirm it.
    needed: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class ControlChange:
    """A proposed change of the control.

    `label` says in words which thing it is of. `hash` is that of everything that is confirmed. `difference`
    compares with what is in force; it is null in lists, and once the change has ended. `next_step` is said
    once, when it is proposed: the people who may confirm it, or that there are none. `unclear` are the paths
    of texts in the body that may not say what people read.
    """

    id: UUID
    kind: str
    name: str
    label: str
    act: str
    body: Mapping[str, Any]
    base_version: int
    hash: str
    proposed_by: str
    responsible: Sequence[str]
    reason: str | None
    status: ChangeStatus
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None
    ended_by: str | None
    difference: Sequence[ControlDifference] | None = None
    next_step: str | None = None
    unclear: Sequence[str] = ()


def propose(act: AdminTransaction, proposal: ControlProposal) -> ControlChange:
    """Keep a change until another person confirms it, and tell those who may.

    The caller holds the lock of the administration and has checked the change as if it took effect now.
    """
    tenant_id, principal = act.caller.principal.tenant_id, act.caller.principal
    store.expire_changes(act.connection, tenant_id)
    _require_room(act)
    change_id, body = make_id(), canonical_bytes(proposal.body).decode()
    digest = hash_change(proposal.kind, proposal.name, proposal.act, proposal.base_version, body)
    store.insert_change(
        act.connection,
        tenant_id,
        change_id,
        kind=proposal.kind,
        name=proposal.name,
        act=proposal.act,
        body=body,
        base_version=proposal.base_version,
        digest=digest,
        proposed_by=principal.subject,
        responsible=list_persons(principal),
        reason=proposal.reason,
    )
    change = require_change(act, change_id)
    note_change(act, change, "propose_control_change", reason=proposal.reason)
    _tell(act, change, proposal.permission)
    step = describe_other_people(act, change.responsible, proposal.permission, proposal.needed)
    call = f'POST /v1/control_changes/{change.id}/confirm  {{"hash": "{change.hash}"}}'
    return replace(change, next_step=f"{step} To confirm it, that person sends {call}.")


def _require_room(act: AdminTransaction) -> None:
    """Refuse more open changes than a tenant may have, or than one of the persons behind the caller."""
    principal = act.caller.principal
    in_tenant, of_persons = store.count_open(act.connection, principal.tenant_id, list_persons(principal))
    if of_persons >= MAX_OPEN_CHANGES_OF_PERSON:
        raise Rejected(
            "CONTROL_CHANGE_TOO_MANY_OF_PERSON",
            f"{MAX_OPEN_CHANGES_OF_PERSON} changes of one person wait for another person already",
            remedy="Withdraw some of them first, or have them confirmed or rejected.",
        )
    if in_tenant >= MAX_OPEN_CHANGES:
        raise Rejected(
            "CONTROL_CHANGE_TOO_MANY",
            f"{MAX_OPEN_CHANGES} changes wait for another person already",
            remedy="Confirm, reject or withdraw some of them first.",
        )


def find_change(act: AdminTransaction, change_id: UUID) -> ControlChange | None:
    row = store.find_change(act.connection, act.caller.principal.tenant_id, change_id)
    return None if row is None else show_change(row)


def require_change(act: AdminTransaction, change_id: UUID) -> ControlChange:
    change = find_change(act, change_id)
    if change is None:
        raise change_not_found(change_id)
    return change


def supersede(act: AdminTransaction, kind: str, name: str) -> None:
    """End what was proposed about a thing that has just changed. Call it with every such change."""
    store.supersede_changes(act.connection, act.caller.principal.tenant_id, kind, name)


def show_change(row: ControlChangeRow) -> ControlChange:
    """Show a change, whose hash must be that of its content."""
    if hash_change(row.kind, row.name, row.act, row.base_version, row.body) != row.hash:
        raise Defect("CONTROL_CHANGE_ALTERED", f"the change {row.id} is not the one that was proposed")
    body = json.loads(row.body)
    return ControlChange(
        id=row.id,
        kind=row.kind,
        name=row.name,
        label=_make_label(row.name, body),
        act=row.act,
        body=body,
        base_version=row.base_version,
        hash=row.hash,
        proposed_by=row.proposed_by,
        responsible=row.responsible,
        reason=row.reason,
        status=row.status,
        created_at=row.created_at,
        expires_at=row.expires_at,
        ended_at=row.ended_at,
        ended_by=row.ended_by,
        unclear=list_unclear(body),
    )


def _make_label(name: str, body: Mapping[str, Any]) -> str:
    """Name the thing as people do: a definition by its name and version, and not by its id."""
    named, version = body.get("name"), body.get("version")
    if body.get("definition_kind") is None or not isinstance(named, str):
        return name
    return f"{named} version {version}"


def describe_change(change: ControlChange) -> dict[str, Any]:
    """Describe a change for the audit trail."""
    return {
        "id": str(change.id),
        "kind": change.kind,
        "name": change.name,
        "act": change.act,
        "base_version": change.base_version,
        "hash": change.hash,
        "proposed_by": change.proposed_by,
        "responsible": list(change.responsible),
    }


def note_change(
    act: AdminTransaction, change: ControlChange, action: str, *, reason: str | None = None
) -> None:
    detail = {**describe_change(change), "body": dict(change.body)}
    act.note((SUBJECT, str(change.id)), action, detail, reason=reason)


def change_not_found(change_id: UUID) -> Rejected:
    return Rejected("CONTROL_CHANGE_NOT_FOUND", f"there is no proposed change {change_id}")


def _tell(act: AdminTransaction, change: ControlChange, permission: str) -> None:
    """Tell the people who may confirm the change, of a large tenant the first by their names."""
    tenant_id = act.caller.principal.tenant_id
    people = store.list_holders(
        act.connection,
        tenant_id,
        list_granting(permission),
        other_than=change.responsible,
        limit=MAX_TOLD,
    )
    data = {
        "control_change_id": str(change.id),
        "kind": change.kind,
        "name": change.name,
        "label": change.label,
        "act": change.act,
        "proposed_by": change.proposed_by,
    }
    store.tell_holders(act.connection, tenant_id, [make_id() for _ in people], people, data)
