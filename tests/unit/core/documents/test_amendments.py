"""An original that stays in force, and one that no amendment can take the place of any more."""

from json import dumps

import pytest

from signet.core.contracts.contract import Contract
from signet.core.documents.amendments import OriginalState, find_movement, keeps_original, settles

STATES = {
    "draft": {"edit": "editable", "initial": True},
    "active": {"edit": "locked", "settled": True},
    "paused": {"edit": "locked", "settled": True},
    "over": {"edit": "locked", "final": True},
}
CONTRACT = Contract.model_validate_json(dumps({"contract": "thing", "fields": {}, "states": STATES}))
ONE_STATE = {"active": {"edit": "locked", "initial": True, "settled": True}}
BEGINS_SETTLED = Contract.model_validate_json(dumps({"contract": "thing", "fields": {}, "states": ONE_STATE}))
MADE_OF = OriginalState(3, "active")


@pytest.mark.parametrize(
    ("status", "expected"), [("draft", False), ("active", True), ("over", False), ("amended", False)]
)
def test_what_is_settled_stays_in_force(status: str, expected: bool) -> None:
    assert keeps_original(CONTRACT, status) is expected
    assert settles(CONTRACT, status) is expected


def test_where_documents_begin_settled_nothing_is_left_to_wait_for() -> None:
    assert not keeps_original(BEGINS_SETTLED, "active")


def test_an_original_that_is_as_it_was_has_not_moved() -> None:
    assert find_movement(CONTRACT, MADE_OF, OriginalState(3, "active")) is None


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (
            OriginalState(4, "active"),
            "was made of version 3 (active), and the original is at version 4 (active)",
        ),
        (
            OriginalState(3, "paused"),
            "the original is at version 3 (paused). Send the amendment back and edit it",
        ),
        (
            OriginalState(4, "over"),
            "GONE: the original is over, which is final. Give the amendment up",
        ),
        (OriginalState(4, "amended"), "GONE: the original is amended, which is final"),
        (OriginalState(4, "draft"), "MOVED_ON: the original is draft, which is not settled. Settle it first"),
        (OriginalState(3, "active", is_deleted=True), "GONE: the original is deleted"),
        (OriginalState(3, "active", has_other_amendment=True), "another amendment of the original"),
    ],
)
def test_what_has_moved_is_said_with_what_to_do(now: OriginalState, said: str) -> None:
    movement = find_movement(CONTRACT, MADE_OF, now)
    assert movement is not None and said in movement.message
    assert movement.message.startswith(f"{movement.code}: ")
