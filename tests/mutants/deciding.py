"""Faults in decisions: counted votes, delegates, deadlines, and awaited people (with WF-03)."""

from tests.mutants.mutation import Mutation

CORE, ENGINE = "shared/signet/core", "shared/signet/engine"
RIGHTS, VOTES = (f"{CORE}/approvals/{name}.py" for name in ("eligibility", "votes"))
DECISION = f"{ENGINE}/approvals/decide.py"
APPROVALS_SQL = "shared/signet/store/approvals/decisions.sql"
TESTS = "tests/integration/engine/approvals"
TABLE = f"{TESTS}/test_separation_of_duties.py::test_no_path_lets_a_barred_persons_decision_count"
DECIDING, DELEGATIONS = f"{TESTS}/test_decide.py::test_", f"{TESTS}/test_delegations.py::test_"
REQUESTERS, ROLES_LOST = f"{TESTS}/test_requesters.py::test_", f"{TESTS}/test_lost_approvers.py::test_"
CONCURRENCY = "tests/concurrency/test_decisions.py::test_"

REQUESTS = "tests/scenarios/authority/test_deciding_requests.py::test_"

GIVEN = "tests/scenarios/authority/test_given_requests.py::test_"
GIVEN_TO_ASKERS = (
    Mutation(
        "a person of the document gives who decides by a request the permission",
        3,
        f"{ENGINE}/documents/decide.py",
        "_separated(context, behind) or refuse_given(operation, context, row, behind)\n",
        "_separated(context, behind)\n",
        (
            f"{GIVEN}who_was_given_the_role_by_people_of_the_document_decides_nothing",
            f"{GIVEN}who_has_the_role_by_a_wider_permission_decides_nothing",
            f"{GIVEN}who_was_made_active_by_people_of_the_document_decides_nothing",
        ),
    ),
    Mutation(
        "what was given before the document was made bars a request",
        3,
        f"{ENGINE}/documents/decisions/done_by_decision.py",
        "        made_at=row.created_at,\n",
        "        made_at=row.created_at.replace(year=2000),\n",
        (f"{GIVEN}who_had_the_role_before_the_document_was_made_accepts",),
    ),
    Mutation(
        "who leaves bars a request that decides",
        3,
        f"{CORE}/approvals/barring_changes.py",
        "        judges_takings=False,\n",
        "        judges_takings=True,\n",
        (
            "tests/unit/core/approvals/test_barring_changes.py"
            "::test_a_request_that_decides_rests_on_its_permission_alone",
        ),
    ),
)

WHO_IS_BARRED = (
    Mutation(
        "a key decides by a request",
        3,
        f"{ENGINE}/documents/decide.py",
        "    if denial is None and context.caller.principal.is_key:\n",
        "    if False:\n",
        (f"{REQUESTS}a_key_decides_nothing",),
    ),
    Mutation(
        "an editor may decide",
        3,
        f"{CORE}/contracts/compiled_contract.py",
        '("editor", editors)',
        '("editor", ())',
        (TABLE,),
    ),
    Mutation(
        "the content of an amended document is nobody's",
        3,
        f"{ENGINE}/documents/change.py",
        "return origin.creator_responsible | origin.editor_responsible if origin is not None else NOBODY",
        "return NOBODY",
        (TABLE,),
    ),
    Mutation(
        "a barred person is heard by a delegate",
        3,
        RIGHTS,
        "voters = [person] if claim.delegation is None else [person, claim.delegation.user_id]",
        "voters = [person]",
        (TABLE, f"{DECIDING}one_person_fills_one_seat"),
    ),
    Mutation(
        "a barred person is heard as a delegate",
        3,
        RIGHTS,
        "voters = [person] if claim.delegation is None else [person, claim.delegation.user_id]",
        "voters = [person if claim.delegation is None else claim.delegation.user_id]",
        (TABLE,),
    ),
    Mutation(
        "who asks instead of another may decide",
        3,
        f"{CORE}/approvals/eligibility.py",
        "frozenset(requesters).union(asking))",
        "frozenset(requesters))",
        (f"{REQUESTERS}who_asks_instead_of_another_may_not_decide_nor_may_the_other",),
    ),
    Mutation(
        "a wave forgets the person it was asked for",
        3,
        f"{ENGINE}/execution/nodes/context.py",
        "requesters=requester.responsible | asked,",
        "requesters=requester.responsible,",
        (f"{REQUESTERS}where_nobody_else_is_left_the_instance_pauses_and_says_why",),
    ),
    Mutation(
        "who has decided takes the request over",
        3,
        f"{CORE}/runtime/document_changes.py",
        "is_under_way=request.actor.responsible.isdisjoint(document_state.deciders)\n        and ",
        "is_under_way=",
        (f"{REQUESTERS}who_has_decided_and_then_asks_is_not_both",),
    ),
    Mutation(
        "a request that was refused hides who had asked",
        3,
        f"{ENGINE}/execution/nodes/context.py",
        "return self.performed_for or self.approvals.find_last_requester(document.id) or projection.actor",
        "return self.performed_for or projection.actor",
        (
            f"{REQUESTERS}after_another_request_that_was_refused_the_requester_is_still_barred",
            f"{REQUESTERS}nor_does_a_new_instance_forget_who_had_asked",
        ),
    ),
)

