"""Where a tenant's workflows may call, kept by those who may: by `endpoint:edit`, in the audit trail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.store.database import Database
from signet.store.integrations import endpoints as store
from signet.store.integrations.endpoints import EndpointRecord as EndpointRecord

READ, EDIT = "endpoint:read", "endpoint:edit"
SUBJECT = "endpoint"
MAX_PAGE = 200


@dataclass(frozen=True, slots=True)
class EndpointTerms:
    """`secrets` are names of the tenant's secrets, the newest first; while one is replaced, both sign."""

    url: str
    secrets: Sequence[str]
    status: Literal["active", "disabled"] = "active"


# Of a URL and the hosts of the tenant, all where there are none.
Check = Callable[[str, Sequence[str]], object]


class Endpoints:
    """The use case; one a process. `check` refuses an address that nothing may be sent to."""

    def __init__(self, database: Database, check: Check) -> None:
        self._database = database
        self._check = check

    def list(self, principal: Principal, *, after: str, limit: int) -> Sequence[EndpointRecord]:
        with reading(self._database, principal) as read:
            read.require(READ)
            limit = max(1, min(limit, MAX_PAGE + 1))
            return store.list_endpoints(read.connection, principal.tenant_id, after=after, limit=limit)

    def read(self, principal: Principal, name: str) -> EndpointRecord:
        with reading(self._database, principal) as read:
            read.require(READ)
            found = store.find_endpoints(read.connection, principal.tenant_id, [name]).get(name)
        if found is None:
            raise _not_found(name)
        return found

    def make(self, caller: Caller, name: str, terms: EndpointTerms) -> EndpointRecord:
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
            return _find(act, name)

    def replace(self, caller: Caller, name: str, version: int, terms: EndpointTerms) -> EndpointRecord:
        """Whoever replaces it has looked at it: it is tried again at once."""
        with administering(self._database, caller) as act:
            act.require(EDIT)
            self._check(terms.url, store.read_webhook_hosts(act.connection, caller.principal.tenant_id))
            found = _find(act, name)
            reason = "switched off by hand" if terms.status == "disabled" else None
            changed = replace(
                found,
                url=terms.url,
                secret_refs=list(terms.secrets),
                status=terms.status,
                disabled_reason=reason,
            )
            tenant_id = caller.principal.tenant_id
            if not store.change_endpoint(act.connection, tenant_id, version, changed, act.now):
                raise _moved_on(found)
            _note(act, name, "replace", terms)
            return _find(act, name)

    def delete(self, caller: Caller, name: str, version: int) -> None:
        """Calls to it that are under way fail, until there is one of the name again."""
        with administering(self._database, caller) as act:
            act.require(EDIT)
            found = _find(act, name)
            if not store.delete_endpoint(act.connection, caller.principal.tenant_id, name, version):
                raise _moved_on(found)
            act.note((SUBJECT, name), "delete", {"url": found.url})


def _find(act: AdminTransaction, name: str) -> EndpointRecord:
    found = store.find_endpoints(act.connection, act.caller.principal.tenant_id, [name]).get(name)
    if found is None:
        raise _not_found(name)
    return found


def _note(act: AdminTransaction, name: str, action: str, terms: EndpointTerms) -> None:
    detail = {"url": terms.url, "secrets": list(terms.secrets), "status": terms.status}
    act.note((SUBJECT, name), action, detail)


def _not_found(name: str) -> Rejected:
    return Rejected("ENDPOINT_NOT_FOUND", f"there is no endpoint '{name}'")


def _moved_on(found: EndpointRecord) -> Rejected:
    return Rejected(
        "ENDPOINT_VERSION_CONFLICT",
        f"the endpoint is at version {found.version}",
        remedy="Read it again, and decide on what it says now.",
        details={"current_version": found.version},
    )
