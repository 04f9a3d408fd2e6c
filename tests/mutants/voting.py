"""Faults in who votes: seats without their role, and bars that asking again lifts (WF-03)."""

from tests.mutants.mutation import Mutation

CORE = "shared/signet/core"
NAMED = "tests/scenarios/authority/test_seats_with_a_role.py::test_"
AGAIN = "tests/scenarios/authority/test_asking_again.py::test_"
LAPSED = "tests/scenarios/authority/test_votes_that_lapse.py::test_"
BARRED = "tests/scenarios/authority/test_bars_that_last.py::test_"
LOOKING_BACK = "migrations/0034_remember_earlier_askings.sql"
SLIPS = "tests/scenarios/authority/test_slips.py::test_"
GIVING_BACK = "migrations/0060_look_up_each_key.sql"
CHANGES = f"{CORE}/approvals/barring_changes.py"
RECORDS = "tests/integration/store/tenants/test_eligibility.py::test_"

SEATS = (
    Mutation(
        "a creator gives a voter the permission that the vote needs",
        3,
        CHANGES,
        "        change.role in change.granting.get(needed, ())\n        and not _has",
        "        False\n        and not _has",
        (
            "tests/scenarios/authority/test_gifts_beside_the_vote.py::test_a_role_that_grants_the_permission_bars",
            "tests/scenarios/authority/test_gifts_beside_the_vote.py"
            "::test_a_role_that_comes_to_grant_it_bars_too",
        ),
    ),
    Mutation(
        "a condition on the voter reads a role that the creator gave",
        3,
        CHANGES,
        "    if basis.reads_roles and not _is_given_by_others(basis, given):\n",
        "    if False:\n",
        (
            "tests/unit/core/approvals/test_barring_changes.py"
            "::test_a_condition_that_reads_roles_rests_on_each_of_them",
        ),
    ),
    Mutation(
        "a creator takes their document from the one who rejected it",
        3,
        f"{CORE}/approvals/seats/rejecters.py",
        " and not _was_touched(r, standing)",
        "",
        (f"{AGAIN}no_gift_of_the_creator_takes_it_from_who_rejected",),
    ),
    Mutation(
        "a later stage that was rejected asks anybody",
        3,
        "shared/signet/engine/approvals/rejecters.py",
        "    rejected = join_rejected_seats(found)\n",
        "    rejected = [seat for seat in join_rejected_seats(found) if seat.stage == 1]\n",
        (f"{AGAIN}a_later_stage_goes_back_to_who_rejected_it_too",),
    ),
    Mutation(
        "a gate does not know who asks now",
        3,
        "shared/signet/store/approvals/requests.sql",
        "            || ARRAY(SELECT unnest(p.persons || q.actor_id) FROM transition_requests q",
        "            || ARRAY(SELECT unnest(p.persons[:0]) FROM transition_requests q",
        (f"{BARRED}who_gave_the_role_and_asks_for_the_same_later_bars_the_vote",),
    ),
    Mutation(
        "explanations know no roles of a coming stage",
        3,
        "shared/signet/engine/approvals/coming_stage.py",
        "ApproverData(values, managers, roles=roles, owners=owners)",
        "ApproverData(values, managers, owners=owners)",
        (
            "tests/scenarios/authority/test_explanations.py::test_who_is_named_and_has_the_role_would_be_asked",
        ),
    ),
    Mutation(
        "a person that a field names needs no role for a seat",
        3,
        f"{CORE}/approvals/seats/assignment.py",
        "elif approver.who is None or approver.who in approver_data.roles.get(person, ()):",
        "elif True:",
        (f"{NAMED}a_person_without_the_role_gets_no_seat",),
    ),
    Mutation(
        "the role of a seat is not asked of its voter",
        3,
        f"{CORE}/approvals/eligibility.py",
        "if self.needed_role is not None and self.needed_role not in roles:",
        "if False:",
        (f"{NAMED}who_has_lost_the_role_decides_no_more",),
    ),
    Mutation(
        "the role of a seat is not asked at the gate",
        3,
        f"{CORE}/approvals/entitlement.py",
        "        if needed_role is not None and needed_role not in self.roles[voices[-1]]:\n",
        "        if False:\n",
        (f"{NAMED}a_vote_lapses_at_the_gate_when_its_role_is_lost",),
    ),
)

