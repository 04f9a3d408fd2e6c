"""The dependents of a member: what dies with them when they are disabled, or is handed over first.

Delegations end in any case. Keys, service accounts, seats by name and reporting lines can go to another
member; a key goes when that person accepts it. Roles need no heir: their other holders have the seats too.
Open requests stay, and say what brings them on.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.errors import FieldError, Rejected
from signet.core.tenants.eligibility_changes import author_of
from signet.core.tenants.principal import KEY_PREFIX
from signet.engine.access.admin import AdminTransaction
from signet.engine.access.read import ReadTransaction
from signet.engine.approvals.delegations import notify_of_delegation
from signet.engine.control.four_eyes import wants_two_people
from signet.engine.tenants.api_keys import notify_next_owner
from signet.engine.tenants.self_grants import refuse_self_grant, require_other_line
from signet.engine.tenants.service_accounts import propose_owner
from signet.store.tenants import dependents as store
from signet.store.tenants import people
from signet.store.tenants.dependents import (
    DependentAccount,
    DependentCounts,
    DependentDelegation,
    DependentKey,
    DependentRequest,
    DependentSeat,
)

# Of each kind so many are listed, and so many counted.
MAX_LISTED, MAX_COUNTED = 200, 1_000
_NAMES = {
    "keys": ("API key", "API keys"),
    "service_accounts": ("service account", "service accounts"),
    "delegations": ("delegation", "delegations"),
    "seats": ("open seat", "open seats"),
    "reports": ("person who reports to them", "people who report to them"),
    "requests": ("open request", "open requests"),
}
_WAITS = "When its approval is given it waits (ACTOR_NOT_ACTIVE), until the member is active again"
_BY_KEY = ", or another member owns the key"
_REQUESTED = ", or another member asks for the same."
_AUTOMATIC = ", or cancel_token sends it back and another member asks."


@dataclass(frozen=True, slots=True)
class Dependents:
    """Everything that depends on a member: the counts end at 1,000, and each list at 200."""

    user_id: str
    counts: DependentCounts
    keys: Sequence[DependentKey]
    service_accounts: Sequence[DependentAccount]
    delegations: Sequence[DependentDelegation]
    seats: Sequence[DependentSeat]
    # The people who have the member as manager.
    reports: Sequence[str]
    # They stay open, and cannot be handed over.
    requests: Sequence["OpenRequest"]


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request of the member that is open, and what becomes of it when they are disabled."""

    document_id: UUID
    entity_type: str
    # None where its way is automatic: the engine asks people in the member's name.
    transition: str | None
    # The member, or a key of theirs.
    asked_by: str
    asked_at: datetime
    becomes: str


@dataclass(frozen=True, slots=True)
class Succession:
    """The fate of the dependents of a disabled member: they end, or go to `heir` where they can."""

    heir: str | None = None


def read_dependents(read: ReadTransaction, user_id: str) -> Dependents:
    connection, tenant_id = read.connection, read.principal.tenant_id
    return Dependents(
        user_id,
        store.count_dependents(connection, tenant_id, user_id, MAX_COUNTED),
        store.list_keys(connection, tenant_id, user_id, MAX_LISTED),
        store.list_accounts(connection, tenant_id, user_id, MAX_LISTED),
        store.list_delegations(connection, tenant_id, user_id, MAX_LISTED),
        store.list_seats(connection, tenant_id, user_id, MAX_LISTED),
        store.list_reports(connection, tenant_id, user_id, MAX_LISTED),
        [_describe(one) for one in store.list_requests(connection, tenant_id, user_id, MAX_LISTED)],
    )


def _describe(asked: DependentRequest) -> OpenRequest:
    by_key = _BY_KEY if asked.asked_by.startswith(KEY_PREFIX) else ""
    becomes = f"{_WAITS}{by_key}{_AUTOMATIC if asked.transition is None else _REQUESTED}"
    return OpenRequest(
        asked.document_id, asked.entity_type, asked.transition, asked.asked_by, asked.asked_at, becomes
    )


def require_succession(act: AdminTransaction, user_id: str, succession: Succession | None) -> None:
    """Refuse to disable a member while it is not said what becomes of their dependents."""
    tenant_id = act.caller.principal.tenant_id
    if succession is None:
        counts = store.count_dependents(act.connection, tenant_id, user_id, MAX_COUNTED)
        if any(asdict(counts).values()):
            raise _has_dependents(act, user_id, counts)
    elif succession.heir is not None:
        _require_heir(act, user_id, succession.heir)


