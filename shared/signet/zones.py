"""Time zones by name, from the pinned package `tzdata` and never from the files of the machine.

Their rules are the same wherever Signet runs, and change only with a release.
"""

from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

import tzdata

from signet.core.errors import Rejected
from signet.core.moments.known_zones import is_known_zone, propose_zones

# Of the rules, such as 2026f: what evidence names.
TZDATA_VERSION: str = tzdata.IANA_VERSION


@cache
def find_zone(name: str) -> ZoneInfo:
    """Return the zone of a name; there are as many as there are names."""
    if not is_known_zone(name):
        raise Rejected("ZONE_UNKNOWN", f"there is no time zone '{name}'", remedy=propose_zones(name))
    with (resources.files("tzdata") / "zoneinfo" / name).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
