"""Routes of machines' API keys."""

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
from signet.core.validation.strict_model import Strict
from signet.engine.tenants.api_keys import ApiKeyRecord


class NewKey(Strict):
    name: Annotated[Named, Field(description="It acts as key:<name>; several keys may have one name.")]
    roles: Annotated[tuple[Named, ...], Field(strict=False, min_length=1, max_length=MAX_ROLES)]
    expires_at: Annotated[
        AwareDatetime | None,
        Field(strict=False, description="The end of the key; by default it lives until it is revoked."),
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class MadeApiKey:
    """A new key; `token` is shown only once, and is null when the request is repeated."""

    id: UUID
    name: str
    roles: Sequence[str]
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    token: str | None


def add_api_key_routes(routes: Routes) -> None:
    @routes.get("/v1/api_keys", "The keys, without their secrets", Page[ApiKeyRecord])
    def list_api_keys(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[ApiKeyRecord]:
        """List keys, also revoked and expired ones; the last use is to the hour."""
        after = parse_position(cursor, None, UUID)
        records = call.use.api_keys.list(call.principal, after, limit + 1)
        return make_page(records, limit, lambda key: [key.id])

    @routes.post("/v1/api_keys", "Make a key", MadeApiKey, status=201, once_shown=("token",))
    def create_api_key(call: Call, new: Annotated[NewKey, Body()]) -> HttpAnswer:
        """Create a key, whose token is sent as a bearer; its roles allow no more than the caller's own."""
        created = call.use.api_keys.create(call.caller, new.name, new.roles, new.expires_at, new.reason)
        key = created.record
        shown = MadeApiKey(
            key.id, key.name, key.roles, key.created_by, key.created_at, key.expires_at, created.token
        )
        return HttpAnswer(shown, 201)

    @routes.delete("/v1/api_keys/<key_id>", "Revoke a key, for ever")
    def revoke_api_key(call: Call, key_id: PathId) -> HttpAnswer:
        """Revoke a key; within 15 seconds it is refused everywhere."""
        call.use.api_keys.revoke(call.caller, key_id)
        return HttpAnswer(status=204)
