"""Keys of machines: made by people, shown once, owned by a person, and limited by what that person may now.

A key acts as itself, `key:<id>`, and never on behalf of a person. It is no member, so it holds no seat and
takes no delegation. Its maker, and everybody who ever owned it, stay behind it for ever, because they know
its secret. Several keys may share a name, so that a machine gets its next key before the old one ends.
"""

import math
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest
from uuid import UUID

from signet.core.errors import Defect, FieldError, Rejected
from signet.core.tenants.api_key import SECRET_BYTES, list_counting_roles, parse_key_token, write_key_token
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import KEY_PREFIX, KeyOfPrincipal, Principal, VerifiedToken
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.documents.command_checks import check_reason
from signet.engine.tenants.role_grants import require_roles
from signet.ids import make_id
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.integrations.notifications import notify_people
from signet.store.tenants import api_keys as store
from signet.store.tenants import people
from signet.store.tenants.api_keys import ApiKeyRow, SecretRow

READ_KEYS, EDIT_KEYS = "api_key:read", "api_key:edit"
# The keys of one tenant that are neither revoked nor expired.
MAX_LIVE_KEYS = 200
# The persons who may ever own one key: all of them answer for what it does.
MAX_OWNERS = 20
USE_IS_NOTED_EVERY_SECONDS = 3_600
# A secret is compared with this where there is no such key, so that both answers take as long.
_NO_HASH = bytes(32)


