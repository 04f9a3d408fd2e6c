"""The approvals that a contract requires, counted again where a gate is passed.

No patch draws a way with fewer approvals. So a token that has come to the gate with fewer was put there by
other means.
"""

from collections.abc import Iterable

from signet.core.compiler.slot_requirements import weigh_approval
from signet.core.contracts.contract import RequiredApprovals
from signet.core.runtime.workflow import Workflow, WorkflowNode


def count_missing(workflow: Workflow, gate: WorkflowNode, approved: Iterable[str]) -> int:
    """Return how many required approvals these nodes leave out; 0 where a way to the gate requires none."""
    content = workflow.content
    if not content.get("requires"):
        return 0
    nodes = list(approved)
    sources = (content["edges"][edge_id]["source"] for edge_id in content["reverse_adjacency"][gate.id])
    return min((_count_missing_of(workflow, source, nodes) for source in sources), default=0)


def _count_missing_of(workflow: Workflow, source: str, approved: Iterable[str]) -> int:
    """Count what is missing for the way that comes to the gate from this node."""
    slot = workflow.content["slot_map"].get(source)
    described = workflow.content["requires"].get(slot)
    if described is None:
        return 0
    requires = RequiredApprovals(**described)
    own = (name for name in approved if workflow.content["slot_map"].get(name) == slot)
    weights = [weigh_approval(workflow.nodes[name].config, requires) for name in own]
    proven = sum(weight.count for weight in weights) + any(weight.is_chain for weight in weights)
    return max(0, requires.approvals - proven)