ASKED_AGAIN = (
    Mutation(
        "a delegate who rejected is asked again themselves",
        3,
        f"{CORE}/approvals/seats/rejecters.py",
        "person = seat.on_behalf_of or seat.decided_by",
        "person = seat.decided_by",
        (f"{AGAIN}a_delegate_who_rejected_gets_no_seat_of_their_own",),
    ),
    Mutation(
        "a seat that is asked again forgets its role",
        3,
        f"{CORE}/approvals/seats/rejecters.py",
        "return Rejecter(person, seat.holder_role or seat.needed_role)",
        "return Rejecter(person, None)",
        ("tests/unit/core/approvals/seats/test_rejecters.py::test_who_rejected_is_asked_again",),
    ),
)

LAPSED_VOTES = (
    Mutation(
        "a lapsed vote that nobody can give pauses for good",
        3,
        "shared/signet/engine/execution/nodes/approval_progress.py",
        "case NextAction.PAUSE if approvals.ask_closed_seats(subject, stage, request):",
        "case NextAction.PAUSE if False:",
        (f"{LAPSED}where_nobody_can_give_the_lapsed_vote_the_others_are_asked_again",),
    ),
    Mutation(
        "an instance moves while a lapsed vote is asked again",
        3,
        "shared/signet/engine/approvals/requests.py",
        'if r.status == "open" and r.is_reopened)\n',
        "if False)\n",
        (f"{LAPSED}an_instance_that_waits_for_a_lapsed_vote_does_not_move",),
    ),
    Mutation(
        "an old rejection rejects what is asked again",
        3,
        "shared/signet/engine/execution/nodes/lifecycle_gate.py",
        "        request.is_reopened\n        and request.document_version == version\n        and ",
        "        ",
        (f"{LAPSED}a_branch_that_lost_its_join_rejects_nothing",),
    ),
)

