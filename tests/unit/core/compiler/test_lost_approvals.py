"""An approval that a branch beside it can cancel is found, unless the patch accepts it by the join's name."""

from copy import deepcopy
from typing import Any

import pytest

from signet.core.compiler.compiler import Compilation
from signet.core.validation.finding import Finding
from signet.core.validation.messages import TEXTS
from tests.support.core.valid_workflow import PATCH, compile_patch

ASK = {"type": "approval", "config": {"approvers": [{"by": "role", "role": "cfo"}]}}
TELL = {
    "type": "notification",
    "config": {"channel": "sms", "to": [{"by": "role", "role": "cfo"}], "text": "Look"},
}
CALL = {"type": "webhook_out", "config": {"endpoint": "bureau"}}
PASS = {"type": "condition"}


def block(
    mode: str, *branches: dict[str, Any] | None, edges: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Make a block of single nodes b0, b1 …; None is an empty branch."""
    nodes: list[dict[str, Any]] = [{"id": "fork", "type": "parallel_split"}]
    drawn = list(edges or [])
    for index, branch in enumerate(branches):
        name = f"b{index}" if branch is not None else "met"
        drawn.append({"source": "fork", "target": name})
        if branch is not None:
            nodes.append({"id": name, **branch})
            drawn.append({"source": name, "target": "met", "id": f"end{index}"})
    nodes.append({"id": "met", "type": "parallel_join", "config": {"mode": mode}})
    return {"nodes": nodes, "edges": drawn, "exit": "join"}


def compile_slot(body: dict[str, Any], **more: Any) -> Compilation:
    patch = deepcopy(PATCH)
    patch["slots"] = {"approval": {**body, **more}}
    return compile_patch(patch)


def list_lost(compilation: Compilation) -> list[tuple[str, str]]:
    """Return the join and the approval of each loss, which is the only thing that is found."""
    assert {finding.code for finding in compilation.findings} <= {"APPROVAL_CAN_BE_LOST"}
    return [(finding.place, finding.parameters["approval"]) for finding in compilation.findings]


MET, B0, B1 = "usr:approval:met", "usr:approval:b0", "usr:approval:b1"


@pytest.mark.parametrize(
    ("body", "lost"),
    [
        (block("any", ASK, TELL), [(MET, B0)]),
        (block("any", TELL, ASK), [(MET, B1)]),
        (block("any", ASK, None), [(MET, B0)]),
        (block("any", ASK, ASK, PASS), [(MET, B0), (MET, B1)]),
        # The first of these has approved.
        (block("any", ASK, ASK), []),
        (block("any", TELL, PASS), []),
        (block("all", ASK, TELL), []),
        (block("all", ASK, None), []),
    ],
)
def test_a_branch_without_an_approval_can_win(body: dict[str, Any], lost: list[tuple[str, str]]) -> None:
    compilation = compile_slot(body)
    assert list_lost(compilation) == lost
    assert (compilation.artifact is None) == bool(lost)


def test_a_branch_that_asks_on_one_of_its_paths_only_can_win_on_the_other() -> None:
    body = block("any", PASS, ASK)
    body["nodes"].append({"id": "sometimes", **ASK})
    body["edges"] += [
        {"source": "b0", "target": "sometimes", "condition": "entity.grand_total > 5"},
        {"source": "sometimes", "target": "met"},
    ]
    assert list_lost(compile_slot(body)) == [(MET, B1)]
    # Of a rejection the other branch is still waited for.
    body["edges"][-2:] = []
    body["nodes"][1] = {"id": "b0", "type": "rule", "config": {"rules": ["known"]}}
    body["edges"] = [e for e in body["edges"] if e.get("id") != "end0"]
    body["edges"] += [
        {"source": "b0", "target": "sometimes"},
        {"source": "b0", "target": "met", "on": "rejected"},
        {"source": "sometimes", "target": "met"},
    ]
    assert list_lost(compile_slot(body)) == []


@pytest.mark.parametrize(("mode", "lost"), [("any", [(MET, B1)]), ("all", [])])
def test_a_block_inside_a_branch_is_as_free_as_its_branches(mode: str, lost: list[tuple[str, str]]) -> None:
    """Show that an inner block with one approval is won without it, or not, as its own mode says."""
    body = block("any", {"type": "parallel_split"}, ASK)
    body["edges"] = [e for e in body["edges"] if e.get("id") != "end0"]
    body["nodes"] += [{"id": "x", **ASK}, {"id": "y", **TELL}]
    body["nodes"].append({"id": "inner", "type": "parallel_join", "config": {"mode": mode}})
    body["edges"] += [{"source": "b0", "target": name} for name in ("x", "y")]
    body["edges"] += [{"source": name, "target": "inner"} for name in ("x", "y")]
    body["edges"].append({"source": "inner", "target": "met"})
    inner = [("usr:approval:inner", "usr:approval:x")] if mode == "any" else []
    assert list_lost(compile_slot(body)) == inner + lost


def test_an_edge_that_leaves_the_block_loses_what_is_asked_beside_it() -> None:
    failed = {"source": "b1", "target": "out", "on": "error"}
    assert list_lost(compile_slot(block("all", ASK, CALL, edges=[failed]))) == [(MET, B0)]
    gone = {"source": "b1", "target": "out", "role": "exit", "condition": "entity.grand_total > 5"}
    assert list_lost(compile_slot(block("all", ASK, PASS, edges=[gone]))) == [(MET, B0)]
    # Where people are asked instead, none of it is lost.
    instead = block("all", ASK, CALL, edges=[{**failed, "target": "instead"}])
    instead["nodes"].append({"id": "instead", **ASK})
    instead["edges"].append({"source": "met", "target": "instead"})
    assert list_lost(compile_slot(instead)) == []
    # A rejection goes to the gate, and passes nothing.
    rejected = {"source": "b1", "target": "out", "on": "rejected"}
    assert list_lost(compile_slot(block("all", ASK, ASK, edges=[rejected]))) == []
    # An error that leads to the join is one more way to arrive there.
    inside = {"source": "b1", "target": "met", "on": "error"}
    assert list_lost(compile_slot(block("all", ASK, CALL, edges=[inside]))) == []


def test_an_edge_that_leaves_is_followed_to_the_end_of_the_slot() -> None:
    failed = {"source": "b1", "target": "told", "on": "error"}
    body = block("all", ASK, CALL, edges=[failed])
    body["nodes"] += [{"id": "told", **TELL}, {"id": "also", **TELL}]
    body["edges"] += [
        {"source": "met", "target": "told"},
        {"source": "told", "target": "also", "condition": "entity.grand_total > 5"},
        {"source": "told", "target": "also", "id": "else"},
    ]
    assert list_lost(compile_slot(body)) == [(MET, B0)]


@pytest.mark.parametrize("name", ["met", "usr:approval:met"])
def test_what_is_accepted_by_name_stands_in_the_artifact(name: str) -> None:
    compilation = compile_slot(block("any", ASK, TELL), accepts={"approval_can_be_lost": [name]})
    assert compilation.artifact is not None and compilation.findings == ()
    assert compilation.artifact.content["accepted"] == {MET: [B0]}
    without = compile_slot(block("all", ASK, TELL)).artifact
    assert without is not None and "accepted" not in without.content


def test_one_name_accepts_one_join() -> None:
    body = block("any", ASK, TELL)
    more = block("any", ASK, TELL)
    for node in more["nodes"]:
        node["id"] = f"second_{node['id']}"
    for edge in more["edges"]:
        edge |= {"source": f"second_{edge['source']}", "target": f"second_{edge['target']}"}
    body["nodes"] += more["nodes"]
    body["edges"] += [*more["edges"], {"source": "met", "target": "second_fork"}]
    for edge in more["edges"]:
        edge.pop("id", None)
    found = compile_slot(body, accepts={"approval_can_be_lost": ["met"]})
    assert list_lost(found) == [("usr:approval:second_met", "usr:approval:second_b0")]


@pytest.mark.parametrize("name", ["met", "nothing", "b0"])
def test_nothing_is_accepted_that_is_no_loss(name: str) -> None:
    (finding,) = compile_slot(block("all", ASK, TELL), accepts={"approval_can_be_lost": [name]}).findings
    assert (finding.code, finding.place, finding.parameters["name"]) == (
        "ACCEPTANCE_UNUSED",
        "approval",
        name,
    )


def test_the_finding_says_how_to_do_it_and_how_to_accept_it() -> None:
    finding: Finding = next(iter(compile_slot(block("any", ASK, TELL)).findings))
    assert "can win 'usr:approval:met' without an approval" in finding.sentence
    assert "accepts: {approval_can_be_lost: [...]}" in finding.remedy and "'met'" in finding.remedy


def test_no_remedy_of_another_finding_leads_there() -> None:
    remedies = {code: remedy for code, (_, _, remedy) in TEXTS.items() if code != "APPROVAL_CAN_BE_LOST"}
    assert [code for code, remedy in remedies.items() if "mode: any" in remedy] == []
    proposing = [
        code for code, remedy in remedies.items() if "role: exit" in remedy and "Remove" not in remedy
    ]
    assert proposing == ["BLOCK_LEFT_SIDEWAYS"]
    assert "no approval" in remedies["BLOCK_LEFT_SIDEWAYS"]
