"""A few seconds of chaos and of outages (`make chaos` brings more): nothing is lost, doubled or stranded."""

from pathlib import Path

import pytest

from tests.chaos.run import bring_chaos, bring_outages
from tests.chaos.town import SMALL_DISK_MEGABYTES, standing_town
from tests.support.shared_company import IS_CAMPAIGN

CHAOS_SECONDS, OUTAGE_SECONDS = 5.0, 1.5


def test_a_few_seconds_of_chaos_leave_nothing_wrong(tmp_path: Path) -> None:
    with standing_town(tmp_path) as town:
        outcome = bring_chaos(town, CHAOS_SECONDS, seed=1)
        assert outcome.wrong == []
        assert town.acknowledged["made"] and town.acknowledged["voted"]
        assert sum(outcome.done.values()) > 1


@pytest.mark.skipif(not IS_CAMPAIGN, reason="waits for workers that wait for the server")
def test_short_outages_leave_nothing_wrong(tmp_path: Path) -> None:
    with standing_town(tmp_path, disk_megabytes=SMALL_DISK_MEGABYTES) as town:
        outcome = bring_outages(town, OUTAGE_SECONDS)
        assert outcome.wrong == []
        assert town.acknowledged["made"]
