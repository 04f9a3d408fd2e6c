"""Faults in judging a bench: a permission is taken from those who are asked, by any role (WF-03)."""

from tests.mutants.mutation import Mutation

SCENES = "tests/scenarios/authority/test_benches_by_another_role.py::test_"
TAKINGS = "tests/integration/store/tenants/test_permission_takings.py::test_"
GIVING = "tests/scenarios/authority/test_benches_by_giving.py::test_"
JUDGING = "tests/unit/core/approvals/test_barring_changes.py::test_"
RECORDS = "tests/integration/store/tenants/test_told_eligibility.py::test_"
CHANGES = "shared/signet/core/approvals/barring_changes.py"
KEEPING = "migrations/0033_note_what_a_role_gave.sql"
MIGRATION, STORE = "migrations/0035_tell_what_a_vote_rests_on.sql", "shared/signet/store"
BARRING = "migrations/0060_look_up_each_key.sql"

BENCHES = (
    Mutation(
        "the bench is cleared by another role",
        3,
        "shared/signet/core/approvals/barring_changes.py",
        "return change.takes_permission or (change.kind in _TAKING",
        "return (change.kind in _TAKING",
        (
            f"{SCENES}the_permission_is_taken_by_another_role",
            "tests/unit/core/approvals/test_barring_changes.py"
            "::test_nobody_votes_by_what_the_documents_people_gave_or_took",
        ),
    ),
    Mutation(
        "a vote does not read which permissions were taken",
        3,
        f"{STORE}/approvals/decisions.sql",
        "q.voter_permissions, %(by_roles)s::text[], %(own_resources)s::text[]) AS change",
        "'{}', %(by_roles)s::text[], %(own_resources)s::text[]) AS change",
        (f"{SCENES}it_is_not_given_back_by_who_took_it",),
    ),
    Mutation(
        "the people who are asked by name lose no permission",
        3,
        MIGRATION,
        "WHERE (m.user_id = ANY (holders)\n",
        "WHERE (false\n",
        (f"{SCENES}named_people_lose_it_as_well", f"{TAKINGS}a_permission_is_taken_from_those_who_are_asked"),
    ),
    Mutation(
        "a role is emptied before it is taken",
        3,
        MIGRATION,
        "AND t.kind = 'role_taken' AND t.changed_at > c.changed_at",
        "AND t.kind = 'role_taken' AND t.changed_at < c.changed_at",
        (f"{SCENES}a_role_that_was_changed_before_it_was_taken",),
    ),
    Mutation(
        "a role that was given meanwhile hides what was taken",
        3,
        KEEPING,
        "AND g.kind = 'role_given' AND g.changed_at >= $3",
        "AND g.kind = 'role_given' AND g.changed_at < $3",
        (f"{SCENES}another_role_that_is_given_before_the_taking_hides_nothing",),
    ),
    Mutation(
        "a role that was changed and set again hides what was taken",
        3,
        KEEPING,
        "AND NOT coalesce(s.permissions && $2, false)",
        "AND false",
        (f"{TAKINGS}who_has_kept_it_has_lost_nothing",),
    ),
    Mutation(
        "a condition that reads roles is taken by none",
        3,
        MIGRATION,
        "any_role boolean := coalesce(needed && by_roles, false);",
        "any_role boolean := false;",
        (f"{SCENES}a_condition_that_reads_roles_may_be_taken_away_by_any",),
    ),
    Mutation(
        "a taken role does not note what it gave",
        3,
        f"{STORE}/tenants/tenants.sql",
        "(SELECT r.permissions FROM roles r WHERE r.tenant_id = %(tenant_id)s AND r.role = taken.role)",
        "ARRAY[]::text[]",
        (f"{TAKINGS}each_change_of_a_role_notes_what_it_gave",),
    ),
    Mutation(
        "a gift bars who had the permission before",
        3,
        CHANGES,
        "    return any(role in granting and role not in spoilt for role in basis.roles.get(person, ()))\n",
        "    return False\n",
        (
            f"{GIVING}a_gift_bars_nobody_who_needs_it_not",
            f"{GIVING}a_vote_that_was_cast_does_not_lapse_by_a_gift",
            f"{JUDGING}what_the_voter_has_by_another_role_they_have_not_by_the_gift",
        ),
    ),
    Mutation(
        "of two gifts each excuses the other",
        3,
        CHANGES,
        '            (change.kind == "role_given" and change.user_id == person)\n',
        "            False\n",
        (
            f"{GIVING}neither_by_two_gifts_of_which_each_would_do",
            f"{JUDGING}what_the_voter_has_by_another_role_they_have_not_by_the_gift",
        ),
    ),
    Mutation(
        "a role that gains what it had bars its holders",
        3,
        CHANGES,
        "                and needed not in change.gave\n",
        "",
        (
            f"{GIVING}what_a_person_without_a_part_gave_is_had_without_the_gift",
            f"{JUDGING}a_role_that_the_voter_has_besides_may_give_the_permission",
        ),
    ),
    Mutation(
        "a role that gained a permission hides behind a later change",
        3,
        BARRING,
        "c.side, c.persons, c.gave, c.given_by)",
        "c.side, c.persons)",
        (f"{RECORDS}a_change_of_a_role_tells_which_needed_permissions_it_granted_before",),
    ),
    Mutation(
        "any line bars the one who manages",
        3,
        CHANGES,
        "            return basis.is_by_line and is_own and not _is_given_by_others(basis, change)\n",
        "            return is_own and not _is_given_by_others(basis, change)\n",
        (f"{JUDGING}a_change_that_the_vote_does_not_rest_on_bars_nothing",),
    ),
    Mutation(
        "a line is taken from an approver",
        3,
        CHANGES,
        "return is_led and not is_own and not",
        "return False and not is_own and not",
        (
            f"{GIVING}a_line_that_a_seat_came_by_bars_the_whole_stage",
            f"{JUDGING}a_line_bars_where_a_seat_came_by_it",
        ),
    ),
    Mutation(
        "a seat by a role that was given is as good",
        3,
        CHANGES,
        "    if person == basis.holder and given.role in basis.own_seat_roles:\n",
        "    if False:\n",
        (f"{JUDGING}a_role_by_which_the_seat_is_not_filled_is_no_seat",),
    ),
    Mutation(
        "a role is given to an approver whose condition reads roles",
        3,
        MIGRATION,
        "AND (any_role AND c.kind IN ('role_taken', 'role_given')\n",
        "AND (any_role AND c.kind = 'role_taken'\n",
        (
            f"{GIVING}where_a_condition_reads_roles_a_gift_bars_the_whole_stage",
            f"{TAKINGS}where_a_condition_reads_roles_any_that_is_given_may_take_a_vote",
        ),
    ),
    Mutation(
        "a person that the creator has asked by a role takes a vote from others",
        3,
        MIGRATION,
        "AND NOT (c.kind = 'role_given' AND EXISTS (",
        "AND NOT (false AND EXISTS (",
        (f"{GIVING}who_is_not_asked_may_be_given_any_role",),
    ),
    Mutation(
        "what others gave in between is taken back",
        3,
        MIGRATION,
        "    ORDER BY g.changed_at DESC LIMIT 1;\n",
        "    ORDER BY g.changed_at LIMIT 1;\n",
        (
            f"{GIVING}what_another_person_gave_in_between_is_not_taken_back",
            f"{RECORDS}a_taking_tells_who_gave_it_last_before",
        ),
    ),
    Mutation(
        "a first taking of a permission hides behind a later one",
        3,
        MIGRATION,
        "SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.persons, given.persons) c.*",
        "SELECT DISTINCT ON (c.kind, c.user_id, c.role, c.persons) c.*",
        (f"{GIVING}the_creators_own_giving_hides_no_taking_of_a_permission",),
    ),
    Mutation(
        "many roles that are given and taken bar a person",
        3,
        BARRING,
        "              AND (u.kind <> 'role_given'\n",
        "              AND (true\n",
        (f"{RECORDS}many_changes_beside_the_vote_are_not_read",),
    ),
)
