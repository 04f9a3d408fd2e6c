"""Documents that wander by chance among failures, decisions and repairs are never without a way on.

At each quiet moment a document is at its end, or waits for what can come. Otherwise an open incident names
acts that are accepted. No effect leaves for a step that was withdrawn, nothing that was approved once is done
twice, and a rebuild makes the identical row. At the end each cause is removed: then the named acts lead to
where its author drew it. SIGNET_TEST_CAMPAIGN tries 2,000 documents.
"""

import os
from collections.abc import Iterator
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, reproduce_failure, seed, settings
from hypothesis import __version__ as hypothesis_version
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from hypothesis.strategies import integers, sampled_from

from tests.support.repair.scene import RepairScene
from tests.support.shared_company import IS_CAMPAIGN
from tests.support.stored_violations import list_violations
from tests.support.wandering.definitions import DEFINITIONS
from tests.support.wandering.wanderers import STARTS, STEPS, Step, Wanderers
from tests.support.wandering.world import World
from tests.support.workflow_stage import WorkflowStage, standing_stage

SEEDS = 50 if IS_CAMPAIGN else 8
EXAMPLES = (2_000 if IS_CAMPAIGN else 104) // SEEDS
MAX_STEPS = 12 if IS_CAMPAIGN else 8
# Shrinking takes minutes: a failure is shrunk where a person asks for it.
PHASES = (Phase.generate, Phase.shrink) if os.environ.get("SIGNET_TEST_SHRINK") else (Phase.generate,)
# What Hypothesis prints of a failure: with it, the same document alone wanders once more.
BLOB = os.environ.get("SIGNET_TEST_WANDERING")


class Wanderings(RuleBasedStateMachine):
    world: ClassVar[World]
    wanderers: Wanderers | None = None
    # An invariant that has failed says more than the end of its documents.
    is_lost = False

    @initialize(where=sampled_from(STARTS), chance=integers(0, 9_999))
    def begin(self, where: str, chance: int) -> None:
        self.world.begin(chance)
        self.wanderers = Wanderers(self.world)
        self.wanderers.start(where)

    @property
    def own(self) -> Wanderers:
        assert self.wanderers is not None
        return self.wanderers

    @rule(step=sampled_from(STEPS), which=integers(0, 3))
    def go_a_step(self, step: Step, which: int) -> None:
        self.own.go(step, which)

    @invariant()
    def has_a_way_on(self) -> None:
        if self.wanderers is not None:
            self.is_lost = True
            self.wanderers.check()
            self.is_lost = False

    def teardown(self) -> None:
        if self.wanderers is not None and not self.is_lost:
            self.wanderers.bring_on()


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.mark.parametrize("number", range(SEEDS))
def test_no_document_is_ever_without_a_way_on(stage: WorkflowStage, number: int) -> None:
    """Try the same in each run of a seed, and another workflow with the next seed."""
    Wanderings.world = World(RepairScene(stage), number % len(DEFINITIONS))
    Wanderings.world.publish()
    chosen = settings(
        max_examples=EXAMPLES,
        stateful_step_count=MAX_STEPS,
        phases=PHASES,
        report_multiple_bugs=False,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    machine = seed(number)(Wanderings)
    if BLOB:
        machine = reproduce_failure(hypothesis_version, BLOB.encode())(machine)
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except AssertionError as error:
        error.add_note(describe_replay(number))
        raise
    assert list_violations(stage.standing.admin_url, stage.tenant_id) == []


def describe_replay(number: int) -> str:
    test = f"tests/simulation/test_random_repairs.py::test_no_document_is_ever_without_a_way_on[{number}]"
    campaign = "SIGNET_TEST_CAMPAIGN=1 " if IS_CAMPAIGN else ""
    return (
        f"Once more: {campaign}.venv/bin/python -m pytest -n 0 '{test}'. Put SIGNET_TEST_WANDERING=<the text"
        " of reproduce_failure> in front for this document alone, or SIGNET_TEST_SHRINK=1 for fewer steps."
    )
