"""Events that one wait leaves and another takes, and the persons who offered them again."""

from collections.abc import Iterator

import pytest

from signet.engine.integrations.kept_events import SentEvents
from signet.store.documents.write import read_editors
from tests.integration.engine.execution.nodes.test_wait_event import offers, set_limit
from tests.support.operated_instances import operating_on, version
from tests.support.sent_events import send, wait_in, waiting
from tests.support.workflow_stage import WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.mark.parametrize("ends", ["unfit", "cancelled"])
def test_a_younger_wait_has_what_an_older_one_was_offered_and_left(stage: WorkflowStage, ends: str) -> None:
    """The older one was open when the event came. The younger one lets it look first, and is told then."""
    slot = waiting(condition="event.amount <= org.limit")
    set_limit(stage, 1)
    older = wait_in(stage, f"P-{ends}", slot)
    instances, olga = operating_on(stage)
    instances.pause(olga, older.instance_id, version(stage, older), "the auditors are here")
    event = send(stage, f"paid:P-{ends}", {"amount": 5})
    younger = wait_in(stage, f"P-{ends}", waiting())
    assert stage.status_of(younger.id) == "submitted"
    if ends == "unfit":
        instances.resume(olga, older.instance_id, version(stage, older))
    else:
        instances.cancel(olga, older.instance_id, version(stage, older), "not needed", then="leave")
    stage.drain()
    assert stage.status_of(younger.id) == "active"
    assert offers(stage, event.id) == ["ended" if ends == "cancelled" else "unfit", "taken"]


def test_who_offers_an_event_again_stands_behind_it_whoever_takes_it(stage: WorkflowStage) -> None:
    company = stage.standing.company
    event = send(stage, "paid:Q-1", {"amount": 5})
    kept = SentEvents(company.database)
    for person in ("olga", "otto"):
        assert kept.replay(company.caller(person), event.id, "for the order to come").offered == 0
    document = wait_in(stage, "Q-1", waiting())
    assert stage.status_of(document.id) == "active"
    with company.database.transaction(stage.tenant_id) as connection:
        assert {"olga", "otto"} <= read_editors(connection, stage.tenant_id, document.id)
