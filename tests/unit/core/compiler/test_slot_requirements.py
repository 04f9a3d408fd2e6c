"""A contract's requirement of a slot is proven on every path, or the patch does not compile."""

from copy import deepcopy
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from signet.core.compiler.compiler import Compilation, compile_effective
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import WorldScript, simulate
from signet.core.validation.finding import Severity
from tests.support.core.valid_workflow import CONTRACT, PATCH, compile_patch, read_envelope

CFO, CLERK, ANN, BOSS = (
    {"by": "role", "role": "cfo"},
    {"by": "role", "role": "clerk"},
    {"by": "user", "user": "ann"},
    {"by": "manager"},
)
NAMED = {"by": "expression", "expression": "org.trusted"}


def require(**requires: Any) -> dict[str, Any]:
    contract = deepcopy(CONTRACT)
    contract["slots"]["approval"]["requires"] = requires
    return contract


def ask(name: str, *approvers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "approval", "config": {"approvers": list(approvers), **more}}


def chain(name: str) -> dict[str, Any]:
    return {"id": name, "type": "approval", "config": {"chain": "standard"}}


def compile_slot(
    requires: dict[str, Any], *nodes: dict[str, Any], edges: Any = None, **more: Any
) -> Compilation:
    """Compile a patch of the approval's slot, its nodes one after another where no edges are given."""
    names = [node["id"] for node in nodes]
    row = [{"source": one, "target": two} for one, two in pairwise(names)]
    slot = {"nodes": list(nodes), "edges": row if edges is None else edges, "exit": "join", **more}
    patch = {**deepcopy(PATCH), "slots": {"approval": slot}}
    return compile_patch(patch, read_envelope(require(**requires)))


def codes(compilation: Compilation) -> list[str]:
    return [finding.code for finding in compilation.findings]


TWO = {"approvals": 2}
OF_CFO = {"approvals": 1, "role": "cfo"}


@pytest.mark.parametrize(
    ("requires", "nodes", "is_proven"),
    [
        (TWO, [ask("a", CFO), ask("b", CLERK)], True),
        (TWO, [ask("a", CFO, CLERK, quorum=2)], True),
        (TWO, [ask("a", CFO)], False),
        # People may abstain, so that one of them approves alone.
        (TWO, [ask("a", CFO, CLERK)], False),
        (TWO, [ask("a", CFO, CLERK, quorum="any")], False),
        # One person of the wider circle decides the stage.
        (TWO, [ask("a", CFO, CLERK, quorum=2, escalate={"after": "P1D", "to": CFO})], False),
        (TWO, [chain("a"), chain("b")], True),
        (TWO, [chain("a")], False),
        (OF_CFO, [ask("a", CFO)], True),
        (OF_CFO, [ask("a", CLERK)], False),
        (OF_CFO, [ask("a", CFO, CLERK, quorum="any")], False),
        (OF_CFO, [ask("a", CFO, CLERK, quorum=2)], True),
        (OF_CFO, [ask("a", CFO, ANN, BOSS, quorum=2)], False),
        (OF_CFO, [ask("a", CFO, NAMED, quorum=2)], False),
        (OF_CFO, [ask("a", {**NAMED, "who": "cfo"})], True),
        (OF_CFO, [ask("a", {**NAMED, "who": "clerk"})], False),
        (OF_CFO, [ask("a", CFO, escalate={"after": "P1D", "to": CFO})], True),
        (OF_CFO, [ask("a", CFO, escalate={"after": "P1D", "to": ANN})], False),
        (OF_CFO, [chain("a")], False),
        (OF_CFO, [ask("a", ANN), ask("b", CFO)], True),
        ({**TWO, "role": "cfo"}, [ask("a", CFO), ask("b", CFO, CFO, quorum=2)], True),
        ({**TWO, "distinct": True}, [ask("a", CFO), ask("b", CFO)], True),
        ({**TWO, "distinct": True}, [chain("a"), ask("b", CFO)], True),
        # Both chains may allow the same person one day.
        ({**TWO, "distinct": True}, [chain("a"), chain("b")], False),
        ({**TWO, "distinct": True, "role": "cfo"}, [chain("a"), ask("b", CFO)], False),
    ],
)
def test_what_an_approval_proves(
    requires: dict[str, Any], nodes: list[dict[str, Any]], is_proven: bool
) -> None:
    compilation = compile_slot(requires, *nodes)
    assert codes(compilation) == ([] if is_proven else ["REQUIRED_APPROVALS_MISSING"])
    assert (compilation.artifact is not None) is is_proven


def test_every_path_counts() -> None:
    nodes = [{"id": "amount", "type": "condition"}, ask("a", CFO)]
    small = {"source": "amount", "target": "out", "condition": "entity.grand_total < 5"}
    (finding,) = compile_slot(
        {"approvals": 1}, *nodes, edges=[small, {"source": "amount", "target": "a"}]
    ).findings
    assert (finding.code, finding.place) == ("REQUIRED_APPROVALS_MISSING", "approval")
    assert "at least 1 approval" in finding.sentence and "proves 0" in finding.sentence
    both = [{**small, "target": "a"}, {"source": "amount", "target": "a", "id": "else"}]
    assert codes(compile_slot({"approvals": 1}, *nodes, edges=both)) == []


