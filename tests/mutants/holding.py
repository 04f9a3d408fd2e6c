"""Faults in what holds a token, and in the acts that let it go (WF-15)."""

from tests.mutants.mutation import Mutation

REPAIRS = "tests/integration/engine/instances/test_repairs.py::test_"
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
        "what was approved still counts after it was sent back",
        3,
        "shared/signet/engine/instances/repairs.py",
        "            context.adopt_changes()\n",
        "",
        (f"{REPAIRS}what_is_sent_back_is_asked_again",),
    ),
)
