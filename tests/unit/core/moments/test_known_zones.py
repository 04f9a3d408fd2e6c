"""Names of zones, and what is proposed for others."""

import pytest

from signet.core.errors import Rejected
from signet.core.moments.known_zones import find_near_zones, is_known_zone, propose_zones, require_known_zone
from signet.core.moments.zone_names import ZONE_NAMES


def test_the_names_are_known() -> None:
    assert len(ZONE_NAMES) == len(set(ZONE_NAMES)) > 500
    assert is_known_zone("Europe/Berlin") and is_known_zone("UTC")
    for name in ("", "europe/berlin", "Berlin", "../UTC", "Europe", "+01:00"):
        assert not is_known_zone(name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Berlin", "Write Europe/Berlin."),
        ("europe/berlin", "Write Europe/Berlin."),
        ("new york", "Write America/New_York."),
        ("America/New_Yrok", "Write America/New_York."),
        ("Louisville", "Write America/Kentucky/Louisville or America/Louisville."),
        ("Atlantis/Poseidon", "Write a name of the IANA database, such as Europe/Berlin."),
        ("x" * 10_000, "Write a name of the IANA database, such as Europe/Berlin."),
    ],
)
def test_near_names_are_proposed(name: str, sentence: str) -> None:
    assert propose_zones(name) == sentence


def test_few_are_proposed() -> None:
    assert len(find_near_zones("Etc/GMT+99")) == 3


def test_a_name_that_no_zone_has_is_refused_at_its_place() -> None:
    require_known_zone("Europe/Berlin", "/time_zone")
    with pytest.raises(Rejected) as caught:
        require_known_zone("Berlin", "/time_zone")
    assert caught.value.code == "ZONE_UNKNOWN" and "'Berlin'" in str(caught.value)
    (mistake,) = caught.value.fields
    assert (mistake.pointer, mistake.code) == ("/time_zone", "ZONE_UNKNOWN")
    assert mistake.remedy == caught.value.remedy == "Write Europe/Berlin."
