"""At which messages to cut, and when what was cut off has come to its end."""

from tests.engine.standing_company import IS_CAMPAIGN, CompanyWithWorkers
from tests.faults.wire_proxy import WireProxy

SOME, LAST = 6, 4
TRIES = 5
# A pipeline sends a message more or less, as answers come in; so many more it never sends.
BEYOND = 5


def choose(total: int) -> list[int]:
    """Every N, or some of them and the last ones."""
    if IS_CAMPAIGN:
        return list(range(1, total + 1))
    some = range(1, total, max(1, total // SOME))
    return sorted({*some, *range(max(1, total - LAST), total + 1)})


def near_the_end(total: int) -> list[int]:
    """Around the commit, over and over: until one was cut and one was not."""
    return [total + 1, *range(max(1, total - 2), total + 4)] * TRIES


def wait_for_the_server(standing: CompanyWithWorkers, proxy: WireProxy) -> None:
    """Until the backend that was cut off has ended what it was doing."""
    standing.wait_until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s)", proxy.cut_backend)
