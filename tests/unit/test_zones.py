"""Zones come from the pinned package, and only known ones."""

from datetime import datetime, timedelta
from importlib import metadata, resources

import pytest

from signet.core.errors import ErrorKind, Rejected
from signet.core.moments.zone_names import ZONE_NAMES
from signet.zones import TZDATA_VERSION, find_zone


@pytest.mark.parametrize("name", ["Europe/Nowhere", "../../../etc/passwd", "", "Europe", "europe/berlin"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(Rejected) as refused:
        find_zone(name)
    assert (refused.value.code, refused.value.kind) == ("ZONE_UNKNOWN", ErrorKind.INVALID)
    assert refused.value.remedy.startswith("Write ")


def test_each_name_has_a_zone_that_is_kept() -> None:
    for name in ZONE_NAMES:
        assert find_zone(name).key == name
        assert find_zone(name) is find_zone(name)


def test_the_files_of_the_machine_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A zone is what the package says, also where a lookup by name would give another."""

    def refuse(*_: object) -> None:
        raise AssertionError("looked up by name")

    monkeypatch.setattr("zoneinfo._common.load_tzdata", refuse)
    find_zone.cache_clear()
    zone = find_zone("Europe/Berlin")
    assert datetime(2026, 7, 1, tzinfo=zone).utcoffset() == timedelta(hours=2)


def test_the_version_of_the_rules_is_known() -> None:
    year, letter = TZDATA_VERSION[:4], TZDATA_VERSION[4:]
    number = ord(letter) - ord("a") + 1
    assert metadata.version("tzdata") == f"{year}.{number}"
    assert (resources.files("tzdata") / "zoneinfo" / "Europe" / "Berlin").is_file()
