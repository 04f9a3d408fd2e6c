"""Faults in granting: people give themselves a vote, clear the bench, or open the glass alone (WF-03)."""

from tests.mutants.mutation import Mutation

CORE, ENGINE, STORE = "shared/signet/core", "shared/signet/engine", "shared/signet/store"
SELF = "tests/functions/routes/tenants/test_self_grants.py::test_"
LISTED = "shared/signet/store/tenants/dependents.sql"
LEAVING = "tests/scenarios/authority/test_requests_of_who_leaves.py::test_"
DEPENDENTS = "tests/functions/routes/tenants/test_dependents.py::test_"
GLASS = "tests/functions/routes/tenants/test_break_glass.py::test_"
DELEGATIONS = "tests/integration/engine/approvals/test_delegations.py::test_"
LOST = "tests/integration/engine/approvals/test_lost_approvers.py::test_"
SCENES = "tests/integration/engine/approvals/test_barring_grants.py::test_"
BARRING = "tests/unit/core/approvals/test_barring_changes.py::test_"
RECORDS = "tests/integration/store/tenants/test_eligibility.py::test_"
GRANTS, CHANGES = f"{ENGINE}/tenants/self_grants.py", f"{CORE}/approvals/barring_changes.py"
MEMBERS, MIGRATION = f"{ENGINE}/tenants/members.py", "migrations/0013_record_eligibility.sql"

SELF_GRANTS = (
    Mutation(
        "people change their own roles",
        3,
        MEMBERS,
        "                require_other_member(act, before, new, status)\n",
        "",
        (f"{SELF}hank_gives_himself_the_role_that_is_asked", f"{SELF}nobody_makes_themselves_a_member"),
    ),
    Mutation(
        "a key gives to the people behind it",
        3,
        GRANTS,
        "if new.user_id not in act.caller.principal.responsible:",
        "if new.user_id != act.caller.principal.subject:",
        (f"{SELF}a_key_gives_nothing_to_the_people_behind_it",),
    ),
    Mutation(
        "people change a role that they hold by their token",
        3,
        GRANTS,
        "if role in principal.roles or people.holds_role(",
        "if people.holds_role(",
        (f"{SELF}nobody_changes_a_role_that_they_hold",),
    ),
    Mutation(
        "people change a role that they hold as members",
        3,
        f"{STORE}/tenants/people.sql",
        "WHERE tenant_id = %(tenant_id)s AND role = %(role)s AND user_id = ANY (%(user_ids)s::text[]))",
        "WHERE tenant_id = %(tenant_id)s AND role = %(role)s AND user_id <> ALL (%(user_ids)s::text[]))",
        (f"{SELF}nobody_changes_a_role_that_they_hold",),
    ),
    Mutation(
        "a role is emptied by a person who may do nothing of it",
        3,
        f"{ENGINE}/tenants/roles.py",
        "return added if set(had) <= set(wanted) else [*added, *had]",
        "return added",
        (f"{SELF}strip_and_take",),
    ),
    Mutation(
        "a role is deleted by a person who may do nothing of it",
        3,
        f"{ENGINE}/tenants/roles.py",
        "                require_held_permissions(act, role, records[0].permissions)\n",
        "",
        (f"{SELF}strip_and_take",),
    ),
    Mutation(
        "a wildcard reaches members and roles",
        3,
        f"{CORE}/tenants/permissions.py",
        "granting if entity in OWN_RESOURCES else granting",
        "granting",
        (
            f"{SELF}the_reach_of_a_wildcard",
            "tests/unit/core/tenants/test_permissions.py::test_a_star_in_front_never_covers_signets_own_resources",
        ),
    ),
    Mutation(
        "people change their own manager",
        3,
        GRANTS,
        "    if user_id in responsible:\n",
        "    if False:\n",
        (f"{SELF}otto_becomes_mias_manager",),
    ),
    Mutation(
        "people become a manager by their own hand",
        3,
        GRANTS,
        "    if manager_id in responsible:\n",
        "    if False:\n",
        (f"{SELF}otto_becomes_mias_manager",),
    ),
    Mutation(
        "an operator installs roles for themselves",
        3,
        f"{ENGINE}/tenants/operator.py",
        "            require_other_people(act.connection, tenant, caller.principal.responsible)\n",
        "",
        (f"{SELF}an_operator_gives_nothing_to_themselves",),
    ),
    Mutation(
        "a single administrator is not told what to do",
        3,
        f"{STORE}/tenants/people.sql",
        "      AND m.user_id <> ALL (%(besides)s::text[]))",
        "      AND (true OR m.user_id <> ALL (%(besides)s::text[])))",
        (f"{SELF}a_single_administrator_is_told_what_to_do",),
    ),
    Mutation(
        "roles of a chain decide nothing",
        3,
        f"{ENGINE}/tenants/deciding_roles.py",
        "        yield from list_roles_of_approval(config)\n",
        "        yield from ()\n",
        (f"{SELF}a_role_that_a_published_policy_names_is_shown_as_deciding",),
    ),
)

