"""Random instances moved to random changes of their workflows: tokens are kept, and nothing is done twice."""

from copy import deepcopy
from functools import lru_cache
from random import Random

from hypothesis import given

from signet.core.repair.move_check import MoveInput, assess
from signet.core.runtime.projection import project
from signet.core.runtime.workflow import Workflow
from tests.support.generated.histories import MAX_EVENTS, History
from tests.support.generated.strategies import fuzz, load_seed, make, numbers, seeds
from tests.support.generated.workflows import WorkflowCase, make_automation, make_patch
from tests.unit.core.repair.test_move_check import define
from tests.unit.core.runtime.test_tokens import check_family


@lru_cache(maxsize=200)
def load_changed(seed: int, other: int) -> Workflow | None:
    """Return the workflow with a new slot, one more step or two steps swapped; None if that is unsound."""
    case, rng = make(seed), Random(other)
    patch = deepcopy(case.patch)
    if case.is_automation:
        patch = make_automation(rng) if rng.random() < 0.3 else patch
    elif rng.random() < 0.3:
        fresh = make_patch(rng, case.contract)["slots"]
        patch["slots"][rng.choice(sorted(fresh))] = fresh[rng.choice(sorted(fresh))]
    region = patch if case.is_automation else patch["slots"][rng.choice(sorted(patch["slots"]))]
    drawn = [one for one in region["edges"] if one.get("role", "forward") == "forward"]
    if drawn and rng.random() < 0.8:
        changed = rng.choice(drawn)
        added = rng.choice(["script", "webhook_out"])
        config = {"set": {"y": "1"}} if added == "script" else {"endpoint": "added"}
        region["nodes"].append({"id": "added", "type": added, "config": config})
        region["edges"].append({"id": "further", "source": "added", "target": changed["target"]})
        changed["target"] = "added"
    if len(region["nodes"]) > 1 and rng.random() < 0.7:
        one, two = (node["id"] for node in rng.sample(region["nodes"], 2))
        places = {one: two, two: one}
        for edge in region["edges"]:
            edge |= {end: places.get(edge[end], edge[end]) for end in ("source", "target")}
    artifact = WorkflowCase(case.contract, patch, case.is_automation).compile().artifact
    return Workflow(artifact) if artifact is not None else None


def standing_of(history: History) -> MoveInput:
    ended = ("completed", "failed", "skipped")
    done = {(step.token, step.node) for step in history.steps if step.status in ended and not step.is_control}
    version = history.projection.entity_version
    return MoveInput(history.projection.tokens(), done, (), version, version)


def advance(history: History, events: int) -> None:
    while history.live() and len(history.events) < events:
        history._advance()


def is_in_a_slot(history: History) -> bool:
    return any(token.node.startswith("usr:") for token in history.live().values())


@fuzz(60)
@given(seeds, numbers)
def test_every_instance_can_be_moved_to_what_it_runs_under(seed: int, other: int) -> None:
    history, definition = History(load_seed(seed), Random(other)), load_seed(seed)
    for events in range(1, 40, 3):
        advance(history, events)
        assert assess(define(definition), define(definition, 2), standing_of(history)).is_safe


@fuzz(600)
@given(seeds, numbers)
def test_what_was_moved_keeps_its_tokens_goes_on_to_the_end_and_does_nothing_twice(
    seed: int, other: int
) -> None:
    old, new = load_seed(seed), load_changed(seed, other % 7)
    if new is None:
        return
    history = History(old, Random(other))
    rng = Random(other + 1)
    while len(history.events) < 60 and not (is_in_a_slot(history) and rng.random() < 0.3):
        advance(history, len(history.events) + 1)
        if not history.live():
            return
    report = assess(define(old), define(new, 2), standing_of(history))
    if not report.is_safe or not history.live():
        return
    before, first = history.live(), len(history.steps)
    done = standing_of(history).done
    history._control("moved")
    moved_at = history.projection.version
    history.workflow = new
    assert history.live() == before
    check_family(new, before)
    while history.live() and len(history.events) < 2 * MAX_EVENTS:
        history._advance()
        check_family(new, history.live())
    assert history.projection.status in ("completed", "failed") or len(history.events) >= 2 * MAX_EVENTS
    for step in history.steps[first:]:
        assert step.is_control or (step.token, step.node) not in done
    again = project(old, "sys:start", 1, history.steps, moved_to={moved_at: new})
    assert again == history.projection
