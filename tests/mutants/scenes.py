"""Faults that scenes about authority notice: persons behind acts, votes, pins, and what changes hands."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET, STORE = "shared/signet", "shared/signet/store"
CONTEXT = f"{SIGNET}/engine/execution/nodes/context.py"
REQUESTS = f"{SIGNET}/engine/approvals/requests.py"
INBOUND = f"{SIGNET}/engine/integrations/inbound_events.py"
PROOF = "migrations/0011_prove_approvals.sql"
CONTROL = f"{SIGNET}/core/runtime/approval_control.py"
SCENES = "tests/scenarios/authority"
THROUGH, VOTERS, AGAIN, LEFT = (
    f"{SCENES}/test_{name}.py::test_"
    for name in ("through_the_workflow", "voters_and_gates", "asking_again", "requesters_who_left")
)
EVENTS = "tests/functions/routes/integrations/test_events.py::test_"
MOVES = "tests/integration/engine/instances/test_moves_and_approvals.py::test_"
ALIKE = "tests/unit/core/runtime/test_approval_control.py::test_"
SINGLE = "tests/functions/routes/control/test_single_authors.py::test_"
HANDING = "tests/functions/routes/control/test_handing_over.py::test_"

PERSONS_BEHIND = (
    Mutation(
        "an edit by a step is nobody's",
        3,
        f"{SIGNET}/engine/documents/persons/authorship.py",
        "wrote | change.caller.principal.responsible if is_edit or has_new_content else wrote",
        "wrote | change.caller.principal.responsible if is_edit else wrote",
        (f"{THROUGH}an_edit_by_a_step_is_an_edit_of_who_stands_behind_the_step",),
    ),
    Mutation(
        "content from another document has no author",
        3,
        f"{SIGNET}/engine/documents/unit_of_work.py",
        "        change.content_responsible |= find_sources_of(operation, context)\n",
        "",
        (f"{THROUGH}content_that_an_action_takes_from_another_document_has_its_authors",),
    ),
    Mutation(
        "any number of persons stand behind a document",
        3,
        f"{SIGNET}/engine/documents/unit_of_work.py",
        "            or find_responsible_overflow(change)\n",
        "",
        (
            f"{SCENES}/test_many_persons.py::test_the_person_beyond_the_limit_changes_nothing_and_the_others_do",
        ),
    ),
    Mutation(
        "a signed event has nobody behind it",
        3,
        INBOUND,
        "            frozenset(sender.persons),\n",
        "            frozenset(),\n",
        (f"{EVENTS}the_persons_behind_a_sender_stand_behind_the_event",),
    ),
    Mutation(
        "only the last person who changed an endpoint stands behind it",
        3,
        INBOUND,
        "responsible=join_responsible(known, principal.responsible, proposers),",
        "responsible=join_responsible(principal.responsible, proposers),",
        (f"{EVENTS}the_persons_behind_a_sender_stand_behind_the_event",),
    ),
    Mutation(
        "who proposed an endpoint does not stand behind it",
        3,
        INBOUND,
        "        proposers = change.responsible\n",
        "        proposers: Sequence[str] = ()\n",
        (
            "tests/functions/routes/control/test_control_changes.py"
            "::test_inbound_endpoints_take_two_people_and_stop_by_one",
        ),
    ),
    Mutation(
        "a person who erases by the command line is who they claim",
        9,
        f"{SIGNET}/cli/audit.py",
        "            actor_id=caller.principal.subject,\n",
        "            actor_id=actor,\n",
        ("tests/integration/cli/test_audit.py::test_erase_and_begin_epoch",),
    ),
)

VOTES_AND_GATES = (
    Mutation(
        "any seat counts",
        3,
        f"{SIGNET}/core/approvals/proof.py",
        " or _find_seat_not_drawn(vote, proof)\n",
        "\n",
        (
            "tests/unit/core/approvals/test_proof.py::test_a_vote_from_a_seat_that_the_policy_does_not_draw_is_none",
        ),
    ),
    Mutation(
        "a gate without any approval asks for no proof",
        3,
        f"{SIGNET}/engine/execution/nodes/lifecycle_gate.py",
        "    if not requests and node.id in workflow.guarded_gates:\n",
        "    if False:\n",
        (
            f"{SCENES}/test_statements_of_workers.py::test_a_token_that_was_put_before_the_gate_passes_nothing",
        ),
    ),
    Mutation(
        "a rule writes what nobody may edit",
        3,
        f"{SIGNET}/engine/documents/rules.py",
        '    return state is None or state.edit != "locked"\n',
        "    return True\n",
        (f"{SCENES}/test_through_the_workflow.py::test_a_rule_changes_nothing_that_a_step_posts",),
    ),
    Mutation(
        "a seat that nobody can ever fill has its people",
        3,
        f"{SIGNET}/engine/approvals/approver_lookup.py",
        "        needed_permissions=about.voter_permissions,\n",
        "        needed_permissions=(),\n",
        (f"{VOTERS}where_nobody_asked_may_ever_vote_the_wider_circle_is_asked",),
    ),
    Mutation(
        "a token widens what a voter may",
        3,
        f"{SIGNET}/engine/approvals/decide.py",
        "            Voters(locked.people, locked.delegations, locked.changes),\n",
        "            Voters(\n"
        "                {\n"
        "                    user_id: replace(person, permissions=[*person.permissions,"
        " *self.documents.transaction.permissions_of(self.caller.principal.roles)])\n"
        "                    for user_id, person in locked.people.items()\n"
        "                },\n"
        "                locked.delegations,\n"
        "                locked.changes,\n"
        "            ),\n",
        (f"{VOTERS}a_token_widens_no_role_of_a_voter",),
    ),
    Mutation(
        "the condition of a permission asks no voter",
        3,
        f"{SIGNET}/core/approvals/entitlement.py",
        "            denial = self.contract.authorize(permission, held, env)\n",
        "            denial = self.contract.authorize(permission, held, env)\n"
        '            denial = None if denial and denial.code == "PERMISSION_CONDITION" else denial\n',
        (f"{VOTERS}the_condition_is_about_the_voter",),
    ),
    Mutation(
        "who has approved may not reject",
        3,
        f"{SIGNET}/core/approvals/eligibility.py",
        '        if vote == "approved" and voter in voting.approved_elsewhere:',
        "        if voter in voting.approved_elsewhere:",
        (f"{VOTERS}nobody_is_kept_from_rejecting",),
    ),
    Mutation(
        "a policy that allows the same person is not heard",
        3,
        f"{SIGNET}/core/approvals/proof.py",
        "            if proof.policy.same_person is None:\n",
        "            if True:\n",
        (f"{VOTERS}a_policy_may_allow_the_same_person",),
    ),
    Mutation(
        "a gate uses the vote of a person who lost the role",
        3,
        f"{SIGNET}/core/approvals/entitlement.py",
        "        lacking = self._make_entitlement().find_denial(person)\n",
        "        lacking = None\n",
        (f"{VOTERS}only_the_seat_of_a_vote_that_may_not_be_given_any_more_is_asked_again",),
    ),
    Mutation(
        "the people of a lapsed vote are not told",
        3,
        REQUESTS,
        "self.rows.notifications.extend(make_lapse_notifications(request, again, vote, denial))\n",
        "pass\n",
        (f"{VOTERS}only_the_seat_of_a_vote_that_may_not_be_given_any_more_is_asked_again",),
    ),
    Mutation(
        "the worker writes the status of approvals",
        3,
        PROOF,
        "REVOKE UPDATE (stage, status, outcome, applied, escalate_at, expire_at, ended_at)"
        " ON approval_requests FROM signet_worker;\n",
        "",
        (f"{VOTERS}the_worker_cannot_write_an_approval",),
    ),
    Mutation(
        "the worker writes votes on seats",
        3,
        PROOF,
        "REVOKE UPDATE (status, decided_by, on_behalf_of, decided_at) ON approval_seats"
        " FROM signet_worker;\n",
        "",
        (f"{VOTERS}the_worker_cannot_write_an_approval",),
    ),
    Mutation(
        "a worker's wave approves",
        3,
        "migrations/0080_remind_of_approvals.sql",
        "           OR (row.status = 'open' AND r.status = 'approved'));\n",
        "           OR true);\n",
        (f"{VOTERS}the_worker_cannot_write_an_approval",),
    ),
    Mutation(
        "an approval is used again",
        3,
        PROOF,
        "    FOR EACH ROW WHEN (OLD.applied AND NEW.applied IS DISTINCT FROM OLD.applied)\n"
        "    EXECUTE FUNCTION reject_second_use();\n"
        "CREATE TRIGGER reject_second_use BEFORE UPDATE OF applied ON workflow_step_executions\n",
        "    FOR EACH ROW WHEN (false)\n"
        "    EXECUTE FUNCTION reject_second_use();\n"
        "CREATE TRIGGER reject_second_use BEFORE UPDATE OF applied ON workflow_step_executions\n",
        (f"{VOTERS}what_a_gate_has_used_stays_used",),
    ),
    Mutation(
        "who created a document is written again",
        3,
        "migrations/0010_add_responsible_persons.sql",
        "NEW.entity_type, NEW.creator_id, NEW.creator_responsible, NEW.created_at,\n",
        "NEW.entity_type, OLD.creator_id, OLD.creator_responsible, NEW.created_at,\n",
        (f"{VOTERS}nobody_writes_again_who_created_or_asked",),
    ),
)

PINS_AND_TIME = (
    Mutation(
        "a vote counts though the account has changed",
        3,
        f"{SIGNET}/engine/approvals/decide.py",
        "    if request.changed_pins:\n",
        "    if False:\n",
        (f"{THROUGH}what_is_approved_is_what_is_paid",),
    ),
    Mutation(
        "a gate passes though the account has changed",
        3,
        REQUESTS,
        "refs = older.union(*(r.changed_pins for r in counting))",
        "refs = older",
        (f"{THROUGH}a_change_between_vote_and_gate_is_asked_about_again",),
    ),
    Mutation(
        "an erased value is voted about",
        3,
        f"{STORE}/approvals/decisions.sql",
        "AND p.erased_at > r.created_at) AS erased_fields",
        "AND false) AS erased_fields",
        (f"{AGAIN}an_erased_value_is_asked_about_again",),
    ),
    Mutation(
        "a requester acts with roles that they lost",
        3,
        f"{SIGNET}/engine/execution/nodes/opened_instance.py",
        '    held = member["roles"] if is_active else ()\n',
        "    held = actor.roles if is_active else ()\n",
        (
            f"{LEFT}a_step_has_only_the_roles_that_are_left",
            f"{LEFT}the_requested_gate_asks_for_the_permission_again",
            f"{LEFT}a_key_asks_with_the_roles_that_its_owner_still_covers",
        ),
    ),
    Mutation(
        "a role that was given since is of no use to a retry",
        3,
        f"{SIGNET}/engine/execution/nodes/opened_instance.py",
        "    roles = kept if actor.is_key else (*kept, *sorted(set(held) - set(kept)))\n",
        "    roles = kept\n",
        (f"{LEFT}a_role_that_was_never_asked_with_lets_a_retry_pass",),
    ),
    Mutation(
        "what a key asked for outlives its owner",
        3,
        CONTEXT,
        "        if actor.id.startswith(KEY_PREFIX):\n",
        "        if False:\n",
        (
            f"{LEFT}what_a_key_asked_for_waits_while_its_owner_is_disabled",
            f"{LEFT}a_key_asks_with_the_roles_that_its_owner_still_covers",
        ),
    ),
    Mutation(
        "a document takes a new turn each time it is asked about",
        3,
        f"{STORE}/approvals/requests.sql",
        "SELECT asked.role, coalesce(own.turn, t.turn, 0), own.turn IS NOT NULL\n",
        "SELECT asked.role, coalesce(t.turn, 0), false\n",
        (f"{AGAIN}a_turn_stays_with_its_document",),
    ),
    Mutation(
        "approvals of an older release sleep",
        3,
        f"{STORE}/operations/housekeeping.sql",
        "r.status = 'open' AND r.pins_hash IS NULL)",
        "r.status = 'open' AND r.pins_hash IS NOT NULL)",
        (
            "tests/integration/engine/housekeeping/test_older_approvals.py"
            "::test_people_are_asked_again_by_a_request_with_pins",
        ),
    ),
)

CHANGING_HANDS = (
    Mutation(
        "one person moves an instance to other approvals",
        4,
        f"{SIGNET}/core/repair/move_check.py",
        "    if changes_approvals and position.wants_two_people:\n",
        "    if False:\n",
        (
            f"{MOVES}nobody_moves_a_document_to_weaker_approvals_alone",
            f"{ALIKE}where_two_people_are_wanted_nobody_moves_an_instance_to_other_approvals",
        ),
    ),
    Mutation(
        "the way to an approval does not count",
        4,
        CONTROL,
        '            if edge["source"] in inside or edge["target"] in inside\n',
        "            if False\n",
        (f"{ALIKE}another_question_or_another_way_to_it_is_another_control",),
    ),
    Mutation(
        "what a contract says of deciding does not count",
        4,
        CONTROL,
        "        None if contract is None else _describe_contract(contract),\n",
        "        None,\n",
        (f"{ALIKE}a_contract_that_lets_others_decide_is_another_control",),
    ),
    Mutation(
        "who moved an instance to other approvals is not named",
        4,
        f"{STORE}/control/authorship.sql",
        "'sys:control:moved' AND s.output_json -> 'changes_approvals' = 'true'",
        "'sys:control:moved' AND s.output_json -> 'changes_approvals' = 'false'",
        (
            f"{MOVES}elsewhere_the_approver_and_the_explanation_name_who_moved_it",
            f"{MOVES}a_mover_who_is_asked_is_shown",
        ),
    ),
    Mutation(
        "who changed an endpoint alone is not named",
        4,
        f"{STORE}/control/authorship.sql",
        "WHERE NOT last.content -> 'detail' ? 'control_change'\n",
        "WHERE false\n",
        (f"{SINGLE}who_changed_endpoints_rules_and_settings_alone_is_named",),
    ),
    Mutation(
        "an operator makes themselves a finance manager",
        3,
        f"{SIGNET}/engine/tenants/operator.py",
        "            require_other_people(act.connection, tenant, caller.principal.responsible)\n",
        "",
        (f"{SINGLE}the_operator_does_not_make_themselves_a_finance_manager",),
    ),
    Mutation(
        "the second person passes on what they lack",
        4,
        f"{SIGNET}/engine/definitions/run_as.py",
        "        _require(act, node_id, config, RUN_AS)\n",
        "",
        (f"{SINGLE}pete_passes_on_no_right_that_he_lacks_also_for_another_author",),
    ),
    Mutation(
        "one person hands a service account over",
        4,
        f"{SIGNET}/engine/tenants/dependents.py",
        "    if not wants_two_people(act):\n",
        "    if True:\n",
        (f"{HANDING}an_account_changes_hands_when_another_person_confirms",),
    ),
)

SCENES_OF_AUTHORITY: Sequence[Mutation] = (
    *PERSONS_BEHIND,
    *VOTES_AND_GATES,
    *PINS_AND_TIME,
    *CHANGING_HANDS,
)