DELEGATING = (
    Mutation(
        "an administrator takes a voice",
        3,
        f"{ENGINE}/approvals/delegations.py",
        "if not principal.responsible.isdisjoint((new.user_id, new.delegate_id)):",
        "if not principal.responsible.isdisjoint((new.user_id,)):",
        (f"{DELEGATIONS}an_administrator_is_neither_side_of_what_they_make_for_others",),
    ),
    Mutation(
        "a key gives a voice",
        3,
        f"{ENGINE}/approvals/delegations.py",
        "    if principal.is_key:\n",
        "    if False:\n",
        (f"{DELEGATIONS}a_key_gives_no_voice",),
    ),
    Mutation(
        "a delegation begins in the past",
        3,
        f"{ENGINE}/approvals/delegations.py",
        "if new.from_time < now - TOLERANCE:",
        "if False:",
        (f"{DELEGATIONS}terms_that_are_none",),
    ),
    Mutation(
        "a delegation begins a little in the past",
        3,
        f"{ENGINE}/approvals/delegations.py",
        "            new = replace(new, from_time=max(new.from_time, act.now))\n",
        "            new = replace(new)\n",
        (f"{DELEGATIONS}a_beginning_of_just_now_is_now",),
    ),
    Mutation(
        "the delegate is told nothing",
        3,
        f"{ENGINE}/approvals/delegations.py",
        "notify_people(act.connection, tenant_id, (user_id, delegate_id), kind, data, now=act.now)",
        "notify_people(act.connection, tenant_id, (user_id,), kind, data, now=act.now)",
        (f"{DELEGATIONS}both_are_told_of_what_is_given_and_what_is_revoked",),
    ),
)

