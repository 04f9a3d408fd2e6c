"""The fact that an effect may have left: an attempt that sent nothing does not count."""

from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.core.errors import Transient
from signet.engine.execution.failed_triggers import release_expired_effects
from signet.engine.integrations import effects as module
from signet.ids import make_id
from signet.outbound.connector import Delivery
from signet.store.outbox.effect_acts import note_unsent
from signet.store.outbox.queue import EFFECTS, ClaimedEffect, claim
from tests.support.effects import (
    Answering,
    add_endpoint,
    begin,
    come_due,
    effects,
    list_may_have_left,
    rows,
)
from tests.support.workflow_stage import WorkflowStage

BUSY = Delivery(503, "ANSWERED: 503")
UNSENT = Delivery(None, "SECRET_MISSING: none of the endpoint's secrets can be read", has_left=False)
LOST: LiteralString = "SELECT left_at IS NOT NULL, lost_at IS NOT NULL FROM workflow_side_effects_outbox"


def take(stage: WorkflowStage) -> ClaimedEffect:
    """Claim the only effect, as a worker does that does not come back."""
    come_due(stage)
    with stage.database.transaction(stage.tenant_id) as connection:
        (row,) = claim(connection, EFFECTS, at_most=1, lease_seconds=60, claim_id=make_id())
    return row


def lose(stage: WorkflowStage) -> None:
    stage.expire_leases()
    with stage.database.transaction(stage.tenant_id) as connection:
        release_expired_effects(connection, stage.tenant_id, at_most=5)


def say_unsent(stage: WorkflowStage, row: ClaimedEffect) -> None:
    with stage.database.transaction(stage.tenant_id) as connection:
        note_unsent(connection, stage.tenant_id, [row])


@pytest.fixture
def waiting(stage: WorkflowStage) -> UUID:
    (made,) = begin(stage)
    add_endpoint(stage)
    return made.instance_id


@pytest.mark.parametrize(("delivery", "has_left"), [(BUSY, True), (UNSENT, False)])
def test_an_attempt_counts_where_it_has_sent_something(
    stage: WorkflowStage, waiting: UUID, delivery: Delivery, has_left: bool
) -> None:
    assert list_may_have_left(stage) == [False]
    effects(stage, webhook=Answering(delivery)).work(stage.tenant_id)
    assert rows(stage) == [("failed", 1)]
    assert list_may_have_left(stage) == [has_left]


def test_what_has_left_once_stays_noted(stage: WorkflowStage, waiting: UUID) -> None:
    for delivery in (BUSY, UNSENT):
        effects(stage, webhook=Answering(delivery)).work(stage.tenant_id)
        come_due(stage)
    assert rows(stage) == [("failed", 2)]
    assert list_may_have_left(stage) == [True]


def test_without_a_connector_nothing_leaves(stage: WorkflowStage, waiting: UUID) -> None:
    effects(stage).work(stage.tenant_id)
    assert rows(stage) == [("failed", 1)]
    assert list_may_have_left(stage) == [False]


def test_an_attempt_counts_while_it_is_under_way(stage: WorkflowStage, waiting: UUID) -> None:
    take(stage)
    assert list_may_have_left(stage) == [True]


def test_what_goes_back_untried_has_not_left(stage: WorkflowStage, waiting: UUID) -> None:
    """Its endpoint rests."""
    stage.standing.run("UPDATE endpoints SET failures = 5, rests_until = now() + interval '1 day'")
    effects(stage, webhook=Answering()).work(stage.tenant_id)
    assert rows(stage) == [("pending", 0)]
    assert list_may_have_left(stage) == [False]


def test_a_claim_that_is_given_back_has_sent_nothing(
    stage: WorkflowStage, waiting: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim was committed, and its worker was told of an outage."""

    class Interrupted(module.Effects):
        def _claim(self, *given: Any) -> Any:
            super()._claim(*given)
            raise Transient("DATABASE_UNAVAILABLE", "the answer was lost")

    with pytest.raises(Transient):
        Interrupted(stage.database, {"webhook": Answering()}).work(stage.tenant_id)
    assert rows(stage) == [("pending", 0)]
    assert list_may_have_left(stage) == [False]


def test_a_worker_sends_nothing_after_its_lease(
    stage: WorkflowStage, waiting: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LEASE_SECONDS", 0.0)
    connector = Answering()
    effects(stage, webhook=connector).work(stage.tenant_id)
    assert connector.given == []
    assert rows(stage) == [("pending", 0)]
    assert list_may_have_left(stage) == [False]


# --- a worker that does not come back ---


def test_of_a_lost_attempt_nobody_knows_the_end(stage: WorkflowStage, waiting: UUID) -> None:
    take(stage)
    lose(stage)
    assert stage.standing.rows(LOST) == [(True, True)]
    effects(stage, webhook=Answering(BUSY)).work(stage.tenant_id)
    assert stage.standing.rows(LOST) == [(True, False)]


def test_an_attempt_that_sends_nothing_says_nothing_of_the_lost_one(
    stage: WorkflowStage, waiting: UUID
) -> None:
    take(stage)
    lose(stage)
    effects(stage, webhook=Answering(UNSENT)).work(stage.tenant_id)
    assert stage.standing.rows(LOST) == [(True, True)]


def test_who_comes_back_late_says_that_nothing_was_sent(stage: WorkflowStage, waiting: UUID) -> None:
    row = take(stage)
    lose(stage)
    say_unsent(stage, row)
    assert stage.standing.rows(LOST) == [(False, False)]


def test_who_comes_back_late_says_nothing_of_the_next_attempt(stage: WorkflowStage, waiting: UUID) -> None:
    row = take(stage)
    lose(stage)
    # Its note is repeated after an outage, when another worker has claimed the effect.
    say_unsent(stage, row)
    take(stage)
    say_unsent(stage, row)
    assert list_may_have_left(stage) == [True]
