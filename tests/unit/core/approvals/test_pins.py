"""Pins of an approval: their values, their authors and their hash."""

from signet.core.approvals.pins import hash_pins, list_pinned_persons, read_pinned

PINS = {
    "vendor": {"document_id": "1", "values": {"iban": "DE-GOOD"}, "responsible": ["ann", "ben"]},
    "buyer": {"document_id": "2", "values": {"limit": 5}},
}


def test_values_are_read_by_ref() -> None:
    assert read_pinned(PINS) == {"vendor": {"iban": "DE-GOOD"}, "buyer": {"limit": 5}}


def test_everybody_who_changed_a_pinned_field_is_named() -> None:
    assert list_pinned_persons(PINS) == {"ann", "ben"}
    assert list_pinned_persons({}) == frozenset()


def test_the_hash_is_of_the_content_in_any_order() -> None:
    assert hash_pins(PINS) == hash_pins(dict(reversed(PINS.items())))
    assert hash_pins(PINS) != hash_pins({**PINS, "vendor": {**PINS["vendor"], "values": {"iban": "DE-EVIL"}}})
