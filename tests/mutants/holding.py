"""Faults in what holds a token, in the acts that let it go, and in what a gate believes (WF-03, WF-15)."""

from tests.mutants.mutation import Mutation

REPAIRS = "tests/integration/engine/instances/test_repairs.py::test_"
LAPSED = "tests/scenarios/authority/test_votes_that_lapse.py::test_"
LEFT = "tests/scenarios/authority/test_requesters_who_left.py::test_"
EARLIER = "tests/scenarios/authority/test_earlier_requesters.py::test_"
INCIDENTS = "tests/integration/engine/incidents/test_incidents.py::test_"

HOLDING = (
    Mutation(
        "a rebuild does not know which way a skipped step went",
        15,
        "shared/signet/engine/execution/rebuild.py",
        'in ("completed", "failed", "skipped"):',
        'in ("completed", "failed"):',
        (f"{REPAIRS}a_skipped_step_is_there_in_a_rebuild",),
    ),
    Mutation(
        "a failed step opens no incident",
        15,
        "shared/signet/core/runtime/execution.py",
        "        if self._held or step.is_held or step.is_control:\n",
        "        if self._held or step.is_control:\n",
        (f"{INCIDENTS}a_failed_step_is_an_incident_until_it_is_retried",),
    ),
    Mutation(
        "a retry voids what was approved",
        3,
        "shared/signet/engine/approvals/requests.py",
        "            is_past = has_moved_on or",
        "            is_past = not open_steps or has_moved_on or",
        (f"{REPAIRS}a_retry_keeps_what_was_approved",),
    ),
    Mutation(
        "a gate that has waited passes though what is behind it fails",
        3,
        "shared/signet/engine/execution/wave.py",
        " or not self._documents.batch.is_empty or not self._approvals.rows.is_empty:\n",
        ":\n",
        (f"{LAPSED}what_fails_behind_the_gate_leaves_the_gate_shut",),
    ),
    Mutation(
        "a requester who leaves while a vote is asked again loses the votes",
        3,
        "shared/signet/engine/execution/nodes/lifecycle_gate.py",
        "        problem = None if token.rejected else context.find_actor_problem(node)\n",
        "        problem = None\n",
        (f"{LEFT}a_requester_may_leave_while_a_lapsed_vote_is_asked_again",),
    ),
    Mutation(
        "explanations forget who asked before",
        3,
        "shared/signet/engine/instances/explained_voters.py",
        "            return frozenset(instance.responsible) | earlier\n",
        "            return frozenset(instance.responsible)\n",
        (f"{EARLIER}explanations_say_that_an_earlier_requester_is_barred",),
    ),
    Mutation(
        "what was approved still counts after it was sent back",
        3,
        "shared/signet/engine/instances/repairs.py",
        "            context.adopt_changes()\n",
        "",
        (f"{REPAIRS}what_is_sent_back_is_asked_again",),
    ),
    Mutation(
        "those who have approved before hide the other holders of a role",
        3,
        "shared/signet/engine/approvals/approver_lookup.py",
        " | frozenset(about.approved_elsewhere))",
        ")",
        ("tests/scenarios/authority/test_large_roles.py::test_those_who_have_no_part_are_asked",),
    ),
    Mutation(
        "a gate takes one approval for all that the contract requires",
        3,
        "shared/signet/core/runtime/required_approvals.py",
        "    return max(0, requires.approvals - proven)\n",
        "    return 0\n",
        (
            "tests/scenarios/authority/test_statements_of_workers.py"
            "::test_fewer_approvals_than_the_contract_requires_pass_nothing",
        ),
    ),
    Mutation(
        "the row of an instance says who asked",
        3,
        "shared/signet/engine/execution/nodes/context.py",
        "        if request is not None and request.id == projection.request:\n"
        "            return request.actor\n",
        "        if projection.request is not None:\n            return projection.actor\n",
        (
            "tests/scenarios/authority/test_statements_of_workers.py"
            "::test_another_requester_in_the_row_of_the_instance_is_not_believed",
        ),
    ),
)
