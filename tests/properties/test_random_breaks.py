"""Random breaks of random patches: a patch that still compiles runs soundly in every history."""

from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import given

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.patch import Automation, Patch
from signet.core.runtime.workflow import Workflow
from signet.core.validation.finding import Severity
from signet.core.validation.strict_model import parse_strictly
from tests.support.generated.histories import History
from tests.support.generated.strategies import fuzz, make, numbers, seeds
from tests.support.generated.workflows import WorkflowCase
from tests.unit.core.runtime.test_tokens import check_family

RUNS = 4


def break_case(case: WorkflowCase, rng: Random) -> WorkflowCase:
    patch = deepcopy(case.patch)
    slot = patch if case.is_automation else rng.choice(list(patch["slots"].values()))
    for _ in range(rng.randint(1, 2)):
        rng.choice(_BREAKS)(slot, rng)
    return WorkflowCase(case.contract, patch, case.is_automation)


def _pick(slot: dict[str, Any], what: str, rng: Random) -> dict[str, Any]:
    picked: dict[str, Any] = rng.choice(slot[what]) if slot[what] else {"id": ""}
    return picked


def _any_end(slot: dict[str, Any], rng: Random) -> str:
    foreign = ["in", "out", "sys:end", "sys:slot:main:out", "usr:before_t1_s0:n0", "nowhere"]
    own: list[str] = [node["id"] for node in slot["nodes"]] * 3
    return rng.choice([*own, *foreign])


def _drop_edge(slot: dict[str, Any], rng: Random) -> None:
    if slot["edges"]:
        slot["edges"].remove(rng.choice(slot["edges"]))


def _drop_node(slot: dict[str, Any], rng: Random) -> None:
    gone = _pick(slot, "nodes", rng)
    slot["nodes"] = [node for node in slot["nodes"] if node is not gone]
    slot["edges"] = [edge for edge in slot["edges"] if gone["id"] not in (edge["source"], edge["target"])]


def _turn_edge(slot: dict[str, Any], rng: Random) -> None:
    _pick(slot, "edges", rng)[rng.choice(["source", "target"])] = _any_end(slot, rng)


def _add_edge(slot: dict[str, Any], rng: Random) -> None:
    edge: dict[str, Any] = {"source": _any_end(slot, rng), "target": _any_end(slot, rng)}
    if rng.random() < 0.5:
        edge["condition"] = "entity.urgent == true"
    if rng.random() < 0.3:
        edge["role"] = "exit"
    slot["edges"].append(edge)


def _change_role(slot: dict[str, Any], rng: Random) -> None:
    edge = _pick(slot, "edges", rng)
    edge["role"] = "exit" if edge.get("role", "forward") == "forward" else "forward"


def _change_outcome(slot: dict[str, Any], rng: Random) -> None:
    outcomes = ["done", "error", "rejected", "approved", "timeout", "expired", "passed"]
    _pick(slot, "edges", rng)["on"] = rng.choice(outcomes)


def _change_condition(slot: dict[str, Any], rng: Random) -> None:
    edge = _pick(slot, "edges", rng)
    if edge.pop("condition", None) is None:
        edge["condition"] = rng.choice(
            ["entity.urgent == true", "entity.urgnt", "entity.amount", "context.zz"]
        )


def _change_type(slot: dict[str, Any], rng: Random) -> None:
    node = _pick(slot, "nodes", rng)
    node["type"] = rng.choice([*NODE_TYPES, "nothing"])
    if rng.random() < 0.7:
        node["config"] = {"mode": "all"} if node["type"] == "parallel_join" else {}


def _change_mode(slot: dict[str, Any], rng: Random) -> None:
    for node in slot["nodes"]:
        if node["type"] == "parallel_join":
            node["config"] = {"mode": rng.choice(["all", "any", "some"])}


def _double(slot: dict[str, Any], rng: Random) -> None:
    slot["nodes"].append(deepcopy(_pick(slot, "nodes", rng)))


def _change_modes_of_slot(slot: dict[str, Any], rng: Random) -> None:
    slot["entry"], slot["exit"] = rng.choice(["serial", "branch"]), rng.choice(["single", "join"])


_BREAKS = [
    _drop_edge, _drop_node, _turn_edge, _turn_edge, _add_edge, _add_edge, _change_role, _change_outcome,
    _change_condition, _change_type, _change_mode, _double, _change_modes_of_slot,
]  # fmt: skip


@fuzz(150)
@given(seeds, numbers)
def test_a_broken_patch_is_refused_or_still_sound(seed: int, other: int) -> None:
    rng = Random(other)
    broken = break_case(make(seed), rng)
    model = Automation if broken.is_automation else Patch
    read, mistakes = parse_strictly(model, broken.patch)
    if read is None:
        assert mistakes
        return
    compilation = broken.compile()
    errors = [finding for finding in compilation.findings if finding.severity is Severity.ERROR]
    assert (compilation.artifact is None) == bool(errors)
    assert all(finding.sentence and finding.remedy for finding in compilation.findings)
    if compilation.artifact is None:
        return
    workflow = Workflow(compilation.artifact)
    for _ in range(RUNS):
        history = History(workflow, Random(rng.random())).run()
        for event in history.events:
            check_family(workflow, event.after.position.tokens)
