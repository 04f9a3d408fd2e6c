"""Routes of machines' API keys, and of the persons who own them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import AwareDatetime, Field

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Limit, Named, PathId, Reason
from signet.api.http.routing import Routes
from signet.core.tenants.tenant_file import MAX_ROLES
from signet.core.tenants.user_id import UserId
from signet.core.validation.strict_model import Strict
from signet.engine.tenants.api_keys import ApiKeyRecord


class NewKey(Strict):
    name: Annotated[Named, Field(description="The name that people read; several keys may have one name.")]
    roles: Annotated[list[Named], Field(min_length=1, max_length=MAX_ROLES)]
    expires_at: Annotated[
        AwareDatetime | None,
        Field(strict=False, description="The end of the key; by default it lives until it is revoked."),
    ] = None
    reason: Reason = None


class NewKeyOwner(Strict):
    owner_id: UserId
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class MadeApiKey:
    """A new key; `token` is shown only once, and is null when the request is repeated."""

    id: UUID
    name: str
    owner_id: str
    roles: Sequence[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    token: str | None


def add_api_key_routes(routes: Routes) -> None:
    @routes.get("/v1/api_keys", "The keys, without their secrets", Page[ApiKeyRecord])
    def list_api_keys(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[ApiKeyRecord]:
        """List keys, also revoked ones; without the permission, those that concern the caller."""
        after = parse_position(cursor, None, UUID)
        records = call.use.api_keys.list(call.principal, after, limit + 1)
        return make_page(records, limit, lambda key: [key.id])

    @routes.post("/v1/api_keys", "Make a key", MadeApiKey, status=201, once_shown=("token",))
    def create_api_key(call: Call, new: Annotated[NewKey, Body()]) -> HttpAnswer:
        """Create a key that belongs to the caller; its token is sent as a bearer.

        Its roles allow no more than the caller's own, by their token and as a member.
        """
        created = call.use.api_keys.create(call.caller, new.name, new.roles, new.expires_at, new.reason)
        key = created.record
        shown = MadeApiKey(
            key.id,
            key.name,
            key.owner_id,
            key.roles,
            key.created_by,
            key.created_at,
            key.expires_at,
            created.token,
        )
        return HttpAnswer(shown, 201, location=f"/v1/api_keys/{key.id}")

    @routes.get("/v1/api_keys/<key_id>", "One key, without its secret", ApiKeyRecord)
    def get_api_key(call: Call, key_id: PathId) -> ApiKeyRecord:
        """Show a key; its owner, and the person who is asked to be, may always read it."""
        return call.use.api_keys.read(call.principal, key_id)

    @routes.post("/v1/api_keys/<key_id>/owner", "Ask a member to take a key over", ApiKeyRecord)
    def propose_api_key_owner(
        call: Call, key_id: PathId, new: Annotated[NewKeyOwner, Body()]
    ) -> ApiKeyRecord:
        """Ask another member to own the key, as its owner or as a person who may edit keys.

        Nothing changes until that person accepts; a later question replaces this one.
        """
        return call.use.api_keys.propose_owner(call.caller, key_id, new.owner_id, new.reason)

    @routes.post("/v1/api_keys/<key_id>/owner/accept", "Take a key over", ApiKeyRecord)
    def accept_api_key(call: Call, key_id: PathId) -> ApiKeyRecord:
        """Become the owner of a key, as the person who was asked; all of its owners stay behind it."""
        return call.use.api_keys.accept_ownership(call.caller, key_id)

    @routes.delete("/v1/api_keys/<key_id>/owner", "Ask nobody to take the key over any more")
    def withdraw_api_key_owner(call: Call, key_id: PathId) -> HttpAnswer:
        """End the question, as the owner, as the person who was asked, or as one who may edit keys."""
        call.use.api_keys.withdraw_proposal(call.caller, key_id)
        return HttpAnswer(status=204)

    @routes.delete("/v1/api_keys/<key_id>", "Revoke a key, for ever")
    def revoke_api_key(call: Call, key_id: PathId) -> HttpAnswer:
        """Revoke a key: it changes nothing any more, and within 15 seconds it reads nothing either."""
        call.use.api_keys.revoke(call.caller, key_id)
        return HttpAnswer(status=204)
