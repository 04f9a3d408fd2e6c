"""The time zones that Signet knows, by the names of the IANA database."""

from difflib import get_close_matches

from signet.core.errors import FieldError, Rejected
from signet.core.moments.zone_names import ZONE_NAMES

MAX_ZONE_CHARACTERS = 64
_MOST_NEAR, _ALIKE = 3, 0.8


def is_known_zone(name: str) -> bool:
    return name in ZONE_NAMES


def find_near_zones(name: str) -> tuple[str, ...]:
    """Return names that were perhaps meant: of the same city, or spelled alike.

    >>> find_near_zones("berlin")
    ('Europe/Berlin',)
    """
    wanted = name[:MAX_ZONE_CHARACTERS].lower().replace(" ", "_")
    same_city = [known for known in ZONE_NAMES if f"/{known.lower()}".endswith(f"/{wanted}")]
    if same_city:
        return tuple(same_city[:_MOST_NEAR])
    by_lower = {known.lower(): known for known in ZONE_NAMES}
    return tuple(by_lower[near] for near in get_close_matches(wanted, by_lower, _MOST_NEAR, _ALIKE))


def propose_zones(name: str) -> str:
    """Write a sentence that names what was perhaps meant."""
    near = find_near_zones(name)
    if not near:
        return "Write a name of the IANA database, such as Europe/Berlin."
    return f"Write {' or '.join(near)}."


def require_known_zone(name: str, pointer: str) -> None:
    """Refuse a name that no zone has, at its place in what was sent."""
    if is_known_zone(name):
        return
    sentence, remedy = f"there is no time zone '{name}'", propose_zones(name)
    mistake = FieldError(pointer, "ZONE_UNKNOWN", sentence, remedy)
    raise Rejected("ZONE_UNKNOWN", sentence, remedy=remedy, fields=(mistake,))
