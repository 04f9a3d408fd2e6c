"""Faults in fairness: one person takes what serves everybody. It is no invariant of workflows."""

from tests.mutants.mutation import NO_INVARIANT, Mutation

QUOTAS = "tests/integration/engine/access/test_quotas.py::test_"
WAITS = "tests/integration/engine/access/test_waits.py::test_"
SQL = "shared/signet/store/tenants/waits.sql"

FAIRNESS = (
    Mutation(
        "each key has a share beside its owner's",
        NO_INVARIANT,
        "shared/signet/core/tenants/principal.py",
        "        return self.key.owner if self.key is not None else self.subject\n",
        "        return self.subject\n",
        ("tests/functions/routes/tenants/test_api_keys.py::test_a_key_uses_the_share_of_its_owner",),
    ),
    Mutation(
        "a person takes all of the tenant's requests",
        NO_INVARIANT,
        "shared/signet/engine/access/quotas.py",
        "        person = bucket_of_person(quota, subject, self._percent)\n",
        "        person = bucket_of_tenant(quota)\n",
        (f"{QUOTAS}a_person_takes_their_share_and_leaves_the_rest", f"{QUOTAS}the_share_is_a_setting"),
    ),
    Mutation(
        "all persons share one bucket",
        NO_INVARIANT,
        "shared/signet/core/tenants/quotas.py",
        'subject.encode(errors="surrogatepass")',
        'b""',
        (
            f"{QUOTAS}a_person_takes_their_share_and_leaves_the_rest",
            f"{WAITS}a_person_has_a_quarter",
            "tests/unit/core/tenants/test_request_limits.py::test_each_person_has_a_bucket_beside_the_tenants",
        ),
    ),
    Mutation(
        "one signing sender takes all of the tenant's requests",
        NO_INVARIANT,
        "shared/signet/engine/access/quotas.py",
        "    _require(connection, tenant_id, share)\n",
        "",
        (
            "tests/functions/routes/integrations/test_events.py::test_a_sender_has_a_share_of_the_tenants_quota",
        ),
    ),
    Mutation(
        "a person waits in every place of the tenant",
        NO_INVARIANT,
        SQL,
        "of_person < %(person)s::integer",
        "true",
        (f"{WAITS}a_person_has_a_quarter", f"{WAITS}a_key_counts_by_itself"),
    ),
    Mutation(
        "a tenant waits in every place",
        NO_INVARIANT,
        SQL,
        "of_tenant < %(tenant)s::integer",
        "true",
        (f"{WAITS}a_tenant_has_half",),
    ),
    Mutation(
        "all tenants together wait without a bound",
        NO_INVARIANT,
        SQL,
        "count_waits(%(in_all)s::integer) < %(in_all)s::integer",
        "true",
        (f"{WAITS}all_tenants_together_have_so_many",),
    ),
    Mutation(
        "two take the last place to wait in",
        NO_INVARIANT,
        "shared/signet/store/tenants/waits.py",
        "    connection.execute(_SQL.lock_waits)\n",
        "",
        ("tests/concurrency/test_waits.py::test_the_second_waits_for_the_first_and_finds_no_place",),
    ),
    Mutation(
        "a place is kept after the wait",
        NO_INVARIANT,
        "shared/signet/engine/access/waits.py",
        "                end_wait(connection, place)\n",
        "                pass\n",
        (f"{WAITS}a_place_that_is_given_back_is_free", f"{WAITS}a_place_is_given_back_when_waiting_fails"),
    ),
    Mutation(
        "who may do nothing has a large body parsed",
        NO_INVARIANT,
        "shared/signet/api/http/bodies.py",
        "        _require_some(wanted, principal, database, is_heavy=route.is_heavy)\n",
        "        pass\n",
        ("tests/functions/routes/test_large_bodies.py::test_who_may_not_is_told_before_the_body_is_parsed",),
    ),
    Mutation(
        "an effect that has just come waits for the whole backlog",
        NO_INVARIANT,
        "shared/signet/engine/integrations/effects.py",
        "        arrived_since = self._arrivals.take(tenant_id)\n",
        "        arrived_since = None\n",
        (
            "tests/integration/engine/integrations/test_effects.py"
            "::test_what_has_just_come_has_its_turn_behind_a_backlog",
        ),
    ),
    Mutation(
        "the janitor looks for what is new alone",
        NO_INVARIANT,
        "shared/signet/store/operations/housekeeping.sql",
        "    CASE WHEN due.last_outcome = 'done' AND due.run_count %% %(runs_to_look_at_all)s <> 0 THEN",
        "    CASE WHEN due.last_outcome = 'done' THEN",
        (
            "tests/integration/engine/housekeeping/test_safety_net.py"
            "::test_a_run_looks_at_what_is_new_and_each_tenth_at_everything",
        ),
    ),
    Mutation(
        "the figures of a queue are never looked up as a whole again",
        NO_INVARIANT,
        "shared/signet/engine/dispatch/measure_bounds.py",
        "        if bound is None or self._clock() - bound.looked_at >= LOOK_AT_ALL_SECONDS:\n",
        "        if bound is None:\n",
        (
            "tests/integration/engine/dispatch/test_measure_bounds.py"
            "::test_a_row_that_comes_late_is_counted_from_the_next_whole_look_on",
        ),
    ),
    Mutation(
        "the heavy calls of one request have no bound",
        NO_INVARIANT,
        "shared/signet/engine/definitions/heavy_calls.py",
        "        if self._clock() >= self._ends_at:\n",
        "        if False:\n",
        (
            "tests/functions/routes/definitions/test_heavy_calls.py"
            "::test_calls_of_a_request_are_made_until_its_time_is_over",
        ),
    ),
    Mutation(
        "what has just come waits for the whole backlog",
        NO_INVARIANT,
        "shared/signet/engine/execution/worker.py",
        "        arrived_since = self._arrivals.take(tenant_id)\n",
        "        arrived_since = None\n",
        (
            "tests/integration/engine/dispatch/test_arrival_turns.py"
            "::test_another_persons_document_waits_for_one_wave_and_not_for_all",
        ),
    ),
)
