"""Faults in judging a bench: a permission is taken from those who are asked, by any role (WF-03)."""

from tests.mutants.mutation import Mutation

SCENES = "tests/scenarios/authority/test_benches_by_another_role.py::test_"
TAKINGS = "tests/integration/store/tenants/test_permission_takings.py::test_"
MIGRATION, STORE = "migrations/0033_note_what_a_role_gave.sql", "shared/signet/store"

BENCHES = (
    Mutation(
        "the bench is cleared by another role",
        3,
        "shared/signet/core/approvals/barring_changes.py",
        "return is_disabled or change.takes_permission or change.role in basis.seat_roles",
        "return is_disabled or change.role in basis.seat_roles",
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
        "asked.seat_roles, q.voter_permissions, %(by_roles)s::text[]",
        "asked.seat_roles, '{}', %(by_roles)s::text[]",
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
        MIGRATION,
        "AND g.kind = 'role_given' AND g.changed_at >= $3",
        "AND g.kind = 'role_given' AND g.changed_at < $3",
        (f"{SCENES}another_role_that_is_given_before_the_taking_hides_nothing",),
    ),
    Mutation(
        "a role that was changed and set again hides what was taken",
        3,
        MIGRATION,
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
)
