"""`make chaos`: kill what serves documents while they flow, and expect that nothing is wrong afterwards.

`make chaos ARGS=outages` takes away what the database needs instead. MINUTES is the length of chaos, or of
each outage; SEED chooses other acts.
"""

import os
import sys
import tempfile
from pathlib import Path

from tests.chaos.outages import OUTAGES
from tests.chaos.run import bring_chaos, bring_outages
from tests.chaos.town import MEGABYTES_A_MINUTE, SMALL_DISK_MEGABYTES, standing_town

DEFAULT_MINUTES = {"chaos": 1.0, "outages": 0.25}


def main(kind: str) -> int:
    minutes = float(os.environ.get("MINUTES") or DEFAULT_MINUTES[kind])
    seed = int(os.environ.get("SEED") or 1)
    with (
        tempfile.TemporaryDirectory(prefix="signet-chaos-") as folder,
        standing_town(Path(folder), disk_megabytes=_find_room(kind, minutes)) as town,
    ):
        if kind == "outages":
            outcome = bring_outages(town, minutes * 60)
        else:
            outcome = bring_chaos(town, minutes * 60, seed)
        for line in outcome.describe(town):
            print(line, flush=True)
    return 1 if outcome.wrong else 0


def _find_room(kind: str, minutes: float) -> int:
    """Return the megabytes that the documents of all outages want; chaos fills no disk."""
    if kind != "outages":
        return 0
    return SMALL_DISK_MEGABYTES + round(MEGABYTES_A_MINUTE * minutes * len(OUTAGES))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "chaos"))
