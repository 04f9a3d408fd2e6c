"""Faults in how people are told of what is held, and in what a deadline says."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
WAVE = f"{SIGNET}/engine/execution/wave.py"
TELLS = "migrations/0042_tell_of_incidents.sql"
INCIDENTS = "tests/integration/engine/incidents"
COUNTS = f"{INCIDENTS}/test_counts.py::test_"
FIGURES = "tests/integration/telemetry/test_approval_figures.py::test_"

PRUNING = "tests/integration/engine/housekeeping/test_pruning.py::test_"
DEADLINES = "tests/integration/engine/execution/nodes/test_approval_deadlines.py::test_"
NOTICES = f"{INCIDENTS}/test_notices.py::test_"

APPROVALS = "tests/integration/engine/execution/nodes/test_approval.py::test_"

ARRIVED_BEFORE = "migrations/0068_tell_of_what_had_arrived.sql"
ON_ITS_WAY = "tests/scenarios/repair/test_withdrawn_on_its_way.py::test_"

TOLD = "tests/integration/engine/instances/test_told_requesters.py::test_"

TELLING: Sequence[Mutation] = (
    Mutation(
        "nobody is told what an operator did to their request",
        15,
        f"{SIGNET}/engine/instances/operator_transaction.py",
        "            note.tell(self._contexts[note.instance_id], self._caller)\n",
        "            pass\n",
        (f"{TOLD}who_asked_is_told_of_an_operators_act_with_its_reason",),
    ),
    Mutation(
        "nobody is told that a colleague ended what was under way",
        15,
        f"{SIGNET}/engine/execution/nodes/lifecycle_gate.py",
        "            tell_requester(context, INTERRUPTED, said, asker.id, asker.responsible)\n",
        "            pass\n",
        (f"{TOLD}who_asked_is_told_that_a_colleague_ended_it",),
    ),
    Mutation(
        "an owner of a key who has left is told what was done",
        15,
        f"{SIGNET}/store/integrations/notifications.sql",
        "AND m.user_id = person.user_id AND m.status = 'active'",
        "AND m.user_id = person.user_id",
        (f"{TOLD}of_a_key_the_owners_who_are_still_here_are_told",),
    ),
    Mutation(
        "who owns a key is told of their own act",
        15,
        f"{SIGNET}/store/integrations/notifications.sql",
        " AND m.user_id <> ALL (told.done_by)",
        "",
        (f"{TOLD}of_a_key_the_owners_who_are_still_here_are_told",),
    ),
    Mutation(
        "nobody is told that an approval ended",
        15,
        "migrations/0050_open_amendments_again.sql",
        "NEW.status IN ('rejected', 'expired')) EXECUTE",
        "false) EXECUTE",
        (
            f"{APPROVALS}a_chain_that_expires_goes_the_way_of_a_rejection",
            f"{APPROVALS}who_asked_is_told_of_a_rejection_once",
        ),
    ),
    Mutation(
        "the trail says of a time that is over that people rejected",
        14,
        f"{SIGNET}/engine/execution/nodes/lifecycle_gate.py",
        '    if "expired" in ends and "rejected" not in ends:\n',
        "    if False:\n",
        (f"{APPROVALS}a_chain_that_expires_goes_the_way_of_a_rejection",),
    ),
    Mutation(
        "a branch that is held beside a running one is counted by nobody",
        15,
        WAVE,
        "                if change.is_new:\n",
        '                if change.is_new and execution.projection.status == "paused":\n',
        (f"{FIGURES}a_branch_without_people_is_counted_while_another_runs",),
    ),
    Mutation(
        "closed incidents are counted as open",
        15,
        TELLS,
        "WHERE i.closed_at IS NULL LIMIT 100000",
        "LIMIT 100000",
        (f"{COUNTS}open_incidents_are_counted_until_they_close",),
    ),
    Mutation(
        "an incident that a person acknowledged still counts as overlooked",
        15,
        TELLS,
        "counted.opened_at < now() - long AND counted.acknowledged_at IS NULL",
        "counted.opened_at < now() - long",
        (f"{COUNTS}one_that_is_old_is_overlooked_until_a_person_acknowledges_it",),
    ),
    Mutation(
        "every incident of one cause is told",
        15,
        TELLS,
        "o.requester_id = NEW.requester_id AND o.cause = NEW.cause\n",
        "o.requester_id = NEW.requester_id AND false\n",
        (f"{NOTICES}a_cause_that_was_read_is_not_told_again_while_it_is_open",),
    ),
    Mutation(
        "what is unread is told again",
        15,
        TELLS,
        "    ON CONFLICT DO NOTHING;\n    RETURN NULL;",
        "    ON CONFLICT (tenant_id, id) DO NOTHING;\n    RETURN NULL;",
        (f"{NOTICES}waves_at_one_time_tell_once",),
    ),
    Mutation(
        "people who have left are told",
        15,
        TELLS,
        "m.tenant_id = NEW.tenant_id AND m.status = 'active'",
        "m.tenant_id = NEW.tenant_id",
        (f"{NOTICES}a_person_who_has_left_is_not_told",),
    ),
    Mutation(
        "an incident of an instance that still runs is pruned",
        15,
        TELLS,
        "AND i.id = o.instance_id AND i.status IN ('running', 'paused'))",
        "AND false)",
        (f"{PRUNING}closed_incidents_go_once_their_instance_has_ended",),
    ),
    Mutation(
        "an escalation leaves the moment of its past",
        15,
        f"{SIGNET}/engine/execution/nodes/approval_progress.py",
        "None if has_escalated(seats_of_stage(request)) else request.escalate_at",
        "request.escalate_at",
        (f"{DEADLINES}after_an_escalation_it_waits_for_the_end_of_the_stage",),
    ),
    Mutation(
        "the next stage waits for the moment of the first",
        15,
        WAVE,
        "                context.wait_until(step, result.resume_at)\n",
        "                pass\n",
        (f"{DEADLINES}the_next_stage_has_moments_of_its_own",),
    ),
    Mutation(
        "an instance whose step does not change keeps its past moment",
        15,
        WAVE,
        "        elif context.has_other_deadline:\n",
        "        elif False:\n",
        (f"{DEADLINES}the_next_stage_has_moments_of_its_own",),
    ),
    Mutation(
        "a rebuild forgets where a skipped step went",
        15,
        f"{SIGNET}/engine/execution/rebuild.py",
        'if row.status in ("completed", "failed", "skipped"):',
        'if row.status in ("completed", "failed"):',
        ("tests/integration/engine/instances/test_remedies.py::test_a_wait_whose_key_has_a_hole_is_skipped",),
    ),
    Mutation(
        "an explanation ends with what holds it",
        15,
        f"{SIGNET}/core/explain/instance.py",
        "    yield from write_incidents(explained.incidents)\n",
        "",
        ("tests/unit/core/explain/test_incidents.py::test_it_comes_before_all_else",),
    ),
    Mutation(
        "a lost decision is not stuck",
        15,
        f"{SIGNET}/store/instances/write.sql",
        "SELECT r.status <> 'open' OR NOT EXISTS (",
        "SELECT false AND NOT EXISTS (",
        ("tests/integration/engine/instances/test_lists.py::test_what_nothing_wakes_is_found",),
    ),
    Mutation(
        "what had arrived when its step was withdrawn is named nowhere",
        15,
        ARRIVED_BEFORE,
        "    UPDATE workflow_side_effects_outbox e SET withdrawn_at = now()\n",
        "    UPDATE workflow_side_effects_outbox e SET withdrawn_at = NULL\n",
        (
            f"{ON_ITS_WAY}a_void_names_what_had_arrived_when_it_was_asked",
            f"{ON_ITS_WAY}a_request_that_is_withdrawn_names_what_had_arrived",
        ),
    ),
    Mutation(
        "nobody is told of what had arrived when its step was withdrawn",
        15,
        ARRIVED_BEFORE,
        "AND OLD.status = 'completed' AND OLD.withdrawn_at IS NULL)\n",
        "AND false)\n",
        (f"{ON_ITS_WAY}a_void_names_what_had_arrived_when_it_was_asked",),
    ),
)
