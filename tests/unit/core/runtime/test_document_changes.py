"""The table of what becomes of a transition request: every line, in its order, and every case by one line."""

from itertools import product

import pytest

from signet.core.runtime.document_changes import RequestAction, choose_request_action

ANY = (True, False)
GATES = (None, True, False)
# Columns: a gate can pass, a state can be left, one is being entered, it is under way, it can go back.
TABLE = (
    (((False,), ANY, ANY, ANY, ANY), RequestAction.REFUSE),
    (((None, True), (True,), ANY, ANY, ANY), RequestAction.LEAVE_STATE),
    (((None, True), (False,), (True,), ANY, ANY), RequestAction.LEAVE_TO_STATE),
    (((True,), (False,), (False,), ANY, ANY), RequestAction.INTERRUPT),
    (((None,), (False,), (False,), (True,), ANY), RequestAction.ASK_AGAIN),
    (((None,), (False,), (False,), (False,), (True,)), RequestAction.SEND_BACK),
    (((None,), (False,), (False,), (False,), (False,)), RequestAction.REFUSE),
)
CASES = [(facts, action) for line, action in TABLE for facts in product(*line)]


@pytest.mark.parametrize(("facts", "action"), CASES)
def test_a_request_becomes_what_its_line_says(
    facts: tuple[bool | None, bool, bool, bool, bool], action: RequestAction
) -> None:
    can_pass_gate, can_leave_state, is_entering, is_under_way, can_return = facts
    assert (
        choose_request_action(
            can_pass_gate=can_pass_gate,
            can_leave_state=can_leave_state,
            is_entering=is_entering,
            is_under_way=is_under_way,
            can_return=can_return,
        )
        is action
    )


def test_the_table_says_each_case_once() -> None:
    assert sorted(map(str, (facts for facts, _ in CASES))) == sorted(map(str, product(GATES, *[ANY] * 4)))
