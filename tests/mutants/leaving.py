"""Faults in how effects leave the system (WF-10), and in how work is announced."""

from tests.mutants.mutation import Mutation

WF_10 = "tests/invariants/test_wf_10_what_leaves_was_in_the_outbox.py::test_wf_10_"
EFFECTS = "shared/signet/engine/integrations/effects.py"
WAKE_UPS = "tests/store/test_wake_ups.py::test_"
SHIFTS = "tests/engine/test_shifts.py::test_"

LEAVING = (
    Mutation(
        "what the outside answered is kept by nobody",
        10,
        EFFECTS,
        "own = keep_responses(connection, tenant_id, evidence, claimed.id)",
        "own = {effect.id for effect, _ in evidence}",
        (f"{WF_10}evidence_stands_on_the_row_and_on_the_step",),
    ),
    Mutation(
        "an effect that ended wakes no workflow",
        10,
        EFFECTS,
        "wake_instances(connection, tenant_id, [*(due.effect for due in delivered), *dead])",
        "wake_instances(connection, tenant_id, dead)",
        (f"{WF_10}evidence_stands_on_the_row_and_on_the_step",),
    ),
    Mutation(
        "what is rolled back sends a wake-up with the next transaction",
        10,
        "shared/signet/store/database.py",
        """            # These are left from an earlier transaction, which was rolled back.
            take_wake_ups(connection)
""",
        "",
        (f"{WAKE_UPS}what_is_rolled_back_wakes_nobody",),
    ),
    Mutation(
        "a wave's effects wake nobody",
        10,
        "shared/signet/store/instances/waves.py",
        'add_wake_up(pipeline.connection, tenant_id, "effects")',
        "pass",
        (f"{SHIFTS}a_transaction_tells_after_its_commit_and_only_then",),
    ),
    Mutation(
        "a shift forgets what it did not do in time",
        10,
        "shared/signet/engine/dispatch/consumer.py",
        "self._wake_ups.end(waiting, run.interrupted)",
        "self._wake_ups.end([], run.interrupted)",
        (f"{SHIFTS}what_is_left_when_time_is_up_wakes_somebody",),
    ),
    Mutation(
        "the relay looks for triggers only",
        10,
        "shared/signet/engine/dispatch/relay.py",
        "for queue in QUEUES",
        "for queue in QUEUES[:1]",
        (f"{SHIFTS}the_relay_finds_who_has_work_in_either_queue",),
    ),
)
