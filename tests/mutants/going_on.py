"""Restarts and acts on effects that go around an approval, each opened again on purpose (WF-03)."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
RESTARTS = "tests/scenarios/authority/test_restarts_behind_gates.py::test_"
EFFECTS = "tests/integration/engine/instances/test_effect_acts.py::test_"
PLAN = f"{SIGNET}/engine/instances/document_restarts.py"

GOING_ON: Sequence[Mutation] = (
    Mutation(
        "a restart forgets what was approved",
        3,
        f"{SIGNET}/store/documents/write.sql",
        "CASE WHEN row.birth IN ('reentered', 'restarted') THEN coalesce(earlier.context_json, '{}')",
        "CASE WHEN row.birth IN ('reentered', 'restarted') THEN '{}'",
        (
            f"{RESTARTS}what_was_approved_survives_a_restart",
            f"{RESTARTS}what_was_approved_survives_a_request",
        ),
    ),
    Mutation(
        "people with a part end an instance behind a gate",
        3,
        f"{SIGNET}/engine/instances/document_restarts.py",
        "    raise_if(check_end(workflow, status, then))\n"
        "    refuse_part_behind_gate(transaction, context, caller)\n",
        "    raise_if(check_end(workflow, status, then))\n",
        (f"{RESTARTS}people_with_a_part_end_nothing_behind_a_gate",),
    ),
    Mutation(
        "people with a part restart a document behind its gate",
        3,
        PLAN,
        "        refuse_part_behind_gate(transaction, context, caller, place.tokens)\n",
        "",
        (f"{RESTARTS}people_with_a_part_restart_nothing_behind_a_gate",),
    ),
    Mutation(
        "a restart reads what no approval has pinned",
        3,
        f"{SIGNET}/core/repair/restart_check.py",
        "        unpinned_reads=facts.unpinned_reads,\n",
        "",
        (f"{RESTARTS}a_restart_reads_nothing_that_no_approval_pinned",),
    ),
    Mutation(
        "nobody names who restarted a document under other approvals",
        3,
        PLAN,
        '{"changes_approvals": True} if self.report.changes_approvals else {}',
        "{}",
        (f"{RESTARTS}without_four_eyes_who_restarts_under_other_approvals_is_named",),
    ),
    Mutation(
        "a call of a way that was rejected is sent again",
        3,
        f"{SIGNET}/store/operations/overview.sql",
        "substring(l.token_id FROM '^T/b\\d+') IS DISTINCT FROM",
        "substring(s.token_id FROM '^T/b\\d+') IS DISTINCT FROM",
        (f"{RESTARTS}a_call_of_a_way_that_was_rejected_is_not_sent",),
    ),
    Mutation(
        "a person with a part withdraws a call so that it goes another way",
        3,
        f"{SIGNET}/engine/instances/effect_acts.py",
        "    if _chooses(context, row):\n        refuse_part(transaction, context, caller)\n",
        "    _chooses(context, row)\n",
        (f"{EFFECTS}who_has_a_part_ends_no_effect_that_chooses_the_way",),
    ),
    Mutation(
        "a worker begins a document again",
        3,
        "migrations/0048_guard_births_and_tries.sql",
        "(current_user IN ('signet_worker', 'signet_janitor')) EXECUTE FUNCTION reject_later_birth()",
        "(current_user IN ('signet_janitor')) EXECUTE FUNCTION reject_later_birth()",
        ("tests/scenarios/authority/test_statements_of_workers.py::test_no_worker_begins_a_document_again",),
    ),
    Mutation(
        "a try by hand uses up an attempt",
        3,
        f"{SIGNET}/engine/integrations/effects.py",
        "    by_hand = end_tries(connection, tenant_id, tries, claimed.id) if tries else set()\n",
        "    by_hand: set[object] = set()\n",
        (f"{EFFECTS}a_try_by_hand_uses_up_no_attempt",),
    ),
)
