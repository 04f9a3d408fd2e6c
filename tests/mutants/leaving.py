"""Faults in how effects leave the system (WF-10), and in how work is announced."""

from tests.mutants.mutation import Mutation

WF_10 = "tests/scenarios/invariants/test_wf_10_what_leaves_was_in_the_outbox.py::test_wf_10_"
EFFECTS = "shared/signet/engine/integrations/effects.py"
WAKE_UPS = "tests/integration/store/test_wake_ups.py::test_"
ACTS = "tests/integration/engine/instances/test_effect_acts.py::test_"
DECLARED = "tests/integration/engine/integrations/test_declared_retries.py::test_"
HELD = "tests/integration/engine/integrations/test_held_effects.py::test_"
LISTS = "tests/integration/engine/execution/nodes/test_action.py::test_r5_"
SHIFTS = "tests/integration/engine/dispatch/test_consumer.py::test_"

ON_ITS_WAY = "tests/scenarios/repair/test_withdrawn_on_its_way.py::test_"
ARRIVALS = "migrations/0052_tell_of_what_arrived.sql"

PAUSED = "tests/scenarios/repair/test_held_by_a_pause.py::test_"
LEFT = "tests/integration/engine/integrations/test_what_left.py::test_"
NOTES = "shared/signet/store/outbox/effect_acts.sql"

