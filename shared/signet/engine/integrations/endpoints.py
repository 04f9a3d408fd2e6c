"""Endpoints that a tenant's workflows may call, edited with `endpoint:edit` and put on record."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import bound_page, reading
from signet.store.database import Database
from signet.store.integrations import endpoints as store
from signet.store.integrations.endpoints import EndpointRecord as EndpointRecord

READ, EDIT = "endpoint:read", "endpoint:edit"
SUBJECT = "endpoint"


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

    def create(self, caller: Caller, name: str, terms: EndpointTerms) -> EndpointRecord:
        with administering(self._database, caller) as act:
            act.require(EDIT)
            self._check(terms.url, store.read_webhook_hosts(act.connection, caller.principal.tenant_id))
            is_new = store.insert_endpoint(
                act.connection,
                caller.principal.tenant_id,
                name=name,
                url=terms.url,
                secret_refs=terms.secrets,
                status=terms.status,
                created_by=caller.principal.subject,
                now=act.now,
            )
            if not is_new:
                raise Rejected("ENDPOINT_EXISTS", f"there is an endpoint '{name}' already")
            _note(act, name, "create", terms)
            return _read(act, name)

    def replace(self, caller: Caller, name: str, version: int, terms: EndpointTerms) -> EndpointRecord:
        """Replace the terms, and try the endpoint again at once: a person has just looked at it."""
        with administering(self._database, caller) as act:
            act.require(EDIT)
            self._check(terms.url, store.read_webhook_hosts(act.connection, caller.principal.tenant_id))
            row = _read(act, name)
            reason = "switched off by hand" if terms.status == "disabled" else None
            changed = replace(
                row,
                url=terms.url,
                secret_refs=list(terms.secrets),
                status=terms.status,
                disabled_reason=reason,
            )
            tenant_id = caller.principal.tenant_id
            if not store.change_endpoint(act.connection, tenant_id, version, changed, act.now):
                raise _moved_on(row)
            _note(act, name, "replace", terms)
            return _read(act, name)

    def delete(self, caller: Caller, name: str, version: int) -> None:
        """Delete an endpoint; calls in progress fail until there is one of the name again."""
        with administering(self._database, caller) as act:
            act.require(EDIT)
            row = _read(act, name)
            if not store.delete_endpoint(act.connection, caller.principal.tenant_id, name, version):
                raise _moved_on(row)
            act.note((SUBJECT, name), "delete", {"url": row.url})


def _read(act: AdminTransaction, name: str) -> EndpointRecord:
    row = store.find_endpoints(act.connection, act.caller.principal.tenant_id, [name]).get(name)
    if row is None:
        raise _not_found(name)
    return row


def _note(act: AdminTransaction, name: str, action: str, terms: EndpointTerms) -> None:
    detail = {"url": terms.url, "secrets": list(terms.secrets), "status": terms.status}
    act.note((SUBJECT, name), action, detail)


def _not_found(name: str) -> Rejected:
    return Rejected("ENDPOINT_NOT_FOUND", f"there is no endpoint '{name}'")


def _moved_on(row: EndpointRecord) -> Rejected:
    return Rejected(
        "ENDPOINT_VERSION_CONFLICT",
        f"the endpoint is at version {row.version}",
        remedy="Read it again, and decide on what it says now.",
        details={"current_version": row.version},
    )