BARRED_VOTES = (
    Mutation(
        "a vote is not judged by what was granted",
        3,
        f"{CORE}/approvals/entitlement.py",
        "self._find_barring_grant if self.changes or self.delegations else None",
        "None",
        (f"{SCENES}a_role_that_the_author_gives_the_voter", f"{SCENES}clearing_the_bench"),
    ),
    Mutation(
        "what the document's people granted is not read with a vote",
        3,
        f"{STORE}/approvals/decisions.sql",
        "asked.people || asked.behind, asked.holders, asked.seat_roles, asked.lines",
        "asked.people, asked.holders, asked.seat_roles, asked.lines",
        (f"{SCENES}a_role_that_the_author_gives_the_voter",),
    ),
    Mutation(
        "a vote counts by what its voter gave",
        3,
        CHANGES,
        "        return self.voting_people.union(self.responsible)\n",
        "        return frozenset(self.responsible)\n",
        (f"{BARRING}nor_by_what_they_gave_themselves_or_took_from_others",),
    ),
    Mutation(
        "a vote counts by what the document's people gave",
        3,
        CHANGES,
        "        return self.voting_people.union(self.responsible)\n",
        "        return self.voting_people\n",
        (f"{BARRING}nobody_votes_by_what_the_documents_people_gave_or_took",),
    ),
    Mutation(
        "the bench is cleared",
        3,
        CHANGES,
        "    return change.takes_permission or (change.kind in _TAKING and",
        "    return False and (change.kind in _TAKING and",
        (f"{BARRING}nobody_votes_by_what_the_documents_people_gave_or_took",),
    ),
    Mutation(
        "a change from before the request bars a vote",
        3,
        CHANGES,
        "if change.changed_at < basis.asked_since or not _bars(basis, change, changes):",
        "if not _bars(basis, change, changes):",
        (f"{BARRING}nobody_votes_by_what_the_documents_people_gave_or_took",),
    ),
    Mutation(
        "a delegation by the delegate counts",
        3,
        CHANGES,
        "    if (basis.concerned - {basis.represented}).isdisjoint(given.given_by):\n",
        "    if frozenset(basis.responsible).isdisjoint(given.given_by):\n",
        (
            "tests/unit/core/approvals/test_barring_lines.py::test_a_delegation_bars_unless_the_delegator_gave_it",
        ),
    ),
    Mutation(
        "roles are given without a record",
        3,
        f"{STORE}/tenants/tenants.sql",
        "'role_given', user_id, role, NULL, NULL FROM given",
        "'role_given', user_id, role, NULL, NULL FROM given WHERE false",
        (f"{RECORDS}roles_that_are_given_and_taken",),
    ),
    Mutation(
        "members are disabled without a record for their roles",
        3,
        f"{STORE}/tenants/people.sql",
        "unnest(roles || NULL::text) AS touched",
        "unnest(ARRAY[NULL::text]) AS touched",
        (f"{RECORDS}members_who_come_go_and_come_again", f"{RECORDS}holders_who_were_lost"),
    ),
    Mutation(
        "what was taken from the holders of a role is not read",
        3,
        "migrations/0060_look_up_each_key.sql",
        "r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1",
        "r.tenant_id = current_tenant_id() AND r.role = ANY ($3) AND r.changed_at >= $1 AND false",
        (f"{RECORDS}changes_are_read_by_people_and_by_roles",),
    ),
    Mutation(
        "records go while an older approval is open",
        3,
        "migrations/0023_keep_pins_and_records.sql",
        "AND (q.status = 'open' OR q.status = 'approved' AND NOT q.applied)",
        "AND q.status = 'voided'",
        (
            "tests/integration/engine/housekeeping/test_pruning.py"
            "::test_records_of_eligibility_go_unless_an_open_approval_is_older",
        ),
    ),
    Mutation(
        "records are rewritten",
        3,
        MIGRATION,
        "IF TG_OP = 'DELETE' AND current_user = 'signet_owner'\n"
        "       AND current_setting('signet.pruning', true) = 'eligibility_changes' THEN",
        "IF TG_OP = 'DELETE' THEN",
        ("tests/integration/store/catalogue/test_row_invariants.py::test_append_only_tables",),
    ),
    Mutation(
        "clearing the bench hastens an escalation",
        3,
        f"{CORE}/approvals/votes.py",
        "is_for_want_of_people and has_lost_holder and not is_late",
        "is_for_want_of_people and has_lost_holder and is_late",
        (f"{LOST}clearing_the_bench_hastens_no_escalation",),
    ),
    Mutation(
        "every want of people waits for the escalation's time",
        3,
        f"{ENGINE}/execution/nodes/approval_progress.py",
        "has_lost = not is_late and approvals.has_lost_holder(subject, stage, seats)",
        "has_lost = True",
        (f"{LOST}a_stage_whose_people_have_voted_escalates_at_once",),
    ),
)

