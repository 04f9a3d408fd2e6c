"""The use of approvals: the gates that use up each one, and the gates that can be passed without any."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from signet.core.compiler.rejection_edges import REJECTING
from signet.core.compiler.slot_graph import DEFAULT_PRIORITY
from signet.core.explain.artifact_reader import WorkflowReading
from signet.core.explain.outline import Chapter, Entry, NumberedLine, Outline
from signet.core.explain.vocabulary import describe_list

MAX_SHOWN_CONDITIONS = 10
_WHO = {"creator": "created it", "editor": "edited it", "requester": "asked for the change"}


def write_approvals(outline: Outline) -> Chapter:
    workflow = outline.workflow
    gates_behind, free_paths = find_gates_behind(workflow), find_free_paths(workflow)
    used = {approval: gates_behind[approval] for approval in workflow.in_order("approval")}
    asked = {gate for gates in used.values() for gate in gates}
    entries = [Entry(lambda: NumberedLine(_VERSION)), Entry(partial(_describe_separation, outline))]
    entries += [Entry(lambda: NumberedLine(_DISTINCT))] if used else []
    entries += [Entry(partial(_describe_use, outline, approval, gates)) for approval, gates in used.items()]
    for gate in workflow.in_order("lifecycle_gate"):
        if workflow.config_of(gate)["kind"] != "interrupting":
            entries.append(Entry(partial(_describe_need, outline, gate, gate in asked, free_paths.get(gate))))
    return Chapter("What the approvals decide", entries)


_VERSION = (
    "An approval holds for the one version of the document that was shown to people. An edit withdraws what"
    " is still being asked, and voids what was decided but not used yet. A gate that does not pass uses"
    " nothing up."
)


_DISTINCT = (
    "Approvals that one gate uses up are given by distinct persons, also in stages and branches. Only"
    " approvals that all allow the same person may be given by one."
)


def _describe_separation(outline: Outline) -> NumberedLine:
    if outline.contract is None:
        return NumberedLine(
            "A person who created or edited the document or asked for the change may not decide, unless its"
            " contract lets them."
        )
    allowed = outline.contract.separation_of_duties.may_decide
    barred = [act for part, act in _WHO.items() if part not in allowed]
    sentences = []
    if barred:
        sentences.append(
            f"A person who {describe_list(barred, 'or')} may not decide about {outline.words.document}."
        )
    if allowed:
        sentences.append(
            "The contract lets people decide even if they"
            f" {describe_list([_WHO[part] for part in allowed], 'or')}."
        )
    return NumberedLine(" ".join(sentences))


def _describe_use(outline: Outline, approval: str, gates: Collection[str]) -> NumberedLine:
    if not gates:
        return NumberedLine(
            f"The approval {outline.refer(approval)} is used by no gate: it only decides which way is taken."
        )
    users = describe_list(map(outline.refer, sorted(gates)), "or")
    return NumberedLine(f"The approval {outline.refer(approval)} is used up by the gate {users}.")


def find_gates_behind(workflow: WorkflowReading) -> dict[str, frozenset[str]]:
    """Return for each node the gates that it leads to before the next state."""
    behind: dict[str, frozenset[str]] = {}
    for node_id in reversed(workflow.order):
        gates: set[str] = set()
        for edge in workflow.edges_from(node_id):
            target_type = workflow.type_of(edge["target"])
            if target_type == "lifecycle_gate":
                gates.add(edge["target"])
            elif target_type != "state":
                gates |= behind[edge["target"]]
        behind[node_id] = frozenset(gates)
    return behind


@dataclass(frozen=True)
class FreePath:
    """A path on which nobody was asked: the edges on it that were chosen among several."""

    choices: tuple[Mapping[str, Any], ...] = ()


def _describe_need(outline: Outline, gate: str, is_asked: bool, free: FreePath | None) -> NumberedLine:
    if not is_asked:
        return NumberedLine(f"No approval is asked for before the gate {outline.refer(gate)}.")
    if free is None:
        return NumberedLine(f"Nothing passes the gate {outline.refer(gate)} without an approval.")
    if not free.choices:
        return NumberedLine(f"The gate {outline.refer(gate)} can be passed without an approval.")
    return NumberedLine(
        f"The gate {outline.refer(gate)} can be passed without an approval. One such way:",
        tuple(
            f"At {outline.refer(edge['source'])}. {outline.describe_edge(edge)}"
            for edge in free.choices[:MAX_SHOWN_CONDITIONS]
        ),
    )


def find_free_paths(workflow: WorkflowReading) -> dict[str, FreePath]:
    """Return one path to each node that can be reached from a state without a decision of people.

    A rejection is no such path: only an approval lets a rejected token pass a gate.
    """
    paths: dict[str, FreePath] = {}
    for node_id in workflow.order:
        if workflow.type_of(node_id) in ("start", "state"):
            paths[node_id] = FreePath()
        elif workflow.type_of(node_id) != "approval":
            arriving = [
                e for e in workflow.edges_to(node_id) if e["source"] in paths and _is_free(workflow, e)
            ]
            path = _meet(workflow, node_id, arriving, paths)
            if path is not None:
                paths[node_id] = path
    return paths


def _is_free(workflow: WorkflowReading, edge: Mapping[str, Any]) -> bool:
    is_forward = edge["role"] not in ("return", "interrupt")
    return is_forward and edge["on"] not in REJECTING and workflow.type_of(edge["source"]) != "lifecycle_gate"


def _meet(
    workflow: WorkflowReading, node_id: str, arriving: list[Mapping[str, Any]], paths: Mapping[str, FreePath]
) -> FreePath | None:
    block = workflow.content["joins"].get(node_id)
    if block is None or block["mode"] == "any":
        return _along(arriving[0], paths) if arriving else None
    # All branches must arrive, so each must have a path of its own.
    by_branch = {_branch_of(workflow, edge, block["split"]): edge for edge in reversed(arriving)}
    if len(by_branch) < block["required_token_count"]:
        return None
    choices: dict[str, Mapping[str, Any]] = {}
    for branch in sorted(by_branch):
        for edge in _along(by_branch[branch], paths).choices:
            choices.setdefault(f"{edge['source']}>{edge['target']}#{edge['on']}", edge)
    return FreePath(tuple(choices.values()))


def _branch_of(workflow: WorkflowReading, edge: Mapping[str, Any], split: str) -> tuple[int, str]:
    stack = dict(workflow.content["blocks"].get(edge["source"], ()))
    # An edge from the split straight to the join is a branch of its own.
    return (stack[split], "") if split in stack else (-1, str(edge["priority"]))


def _along(edge: Mapping[str, Any], paths: Mapping[str, FreePath]) -> FreePath:
    is_choice = "condition" in edge or edge["priority"] == DEFAULT_PRIORITY
    taken = paths[edge["source"]].choices
    return FreePath((*taken, edge)[:MAX_SHOWN_CONDITIONS] if is_choice else taken)
