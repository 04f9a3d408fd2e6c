"""The names in core are those of the pinned package."""

from tests.zones.write_zone_names import FILE, write_zone_names


def test_the_file_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == write_zone_names(), "run: make zones"