GIVEN_BACK = (
    Mutation(
        "asking again lifts what the document's people took",
        3,
        LOOKING_BACK,
        "u.document_id = about.id AND u.applied),",
        "u.document_id = about.id),",
        (f"{BARRED}asking_again_lets_no_lenient_approver_decide",),
    ),
    Mutation(
        "permissions that are added are taken from the stage",
        3,
        "shared/signet/store/tenants/tenants.sql",
        "THEN 'role_widened'",
        "THEN 'role_permissions_changed'",
        (
            f"{BARRED}a_permission_that_the_creator_adds_bars_those_who_have_the_role",
            f"{RECORDS}roles_that_are_made_changed_and_deleted",
        ),
    ),
    Mutation(
        "a role that lost permissions counts as widened",
        3,
        "shared/signet/store/tenants/tenants.sql",
        "before.permissions <@ written.permissions",
        "before.permissions && written.permissions",
        (f"{RECORDS}holders_who_were_lost", f"{RECORDS}roles_that_are_made_changed_and_deleted"),
    ),
    Mutation(
        "widening bars the whole stage",
        3,
        CHANGES,
        '"role_permissions_changed", "role_deleted"})\n# What undoes',
        '"role_permissions_changed", "role_widened", "role_deleted"})\n# What undoes',
        (
            "tests/unit/core/approvals/test_barring_changes.py"
            "::test_a_role_that_only_gains_permissions_is_taken_from_nobody",
        ),
    ),
    Mutation(
        "widening bars nobody",
        3,
        CHANGES,
        'case "role_permissions_changed" | "role_widened":',
        'case "role_permissions_changed":',
        (f"{BARRED}a_permission_that_the_creator_adds_bars_those_who_have_the_role",),
    ),
    Mutation(
        "what a role has gained is not read",
        3,
        GIVING_BACK,
        "'role_permissions_changed', 'role_widened', 'role_deleted')\n                   -- One",
        "'role_permissions_changed', 'role_deleted')\n                   -- One",
        (f"{BARRED}a_permission_that_the_creator_adds_bars_those_who_have_the_role",),
    ),
    Mutation(
        "who took permissions lifts it by setting them again",
        3,
        GIVING_BACK,
        "             AND NOT s.persons && $4\n",
        "",
        (f"{RECORDS}a_role_is_given_back_by_a_person_who_is_not_concerned",),
    ),
    Mutation(
        "one of the document's people gives it back",
        3,
        CHANGES,
        "        and basis.concerned.isdisjoint(change.persons)\n",
        "",
        (
            "tests/unit/core/approvals/test_barring_changes.py"
            "::test_what_was_taken_bars_until_a_person_gives_it_back_who_is_not_concerned",
        ),
    ),
    Mutation(
        "explanations know no bar of a stage that could not begin",
        3,
        "shared/signet/engine/instances/explained_voters.py",
        "        check = add_changes(self.reader, self.document, check)\n",
        "",
        (f"{BARRED}where_the_documents_people_clear_the_bench_it_pauses",),
    ),
    Mutation(
        "nobody who may vote gives it back for the others",
        3,
        GIVING_BACK,
        "                   OR r.kind IN ('role_given', 'member_enabled')\n",
        "                   OR r.kind = 'seat_given'\n",
        (f"{BARRED}who_agrees_with_the_taking_gives_it_back_and_takes_it_again",),
    ),
)

TAKEN_BACK = (
    Mutation(
        "what another person gave is taken back without a bar",
        3,
        CHANGES,
        "    return not frozenset(basis.responsible).isdisjoint(change.given_by)\n",
        "    return True\n",
        (f"{SLIPS}what_another_person_gave_is_not_taken_back_by_the_creator",),
    ),
    Mutation(
        "a first taking hides behind a later one",
        3,
        GIVING_BACK,
        "c.side, c.persons, c.gave, c.given_by)",
        "c.side, c.persons, c.gave)",
        (f"{SLIPS}the_creators_own_giving_hides_no_taking",),
    ),
    Mutation(
        "members are advised although a change bars them",
        3,
        f"{CORE}/approvals/additions.py",
        "        and check.find_bar(person, given.union(members[person])) is None\n",
        "",
        (f"{SLIPS}who_was_given_the_role_or_made_a_member_by_the_creator_is_not_advised",),
    ),
)

STRANGERS = (
    Mutation(
        "a stranger learns what became of an approval",
        3,
        "shared/signet/engine/approvals/decide.py",
        "    if not is_asked(person, (*locked.seats, *locked.other_seats), roles, locked.delegations):",
        "    if False:",
        ("tests/integration/engine/approvals/test_strangers.py::test_a_stranger_learns_nothing",),
    ),
)

