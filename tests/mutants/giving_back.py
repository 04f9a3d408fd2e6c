"""Faults in what ends giving back, and in what keeps looks for work from growing."""

from tests.mutants.mutation import Mutation

GIVEN_BACK = "tests/faults/test_given_back.py::test_"
LOOKS = "tests/integration/engine/dispatch/test_due_looks.py::test_"
UNSETTLED = "tests/integration/engine/dispatch/test_unsettled.py::test_"
SQL = "shared/signet/store/outbox/given_back.sql"
MIGRATION = "migrations/0062_bound_giving_back.sql"

GIVING_BACK = (
    Mutation(
        "what is given back for ever is held by nobody",
        1,
        "shared/signet/engine/execution/worker.py",
        "return hold_stranded(connection, claimed, error.code, self._telemetry)",
        "return False",
        (
            f"{GIVEN_BACK}what_only_one_document_meets_becomes_an_incident_that_a_retry_ends",
            f"{GIVEN_BACK}nobodys_document_waits_for_ever",
        ),
    ),
    Mutation(
        "an outage that all meet holds documents",
        1,
        SQL,
        "done.completed_at > now() - make_interval(secs => %(lately_seconds)s)",
        "done.completed_at > now() - 1000 * make_interval(secs => %(lately_seconds)s)",
        (f"{GIVEN_BACK}an_outage_that_all_meet_counts_nothing",),
    ),
    Mutation(
        "a document without others is given back for ever",
        1,
        SQL,
        "o.given_back_since <= now() - make_interval(secs => %(at_last_seconds)s)",
        "false",
        (f"{GIVEN_BACK}nobodys_document_waits_for_ever",),
    ),
    Mutation(
        "two outages with nobody at work between them count as one",
        1,
        SQL,
        "o.given_back > 0 AND o.due_at > now() - make_interval(secs => %(gap_seconds)s) AS is_so",
        "o.given_back > 0 AS is_so",
        (f"{GIVEN_BACK}two_outages_are_not_one",),
    ),
    Mutation(
        "what was given back for long takes others along",
        1,
        "migrations/0075_ask_less_of_each_row.sql",
        "          AND q.attempts < alone_from AND NOT (SELECT first.is_alone FROM first)\n",
        "          AND q.attempts < alone_from\n",
        (f"{GIVEN_BACK}what_was_given_back_for_long_goes_alone",),
    ),
    Mutation(
        "an incident that cannot be written leaves its trigger to the lease",
        1,
        "shared/signet/engine/execution/worker.py",
        "        except Transient:\n            return False\n",
        "        except Transient:\n            return True\n",
        (f"{GIVEN_BACK}an_incident_that_cannot_be_written_is_given_back_too",),
    ),
    Mutation(
        "the stuck list leaves out what is given back",
        1,
        "shared/signet/store/instances/write.sql",
        "WHERE coming.coming_count = 0 OR coming.is_given_back\n",
        "WHERE coming.coming_count = 0\n",
        (f"{GIVEN_BACK}the_stuck_list_and_the_explanation_say_it",),
    ),
    Mutation(
        "the stuck list reads all triggers that an old snapshot keeps",
        1,
        "shared/signet/store/instances/write.sql",
        "      AND w.due_at > now() - make_interval(secs => %(gap_seconds)s) AND w.given_back > 0\n",
        "      AND w.given_back > 0\n",
        ("tests/integration/store/plans/test_stuck_at_size.py::test_an_old_snapshot_does_not_make_it_grow",),
    ),
    Mutation(
        "the stuck list leaves out what is given back and only waits",
        1,
        "shared/signet/store/instances/write.sql",
        "    WHERE seen.why IS NOT NULL OR seen.id IN (SELECT given_back.instance_id FROM given_back)\n",
        "    WHERE seen.why IS NOT NULL\n",
        (
            "tests/integration/engine/instances/test_lists.py"
            "::test_what_is_given_back_is_found_though_it_only_waits",
        ),
    ),
    Mutation(
        "an end of a claim that waits for a lock keeps a worker from all else",
        1,
        "shared/signet/engine/dispatch/unsettled.py",
        "                    kept.not_before = self._clock() + PUT_OFF_SECONDS\n",
        "                    pass\n",
        (f"{UNSETTLED}what_is_in_the_way_of_one_alone_keeps_no_other_waiting",),
    ),
    Mutation(
        "a look for tenants never looks at everything again",
        1,
        "shared/signet/engine/dispatch/due_looks.py",
        "if seen is None or self._clock() - seen.looked_at >= self._plan.look_at_all_seconds:",
        "if seen is None:",
        (f"{LOOKS}what_comes_late_with_an_earlier_time_is_never_missed",),
    ),
    Mutation(
        "a look that told not all is taken for whole",
        1,
        "shared/signet/engine/dispatch/due_looks.py",
        "is_whole = len(found) < at_most",
        "is_whole = True",
        (f"{LOOKS}a_look_that_tells_not_all_is_repeated",),
    ),
    Mutation(
        "a look for tenants reads what is done before it",
        1,
        MIGRATION,
        "q.status IN ('pending', 'failed') AND q.due_at BETWEEN t.since AND now()",
        "q.status IN ('pending', 'failed') AND q.due_at <= now()",
        (f"{LOOKS}an_old_snapshot_does_not_make_looks_grow",),
    ),
    Mutation(
        "an idle transaction of a tool never ends",
        1,
        "migrations/0063_end_idle_transactions.sql",
        "'5min'",
        "'0'",
        ("tests/migrations/test_idle_transactions.py::test_an_idle_transaction_of_any_role_ends",),
    ),
)
