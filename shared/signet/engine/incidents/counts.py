"""The open incidents of all tenants, counted for the operators of the service."""

from collections.abc import Sequence

from signet.core.incidents.incident import COUNTED_CODES
from signet.store.database import Connection
from signet.store.incidents.measures import IncidentCount as IncidentCount
from signet.store.incidents.measures import measure_incidents

# An incident that is open for so long, and that nobody has acknowledged, has been overlooked.
LONG_SECONDS = 3_600.0


def count_open(connection: Connection) -> Sequence[IncidentCount]:
    """Count open incidents by the codes of a closed set; every other code is counted as OTHER."""
    return measure_incidents(connection, COUNTED_CODES, long_seconds=LONG_SECONDS)
