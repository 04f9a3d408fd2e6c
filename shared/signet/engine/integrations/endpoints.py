"""Endpoints that a tenant's workflows may call, edited with `endpoint:edit` and put on record.

Where the tenant wants two people, one proposes a change and another confirms it. One person alone may stop an
endpoint, or have it tried again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from signet.core.control.change import ControlKind
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import bound_page, reading
from signet.engine.control.changes import change_is_stale
from signet.engine.control.four_eyes import wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose, supersede
from signet.engine.integrations.held_effects import free_endpoint
from signet.engine.integrations.secret_uses import require_free_secrets
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.integrations import endpoints as store
from signet.store.integrations.endpoints import EndpointRecord as EndpointRecord

READ, EDIT = "endpoint:read", "endpoint:edit"
SUBJECT: ControlKind = "endpoint"


@dataclass(frozen=True, slots=True)
class EndpointTerms:
    """The terms of an endpoint.

    `secrets` are names of the tenant's secrets, the newest first; while one is replaced, both sign.
    """

    url: str
    secrets: Sequence[str]
    status: Literal["active", "disabled"] = "active"


# Takes a URL and the hosts that the tenant may call; an empty list allows all.
Check = Callable[[str, Sequence[str]], object]


class Endpoints:
    """The use case of a process; `check` refuses addresses to which nothing may be sent."""

    def __init__(self, database: Database, check: Check) -> None:
        self._database = database
        self._check = check

    def list(self, principal: Principal, *, after: str, limit: int) -> Sequence[EndpointRecord]:
        with reading(self._database, principal) as read:
            read.require(READ)
            return store.list_endpoints(
                read.connection, principal.tenant_id, after=after, limit=bound_page(limit)
            )

    def read(self, principal: Principal, name: str) -> EndpointRecord:
        with reading(self._database, principal) as read:
            read.require(READ)
            row = store.find_endpoints(read.connection, principal.tenant_id, [name]).get(name)
        if row is None:
            raise _not_found(name)
        return row

    def create(self, caller: Caller, name: str, terms: EndpointTerms) -> EndpointRecord | ControlChange:
        with administering(self._database, caller) as act:
            self._begin(act, terms)
            _require_secrets(act, name, None, terms)
            if wants_two_people(act):
                if _find(act.connection, caller.principal.tenant_id, name) is not None:
                    raise _exists(name)
                return _propose(act, name, "create", terms, 0)
            return _create(act, name, terms, caller.principal.subject)

    def replace(
        self, caller: Caller, name: str, version: int, terms: EndpointTerms
    ) -> EndpointRecord | ControlChange:
        """Replace the terms, and try the endpoint again at once: a person has just looked at it."""
        with administering(self._database, caller) as act:
            self._begin(act, terms)
            row = _read(act, name)
            if row.version != version:
                raise _moved_on(row)
            _require_secrets(act, name, row, terms)
            if not _stops(row, terms) and wants_two_people(act):
                return _propose(act, name, "replace", terms, version)
            supersede(act, SUBJECT, name)
            return _replace(act, row, version, terms)

    def delete(self, caller: Caller, name: str, version: int) -> None:
        """Delete an endpoint. Calls to it are held until there is one of the name again."""
        with administering(self._database, caller) as act:
            act.require(EDIT)
            lock_administration(act.connection, caller.principal.tenant_id)
            row = _read(act, name)
            if not store.delete_endpoint(act.connection, caller.principal.tenant_id, name, version):
                raise _moved_on(row)
            supersede(act, SUBJECT, name)
            act.note((SUBJECT, name), "delete", {"url": row.url})

    # --- changes that wait for another person ---

    read_control_permission, change_control_permission = READ, EDIT

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        row = _find(connection, tenant_id, change.name)
        return {} if row is None else _write(_terms_of(row))

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        terms = EndpointTerms(change.body["url"], change.body["secrets"], change.body["status"])
        self._begin(act, terms)
        row = _find(act.connection, act.caller.principal.tenant_id, change.name)
        if (row.version if row is not None else 0) != change.base_version:
            raise change_is_stale(change, row.version if row is not None else 0)
        _require_secrets(act, change.name, row, terms)
        if row is None:
            _create(act, change.name, terms, change.proposed_by)
        else:
            _replace(act, row, change.base_version, terms)

    def _begin(self, act: AdminTransaction, terms: EndpointTerms) -> None:
        tenant_id = act.caller.principal.tenant_id
        act.require(EDIT)
        lock_administration(act.connection, tenant_id)
        self._check(terms.url, store.read_webhook_hosts(act.connection, tenant_id))


def _require_secrets(
    act: AdminTransaction, name: str, row: EndpointRecord | None, terms: EndpointTerms
) -> None:
    """Require secrets of the endpoint's own. One of older days may share them, and can be switched off."""
    had = row.secrets if row is not None else ()
    is_kept = terms.status == "disabled" and set(terms.secrets) <= set(had)
    require_free_secrets(act, "out", name, () if is_kept else terms.secrets)