def settle_dependents(act: AdminTransaction, user_id: str, succession: Succession) -> dict[str, Any]:
    """End or hand over what depends on a member who was just disabled; return it for the record.

    Requests are locked before delegations, as a vote does.
    """
    connection, author = act.connection, author_of(act.caller)
    tenant_id, heir = act.caller.principal.tenant_id, succession.heir
    seats: Sequence[store.SeatKey] = ()
    if heir is not None:
        seats = store.hand_over_seats(
            connection, tenant_id, user_id, heir, author, now=act.now, limit=MAX_COUNTED
        )
        lines = store.hand_over_reports(connection, tenant_id, user_id, heir, author)
        accounts = _hand_over_accounts(act, user_id, heir)
        keys = _offer_keys(act, user_id, heir)
    else:
        lines = dict.fromkeys(store.end_reports(connection, tenant_id, user_id, author))
        accounts = store.disable_accounts(connection, tenant_id, user_id, author, act.now)
        keys = store.revoke_keys(connection, tenant_id, user_id, author, act.now)
    for below, manager in lines.items():
        require_other_line(act, below, manager)
    delegations = store.revoke_delegations(connection, tenant_id, user_id, author, act.now)
    for ended in delegations:
        notify_of_delegation(act, "delegation_revoked", ended.id, ended.user_id, ended.delegate_id)
    return {
        "heir": heir,
        "keys": [str(key) for key in keys],
        "service_accounts": sorted(accounts),
        "delegations": [str(ended.id) for ended in delegations],
        "seats": [f"{seat.request_id}/{seat.stage}/{seat.position}" for seat in seats],
        "reports": sorted(lines),
    }


def _offer_keys(act: AdminTransaction, user_id: str, heir: str) -> Sequence[UUID]:
    """Ask the heir to take the live keys over, and tell them: they open nothing until the heir accepts."""
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    offered = store.offer_keys(connection, tenant_id, user_id, heir, author_of(act.caller))
    for key_id, name in offered.items():
        notify_next_owner(act, key_id, name, user_id, heir)
    return list(offered)


def _hand_over_accounts(act: AdminTransaction, user_id: str, heir: str) -> Sequence[str]:
    """Give the accounts of a member to their heir; return those that have changed hands.

    Where the tenant wants two people this is only proposed, each on record by itself. The accounts rest
    meanwhile, because their owner is disabled.
    """
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    if not wants_two_people(act):
        return store.hand_over_accounts(connection, tenant_id, user_id, heir, author_of(act.caller), act.now)
    for account in store.list_accounts(connection, tenant_id, user_id, MAX_LISTED):
        propose_owner(act, account.id, heir)
    return []


def _require_heir(act: AdminTransaction, user_id: str, heir: str) -> None:
    if heir in act.caller.principal.responsible:
        raise refuse_self_grant(act, "nobody hands seats and reporting lines over to themselves")
    record = people.find_member(act.connection, act.caller.principal.tenant_id, heir)
    if record is None or record.status != "active" or heir == user_id:
        mistake = FieldError("/dependents/hand_over_to", "MEMBER_UNKNOWN", "wants another active member")
        raise Rejected("FIELDS_INVALID", "the heir is no other active member", fields=(mistake,))


def _has_dependents(act: AdminTransaction, user_id: str, counts: DependentCounts) -> Rejected:
    told = []
    for name, count in asdict(counts).items():
        if count:
            of_one, of_many = _NAMES[name]
            number = f"{MAX_COUNTED} or more" if count >= MAX_COUNTED else str(count)
            told.append((name, f"{number} {of_one if count == 1 else of_many}"))
    fields = tuple(FieldError(f"/dependents/{name}", "MEMBER_HAS_DEPENDENTS", text) for name, text in told)
    remedy = (
        f"GET /v1/members/{user_id}/dependents lists them. Disable the member with"
        ' "dependents": "end", or with {"hand_over_to": …}.'
    )
    below = people.find_member(act.connection, act.caller.principal.tenant_id, act.caller.principal.subject)
    if below is not None and below.manager_id == user_id:
        remedy += f" Another administrator must do it: {user_id} is your manager."
    return Rejected(
        "MEMBER_HAS_DEPENDENTS",
        f"{user_id} still has {', '.join(text for _, text in told)}",
        remedy=remedy,
        fields=fields,
        details=asdict(counts),
    )
