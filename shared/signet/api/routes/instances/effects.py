"""Routes of effects: what an instance sends to the outside, tried now or withdrawn."""

from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Limit, PathId
from signet.api.http.routing import Routes
from signet.api.routes.instances.actions import WithReason
from signet.engine.instances.effect_acts import EffectActed, OutgoingEffect


class ActOnEffect(WithReason):
    dry_run: Annotated[bool, Field(description="Only report what would follow.")] = False


def add_effect_routes(routes: Routes) -> None:
    @routes.get(
        "/v1/instances/<instance_id>/effects",
        "Effects of an instance, the newest first",
        Page[OutgoingEffect],
    )
    def list_instance_effects(
        call: Call, instance_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[OutgoingEffect]:
        """List what an instance sends, without its content, each with the acts that are possible now."""
        filters = ["effects", str(instance_id)]
        before = parse_position(cursor, filters, UUID)
        found = call.use.effect_acts.list_of_instance(
            call.principal, instance_id, before=before, limit=limit + 1
        )
        return make_page(found, limit, lambda effect: (effect.id,), filters)

    @routes.post("/v1/effects/<effect_id>/try_now", "Try an effect now", EffectActed)
    def try_effect_now(call: Call, effect_id: PathId, asked: Annotated[ActOnEffect, Body()]) -> EffectActed:
        """Have an effect tried at once that waits for its next attempt, or whose endpoint rests."""
        return call.use.effect_acts.try_now(call.caller, effect_id, asked.reason, dry_run=asked.dry_run)

    @routes.post("/v1/effects/<effect_id>/withdraw", "Withdraw an effect", EffectActed)
    def withdraw_effect(call: Call, effect_id: PathId, asked: Annotated[ActOnEffect, Body()]) -> EffectActed:
        """Withdraw what was not delivered; its step takes its edge for errors, or is held."""
        return call.use.effect_acts.withdraw(call.caller, effect_id, asked.reason, dry_run=asked.dry_run)
