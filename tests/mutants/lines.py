"""Faults in judging the reporting lines that seats came by, and the delegations of votes (WF-03)."""

from tests.mutants.mutation import Mutation

ABOVE = "tests/scenarios/authority/test_lines_above.py::test_"
SECOND = "tests/scenarios/authority/test_second_delegations.py::test_"
JUDGING = "tests/unit/core/approvals/test_barring_lines.py::test_"
RECORDS = "tests/integration/store/tenants/test_told_eligibility.py::test_"
CORE, STORE = "shared/signet/core/approvals", "shared/signet/store"
CHANGES, MIGRATION = f"{CORE}/barring_changes.py", "migrations/0038_judge_what_a_seat_came_by.sql"

LINES = (
    Mutation(
        "a line below the manager draws another person",
        3,
        CHANGES,
        "            is_own = change.other_user_id in basis.own_lines\n",
        "            is_own = bool(basis.own_lines) and change.user_id == basis.holder\n",
        (
            f"{JUDGING}a_seat_rests_on_each_line_that_was_climbed",
            f"{ABOVE}the_gate_asks_for_the_lines_of_its_seats",
        ),
    ),
    Mutation(
        "only the line of the holder bars the stage",
        3,
        CHANGES,
        "        is_led = change.other_user_id in basis.lines or change",
        "        is_led = change",
        (
            f"{JUDGING}a_line_of_another_seat_bars_the_whole_stage_at_the_vote",
            f"{ABOVE}it_bars_the_rest_of_the_stage_too",
        ),
    ),
    Mutation(
        "any line of the approver bars them",
        3,
        CHANGES,
        "            is_own = is_own or (change.user_id == basis.holder and not basis.own_lines)\n",
        "            is_own = is_own or change.user_id == basis.holder\n",
        (f"{JUDGING}a_line_beside_them_bars_nobody",),
    ),
    Mutation(
        "a line of an older seat bars nobody",
        3,
        CHANGES,
        "            is_own = is_own or (change.user_id == basis.holder and not basis.own_lines)\n",
        "",
        ("tests/unit/core/approvals/test_barring_changes.py::test_a_line_bars_where_a_seat_came_by_it",),
    ),
    Mutation(
        "a line that is given up takes no vote from anybody",
        3,
        CHANGES,
        "is_own = change.is_given_up and not frozenset",
        "is_own = change.is_given_up or not frozenset",
        (f"{JUDGING}who_gives_up_the_line_by_which_they_are_asked_bars_nobody_else",),
    ),
    Mutation(
        "a seat tells only the line of the lowest",
        3,
        f"{CORE}/seats/assignment.py",
        "            lines.append(approver_data.owners.get(manager, manager))\n",
        "            lines = [approver_data.owners.get(person, person)]\n",
        (
            "tests/unit/core/approvals/seats/test_assignment.py::test_a_seat_tells_the_lines_that_were_climbed_to_it",
        ),
    ),
    Mutation(
        "a line that leads to nobody is told by no seat",
        3,
        f"{CORE}/seats/assignment.py",
        "    in_vain += tuple(line for unseated in missing for line in unseated.lines)\n",
        "",
        (
            "tests/unit/core/approvals/seats/test_assignment.py::test_each_seat_tells_the_lines_that_led_to_nobody_else",
            f"{ABOVE}a_line_that_leads_to_nobody_bars_those_who_are_asked_instead",
        ),
    ),
    Mutation(
        "an escalation forgets the lines of the stage",
        3,
        "shared/signet/engine/approvals/requests.py",
        "number, list(seats), assignment.in_vain)",
        "number, list(seats))",
        (f"{ABOVE}a_line_that_leads_to_nobody_bars_those_who_are_asked_instead",),
    ),
    Mutation(
        "what others have set again still bars",
        3,
        MIGRATION,
        "    WHERE newest.persons && $4\n",
        "",
        (f"{RECORDS}a_line_tells_who_has_set_it_last",),
    ),
    Mutation(
        "many changes of a line are one too many",
        3,
        MIGRATION,
        "    SELECT DISTINCT ON (c.other_user_id, c.user_id, c.persons)\n",
        "    SELECT DISTINCT ON (c.other_user_id, c.user_id, c.persons, c.changed_at)\n",
        (f"{RECORDS}a_line_that_changes_often_is_read_once_for_each_manager",),
    ),
    Mutation(
        "a vote reads no lines",
        3,
        f"{STORE}/approvals/decisions.sql",
        "asked.holders, asked.seat_roles, asked.lines, asked.line_holders,",
        "asked.holders, asked.seat_roles, NULL, NULL,",
        (f"{ABOVE}many_changes_of_a_line_bar_until_a_person_without_a_part_sets_it",),
    ),
    Mutation(
        "a gate reads no lines",
        3,
        f"{STORE}/approvals/requests.sql",
        "                coalesce(r.asked_since, r.created_at), s.lines, CASE",
        "                coalesce(r.asked_since, r.created_at), NULL, CASE",
        (f"{ABOVE}the_gate_asks_for_the_lines_of_its_seats",),
    ),
    Mutation(
        "nobody gives their own voice where another has given it",
        3,
        f"{STORE}/approvals/delegations.sql",
        "AND (NOT %(only_own)s OR created_by = %(user_id)s)\n",
        "\n",
        (
            f"{SECOND}nobody_votes_by_the_one_that_the_creator_gave",
            f"{SECOND}the_same_is_not_given_twice",
        ),
    ),
    Mutation(
        "the same delegation is given twice",
        3,
        "shared/signet/engine/approvals/delegations.py",
        "            _require_no_other(act, new)\n",
        "",
        (f"{SECOND}the_same_is_not_given_twice",),
    ),
    Mutation(
        "a vote is not judged by who gave its delegation",
        3,
        f"{CORE}/entitlement.py",
        "        return find_barring_change(replace(basis, delegation=delegation), self.changes)\n",
        "        return find_barring_change(basis, self.changes)\n",
        (f"{SECOND}nobody_votes_by_the_one_that_the_creator_gave",),
    ),
    Mutation(
        "a delegation from before the asking bars",
        3,
        CHANGES,
        "given.given_at is None or given.given_at < basis.asked_since:",
        "given.given_at is None:",
        (
            f"{JUDGING}a_delegation_bars_unless_the_delegator_gave_it",
            f"{SECOND}one_that_was_given_before_the_asking_bars_nobody",
        ),
    ),
    Mutation(
        "a gate does not ask who gave the delegation",
        3,
        f"{CORE}/entitlement.py",
        "judges_takings=False, delegation=delegation)",
        "judges_takings=False)",
        (f"{SECOND}the_gate_judges_the_one_that_the_vote_was_given_by",),
    ),
)
