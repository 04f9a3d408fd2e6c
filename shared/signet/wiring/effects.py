"""What leaves the system, and by which connectors."""

from functools import cache

from signet.engine.effects import Effects
from signet.engine.shifts import Shifts, ShiftWakeUps
from signet.engine.telemetry import SILENT, Telemetry
from signet.outbound.connector import ReadSecret
from signet.outbound.secrets import no_secrets
from signet.outbound.webhook import Reach, Webhooks
from signet.store.database import Database
from signet.wiring.process import get_settings, get_telemetry, make_database, make_secrets, make_wake


def make_effects(
    database: Database, secrets: ReadSecret = no_secrets, telemetry: Telemetry = SILENT
) -> Effects:
    """What leaves the system from here; mail, text messages and the bus need AWS."""
    return Effects(database, {"webhook": Webhooks(secrets, Reach())}, telemetry)


@cache
def get_shifts() -> Shifts:
    """Of the process that speaks to the outside world."""
    settings, telemetry = get_settings(), get_telemetry()
    wake_ups = ShiftWakeUps("effects", make_wake(settings))
    database = make_database(settings, wake_ups)
    effects = make_effects(database, make_secrets(settings), telemetry)
    return Shifts(lambda tenant_id: effects.work(tenant_id) > 0, wake_ups, telemetry)