LEAVING = (
    Mutation(
        "what the outside answered is kept by nobody",
        10,
        EFFECTS,
        "own = keep_responses(connection, tenant_id, evidence, claimed.id, unsent=",
        "own = (lambda **_: {effect.id for effect, _ in evidence})(unsent=",
        (f"{WF_10}evidence_stands_on_the_row_and_on_the_step",),
    ),
    Mutation(
        "an effect that ended wakes no workflow",
        10,
        EFFECTS,
        "wake_instances(connection, tenant_id, [*(due.effect for due in delivered), *dead, *freed])",
        "wake_instances(connection, tenant_id, [*dead, *freed])",
        (f"{WF_10}evidence_stands_on_the_row_and_on_the_step",),
    ),
    Mutation(
        "an effect that an operator withdrew is sent",
        10,
        "shared/signet/store/outbox/effect_acts.sql",
        "ELSE 'withdrawn' END, withdrawn_at",
        "ELSE status END, withdrawn_at",
        (f"{ACTS}a_withdrawn_call_is_not_sent_and_its_step_is_held",),
    ),
    Mutation(
        "an effect of a step that was cancelled is sent",
        10,
        "migrations/0039_act_on_effects.sql",
        "AND (NEW.status IN ('cancelled', 'skipped') OR",
        "AND (NEW.status IN ('skipped') OR",
        (
            "tests/integration/engine/integrations/test_withdrawn_effects.py::test_another_request_withdraws_the_call",
        ),
    ),
    Mutation(
        "a call that was skipped while it was held is sent",
        10,
        "migrations/0039_act_on_effects.sql",
        "AND (NEW.status IN ('cancelled', 'skipped') OR",
        "AND (NEW.status IN ('cancelled') OR",
        (f"{HELD}what_is_held_is_skipped_and_not_sent_later",),
    ),
    Mutation(
        "what was withdrawn on its way arrives, and nobody is told",
        10,
        ARRIVALS,
        "WHEN (NEW.status = 'completed' AND OLD",
        "WHEN (NEW.status = 'failed' AND OLD",
        (f"{ON_ITS_WAY}a_void_names_what_may_have_left_and_tells_when_it_arrived",),
    ),
    Mutation(
        "an answer that a step still takes is told as one too many",
        10,
        "migrations/0068_tell_of_what_had_arrived.sql",
        "OR about_step.status IN ('pending', 'running') THEN",
        "THEN",
        (f"{ON_ITS_WAY}an_answer_that_a_step_still_takes_is_told_to_nobody",),
    ),
    Mutation(
        "an act does not say what may have left",
        10,
        "shared/signet/engine/instances/operator_transaction.py",
        "            self.report.note_left(self._connection, context)",
        "            pass",
        (f"{ON_ITS_WAY}an_act_of_an_operator_names_what_may_have_left",),
    ),
    Mutation(
        "what was sent counts as unsent where its attempts were taken back",
        10,
        "shared/signet/store/outbox/effect_acts.sql",
        "q.left_at IS NOT NULL",
        "q.attempts > 0",
        (
            "tests/integration/engine/instances/test_effect_acts.py"
            "::test_what_was_sent_stays_named_where_its_attempts_were_taken_back",
        ),
    ),
    Mutation(
        "a claim does not note that its call may leave",
        10,
        "migrations/0075_ask_less_of_each_row.sql",
        "left_at = coalesce(q.left_at, now())",
        "left_at = q.left_at",
        (f"{LEFT}an_attempt_counts_while_it_is_under_way",),
    ),
    Mutation(
        "an attempt that sends nothing takes back what an earlier one has sent",
        10,
        NOTES,
        "SET left_at = nullif(q.left_at, q.claimed_at)",
        "SET left_at = NULL",
        (f"{LEFT}what_has_left_once_stays_noted",),
    ),
    Mutation(
        "who comes back late takes back what another worker has sent",
        10,
        NOTES,
        " AND q.claimed_at = row.claimed_at",
        "",
        (f"{LEFT}who_comes_back_late_says_nothing_of_the_next_attempt",),
    ),
    Mutation(
        "an attempt that was answered counts as unsent",
        10,
        EFFECTS,
        "for due, delivery in done if not delivery.has_left]",
        "for due, delivery in done]",
        (f"{LEFT}an_attempt_counts_where_it_has_sent_something",),
    ),
    Mutation(
        "a worker sends what another may hold by now",
        10,
        "shared/signet/engine/integrations/effects.py",
        "if claimed.is_over:",
        "if False:",
        (f"{LEFT}a_worker_sends_nothing_after_its_lease",),
    ),
    Mutation(
        "the end of a lost attempt counts as known",
        10,
        "shared/signet/engine/execution/failed_triggers.py",
        "    note_lost(connection, tenant_id, [*expired.again, *(effect.id for effect in expired.dead)])\n",
        "",
        (f"{LEFT}of_a_lost_attempt_nobody_knows_the_end",),
    ),
    Mutation(
        "a call to a missing endpoint uses up its attempts",
        10,
        "shared/signet/engine/integrations/effects.py",
        "return None if name is None else describe_missing(name)",
        "return None",
        (f"{HELD}a_call_to_a_missing_endpoint_is_held_at_once",),
    ),
    Mutation(
        "a pause that has ended counts where all tokens are held",
        10,
        "migrations/0056_say_why_approvals_are_void.sql",
        "s.node_id IN ('sys:control:paused', 'sys:control:resumed', 'sys:control:retried')",
        "s.node_id = 'sys:control:paused'",
        ("tests/scenarios/repair/test_held_by_a_pause.py::test_a_pause_that_has_ended_holds_nothing",),
    ),
    Mutation(
        "what a person has paused is sent",
        10,
        EFFECTS,
        "if due.effect.instance_id in claimed.paused:",
        "if False:",
        (f"{PAUSED}nothing_leaves_before_a_person_resumes",),
    ),
    Mutation(
        "what a pause has held is not sent when it ends",
        10,
        "shared/signet/engine/instances/actions.py",
        "            free_paused(transaction.connection, context.tenant_id, context.row.id)\n",
        "",
        (f"{PAUSED}nothing_leaves_before_a_person_resumes",),
    ),
    Mutation(
        "an operator sends what a person has paused",
        10,
        "shared/signet/core/integrations/effect_acts.py",
        "if state.is_paused_by_person and",
        "if not state.status and",
        (f"{PAUSED}no_operator_has_it_tried_meanwhile",),
    ),
    Mutation(
        "a step is not told of what was withdrawn on its way",
        10,
        EFFECTS,
        "tell_of_withdrawn(connection, tenant_id, {due.effect.id for due, _ in failed})",
        "pass",
        (f"{ACTS}what_is_withdrawn_on_its_way",),
    ),
    Mutation(
        "what a receiver wants no more is held by nobody",
        10,
        EFFECTS,
        "hold_gone(connection, tenant_id, gone, claimed.id)",
        "pass",
        (f"{HELD}a_410_holds_the_call_and_says_so",),
    ),
    Mutation(
        "an endpoint that is switched on frees nothing",
        10,
        "shared/signet/engine/integrations/endpoints.py",
        'if terms.status == "active":\n        free',
        'if terms.status == "disabled":\n        free',
        (f"{HELD}switching_it_on_sends_what_it_held",),
    ),
    Mutation(
        "an answer that is late is waited for",
        10,
        "shared/signet/engine/execution/nodes/handler.py",
        "if wait.resume_at > context.now:",
        "if wait.resume_at < context.now:",
        (f"{DECLARED}an_answer_that_is_late_is_waited_for_no_more",),
    ),
    Mutation(
        "a call is sent after its time",
        10,
        "migrations/0039_act_on_effects.sql",
        "'{evidence,timed_out}'",
        "'{evidence,never}'",
        (f"{DECLARED}an_answer_that_is_late_is_waited_for_no_more",),
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
    Mutation(
        "of a list whose item failed the others stay done",
        2,
        "shared/signet/engine/documents/unit_of_work.py",
        "checkpoint.restore(self.connection)",
        "pass",
        (f"{LISTS}where_one_item_fails_none_is_done",),
    ),
    Mutation(
        "a key that an undone item took stays taken",
        2,
        "shared/signet/engine/documents/business_keys.py",
        "checkpoint.guard_keys(connection)",
        "pass",
        (f"{LISTS}a_key_that_was_taken_on_the_way_is_free_again",),
    ),
)
