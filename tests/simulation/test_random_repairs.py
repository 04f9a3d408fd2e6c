"""A document that wanders by chance among failures, decisions and repairs is never without a way on.

At each quiet moment it is at its end, or waits for what can come. Otherwise an open incident names an act
that brings it on. No effect leaves for a step that was withdrawn, no message is accepted twice, and a rebuild
makes the identical row. At the end, with each cause removed, the named acts lead to where its author drew it.
SIGNET_TEST_CAMPAIGN tries as many documents as the campaign wants.
"""

from collections.abc import Iterator
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from hypothesis.strategies import integers, sampled_from

from signet.outbound.connector import Delivery
from tests.support.core.approval_policies import VOTES
from tests.support.repair.scene import RepairScene
from tests.support.repair.strikes import BUSY, GONE
from tests.support.repair.wanderings import DEFINITIONS, WANDERING_ACTS, Wandering, publish_all
from tests.support.shared_company import IS_CAMPAIGN
from tests.support.workflow_stage import WorkflowStage, standing_stage

SHARDS = 8
EXAMPLES = 2_000 // SHARDS if IS_CAMPAIGN else 104 // SHARDS
MAX_STEPS = 12
# Where the author lets a document be: at an end, in force, or with those who may ask for the next transition.
PLACES = {"draft", "active", "closed", "voided"}


class Wanderings(RuleBasedStateMachine):
    scene: ClassVar[RepairScene]
    types: ClassVar[list[str]]
    wandering: Wandering | None = None
    # An invariant that has failed says more than the end of its document.
    is_lost = False

    @initialize(number=integers(0, len(DEFINITIONS) - 1))
    def begin(self, number: int) -> None:
        self.wandering = Wandering(self.scene, self.types[number])

    @property
    def own(self) -> Wandering:
        assert self.wandering is not None
        return self.wandering

    @rule(name=sampled_from(sorted(WANDERING_ACTS)))
    def try_act(self, name: str) -> None:
        self.own.act(name)

    @rule()
    def ask(self) -> None:
        self.own.act("ask")

    @rule(is_broken=sampled_from((True, False)))
    def change_code(self, is_broken: bool) -> None:
        self.scene.is_broken = is_broken

    @rule(delivery=sampled_from((None, BUSY, GONE)))
    def deliver(self, delivery: Delivery | None) -> None:
        self.scene.deliver(delivery)
        self.scene.settle()

    @rule(vote=sampled_from(VOTES))
    def vote(self, vote: str) -> None:
        self.own.vote(vote)

    @rule()
    def expire(self) -> None:
        self.own.expire()

    @invariant()
    def has_a_way_on(self) -> None:
        if self.wandering is not None:
            self.is_lost = True
            self.wandering.check()
            self.is_lost = False

    def teardown(self) -> None:
        if self.wandering is not None and not self.is_lost:
            assert self.wandering.bring_on() in PLACES
            self.wandering.check()


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_document_is_ever_without_a_way_on(stage: WorkflowStage, shard: int) -> None:
    """Try the same in each run of a shard, and something else in each shard."""
    Wanderings.scene = RepairScene(stage)
    Wanderings.types = publish_all(Wanderings.scene)
    chosen = settings(
        max_examples=EXAMPLES,
        stateful_step_count=MAX_STEPS,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(shard)(Wanderings), settings=chosen)
