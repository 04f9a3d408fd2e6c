"""The pins of a request that decides, beside what was approved and what holds now."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.core.approvals.decided_pins import (
    DIGEST_CHARACTERS,
    check_seen,
    describe_decision,
    digest_seen,
    list_changed_since,
    list_seen,
    pin_decided,
)


def pin(number: str | None = "DE-1", **changes: Any) -> Mapping[str, Any]:
    values = {} if number is None else {"number": number}
    made = {"document_id": "v1", "version": 1, "values": values, "responsible": ["mia"]}
    return {**made, **changes}


@pytest.mark.parametrize(
    ("asked", "is_same"),
    [
        (pin(), True),
        (pin(version=7, responsible=["mia", "carl"]), True),
        (pin("DE-2"), False),
        (pin(None), False),
        (pin(document_id="v2"), False),
        (pin(version=None), False),
        (pin(responsible=["carl"]), False),
        (None, False),
    ],
)
def test_what_leads_to_something_else_is_named(asked: Mapping[str, Any] | None, is_same: bool) -> None:
    found = list_changed_since({} if asked is None else {"vendor": asked}, {"vendor": pin()}, {})
    assert found == ([] if is_same else ["vendor"])


def test_what_was_approved_stays_so_where_the_ref_leads_there_still() -> None:
    approved = {"vendor": pin("DE-0", approval="a1"), "other": pin("DE-9", request="r0")}
    now = {"vendor": pin(), "other": pin()}
    assert list_changed_since(now, now, approved) == []
    held = pin_decided(now, approved, "r1")
    assert held == {"vendor": approved["vendor"], "other": pin(request="r1")}
    elsewhere = {"vendor": pin(document_id="v2")}
    assert list_changed_since({}, elsewhere, approved) == ["vendor"]
    assert pin_decided(elsewhere, approved, "r1")["vendor"]["request"] == "r1"


def test_a_pin_names_its_decision() -> None:
    assert describe_decision(pin(approval="a1")) == "approval a1"
    assert describe_decision(pin(request="r1")) == "request r1"
    assert describe_decision(pin()) == "an approval of an older release"


def digest(**changes: Any) -> str | None:
    return digest_seen(list_seen({"vendor": {**pin(), "entity_type": "vendor", **changes}}))


def test_a_digest_is_of_what_is_shown() -> None:
    """Show that its writer, and a version that shows the same, make no other one."""
    seen = digest()
    assert seen is not None and len(seen) == DIGEST_CHARACTERS
    assert digest(version=9, responsible=["vera"], hash="b") == seen
    others = [digest(values={"number": "DE-2"}), digest(document_id="v2"), digest(version=None, values={})]
    others.append(digest(read_from="v3"))
    assert len({seen, *others}) == 1 + len(others)
    assert digest_seen([]) is None


def test_who_decides_names_what_they_have_seen() -> None:
    pins = {"vendor": {**pin(), "entity_type": "vendor"}}
    assert check_seen(pins, digest()) is None
    assert check_seen({}, None) is None
    unseen, changed = check_seen(pins, None), check_seen(pins, digest(document_id="v2"))
    assert unseen is not None and changed is not None
    assert (unseen.code, changed.code) == ("REFERENCES_UNSEEN", "REFERENCES_CHANGED")
    assert "vendor" in unseen.message and "vendor" in changed.message
