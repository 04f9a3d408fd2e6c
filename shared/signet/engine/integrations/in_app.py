"""Messages in the application: notifications of our own, which are written with the outcome of the effect."""

from collections.abc import Sequence
from uuid import UUID, uuid5

from signet.outbound.connector import Delivery, Recipient
from signet.outbound.fan_out import NO_RECIPIENT
from signet.store.database import Connection
from signet.store.integrations.endpoints import read_recipients, tell_people
from signet.store.outbox.queue import ClaimedEffect

IN_APP = "in_app"


def find_people(connection: Connection, tenant_id: UUID, effect: ClaimedEffect) -> list[Recipient]:
    """Find the people that a message is to, by any connector."""
    named = effect.payload_json.get("to") if isinstance(effect.payload_json, dict) else None
    if not isinstance(named, list) or not named:
        return []
    rows = read_recipients(connection, tenant_id, named)
    return [Recipient(row.user_id, row.display_name, row.email, row.phone) for row in rows]


def deliver_in_app(effect: ClaimedEffect, recipients: Sequence[Recipient]) -> Delivery:
    if not recipients:
        return NO_RECIPIENT
    return Delivery(None, None, {"told": _name_notices(effect, recipients)})


def tell_in_app(
    connection: Connection, tenant_id: UUID, effect: ClaimedEffect, recipients: Sequence[Recipient]
) -> None:
    """Write the notifications of a delivered message."""
    notices = {UUID(notice): user_id for user_id, notice in _name_notices(effect, recipients).items()}
    data = {key: effect.payload_json.get(key, "") for key in ("subject", "text")}
    tell_people(connection, tenant_id, notices, {**data, "instance_id": str(effect.instance_id)})


def _name_notices(effect: ClaimedEffect, recipients: Sequence[Recipient]) -> dict[str, str]:
    """Name the notices by person, always alike, so that nobody is told twice."""
    return {person.user_id: str(uuid5(effect.id, person.user_id)) for person in recipients}
