"""Faults in who is woken and when: a wait is longer than it is written, a tenant is found by nobody."""

from tests.mutants.mutation import NO_INVARIANT, Mutation

ON_AWS = "tests/functions/handlers/test_waits.py::test_"
LOOKS = "tests/integration/engine/execution/test_looks.py::test_"
BY_TIME = "migrations/0084_look_by_time.sql"
WORKER = "shared/signet/engine/execution/worker.py"

WAKING = (
    Mutation(
        "the end of a wait is woken for a tenth later",
        NO_INVARIANT,
        "shared/signet/store/documents/write.py",
        'add_wake_up(connection, tenant_id, "events", delay_seconds, is_exact=True)',
        'add_wake_up(connection, tenant_id, "events", delay_seconds)',
        (f"{ON_AWS}a_wait_of_seconds_has_a_message_that_waits_so_long",),
    ),
    Mutation(
        "a sweep sends nothing ahead",
        NO_INVARIANT,
        "shared/signet/engine/dispatch/relay.py",
        "                *self._list_new(coming, now),\n",
        "",
        (f"{ON_AWS}a_wait_that_no_message_can_last_has_one_from_the_sweep_before",),
    ),
    Mutation(
        "a planned sweep comes after what it is for",
        NO_INVARIANT,
        "shared/signet/aws/sweeps.py",
        "_find_minute(now + delay - EARLY)",
        "_find_minute(now + delay + EARLY)",
        (
            "tests/aws/test_sweeps.py::test_the_relay_sees_what_a_sweep_is_for_also_where_it_starts_a_minute_late",
        ),
    ),
    Mutation(
        "what a wave leaves to the next one is left to the relay",
        NO_INVARIANT,
        "shared/signet/engine/execution/claim.py",
        'any(trigger.get("due_at") is None for trigger in triggers)',
        "False",
        (f"{LOOKS}what_a_wave_has_left_to_the_next_is_more",),
    ),
    Mutation(
        "a claim whose answer is lost keeps what it holds",
        NO_INVARIANT,
        WORKER,
        "                self._give_back_all(tenant_id, claim_id, error.code)\n",
        "",
        (f"{LOOKS}what_a_claim_holds_whose_answer_is_lost_goes_back_without_an_attempt",),
    ),
    Mutation(
        "leases are not looked for where something was claimed",
        NO_INVARIANT,
        BY_TIME,
        "IF looks_at_leases AND NOT has_more THEN",
        "IF looks_at_leases AND cardinality(taken) = 0 THEN",
        (f"{LOOKS}leases_are_looked_for_also_where_something_was_claimed",),
    ),
    Mutation(
        "the backlog of one tenant hides the others",
        NO_INVARIANT,
        BY_TIME,
        "(SELECT count(*) FROM early) < $4 OR count(*) = $3",
        "true",
        (
            "tests/integration/store/outbox/test_due_by_time.py"
            "::test_the_look_by_time_finds_what_the_walk_found",
        ),
    ),
    Mutation(
        "a tenant has a zone that nobody knows",
        NO_INVARIANT,
        "shared/signet/engine/tenants/settings.py",
        'require_known_zone(change.time_zone, "/time_zone")',
        "pass",
        ("tests/functions/routes/tenants/test_operator.py::test_a_zone_that_nobody_knows_is_refused",),
    ),
)
