"""The messages to cut at, and the end of a backend that was cut off."""

from tests.engine.standing_company import IS_CAMPAIGN, CompanyWithWorkers
from tests.faults.wire_proxy import WireProxy

SOME, LAST = 6, 4
TRIES = 5
# A pipeline sends a message more or less, as answers come in; it never sends so many more.
BEYOND = 5


def choose(total: int) -> list[int]:
    """Return every N, or some of them and the last ones."""
    if IS_CAMPAIGN:
        return list(range(1, total + 1))
    some = range(1, total, max(1, total // SOME))
    return sorted({*some, *range(max(1, total - LAST), total + 1)})


def near_the_end(total: int) -> list[int]:
    """Return numbers around the commit, over and over, so that one cut happens and one does not."""
    return [total + 1, *range(max(1, total - 2), total + 4)] * TRIES


def wait_for_the_server(standing: CompanyWithWorkers, proxy: WireProxy) -> None:
    """Wait until the backend that was cut off has ended its work."""
    standing.wait_until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s)", proxy.cut_backend)
