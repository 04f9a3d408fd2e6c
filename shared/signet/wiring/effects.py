"""What leaves the system, and by which connectors."""

from signet.engine.effects import Effects
from signet.engine.telemetry import SILENT, Telemetry
from signet.outbound.secrets import ReadSecret, no_secrets
from signet.outbound.webhook import Reach, Webhooks
from signet.store.database import Database


def make_effects(
    database: Database, secrets: ReadSecret = no_secrets, telemetry: Telemetry = SILENT
) -> Effects:
    """What leaves the system from here; mail, text messages and the bus need AWS."""
    return Effects(database, {"webhook": Webhooks(secrets, Reach())}, telemetry)