def _create(act: AdminTransaction, name: str, terms: EndpointTerms, created_by: str) -> EndpointRecord:
    is_new = store.insert_endpoint(
        act.connection,
        act.caller.principal.tenant_id,
        name=name,
        url=terms.url,
        secret_refs=terms.secrets,
        status=terms.status,
        created_by=created_by,
        now=act.now,
    )
    if not is_new:
        raise _exists(name)
    _free(act, name, terms)
    _note(act, name, "create", terms)
    return _read(act, name)


def _replace(
    act: AdminTransaction, row: EndpointRecord, version: int, terms: EndpointTerms
) -> EndpointRecord:
    changed = replace(
        row,
        url=terms.url,
        secrets=list(terms.secrets),
        status=terms.status,
        disabled_reason="switched off by hand" if terms.status == "disabled" else None,
    )
    if not store.change_endpoint(act.connection, act.caller.principal.tenant_id, version, changed, act.now):
        raise _moved_on(row)
    _free(act, row.name, terms)
    _note(act, row.name, "replace", terms)
    return _read(act, row.name)


def _free(act: AdminTransaction, name: str, terms: EndpointTerms) -> None:
    """Free what waits for the endpoint, where it is switched on."""
    if terms.status == "active":
        free_endpoint(act.connection, act.caller.principal.tenant_id, name)


def _propose(
    act: AdminTransaction, name: str, what: str, terms: EndpointTerms, version: int
) -> ControlChange:
    return propose(act, ControlProposal(SUBJECT, name, what, _write(terms), version, EDIT))


def _stops(row: EndpointRecord, terms: EndpointTerms) -> bool:
    """Return whether the terms change nothing, or only stop the endpoint: one person may do so."""
    stopped = replace(_terms_of(row), status="disabled")
    return _write(terms) in (_write(_terms_of(row)), _write(stopped))


def _terms_of(row: EndpointRecord) -> EndpointTerms:
    return EndpointTerms(row.url, row.secrets, row.status)


def _write(terms: EndpointTerms) -> dict[str, Any]:
    return {"url": terms.url, "secrets": list(terms.secrets), "status": terms.status}


def _find(connection: Connection, tenant_id: UUID, name: str) -> EndpointRecord | None:
    return store.find_endpoints(connection, tenant_id, [name]).get(name)


def _read(act: AdminTransaction, name: str) -> EndpointRecord:
    row = _find(act.connection, act.caller.principal.tenant_id, name)
    if row is None:
        raise _not_found(name)
    return row


def _note(act: AdminTransaction, name: str, action: str, terms: EndpointTerms) -> None:
    act.note((SUBJECT, name), action, _write(terms))


def _exists(name: str) -> Rejected:
    return Rejected("ENDPOINT_EXISTS", f"there is an endpoint '{name}' already")


def _not_found(name: str) -> Rejected:
    return Rejected("ENDPOINT_NOT_FOUND", f"there is no endpoint '{name}'")


def _moved_on(row: EndpointRecord) -> Rejected:
    return Rejected(
        "ENDPOINT_VERSION_CONFLICT",
        f"the endpoint is at version {row.version}",
        remedy="Read it again, and decide on what it says now.",
        details={"current_version": row.version},
    )
