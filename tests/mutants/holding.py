"""Faults in what holds a token, and in the acts that let it go (WF-15)."""

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
)
