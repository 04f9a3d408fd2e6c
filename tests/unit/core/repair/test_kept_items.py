"""The items that a list with `each: keep` has done, known by content and by round."""

from typing import Any

import pytest

from signet.core.repair.kept_items import KeptItems, name_kept, name_round

ROUND = name_round("i1", "T/b7")


def done(*items: Any, failed: int = 1, name: str = ROUND) -> dict[str, Any]:
    """Return what is stored once these items are done and others have failed."""
    kept = KeptItems(None, name, [*items, *[None] * failed])
    for index, item in enumerate(items):
        kept.add(index, {"pays": item["iban"]}, f"made {index}")
    return kept.to_json()


def item(iban: str, note: str = "") -> dict[str, str]:
    return {"iban": iban, "note": note}


def left_to_do(kept: KeptItems, items: list[dict[str, str]]) -> list[str]:
    """Return what a retry does of the list."""
    found = (kept.find(i) or kept.find_given(i, {"pays": one["iban"]}) for i, one in enumerate(items))
    return [one["iban"] for one, before in zip(items, found, strict=True) if before is None]


@pytest.mark.parametrize(
    ("then", "does", "repeats"),
    [
        ("A B C", "B", False),
        ("A C", "", False),
        ("C A", "", False),
        ("N A B C", "N B", False),
        ("B C", "B", False),
        ("A A C", "A", False),
        ("N C", "N", False),
        ("X B C", "X B", True),
        ("A X Y C", "X Y", False),
        ("", "", False),
    ],
)
def test_what_is_done_is_known_wherever_it_stands(then: str, does: str, repeats: bool) -> None:
    """A and C are done, and one has failed. Where one that was done says something else, it is a repeat."""
    items = [item(iban) for iban in then.split()]
    kept = KeptItems(done(item("A"), item("C")), ROUND, items)
    assert left_to_do(kept, items) == does.split()
    assert kept.repeats is repeats


def test_what_the_action_is_not_given_makes_no_other_item() -> None:
    items = [item("A", "said again"), item("B")]
    kept = KeptItems(done(item("A", "once")), ROUND, items)
    assert kept.find(0) is None and kept.has_left
    assert left_to_do(kept, items) == ["B"] and not kept.has_left


def test_equal_items_are_done_each_by_itself() -> None:
    items = [item("A"), item("A"), item("A")]
    kept = KeptItems(done(item("A"), item("A")), ROUND, items)
    assert left_to_do(kept, items) == ["A"]
    kept.add(2, {"pays": "A"}, "made 2")
    assert kept.outputs() == ["made 0", "made 1", "made 2"]


def test_what_was_taken_out_is_known_when_it_comes_back() -> None:
    shorter = [item("A"), item("B")]
    once = KeptItems(done(item("A"), item("C")), ROUND, shorter).to_json()
    items = [*shorter, item("C")]
    assert once["failed"] == 1
    assert left_to_do(KeptItems(once, ROUND, items), items) == ["B"]


def test_another_round_does_all_of_it() -> None:
    items = [item("A"), item("B")]
    for other in (name_round("i1", "T"), name_round("i2", "T/b7"), name_round("i1", "T/b8/r9")):
        kept = KeptItems(done(item("A"), name=other), ROUND, items)
        assert left_to_do(kept, items) == ["A", "B"] and not kept.repeats
    assert name_round("i1", "T/b7/r9") == ROUND


def test_the_variable_has_a_name_that_nothing_can_read() -> None:
    assert name_kept("usr:way:pay") == "usr:way:pay#done"