DEPENDENTS_AND_GLASS = (
    Mutation(
        "a member is disabled without a word about what they asked for",
        3,
        LISTED,
        "AND q.actor_id = own.subject AND q.status = 'open'",
        "AND q.actor_id = own.subject AND false",
        (f"{LEAVING}open_requests_are_named_before_the_member_is_disabled",),
    ),
    Mutation(
        "requests of keys are nobody's",
        3,
        LISTED,
        "     SELECT 'key:' || k.id FROM api_keys k",
        "     SELECT k.name FROM api_keys k",
        (f"{LEAVING}requests_of_a_key_are_those_of_its_owner",),
    ),
    Mutation(
        "members are disabled without a word about their dependents",
        3,
        MEMBERS,
        "                    require_succession(act, new.user_id, succession)\n",
        "                    pass\n",
        (f"{DEPENDENTS}a_member_with_dependents_is_not_disabled_without_a_word_about_them",),
    ),
    Mutation(
        "seats are handed over to oneself",
        3,
        f"{ENGINE}/tenants/dependents.py",
        "    if heir in act.caller.principal.responsible:\n",
        "    if False:\n",
        (f"{DEPENDENTS}nobody_hands_anything_over_to_themselves",),
    ),
    Mutation(
        "an heir has two seats in a stage",
        3,
        MIGRATION,
        "AND to_user IN (taken.holder_user_id, taken.decided_by, taken.on_behalf_of)",
        "AND false",
        (f"{DEPENDENTS}they_are_handed_over",),
    ),
    Mutation(
        "keys outlive a member whose dependents end",
        3,
        f"{ENGINE}/tenants/dependents.py",
        "keys = store.revoke_keys(connection, tenant_id, user_id, author, act.now)",
        "keys = list[str]()",
        (f"{DEPENDENTS}they_end_with_the_member",),
    ),
    Mutation(
        "an operator consents to their own proposal",
        3,
        "migrations/0014_add_break_glass.sql",
        "      AND NOT p.proposed_persons && persons AND",
        "      AND",
        (f"{GLASS}the_database_wants_two_operators_too",),
    ),
    Mutation(
        "one operator is enough",
        3,
        f"{ENGINE}/tenants/break_glass.py",
        "if not caller.principal.responsible.isdisjoint(proposal.proposed_persons):",
        "if False:",
        (f"{GLASS}one_operator_is_not_enough",),
    ),
    Mutation(
        "an operator seats themselves",
        3,
        f"{ENGINE}/tenants/break_glass.py",
        "    if user_id in act.caller.principal.responsible:\n",
        "    if False:\n",
        (f"{GLASS}no_operator_seats_themselves",),
    ),
    Mutation(
        "a proposal never ends",
        3,
        "migrations/0014_add_break_glass.sql",
        "AND p.consented_at IS NULL AND p.expires_at > now()",
        "AND p.consented_at IS NULL",
        (f"{GLASS}a_proposal_seats_once_and_not_for_ever",),
    ),
    Mutation(
        "break-glass leaves no record that a vote is judged by",
        3,
        f"{STORE}/approvals/break_glass.py",
        "    connection.execute(_SQL.note_seat, noted)\n",
        "",
        (f"{GLASS}it_is_on_record_at_the_document_and_at_the_tenant",),
    ),
    Mutation(
        "those of the next approval do not see break-glass of the first",
        3,
        f"{STORE}/approvals/break_glass.sql",
        " AND (other.id = r.id OR (other.document_version",
        " AND other.id = r.id AND (true OR (other.document_version",
        (f"{GLASS}those_of_the_next_approval_that_the_gate_uses_see_it_too",),
    ),
    Mutation(
        "those who decide are not told of break-glass",
        3,
        f"{STORE}/approvals/break_glass.py",
        "    connection.execute(_SQL.notify_deciders, noted)\n",
        "",
        (f"{GLASS}everybody_who_decides_is_told_and_sees_it",),
    ),
)

GRANTING = (*SELF_GRANTS, *DELEGATING, *BARRED_VOTES, *DEPENDENTS_AND_GLASS)
