"""What people ask for while a document's workflow is under way: served, refused, superseded, ended."""

from copy import deepcopy
from typing import Any

import pytest

from tests.engine.waves.stage import CALL, CONTRACT, Stage


def with_transition(name: str, **changes: Any) -> dict[str, Any]:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"][name] |= changes
    return contract


@pytest.mark.parametrize("is_under_way", [False, True], ids=["at rest", "under way"])
def test_whoever_may_ask_for_an_interrupt_is_not_refused_for_who_came_before(
    stage: Stage, is_under_way: bool
) -> None:
    """Its gate is tried as the person who asks, not as the one whom the workflow serves so far."""
    contract = with_transition("cancel", permission="docs:cancel")
    contract["conditions"] = {"docs:cancel": "actor.user_id != 'carl'"}
    document = stage.create(stage.publish(contract, approval={"nodes": [CALL]}))
    if is_under_way:
        stage.ask(document.document_id, "submit")
    stage.drain()
    stage.ask(document.document_id, "cancel", "mona", "admin")
    stage.drain()
    assert stage.requests(document.document_id)[-1] == ("cancel", "performed")
    assert stage.status_of(document.document_id) == "cancelled"
