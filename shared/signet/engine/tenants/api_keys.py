"""Keys of machines: made by people, shown once, and limited to the roles that they were given.

A key acts as itself, `key:<name>`, and never on behalf of a person. It is no member, so it holds no seat and
takes no delegation. Several keys may share a name, so that a machine gets its next key before the old one
ends.
"""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest
from uuid import UUID

from signet.core.errors import Defect, FieldError, Rejected
from signet.core.tenants.api_key import SECRET_BYTES, parse_key_token, write_key_token
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import KEY_PREFIX, Principal, VerifiedToken
from signet.engine.access.admin import administering
from signet.engine.access.read import reading
from signet.engine.documents.command_checks import check_reason
from signet.engine.tenants.role_grants import require_roles
from signet.ids import make_id
from signet.store.audit.write import lock_administration
from signet.store.database import Database
from signet.store.tenants import api_keys as store
from signet.store.tenants.api_keys import ApiKeyRecord as ApiKeyRecord

READ_KEYS, EDIT_KEYS = "api_key:read", "api_key:edit"
# The keys of one tenant that are neither revoked nor expired.
MAX_LIVE_KEYS = 200
USE_IS_NOTED_EVERY_SECONDS = 3_600
# A secret is compared with this where there is no such key, so that both answers take as long.
_NO_HASH = bytes(32)


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
        rejected = check_reason(reason)
        if rejected is not None:
            raise rejected
        tenant_id, key_id, wanted = caller.principal.tenant_id, make_id(), tuple(dict.fromkeys(roles))
        token = write_key_token(tenant_id, key_id, secrets.token_bytes(SECRET_BYTES))
        read = parse_key_token(token)
        if read is None:
            raise Defect("KEY_UNREADABLE", "a key was written that cannot be read")
        with administering(self.database, caller) as act:
            act.require(EDIT_KEYS)
            if caller.principal.is_key:
                # Otherwise a leaked key would make another one, and survive its own revocation.
                raise Rejected("PERMISSION_DENIED", "an API key cannot make API keys")
            if expires_at is not None and expires_at <= act.now:
                mistake = FieldError("/expires_at", "FIELD_INVALID", "wants a moment that is still to come")
                raise Rejected("FIELDS_INVALID", "expires_at is in the past", fields=(mistake,))
            lock_administration(act.connection, tenant_id)
            require_roles(act, wanted)
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
            }
            act.note(("api_key", str(key_id)), "create_api_key", detail, reason=reason)
            record = store.find_key(act.connection, tenant_id, key_id)
            if record is None:
                raise Defect("KEY_LOST", "a key was not written")
        return MadeKey(record, token)

    def list(self, principal: Principal, after: UUID | None, limit: int) -> list[ApiKeyRecord]:
        """List keys, also revoked and expired ones."""
        with reading(self.database, principal) as read:
            read.require(READ_KEYS)
            return store.list_keys(read.connection, principal.tenant_id, after, limit)

    def revoke(self, caller: Caller, key_id: UUID) -> None:
        """Revoke a key for ever; processes that have just admitted it forget it within seconds."""
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            key = store.find_key(act.connection, tenant_id, key_id) if act.may(EDIT_KEYS) else None
            if key is None:
                raise Rejected("API_KEY_NOT_FOUND", f"there is no key {key_id}")
            if store.revoke_key(act.connection, tenant_id, key_id, caller.principal.subject, act.now):
                detail = {"name": key.name, "roles": key.roles}
                act.note(("api_key", str(key_id)), "revoke_api_key", detail)

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
            if stored.is_due:
                store.note_use(connection, read.tenant_id, read.key_id)
        until = stored.expires_at.timestamp() if stored.expires_at else math.inf
        principal = Principal(
            read.tenant_id,
            KEY_PREFIX + stored.name,
            tuple(stored.roles),
            behind=frozenset({stored.created_by}),
        )
        return VerifiedToken(principal, until)


def _invalid(reason: str) -> Rejected:
    return Rejected("TOKEN_INVALID", f"The token is not valid: {reason}.")