def test_after_a_rejection_another_approval_is_the_only_one() -> None:
    nodes = [ask("a", CFO, CLERK, quorum=2), ask("b", CFO)]
    again = [{"source": "a", "target": "b", "on": "rejected"}]
    assert codes(compile_slot(TWO, *nodes, edges=again)) == ["REQUIRED_APPROVALS_MISSING"]
    # What stays rejected passes no gate.
    assert (
        codes(compile_slot(TWO, nodes[0], edges=[{"source": "a", "target": "out", "on": "rejected"}])) == []
    )


def make_fork(mode: str, *branches: dict[str, Any], **more: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    nodes = [{"id": "fork", "type": "parallel_split"}, *branches]
    nodes.append({"id": "met", "type": "parallel_join", "config": {"mode": mode}})
    edges = [{"source": "fork", "target": branch["id"]} for branch in branches]
    edges += [{"source": branch["id"], "target": "met"} for branch in branches]
    return nodes, edges


@pytest.mark.parametrize(("mode", "is_proven"), [("all", True), ("any", False)])
def test_a_block_brings_all_of_its_branches_or_one(mode: str, is_proven: bool) -> None:
    nodes, edges = make_fork(mode, ask("a", CFO), ask("b", CLERK))
    assert (codes(compile_slot(TWO, *nodes, edges=edges)) == []) is is_proven


def test_what_leaves_a_block_brings_what_it_had() -> None:
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "bureau"}}
    nodes, edges = make_fork("all", ask("a", CFO), call)
    edges.append({"source": "call", "target": "out", "on": "error"})
    accepts = {"approval_can_be_lost": ["met"]}
    alone = compile_slot({"approvals": 1}, *nodes, edges=edges, accepts=accepts)
    assert codes(alone) == ["REQUIRED_APPROVALS_MISSING"]
    first = [{"source": "first", "target": "fork"}, *edges]
    assert (
        codes(compile_slot({"approvals": 1}, ask("first", CFO), *nodes, edges=first, accepts=accepts)) == []
    )


def test_a_patch_that_leaves_the_slot_empty_does_not_compile() -> None:
    patch = deepcopy(PATCH)
    del patch["slots"]["approval"]
    compilation = compile_patch(patch, read_envelope(require(**TWO)))
    assert compilation.artifact is None
    assert [(f.code, f.place) for f in compilation.findings] == [("REQUIRED_SLOT_EMPTY", "approval")]


def test_the_bare_envelope_shuts_its_gate_until_a_patch_comes() -> None:
    compilation = compile_effective(read_envelope(require(**TWO)))
    assert compilation.artifact is not None
    assert [(f.code, f.severity) for f in compilation.findings] == [("REQUIRED_SLOT_WAITS", Severity.WARNING)]
    assert compilation.artifact.content["shut_gates"] == {"sys:gate:approve": "approval"}
    script, now = WorldScript(requests=["submit"]), datetime(2026, 1, 1, tzinfo=UTC)
    simulation = simulate(Workflow(compilation.artifact), {"grand_total": 1}, script, now)
    assert (simulation.status, simulation.document_status) == ("paused", "submitted")
    assert "requires approvals in the slot 'approval'" in (simulation.reason or "")


def test_a_filled_slot_opens_it() -> None:
    artifact = compile_slot(TWO, ask("a", CFO), ask("b", CLERK)).artifact
    assert artifact is not None and "shut_gates" not in artifact.content
    assert artifact.content["requires"] == {"approval": {"approvals": 2, "distinct": False, "role": None}}
    script, now = (
        WorldScript(requests=["submit"], approvals={"*": "approved"}),
        datetime(2026, 1, 1, tzinfo=UTC),
    )
    simulation = simulate(Workflow(artifact), {"grand_total": 1}, script, now)
    assert simulation.document_status == "active"


def test_distinct_persons_are_not_the_same_person() -> None:
    nodes = [ask("a", CFO, same_person="allowed"), ask("b", CFO)]
    distinct = compile_slot({**TWO, "distinct": True}, *nodes)
    assert [(f.code, f.place) for f in distinct.findings] == [("REQUIRED_DISTINCT", "usr:approval:a")]
    assert codes(compile_slot(TWO, *nodes)) == []


def test_a_contract_that_requires_nothing_has_the_envelope_that_it_had() -> None:
    plain, requiring = read_envelope(CONTRACT), read_envelope(require(**TWO))
    assert "requires" not in plain.contract.to_json()["slots"]["approval"]
    assert plain.hash != requiring.hash and plain.contract_hash != requiring.contract_hash
