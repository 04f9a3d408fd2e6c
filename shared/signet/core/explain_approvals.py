"""Which gate uses which approval, and whether a gate can be passed with no approval at all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from signet.core.explain_book import Book, Chapter, Entry, Said
from signet.core.merge import REJECTING
from signet.core.words import say_list
from signet.core.workflow_reading import WorkflowReading

MAX_SHOWN_CONDITIONS = 10
_WHO = {"creator": "created it", "editor": "edited it", "requester": "asked for the change"}


def write_approvals(book: Book) -> Chapter:
    entries = [
        Entry(lambda: _say_version()),
        Entry(lambda: _say_separation(book)),
    ]
    for approval in book.workflow.in_order("approval"):
        entries.append(Entry(lambda approval=approval: _say_use(book, approval)))  # type: ignore[misc]
    for gate in book.workflow.in_order("lifecycle_gate"):
        if book.workflow.config_of(gate)["kind"] != "interrupting":
            entries.append(Entry(lambda gate=gate: _say_need(book, gate)))  # type: ignore[misc]
    return Chapter("What the approvals decide", entries)


def _say_version() -> Said:
    return Said(
        "An approval holds for the one version of the document that was shown to people. An edit withdraws what"
        " is still being asked, and voids what was decided but not used yet. A gate that does not pass uses"
        " nothing up."
    )


def _say_separation(book: Book) -> Said:
    if book.contract is None:
        return Said("Who created or edited the document or asked for the change may not decide, unless its contract says so.")
    allowed = book.contract.separation_of_duties.may_decide
    barred = [said for who, said in _WHO.items() if who not in allowed]
    sentences = []
    if barred:
        sentences.append(f"Who {say_list(barred, 'or')} may not decide about {book.words.document}.")
    if allowed:
        sentences.append(f"The contract lets also those decide who {say_list([_WHO[who] for who in allowed], 'or')}.")
    return Said(" ".join(sentences))


def _say_use(book: Book, approval: str) -> Said:
    gates = find_gates_behind(book.workflow, approval)
    if not gates:
        return Said(f"The approval {book.refer(approval)} is used by no gate: it only decides which way is taken.")
    return Said(f"The approval {book.refer(approval)} is used up by the gate {say_list(map(book.refer, gates), 'or')}.")


def find_gates_behind(workflow: WorkflowReading, approval: str) -> list[str]:
    """The gates that an approval leads to before the status stands again."""
    gates: list[str] = []
    seen, stack = {approval}, [edge["target"] for edge in workflow.edges_from(approval, "approved")]
    while stack:
        node_id = stack.pop()
        if node_id in seen:
            continue
        seen.add(node_id)
        if workflow.type_of(node_id) == "lifecycle_gate":
            gates.append(node_id)
        elif workflow.type_of(node_id) not in ("state", "end"):
            stack.extend(edge["target"] for edge in workflow.edges_from(node_id) if edge["role"] != "return")
    return sorted(gates)


@dataclass(frozen=True)
class FreeWay:
    """A way on which nobody was asked: the edges on it that were chosen among several."""

    choices: tuple[Mapping[str, Any], ...] = ()


def _say_need(book: Book, gate: str) -> Said:
    asked = [a for a in book.workflow.in_order("approval") if gate in find_gates_behind(book.workflow, a)]
    if not asked:
        return Said(f"No approval is asked for before the gate {book.refer(gate)}.")
    free = find_free_ways(book.workflow).get(gate)
    if free is None:
        return Said(f"Nothing passes the gate {book.refer(gate)} without an approval.")
    if not free.choices:
        return Said(f"The gate {book.refer(gate)} can be passed without an approval.")
    return Said(
        f"The gate {book.refer(gate)} can be passed without an approval. One such way:",
        tuple(f"At {book.refer(edge['source'])}. {book.say_way(edge)}" for edge in free.choices[:MAX_SHOWN_CONDITIONS]),
    )


def find_free_ways(workflow: WorkflowReading) -> dict[str, FreeWay]:
    """For each node that can be reached from a state without a decision of people, one way there.

    A rejection is no such way: only an approval lets a rejected token pass a gate.
    """
    ways: dict[str, FreeWay] = {}
    for node_id in workflow.order:
        if workflow.type_of(node_id) in ("start", "state"):
            ways[node_id] = FreeWay()
        elif workflow.type_of(node_id) != "approval":
            arriving = [e for e in workflow.edges_to(node_id) if e["source"] in ways and _is_free(workflow, e)]
            way = _meet(workflow, node_id, arriving, ways)
            if way is not None:
                ways[node_id] = way
    return ways


def _is_free(workflow: WorkflowReading, edge: Mapping[str, Any]) -> bool:
    is_forward = edge["role"] not in ("return", "interrupt")
    return is_forward and edge["on"] not in REJECTING and workflow.type_of(edge["source"]) != "lifecycle_gate"


def _meet(
    workflow: WorkflowReading, node_id: str, arriving: list[Mapping[str, Any]], ways: Mapping[str, FreeWay]
) -> FreeWay | None:
    block = workflow.content["joins"].get(node_id)
    if block is None or block["mode"] == "any":
        return _along(workflow, arriving[0], ways) if arriving else None
    # Where all branches must arrive, each must have a way of its own.
    by_branch = {_branch_of(workflow, edge, block["split"]): edge for edge in reversed(arriving)}
    if len(by_branch) < block["required_token_count"]:
        return None
    choices: dict[str, Mapping[str, Any]] = {}
    for branch in sorted(by_branch):
        for edge in _along(workflow, by_branch[branch], ways).choices:
            choices.setdefault(f"{edge['source']}>{edge['target']}#{edge['on']}", edge)
    return FreeWay(tuple(choices.values()))


def _branch_of(workflow: WorkflowReading, edge: Mapping[str, Any], split: str) -> tuple[int, str]:
    stack = dict(workflow.content["blocks"].get(edge["source"], ()))
    # An edge from the split straight to the join is a branch of its own.
    return (stack[split], "") if split in stack else (-1, str(edge["priority"]))


def _along(workflow: WorkflowReading, edge: Mapping[str, Any], ways: Mapping[str, FreeWay]) -> FreeWay:
    is_choice = len(workflow.edges_from(edge["source"], edge["on"])) > 1 and workflow.type_of(edge["source"]) not in (
        "parallel_split",
        "state",
    )
    taken = ways[edge["source"]].choices
    return FreeWay((*taken, edge)[:MAX_SHOWN_CONDITIONS] if is_choice else taken)