BARS = (
    Mutation(
        "a wave counts on voters who are barred",
        3,
        "shared/signet/engine/approvals/approver_lookup.py",
        "    if since is not None:\n",
        "    if False:\n",
        (f"{BARRED}when_only_a_barred_voter_is_left_it_pauses_and_says_so",),
    ),
    Mutation(
        "a vote that leaves only barred voters wakes nobody",
        3,
        "shared/signet/engine/approvals/decide.py",
        'if result.stage_state != "open" or request.has_changed_people:',
        'if result.stage_state != "open":',
        (f"{BARRED}the_vote_after_which_only_a_barred_voter_is_left_pauses_it",),
    ),
    Mutation(
        "a barred voter is sure to be able to vote",
        3,
        "shared/signet/engine/approvals/lost_approvers.py",
        "    woken |= _list_uncertain(connection, tenant_id, page)\n",
        "",
        (f"{BARRED}when_only_a_barred_voter_is_left_it_pauses_and_says_so",),
    ),
    Mutation(
        "a gate takes what was given to a voter",
        3,
        f"{CORE}/approvals/entitlement.py",
        "        return first or find_barring_change(basis, self.changes)\n",
        "        return first\n",
        (f"{BARRED}a_role_that_comes_back_from_the_creator_lets_the_vote_lapse",),
    ),
    Mutation(
        "delegations that come and go hide a grant",
        3,
        GIVING_BACK,
        "              AND u.kind NOT IN ('delegation_revoked', 'role_taken')\n"
        "              -- A vote rests on a delegation where both of its sides are judged.\n"
        "              AND (u.kind <> 'delegation_given' OR u.other_user_id = ANY ($2))\n",
        "",
        ("tests/integration/store/tenants/test_eligibility.py::test_what_cannot_bar_a_vote_is_not_read",),
    ),
    Mutation(
        "a purge keeps the keys that a document has left",
        3,
        "migrations/0034_remember_earlier_askings.sql",
        "DELETE FROM left_document_keys l WHERE l.tenant_id = NEW.tenant_id AND l.document_id = NEW.id;",
        "",
        (
            "tests/integration/engine/housekeeping/test_pruning.py"
            "::test_a_purge_forgets_the_keys_that_a_document_has_left",
        ),
    ),
    Mutation(
        "a purge forgets the keys of all documents",
        3,
        "migrations/0034_remember_earlier_askings.sql",
        "l.tenant_id = NEW.tenant_id AND l.document_id = NEW.id;",
        "l.tenant_id = NEW.tenant_id;",
        (
            "tests/integration/engine/housekeeping/test_pruning.py"
            "::test_a_purge_forgets_the_keys_that_a_document_has_left",
        ),
    ),
    Mutation(
        "more changes than can be judged bar nothing",
        3,
        f"{CORE}/approvals/barring_changes.py",
        "    if len(changes) > MAX_CHANGES:",
        "    if False:",
        (
            "tests/unit/core/approvals/test_barring_changes.py::test_more_changes_than_can_be_judged_bar_a_vote",
        ),
    ),
    Mutation(
        "asking again lifts what bars a vote",
        3,
        "shared/signet/store/approvals/requests.sql",
        "       remind_at, trace_id, %(now)s, least(first_asked(document_id), %(now)s)\n",
        "       remind_at, trace_id, %(now)s, %(now)s::timestamptz\n",
        (f"{BARRED}who_was_given_the_role_meanwhile_stays_barred",),
    ),
    Mutation(
        "asking again hastens an escalation",
        3,
        "shared/signet/engine/approvals/requests.py",
        "        if self.has_lost_holder(about, stage, seats):\n",
        "        if False:\n",
        (f"{BARRED}the_edit_of_another_hastens_no_escalation_and_lifts_no_bar",),
    ),
    Mutation(
        "a bench without seats may be cleared",
        3,
        f"{CORE}/approvals/policy.py",
        "    named = (_role_of(approver) for approver in stage.approvers)\n",
        "    named = (None for _ in stage.approvers)\n",
        (f"{BARRED}the_edit_of_another_hastens_no_escalation_and_lifts_no_bar",),
    ),
    Mutation(
        "a bar lasts beyond the gate",
        3,
        LOOKING_BACK,
        "u.document_id = about.id AND u.applied),",
        "u.document_id = about.id AND false),",
        (f"{BARRED}after_a_gate_has_used_an_approval_it_counts_anew",),
    ),
)

VOTING = (*BARS, *GIVEN_BACK, *TAKEN_BACK, *STRANGERS, *LAPSED_VOTES, *SEATS, *ASKED_AGAIN)
