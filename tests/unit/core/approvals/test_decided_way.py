"""The way of a document: where people have decided, what holds of it, and since when."""

import pytest

from signet.core.approvals.decided_way import DecidedWay, StatusRun, read_way

DRAFT = StatusRun(1, "draft", decided_at=(3,))
APPROVED = StatusRun(4, "approved")
FREE = StatusRun(1, "draft")


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], DecidedWay()),
        ([FREE], DecidedWay(False, 1, 1)),
        ([FREE, APPROVED], DecidedWay(False, 4, 4)),
        ([DRAFT, APPROVED], DecidedWay(True, 4, 4)),
        # Ways that ask nobody lead on, and back to a status behind the decision.
        ([DRAFT, APPROVED, StatusRun(5, "held"), StatusRun(6, "approved")], DecidedWay(True, 4, 6)),
        # Where the document was before, nothing is decided any more.
        ([DRAFT, APPROVED, StatusRun(5, "draft")], DecidedWay(False, 4, 5)),
        ([DRAFT, APPROVED, StatusRun(5, "draft"), StatusRun(7, "approved")], DecidedWay(False, 7, 7)),
        # A later decision begins again, also one that leads back to the same status.
        ([DRAFT, StatusRun(4, "approved", (6,)), StatusRun(7, "active")], DecidedWay(True, 7, 7)),
        ([DRAFT, StatusRun(4, "approved", (6,))], DecidedWay(True, 7, 4)),
        # Of two decisions the first still holds.
        (
            [DRAFT, StatusRun(4, "approved", (6,)), StatusRun(7, "active"), StatusRun(8, "approved")],
            DecidedWay(True, 7, 8),
        ),
        ([FREE, StatusRun(4, "approved", is_approved_behind=True)], DecidedWay(True, 4, 4)),
    ],
)
def test_the_end_of_the_way(runs: list[StatusRun], expected: DecidedWay) -> None:
    assert read_way(runs, lambda status: False) == expected


def test_the_graph_says_too_what_is_behind() -> None:
    """Things that were done count since the document came there, and not since each gate that asks nobody."""
    runs = [FREE, APPROVED, StatusRun(5, "held"), StatusRun(6, "approved")]
    assert read_way(runs, lambda status: status != "draft") == DecidedWay(False, 4, 6)
    again = [*runs, StatusRun(7, "draft"), StatusRun(8, "approved")]
    assert read_way(again, lambda status: status != "draft") == DecidedWay(False, 8, 8)