WHO_IS_ASKED = (
    Mutation(
        "a seat of a role is anybody's",
        3,
        RIGHTS,
        "else self.holder_role in roles",
        "else True",
        (f"{DECIDING}what_a_token_says_of_roles_does_not_count",),
    ),
    Mutation(
        "one voice counts twice",
        3,
        RIGHTS,
        "        if voter in counted:",
        "        if False:",
        (f"{DECIDING}one_person_fills_one_seat",),
    ),
    Mutation(
        "a delegation holds for every type",
        3,
        RIGHTS,
        "is_in_scope = self.entity_type is None or self.entity_type == entity_type",
        "is_in_scope = True",
        (f"{DECIDING}a_delegation_that_does_not_hold_now_and_here_gives_nothing",),
    ),
    Mutation(
        "who has left still votes",
        3,
        APPROVALS_SQL,
        "AND m.user_id = person.user_id AND m.status = 'active'",
        "AND m.user_id = person.user_id",
        (f"{DECIDING}who_is_not_asked_or_has_left_may_not",),
    ),
    Mutation(
        "what was revoked still holds",
        3,
        APPROVALS_SQL,
        "WHERE tenant_id = %(tenant_id)s AND delegate_id = %(user_id)s AND revoked_at IS NULL\n"
        "  AND from_time <= %(now)s AND to_time > %(now)s\nORDER BY id",
        "WHERE tenant_id = %(tenant_id)s AND delegate_id = %(user_id)s\n"
        "  AND from_time <= %(now)s AND to_time > %(now)s\nORDER BY id",
        (f"{DECIDING}a_delegation_that_does_not_hold_now_and_here_gives_nothing",),
    ),
    Mutation(
        "a delegation is revoked under a vote",
        3,
        APPROVALS_SQL,
        "ORDER BY id\nFOR SHARE",
        "ORDER BY id",
        (f"{CONCURRENCY}a_revocation_waits_for_the_vote_that_the_delegation_allows",),
    ),
    Mutation(
        "anybody delegates for anybody",
        3,
        f"{ENGINE}/approvals/delegations.py",
        "    act.require(DELEGATE)\n",
        "",
        (f"{DELEGATIONS}for_another_only_with_the_permission",),
    ),
    Mutation(
        "delegations go round",
        3,
        f"{ENGINE}/approvals/delegations.py",
        "    if circle is not None:",
        "    if False:",
        (f"{DELEGATIONS}a_circle_is_refused_where_it_would_close",),
    ),
)

