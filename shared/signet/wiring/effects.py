"""Composition root of the process that delivers effects."""

from functools import cache

from signet.engine.dispatch.consumer import BatchedWakeUps, QueueConsumer
from signet.engine.integrations.effects import Effects
from signet.engine.telemetry import SILENT, Telemetry
from signet.outbound.connector import Connector
from signet.outbound.secrets import ReadSecret, no_secrets
from signet.outbound.webhook import AllowedAddresses, Webhooks
from signet.settings import DeliverySettings
from signet.store.database import Database
from signet.wiring.process import get_settings, get_telemetry, make_database, make_secrets, make_wake


def make_connectors(
    leaving: DeliverySettings, region: str | None = None, secrets: ReadSecret = no_secrets
) -> dict[str, Connector]:
    """Make the connectors of this deployment by type of effect; those that are off are not loaded."""
    connectors: dict[str, Connector] = {
        "webhook": Webhooks(secrets, AllowedAddresses(leaving.webhook_addresses))
    }
    if not (leaving.mail_sender or leaving.bus_name or leaving.sends_text_messages):
        return connectors
    from signet.aws.bus import Bus
    from signet.aws.clients import Clients
    from signet.aws.mail import Mail
    from signet.aws.text_messages import TextMessages

    clients = Clients(region)
    if leaving.mail_sender:
        connectors["email"] = Mail(clients, leaving.mail_sender)
    if leaving.sends_text_messages:
        connectors["sms"] = TextMessages(clients)
    if leaving.bus_name:
        connectors["integration"] = Bus(clients, leaving.bus_name, leaving.event_source)
    return connectors


def make_effects(
    database: Database,
    connectors: dict[str, Connector] | None = None,
    telemetry: Telemetry = SILENT,
) -> Effects:
    """Make the use case; without other settings it only sends webhooks to the public internet."""
    known = make_connectors(DeliverySettings()) if connectors is None else connectors
    return Effects(database, known, telemetry)


def get_effects(database: Database) -> Effects:
    """Return the use case as the environment describes it, wired once per process."""
    settings = get_settings()
    region = settings.aws.region if settings.aws is not None else None
    connectors = make_connectors(settings.leaving, region, make_secrets(settings))
    return make_effects(database, connectors, get_telemetry())


@cache
def get_consumer() -> QueueConsumer:
    """Return the consumer of the effects queue."""
    settings, telemetry = get_settings(), get_telemetry()
    wake_ups = BatchedWakeUps("effects", make_wake(settings))
    effects = get_effects(make_database(settings, wake_ups))
    return QueueConsumer(lambda tenant_id: effects.work(tenant_id) > 0, wake_ups, telemetry)
