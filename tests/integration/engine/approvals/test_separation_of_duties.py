"""A person barred by separation of duties decides by no path, a lawful person by each (docs/approvals.md)."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.compiler.node_configurations import Vote
from signet.core.errors import Rejected
from signet.engine.approvals.decide import Ballot, VoteResult
from tests.support.core.approval_policies import VOTES
from tests.support.separation_of_duties import BARRED, CASES, EVERYBODY, PATHS, WHO, Attempt, Scene
from tests.support.workflow_stage import WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def cast(scene: Scene, attempt: Attempt, path: str, vote: Vote) -> Any:
    """Return the result of the vote, or the rejection."""
    caller = scene.author(attempt.person)
    if path == "decides in bulk":
        return scene.approvals.decide_many(caller, [Ballot(attempt.request_id, vote, "so")])[0]
    try:
        return scene.approvals.decide(caller, attempt.request_id, vote, "so")
    except Rejected as error:
        return error


@pytest.mark.parametrize(("who", "path"), CASES)
def test_no_path_lets_a_barred_persons_decision_count(stage: WorkflowStage, who: str, path: str) -> None:
    scene = Scene(stage, WHO[who])
    for attempt in PATHS[path](scene):
        for vote in VOTES:
            outcome = cast(scene, attempt, path, vote)
            assert isinstance(outcome, Rejected) and outcome.code == attempt.code
    request_id = scene.look()
    assert scene.count_decisions() == (0, 0)
    assert stage.status_of(scene.document.id) == "submitted"
    # Nothing else keeps the gate shut: a lawful person's vote opens it.
    lawful = cast(scene, Attempt(request_id, scene.lawful), path, "approved")
    assert isinstance(lawful, VoteResult) and lawful.request_status == "approved"
    stage.drain()
    assert scene.count_decisions() == (1, 1)
    assert stage.status_of(scene.document.id) == "active"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("who", WHO)
def test_it_is_separation_of_duties_that_bars_them(stage: WorkflowStage, who: str, path: str) -> None:
    """Let the contract allow them: the same decision counts, but never by a delegate of a delegate."""
    scene, has_counted = Scene(stage, WHO[who], EVERYBODY), False
    for attempt in PATHS[path](scene):
        outcome = cast(scene, attempt, path, "approved")
        if attempt.code == BARRED:
            assert isinstance(outcome, VoteResult) and outcome.request_status == "approved"
            has_counted = True
            break
        assert isinstance(outcome, Rejected) and outcome.code == attempt.code
    stage.drain()
    assert has_counted == (stage.status_of(scene.document.id) == "active")
    assert has_counted != (WHO[who].has_delegate and path.endswith("a delegation"))