WHAT_VOTES_COME_TO = (
    Mutation(
        "a rejection among all is outvoted",
        3,
        VOTES,
        '    if _number(seats, "rejected"):\n        return REJECTED\n    approvals =',
        "    approvals =",
        (f"{DECIDING}of_all_the_first_rejection_rejects_and_closes_the_other_seats",),
    ),
    Mutation(
        "a quorum is one too many",
        3,
        VOTES,
        "if approvals >= quorum:",
        "if approvals > quorum:",
        (f"{DECIDING}a_number_is_approved_when_reached_and_rejected_when_out_of_reach",),
    ),
    Mutation(
        "an hour late is in time",
        3,
        DECISION,
        "if request.expire_at is not None and request.expire_at <= now:",
        "if False:",
        (f"{DECIDING}when_its_time_is_over_nobody_votes_whether_or_not_the_timer_has_rung",),
    ),
    Mutation(
        "a vote for a workflow that has ended counts",
        3,
        DECISION,
        "if document.instance_id != request.instance_id:",
        "if False:",
        (f"{DECIDING}nor_after_its_workflow_has_ended",),
    ),
    Mutation(
        "who loses a role tells nobody",
        3,
        f"{ENGINE}/tenants/install.py",
        "triggers = [make_voter_lost(tenant_id, role=role) for role in asked]",
        "triggers = []",
        (f"{ROLES_LOST}when_the_last_who_may_decide_loses_his_role_it_pauses_and_says_why",),
    ),
    Mutation(
        "who loses a permission with a role is looked for in its own seats alone",
        3,
        f"{ENGINE}/tenants/install.py",
        "asked = sorted(kept.union(role for _, role in lost))",
        "asked = sorted({role for _, role in lost})",
        (f"{ROLES_LOST}when_the_last_loses_the_permission_it_pauses_and_says_why",),
    ),
    Mutation(
        "who loses a permission with a role is not looked for by name",
        3,
        f"{ENGINE}/tenants/install.py",
        "for user_id in sorted(losers)]",
        "for user_id in ()]",
        (f"{ROLES_LOST}when_the_last_loses_the_permission_it_pauses_and_says_why",),
    ),
    Mutation(
        "a role that loses permissions tells nobody",
        3,
        f"{ENGINE}/tenants/install.py",
        "[make_permission_lost(tenant_id, role) for role in sorted(lost)]",
        "[]",
        (f"{ROLES_LOST}when_the_last_loses_the_permission_it_pauses_and_says_why",),
    ),
    Mutation(
        "a permission is lost under a wave",
        3,
        f"{ENGINE}/tenants/install.py",
        "    lock_roles(connection, tenant_id)\n    lost = save_roles(",
        "    lost = save_roles(",
        (f"{CONCURRENCY}a_permission_is_lost_when_no_wave_relies_on_it_any_more",),
    ),
    Mutation(
        "only the first page of holders is looked through",
        3,
        f"{ENGINE}/approvals/lost_approvers.py",
        "if len(page) == MAX_HOLDERS_LOOKED_AT:",
        "if False:",
        (f"{ROLES_LOST}holders_are_looked_through_page_by_page",),
    ),
    Mutation(
        "taking a permission by another role hastens an escalation",
        3,
        "shared/signet/store/tenants/eligibility.sql",
        "AND (p.kind = 'role_permissions_changed'\n           OR p.kind = 'role_taken'",
        "AND (p.kind = 'seat_given'\n           OR p.kind = 'seat_given'",
        (f"{ROLES_LOST}taking_the_permission_hastens_no_escalation",),
    ),
    Mutation(
        "those who still have a voter are woken, and not the others",
        3,
        f"{ENGINE}/approvals/lost_approvers.py",
        "        if not has_voter:\n",
        "        if has_voter:\n",
        (
            f"{ROLES_LOST}when_the_last_who_may_decide_loses_his_role_it_pauses_and_says_why",
            f"{ROLES_LOST}where_somebody_else_may_decide_nobody_is_woken",
        ),
    ),
    Mutation(
        "a holder without the permission is sure to be able to vote",
        3,
        f"{ENGINE}/approvals/lost_approvers.py",
        "        if not row.needed:\n",
        "        if True:\n",
        (f"{ROLES_LOST}who_has_the_seat_and_not_the_permission_is_nobody_to_wait_for",),
    ),
    Mutation(
        "a holder that a condition may refuse is sure to be able to vote",
        3,
        f"{CORE}/approvals/entitlement.py",
        "permission not in contract.conditions and grants(permissions, permission)",
        "grants(permissions, permission)",
        ("tests/unit/core/approvals/test_entitlement.py::test_a_condition_makes_a_voter_uncertain",),
    ),
    Mutation(
        "only the first page is looked through",
        3,
        f"{ENGINE}/approvals/lost_approvers.py",
        "if len(page) == MAX_SEATS_LOOKED_AT:",
        "if False:",
        (f"{ROLES_LOST}they_are_looked_through_page_by_page",),
    ),
    Mutation(
        "a role is lost under a wave",
        3,
        f"{ENGINE}/approvals/requests.py",
        "        if not self._holds_roles:",
        "        if False:",
        (f"{CONCURRENCY}a_wave_waits_for_whoever_takes_a_role_away",),
    ),
)

DECIDING_MUTATIONS = (*WHO_IS_BARRED, *GIVEN_TO_ASKERS, *WHO_IS_ASKED, *WHAT_VOTES_COME_TO)
