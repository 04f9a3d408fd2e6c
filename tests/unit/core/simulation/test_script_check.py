"""A scripted answer to a call has the shape that the engine would save."""

from typing import Any

import pytest

from signet.core.simulation import find_wrong_answers
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.simulation.test_run import chain, load

SAVED = {"endpoint": "bank", "save_as": "paid"}


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        ({"reference": "P-1"}, "/outputs/bank/status"),
        ("P-1", "/outputs/bank/status"),
        (None, "/outputs/bank/status"),
        ({"status": 200}, "/outputs/bank/body"),
        ({"status": 200, "body": {}, "reference": "P-1"}, "/outputs/bank/reference"),
        ({"status": 200, "body": {"reference": "P-1"}}, None),
        ({"status": 200, "body": None}, None),
        ({"status": 200, "body": None, "duration_ms": 81.5}, None),
    ],
)
def test_an_answer_that_no_receiver_could_give_is_found(answer: Any, pointer: str | None) -> None:
    workflow = load(CONTRACT, approval=chain(("call", "webhook_out", SAVED)))
    found = [mistake.pointer for mistake in find_wrong_answers(workflow, {"bank": answer, "other": 1})]
    assert found == ([pointer] if pointer else [])


def test_an_answer_that_nothing_saves_may_say_anything() -> None:
    workflow = load(CONTRACT, approval=chain(("call", "webhook_out", {"endpoint": "bank"})))
    assert find_wrong_answers(workflow, {"bank": 7}) == []
