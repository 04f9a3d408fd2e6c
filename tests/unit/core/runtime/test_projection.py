"""WF-15: an instance is the sum of its steps, after each of them and in any order of reading."""

from copy import deepcopy
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given

from signet.core.errors import Defect
from signet.core.runtime import execution as journey
from signet.core.runtime.projection import CONTROL, Projection, Step, project
from tests.support.generated.histories import History
from tests.support.generated.strategies import fuzz, load_seed, numbers, seeds
from tests.unit.core.runtime.test_tokens import run_script


def cut(steps: list[Step], seq: int) -> list[Step]:
    """Return the steps as they were when that number was the last one given."""
    begun = [step for step in steps if step.seq <= seq]
    return [
        step
        if step.end_seq is not None and step.end_seq <= seq
        else replace(step, end_seq=None, status="running", chosen_edge_ids=(), variables={})
        for step in begun
    ]


@fuzz(60)
@given(seeds, numbers)
def test_wf_15_every_prefix_of_a_history_gives_the_instance_of_then(seed: int, other: int) -> None:
    history = History(load_seed(seed), Random(other), interferes=True).run()
    for event in history.events[:: max(1, len(history.events) // 40)]:
        prefix = cut(history.steps, event.seq)
        assert project(history.workflow, "sys:start", 1, prefix) == event.after
    assert project(history.workflow, "sys:start", 1, history.steps) == history.projection


@fuzz(40)
@given(seeds, numbers)
def test_wf_15_the_order_of_reading_does_not_matter(seed: int, other: int) -> None:
    rng = Random(other)
    history = History(load_seed(seed), rng, interferes=True).run()
    shuffled = rng.sample(history.steps, len(history.steps))
    assert project(history.workflow, "sys:start", 1, shuffled) == history.projection


@fuzz(40)
@given(seeds, numbers)
def test_wf_15_simulations_are_the_sum_of_their_steps_at_every_moment(seed: int, other: int) -> None:
    snapshots: dict[int, Projection] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("apply_begun", "apply_ended"):
            patch.setattr(journey, name, record(getattr(journey, name), snapshots))
        simulation = run_script(seed, other)
    steps = [simulated.step for simulated in simulation.steps]
    actor = simulation.projection.actor
    assert project(load_seed(seed), "sys:start", 1, steps, actor) == simulation.projection
    for seq, live in snapshots.items():
        assert project(load_seed(seed), "sys:start", 1, cut(steps, seq), actor) == live


def record(apply, snapshots: dict[int, Projection]):  # type: ignore[no-untyped-def]
    def apply_and_keep(*arguments):  # type: ignore[no-untyped-def]
        result = apply(*arguments)
        projection: Projection = arguments[1]
        snapshots[projection.version] = deepcopy(projection)
        return result

    return apply_and_keep


def test_controls_of_an_instance() -> None:
    workflow = load_seed(1)

    def after(*names: str) -> Projection:
        steps = [
            Step(seq, seq, f"{CONTROL}{name}", "", "completed", 1, 3, data={"node": "sys:end"})
            for seq, name in enumerate(names, start=1)
        ]
        return project(workflow, "sys:start", 1, steps)

    assert after("paused").status == "paused" and len(after("paused").tokens()) == 1
    assert after("paused", "resumed").status == "running"
    assert after("paused", "failed").status == "failed" and after("failed").tokens() == []
    assert after("cancelled").status == after("amended").status == "cancelled"
    sent = after("paused", "resumed", "sent_to")
    assert [(token.id, token.node) for token in sent.tokens()] == [("T/b3", "sys:end")]
    assert (sent.version, sent.entity_version) == (3, 3)
    with pytest.raises(Defect, match="no control is called 'turned'"):
        after("turned")
