"""The messages at which to cut a connection, and the wait for the end of its backend."""

from tests.support.database.wire_proxy import WireProxy
from tests.support.shared_company import IS_CAMPAIGN, CompanyWithWorkers

SOME, LAST = 6, 4
TRIES = 5
# A pipeline sends a few messages more or less, as answers come in; it never exceeds its total by this many.
BEYOND = 20


def choose(total: int) -> list[int]:
    """Return every message's number in a campaign, else some of them and the last ones."""
    if IS_CAMPAIGN:
        return list(range(1, total + 1))
    some = range(1, total, max(1, total // SOME))
    return sorted({*some, *range(max(1, total - LAST), total + 1)})


def near_the_end(total: int) -> list[int]:
    """Return the numbers around the commit several times, and last one that no message reaches.

    The counted pass may have been a short one, so any of the former may cut.
    """
    return [*[total + 1, *range(max(1, total - 2), total + 4)] * TRIES, total + BEYOND]


def wait_for_the_server(standing: CompanyWithWorkers, proxy: WireProxy) -> None:
    """Wait until the backend of the cut connection has ended."""
    standing.wait_until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s)", proxy.cut_backend)
