"""Times of the day as authors write them."""

from datetime import time

import pytest
from pydantic import TypeAdapter, ValidationError

from signet.core.moments.time_names import TimeOfDay, ZoneName, parse_time_of_day


@pytest.mark.parametrize(
    ("text", "found"), [("00:00", time()), ("09:30", time(9, 30)), ("23:59", time(23, 59))]
)
def test_a_time_of_the_day(text: str, found: time) -> None:
    assert parse_time_of_day(TypeAdapter(TimeOfDay).validate_python(text)) == found


@pytest.mark.parametrize("text", ["", "9:30", "24:00", "09:60", "09:30:00", "0９:30", "09:30\n"])
def test_other_text_is_none(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(TimeOfDay).validate_python(text)


def test_a_name_of_a_zone_is_bounded() -> None:
    for name in ("", "x" * 65):
        with pytest.raises(ValidationError):
            TypeAdapter(ZoneName).validate_python(name)
