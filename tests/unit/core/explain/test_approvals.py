"""The explanation's words about approvals hold in every history: nobody passes a gate unannounced."""

from hypothesis import given

from signet.core.explain.approvals import find_free_paths
from signet.core.explain.artifact_reader import WorkflowReading
from signet.core.explain.definition import explain, write_explanation
from signet.core.runtime.projection import Step
from tests.support.generated.strategies import compile_seed, fuzz, numbers, seeds
from tests.unit.core.runtime.test_tokens import run_history


@fuzz(60)
@given(seeds, numbers)
def test_who_passes_a_gate_without_an_approval_was_announced(seed: int, other: int) -> None:
    workflow = WorkflowReading(compile_seed(seed).content)
    free, is_approved = find_free_paths(workflow), False
    ended = [event.step for event in run_history(seed, other).events if event.step.end_seq is not None]
    for step in sorted(ended, key=lambda step: step.end_seq or 0):
        if step.node not in workflow.nodes:
            continue
        node_type = workflow.type_of(step.node)
        if node_type == "lifecycle_gate" and _outcome(workflow, step) == "passed":
            is_interrupt = workflow.config_of(step.node)["kind"] == "interrupting"
            assert is_approved or is_interrupt or step.node in free
        if node_type in ("state", "lifecycle_gate"):
            is_approved = False
        elif node_type == "approval":
            is_approved = is_approved or _outcome(workflow, step) == "approved"


def _outcome(workflow: WorkflowReading, step: Step) -> str | None:
    edges = [workflow.content["edges"][edge_id]["on"] for edge_id in step.chosen_edge_ids]
    return edges[0] if edges else None


@fuzz(40)
@given(seeds)
def test_every_workflow_can_be_explained(seed: int) -> None:
    text = "\n".join(write_explanation(explain(compile_seed(seed))))
    for node_id in compile_seed(seed).content["slot_map"]:
        assert node_id.startswith("sys:slot:") or node_id in text.replace("\n", " ")
