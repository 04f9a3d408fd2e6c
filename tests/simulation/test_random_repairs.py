"""A document that wanders by chance among failures, decisions and repairs is never without a way on.

Whenever all is quiet, it is at its end, or something that can come is waited for, or an open incident names an act
that brings it on. No effect leaves for a step that was withdrawn, no message is accepted twice, and a rebuild
makes the identical row. At the end, with each cause removed, the acts that are named lead to where its author
drew it. SIGNET_TEST_CAMPAIGN tries as many documents as the campaign needs.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from hypothesis.strategies import sampled_from

from tests.support.core.approval_policies import VOTES
from tests.support.repair.rows import BUSY, GONE
from tests.support.repair.scene import RepairScene
from tests.support.repair.wanderings import WANDERING_ACTS, Wandering, publish_all
from tests.support.shared_company import IS_CAMPAIGN
from tests.support.workflow_stage import WorkflowStage, standing_stage

SHARDS = 8
EXAMPLES = 2_000 // SHARDS if IS_CAMPAIGN else 104 // SHARDS
MAX_STEPS = 12
# Where the author lets a document be: at an end, in force, or with those who may ask for the next transition.
PLACES = {"draft", "active", "closed", "voided"}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_document_is_ever_without_a_way_on(stage: WorkflowStage, shard: int) -> None:
    scene = RepairScene(stage)
    types = publish_all(scene)

    class Wanderings(RuleBasedStateMachine):
        wandering: Wandering

        @initialize(entity_type=sampled_from(types))
        def begin(self, entity_type: str) -> None:
            self.wandering = Wandering(scene, entity_type)

        @rule(name=sampled_from(sorted(WANDERING_ACTS)))
        def try_act(self, name: str) -> None:
            self.wandering.act(name)

        @rule()
        def ask(self) -> None:
            self.wandering.act("ask")

        @rule(is_broken=sampled_from((True, False)))
        def change_code(self, is_broken: bool) -> None:
            scene.is_broken = is_broken

        @rule(delivery=sampled_from((None, BUSY, GONE)))
        def deliver(self, delivery: object) -> None:
            scene.deliver(delivery)  # type: ignore[arg-type]
            scene.settle()

        @rule(vote=sampled_from(VOTES))
        def vote(self, vote: str) -> None:
            self.wandering.vote(vote)

        @rule()
        def expire(self) -> None:
            self.wandering.expire()

        @invariant()
        def has_a_way_on(self) -> None:
            self.wandering.check()

        def teardown(self) -> None:
            if hasattr(self, "wandering"):
                assert self.wandering.bring_on() in PLACES
                self.wandering.check()

    # Each shard begins elsewhere; each run of a shard tries the same.
    Wanderings.TestCase.settings = chosen = settings(
        max_examples=EXAMPLES,
        stateful_step_count=MAX_STEPS,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    from hypothesis import seed as seeded

    run_state_machine_as_test(seeded(shard)(Wanderings), settings=chosen)
