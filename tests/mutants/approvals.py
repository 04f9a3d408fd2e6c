"""Faults in approvals: votes that count for another version, or twice (WF-03)."""

from tests.mutants.mutation import Mutation

GATE = "shared/signet/engine/execution/nodes/lifecycle_gate.py"
APPROVALS = "shared/signet/engine/approvals/requests.py"
WF_03 = "tests/scenarios/invariants/test_wf_03_an_approval_counts_once_for_one_version.py::test_wf_03_"

APPROVALS_MUTATIONS = (
    Mutation(
        "a gate passes and leaves the approval unused",
        3,
        GATE,
        "            context.approvals.consume(context.row.id)\n",
        "            pass\n",
        (f"{WF_03}what_is_approved_lets_the_gate_pass_and_is_used_up",),
    ),
    Mutation(
        "a gate takes an approval of another version",
        3,
        GATE,
        "next((r.document_version for r in unused if r.document_version != version), None)",
        "next((r.document_version for r in unused if r.document_version < 0), None)",
        (f"{WF_03}a_gate_does_not_take_an_approval_of_another_version",),
    ),
    Mutation(
        "an edit leaves an approval standing",
        3,
        APPROVALS,
        "elif request.is_unused and is_past:",
        "elif False:",
        (f"{WF_03}an_edit_after_the_approval_takes_it_away",),
    ),
    Mutation(
        "a vote counts for a version that is gone",
        3,
        "shared/signet/engine/approvals/decide.py",
        "if document.version != request.document_version:",
        "if document.version < request.document_version:",
        (f"{WF_03}a_vote_for_a_version_that_is_gone_does_not_count",),
    ),
    Mutation(
        "a token that a person cancels goes on as if approved",
        3,
        "shared/signet/core/runtime/workflow.py",
        "WorkflowEdge(edge.id, edge.source, edge.target, edge.on, edge.role",
        'WorkflowEdge(edge.id, edge.source, edge.target, "approved", edge.role',
        (f"{WF_03}who_cancels_an_approval_has_not_given_it",),
    ),
)