@dataclass(frozen=True, slots=True)
class ApiKeyRecord:
    """A key as it is shown; `counting_roles` are those of which its owner has every permission now.

    A key opens nothing while its owner is no active member.
    """

    id: UUID
    name: str
    owner_id: str
    owner_is_active: bool
    # The person who is asked to take the key over.
    proposed_owner_id: str | None
    roles: Sequence[str]
    counting_roles: Sequence[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None
    # To the hour.
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class MadeKey:
    record: ApiKeyRecord
    # Shown here and never again.
    token: str


@dataclass(frozen=True, slots=True)
class ApiKeys:
    database: Database

    def create(
        self,
        caller: Caller,
        name: str,
        roles: Sequence[str],
        expires_at: datetime | None = None,
        reason: str | None = None,
    ) -> MadeKey:
        """Make a key that belongs to the caller."""
        _require_reason(reason)
        tenant_id, key_id, wanted = caller.principal.tenant_id, make_id(), tuple(dict.fromkeys(roles))
        token = write_key_token(tenant_id, key_id, secrets.token_bytes(SECRET_BYTES))
        read = parse_key_token(token)
        if read is None:
            raise Defect("KEY_UNREADABLE", "a key was written that cannot be read")
        with administering(self.database, caller) as act:
            act.require(EDIT_KEYS)
            # Otherwise a leaked key would make another one, and survive its own revocation.
            _require_person(caller, "make API keys")
            if expires_at is not None and expires_at <= act.now:
                mistake = FieldError("/expires_at", "FIELD_INVALID", "wants a moment that is still to come")
                raise Rejected("FIELDS_INVALID", "expires_at is in the past", fields=(mistake,))
            lock_administration(act.connection, tenant_id)
            require_roles(act, wanted)
            _require_roles_of_owner(act, caller.principal.subject, wanted)
            if store.count_live(act.connection, tenant_id) >= MAX_LIVE_KEYS:
                sentence = f"a tenant has at most {MAX_LIVE_KEYS} keys at a time"
                raise Rejected("API_KEY_TOO_MANY", sentence, remedy="Revoke one first.")
            store.insert_key(
                act.connection,
                tenant_id,
                key_id,
                name=name,
                secret_hash=read.secret_hash,
                roles=wanted,
                created_by=caller.principal.subject,
                expires_at=expires_at,
                now=act.now,
            )
            detail = {
                "name": name,
                "roles": list(wanted),
                "expires_at": expires_at and expires_at.isoformat(),
                "owner": caller.principal.subject,
            }
            act.note(("api_key", str(key_id)), "create_api_key", detail, reason=reason)
            return MadeKey(_require_record(act, key_id), token)

    def list(self, principal: Principal, after: UUID | None, limit: int) -> list[ApiKeyRecord]:
        """List keys, also revoked and expired ones; without the permission, those that concern the person."""
        with reading(self.database, principal) as read:
            if principal.is_key:
                read.require(READ_KEYS)
            person = None if read.may(READ_KEYS) else principal.subject
            rows = store.list_keys(read.connection, principal.tenant_id, person, after, limit)
            return _make_records(read.connection, principal.tenant_id, rows)

    def read(self, principal: Principal, key_id: UUID) -> ApiKeyRecord:
        """Read a key; its owner and the person who is asked to take it over need no permission."""
        with reading(self.database, principal) as read:
            row = store.find_key(read.connection, principal.tenant_id, key_id)
            if row is None or not (read.may(READ_KEYS) or _concerns(row, principal.subject)):
                raise _not_found(key_id)
            return _make_records(read.connection, principal.tenant_id, [row])[0]

    def revoke(self, caller: Caller, key_id: UUID) -> None:
        """Revoke a key for ever; processes that have just admitted it forget it within seconds."""
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            key = store.find_key(act.connection, tenant_id, key_id) if act.may(EDIT_KEYS) else None
            if key is None:
                raise _not_found(key_id)
            if store.revoke_key(act.connection, tenant_id, key_id, caller.principal.subject, act.now):
                detail = {"name": key.name, "roles": key.roles}
                act.note(("api_key", str(key_id)), "revoke_api_key", detail)

    # --- its owner ---

    def propose_owner(
        self, caller: Caller, key_id: UUID, owner_id: str, reason: str | None = None
    ) -> ApiKeyRecord:
        """Ask a member to take a key over; nothing changes until they accept."""
        _require_reason(reason)
        with administering(self.database, caller) as act:
            key = _lock_live_key(act, key_id, for_owner=True)
            _require_person(caller, "give API keys away")
            _require_next_owner(act, key, owner_id)
            store.set_proposed_owner(
                act.connection, caller.principal.tenant_id, key_id, owner_id, caller.principal.subject
            )
            notify_next_owner(act, key_id, key.name, key.owner_id, owner_id)
            detail = {"name": key.name, "owner": key.owner_id, "proposed_owner": owner_id}
            act.note(("api_key", str(key_id)), "propose_api_key_owner", detail, reason=reason)
            return _require_record(act, key_id)

    def accept_ownership(self, caller: Caller, key_id: UUID) -> ApiKeyRecord:
        """Take over a key that the caller was asked to, and be behind it for ever."""
        tenant_id, person = caller.principal.tenant_id, caller.principal.subject
        with administering(self.database, caller) as act:
            key = _lock_live_key(act, key_id)
            # Nobody can ask a key to, so a key never accepts one.
            if key.proposed_owner_id != person:
                raise Rejected("PERMISSION_DENIED", "you are not asked to take this key over")
            member = people.find_member(act.connection, tenant_id, person)
            if member is None or member.status != "active":
                raise Rejected("MEMBER_INACTIVE", f"{person} is no active member of this tenant")
            _require_room_for(act, key, person)
            if not store.accept_key(act.connection, tenant_id, key_id, person):
                raise Defect("KEY_LOST", "a key was not taken over")
            detail = {"name": key.name, "owner_before": key.owner_id, "owner": person, "by": key.proposed_by}
            act.note(("api_key", str(key_id)), "accept_api_key", detail)
            return _require_record(act, key_id)

    def withdraw_proposal(self, caller: Caller, key_id: UUID) -> None:
        """End the question to the person who was asked, as they themselves may too."""
        with administering(self.database, caller) as act:
            key = _lock_live_key(act, key_id)
            _require_person(caller, "decide who owns an API key")
            if key.proposed_owner_id is not None:
                store.set_proposed_owner(act.connection, caller.principal.tenant_id, key_id, None, None)
                detail = {"name": key.name, "proposed_owner": key.proposed_owner_id}
                act.note(("api_key", str(key_id)), "withdraw_api_key_owner", detail)

    # --- its use ---

    def verify(self, token: str) -> VerifiedToken:
        """Return the principal of a key. A caller without its secret is not told what is wrong with it."""
        read = parse_key_token(token)
        if read is None:
            raise _invalid("it is no key")
        with self.database.transaction(read.tenant_id) as connection:
            stored = store.find_secret(connection, read.tenant_id, read.key_id, USE_IS_NOTED_EVERY_SECONDS)
            kept = stored.secret_hash if stored else _NO_HASH
            if not compare_digest(kept, read.secret_hash) or stored is None or stored.is_revoked:
                raise _invalid("it is no key that is in use")
            if stored.is_expired:
                raise Rejected("TOKEN_EXPIRED", "The key has expired.", remedy="Ask for a new one.")
            if stored.owner_status != "active":
                raise _invalid("the owner of the key is no active member")
            if stored.is_due:
                store.note_use(connection, read.tenant_id, read.key_id)
        until = stored.expires_at.timestamp() if stored.expires_at else math.inf
        return VerifiedToken(_make_principal(read.tenant_id, read.key_id, stored), until)


def _make_principal(tenant_id: UUID, key_id: UUID, stored: SecretRow) -> Principal:
    return Principal(
        tenant_id,
        f"{KEY_PREFIX}{key_id}",
        list_counting_roles(stored.roles, stored.permissions, stored.owner_permissions),
        key=KeyOfPrincipal(key_id, stored.name, stored.owner_id),
        behind=frozenset((stored.created_by, *stored.owners)),
    )


def notify_next_owner(act: AdminTransaction, key_id: UUID, name: str, owner_id: str, next_id: str) -> None:
    """Tell a member that they are asked to take a key over, and by which caller."""
    data = {
        "key_id": str(key_id),
        "name": name,
        "owner_id": owner_id,
        "by": act.caller.principal.subject,
    }
    tenant_id = act.caller.principal.tenant_id
    notify_people(act.connection, tenant_id, (next_id,), "api_key_offered", data, now=act.now)


def _lock_live_key(act: AdminTransaction, key_id: UUID, *, for_owner: bool = False) -> ApiKeyRow:
    """Return a key that opens something, as its owner or an administrator may change it.

    The person who is asked to take it over finds it too, unless the act is `for_owner`.
    """
    principal = act.caller.principal
    lock_administration(act.connection, principal.tenant_id)
    row = store.find_key(act.connection, principal.tenant_id, key_id)
    people_of_key = (row.owner_id, None if for_owner else row.proposed_owner_id) if row is not None else ()
    if row is None or not (act.may(EDIT_KEYS) or principal.subject in people_of_key):
        raise _not_found(key_id)
    if row.revoked_at is not None or row.is_expired:
        raise Rejected("API_KEY_ENDED", f"the key '{row.name}' is revoked or expired, and stays so")
    return row


def _require_next_owner(act: AdminTransaction, key: ApiKeyRow, owner_id: str) -> None:
    tenant_id = act.caller.principal.tenant_id
    member = people.find_member(act.connection, tenant_id, owner_id)
    if member is None or member.status != "active":
        mistake = FieldError("/owner_id", "MEMBER_UNKNOWN", "wants an active member")
        raise Rejected("FIELDS_INVALID", "the new owner is no active member", fields=(mistake,))
    if owner_id == key.owner_id:
        mistake = FieldError("/owner_id", "FIELD_INVALID", "wants a person who does not own the key yet")
        raise Rejected("FIELDS_INVALID", f"{owner_id} owns the key already", fields=(mistake,))
    _require_room_for(act, key, owner_id)


def _require_room_for(act: AdminTransaction, key: ApiKeyRow, owner_id: str) -> None:
    """Require room for one more owner; a person who owned the key before needs none."""
    tenant_id = act.caller.principal.tenant_id
    if store.count_other_owners(act.connection, tenant_id, key.id, owner_id) >= MAX_OWNERS:
        raise Rejected(
            "API_KEY_OWNER_TOO_MANY",
            f"at most {MAX_OWNERS} persons may ever own one key",
            remedy="Make a new key, and revoke this one.",
        )


def _require_roles_of_owner(act: AdminTransaction, owner_id: str, roles: Sequence[str]) -> None:
    """Require that each role would count: the owner has its permissions as a member, and not by a token."""
    tenant_id = act.caller.principal.tenant_id
    owner = store.read_owners(act.connection, tenant_id, [owner_id]).get(owner_id)
    if owner is None or owner.status != "active":
        raise Rejected(
            "API_KEY_OWNER_INACTIVE",
            f"a key belongs to an active member of the tenant, and {owner_id} is none",
            remedy="A person who may edit members makes you one.",
        )
    permissions = _read_permissions(act.connection, tenant_id, roles)
    counting = list_counting_roles(roles, permissions, owner.permissions)
    missing = [role for role in roles if role not in counting]
    if missing:
        raise Rejected(
            "ROLE_BEYOND_OWN",
            f"the role '{missing[0]}' brings more than your roles as a member of the tenant do",
            remedy="A key has at most what its owner has as a member, no matter what their token says.",
        )


def _require_record(act: AdminTransaction, key_id: UUID) -> ApiKeyRecord:
    tenant_id = act.caller.principal.tenant_id
    row = store.find_key(act.connection, tenant_id, key_id)
    if row is None:
        raise Defect("KEY_LOST", "a key was not written")
    return _make_records(act.connection, tenant_id, [row])[0]


def _make_records(connection: Connection, tenant_id: UUID, rows: Sequence[ApiKeyRow]) -> list[ApiKeyRecord]:
    if not rows:
        return []
    owners = store.read_owners(connection, tenant_id, {row.owner_id for row in rows})
    permissions = _read_permissions(connection, tenant_id, {role for row in rows for role in row.roles})
    records = []
    for row in rows:
        owner = owners.get(row.owner_id)
        is_active = owner is not None and owner.status == "active"
        held = owner.permissions if owner is not None and is_active else []
        counting = list_counting_roles(row.roles, permissions, held) if is_active else ()
        shown = {name: getattr(row, name) for name in ApiKeyRecord.__slots__ if hasattr(row, name)}
        records.append(ApiKeyRecord(**shown, owner_is_active=is_active, counting_roles=counting))
    return records


def _read_permissions(
    connection: Connection, tenant_id: UUID, roles: Collection[str]
) -> dict[str, list[str]]:
    found = people.find_roles(connection, tenant_id, sorted(set(roles)))
    return {record.role: record.permissions for record in found}


def _concerns(row: ApiKeyRow, person: str) -> bool:
    return person in (row.owner_id, row.proposed_owner_id)


def _require_person(caller: Caller, act: str) -> None:
    if caller.principal.is_key:
        raise Rejected("PERMISSION_DENIED", f"an API key cannot {act}")


def _require_reason(reason: str | None) -> None:
    refused = check_reason(reason)
    if refused is not None:
        raise refused


def _not_found(key_id: UUID) -> Rejected:
    return Rejected("API_KEY_NOT_FOUND", f"there is no key {key_id}")


def _invalid(reason: str) -> Rejected:
    return Rejected("TOKEN_INVALID", f"The token is not valid: {reason}.")
