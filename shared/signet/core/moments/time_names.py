"""The texts by which authors name a zone and a time of the day."""

from datetime import time
from typing import Annotated

from pydantic import Field

from signet.core.moments.known_zones import MAX_ZONE_CHARACTERS

ZoneName = Annotated[str, Field(min_length=1, max_length=MAX_ZONE_CHARACTERS)]
TimeOfDay = Annotated[
    str,
    Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="On a clock of 24 hours, such as 09:00."),
]


def parse_time_of_day(text: str) -> time:
    return time.fromisoformat(text)
