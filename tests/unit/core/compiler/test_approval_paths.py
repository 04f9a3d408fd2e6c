"""The fewest approvals on a path are a bound that every random history keeps."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given

from signet.core.compiler.approval_paths import ApprovalPaths, Weight, follow_paths
from signet.core.compiler.graph import ENVELOPE, Edge, Node, make_graph
from signet.core.compiler.parallel_blocks import Blocks
from tests.support.generated.histories import Event
from tests.support.generated.strategies import compile_seed, fuzz, numbers, seeds
from tests.unit.core.runtime.test_tokens import run_history


def follow(content: Mapping[str, Any]) -> ApprovalPaths:
    """Count one for each approval of a compiled workflow."""
    slot_map = content["slot_map"]
    nodes = [
        Node(node_id, node["type"], node["config"], slot_map.get(node_id, ENVELOPE))
        for node_id, node in content["nodes"].items()
    ]
    edges = [
        Edge(edge_id, edge["source"], edge["target"], edge["on"], edge["role"], edge["priority"])
        for edge_id, edge in content["edges"].items()
    ]
    blocks = Blocks(
        stacks={
            node.id: tuple((split, branch) for split, branch in content["blocks"].get(node.id, ()))
            for node in nodes
        },
        join_of={join["split"]: name for name, join in content["joins"].items()},
        split_of={name: join["split"] for name, join in content["joins"].items()},
        branch_count={join["split"]: join["required_token_count"] for join in content["joins"].values()},
    )
    order = content["topological_order"]
    return follow_paths(make_graph(nodes, edges), blocks, order, lambda node: Weight(1))


def outcome_of(content: Mapping[str, Any], event: Event) -> str | None:
    chosen = event.step.chosen_edge_ids
    return content["edges"][chosen[0]]["on"] if chosen and chosen[0] in content["edges"] else None


@fuzz(150)
@given(seeds, numbers)
def test_no_history_passes_a_gate_with_fewer_approvals_than_were_counted(seed: int, other: int) -> None:
    content = compile_seed(seed).content
    paths, given_here, slot_out = follow(content), 0, None
    for event in run_history(seed, other).events:
        node = content["nodes"].get(event.step.node)
        if node is None or event.step.end_seq is None:
            continue
        outcome = outcome_of(content, event)
        match node["type"]:
            case "approval":
                given_here += outcome == "approved"
            case "slot_in":
                given_here = 0
            case "slot_out":
                slot_out = event.step.node
            case "lifecycle_gate":
                if outcome == "passed" and slot_out is not None:
                    fewest = paths.count_fewest(slot_out)
                    assert fewest is not None and given_here >= fewest
                slot_out = None
            case "state":
                slot_out = None


@fuzz(150)
@given(seeds, numbers)
def test_an_approval_that_is_cancelled_on_the_way_was_accepted_to_be(seed: int, other: int) -> None:
    """Show that where a gate passes, another approval was given, or the patch had accepted the loss."""
    content = compile_seed(seed).content
    splits = {join["split"]: name for name, join in content["joins"].items()}
    accepted, begun, cancelled, has_approval = content.get("accepted", {}), set[str](), set[str](), False
    for event in run_history(seed, other).events:
        node = content["nodes"].get(event.step.node)
        cancelled |= {token.node for token in event.changes.cancelled if token.node in begun}
        if node is None:
            continue
        if node["type"] == "approval" and event.step.end_seq is None:
            begun.add(event.step.node)
        if event.step.end_seq is None:
            continue
        outcome = outcome_of(content, event)
        has_approval = has_approval or (node["type"] == "approval" and outcome == "approved")
        if node["type"] == "lifecycle_gate" and outcome == "passed" and not has_approval:
            if content["nodes"][event.step.node]["config"]["kind"] != "interrupting":
                for approval in cancelled:
                    around = {splits[split] for split, _ in content["blocks"][approval]}
                    assert around & accepted.keys()
        if node["type"] in ("lifecycle_gate", "state"):
            begun, cancelled, has_approval = set(), set(), False
