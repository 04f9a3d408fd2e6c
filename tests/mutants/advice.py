"""Faults in what people are told and offered where nobody may decide, or nobody was asked (WF-03)."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

CORE, ENGINE = "shared/signet/core", "shared/signet/engine"
OLDER = "tests/integration/engine/definitions/test_older_definitions.py::test_"
WAVES = "tests/integration/engine/approvals/test_approvals_between_waves.py::test_"
GLASS = "tests/functions/routes/tenants/test_break_glass.py::test_"
EXPLAINED = "tests/scenarios/authority/test_explanations.py::test_"
FOREIGN = "tests/unit/core/approvals/seats/test_foreign_seats.py::test_"

ADVICE: Sequence[Mutation] = (
    Mutation(
        "a contract that asks nobody yet is published without a word",
        3,
        f"{ENGINE}/definitions/contracts.py",
        "place_findings(find_unasked_transitions(contract)) if in_force is None else ()",
        "()",
        (f"{OLDER}a_contract_says_that_nobody_is_asked_yet_while_no_patch_is_in_force",),
    ),
    Mutation(
        "documents under definitions with other approvals are not counted",
        3,
        f"{ENGINE}/definitions/older_definitions.py",
        "if number >= MAX_COMPARED or not _asks_alike(compiled, connection, tenant_id, count, new)",
        "if number >= MAX_COMPARED",
        (f"{OLDER}a_publication_counts_the_documents_that_go_on_without_its_approvals",),
    ),
    Mutation(
        "an approver does not see that a newer definition is in force",
        3,
        "shared/signet/store/definitions/older.sql",
        "newer.id <> d.id AND newer.published_at >= d.published_at",
        "false",
        (f"{OLDER}an_approver_sees_that_a_newer_definition_is_in_force",),
    ),
    Mutation(
        "the abstention of one holder closes the seat of the role",
        3,
        f"{ENGINE}/execution/nodes/approval_progress.py",
        "    approvals.seat(request, again)\n    return bool(again)",
        "    return False",
        (f"{WAVES}an_abstention_leaves_the_seat_of_a_role_to_its_other_holders",),
    ),
    Mutation(
        "break-glass gives a seat from which nobody can vote",
        3,
        f"{ENGINE}/tenants/break_glass.py",
        "            _require_useful(act, request_id, user_id)\n            if store",
        "            if store",
        (f"{GLASS}a_seat_of_no_use_is_refused_with_the_reason",),
    ),
    Mutation(
        "break-glass is advised where a seat gives no vote",
        3,
        f"{CORE}/approvals/additions.py",
        " if isinstance(choose_added_seat(check, person), Allowed)]",
        "]",
        (f"{EXPLAINED}an_open_request_that_nobody_may_decide_any_more",),
    ),
    Mutation(
        "who lacks what the role brings is said to give it",
        3,
        f"{CORE}/approvals/additions.py",
        "all(grants(permissions[person], each) for each in needed)",
        'grants(permissions[person], "member:edit")',
        (f"{EXPLAINED}who_cannot_give_the_role_is_not_said_to_help",),
    ),
    Mutation(
        "a person is advised to give the role to themselves",
        3,
        f"{CORE}/approvals/additions.py",
        "any(helper != person for helper in helpers)",
        "True",
        (f"{EXPLAINED}who_cannot_give_the_role_is_not_said_to_help",),
    ),
    Mutation(
        "a person is advised who is the only one of a later stage",
        3,
        f"{CORE}/approvals/additions.py",
        "        needed |= able if len(able) == 1 else set()\n",
        "",
        ("tests/unit/core/approvals/test_additions.py::test_the_only_one_of_a_later_stage_is_left_for_it",),
    ),
    Mutation(
        "a cancelled workflow is promised a request where none begins",
        3,
        f"{CORE}/repair/move_check.py",
        "    if contract is None or state is None:\n        return _BEGIN_AGAIN",
        "    if True:\n        return _BEGIN_AGAIN",
        (
            "tests/unit/core/runtime/test_approval_control.py"
            "::test_the_way_that_is_left_is_told_for_the_state",
        ),
    ),
    Mutation(
        "a move is advised that would be blocked",
        3,
        f"{CORE}/explain/stuck_stages.py",
        "    elif stuck.immovable is not None:",
        "    elif False:",
        ("tests/unit/core/explain/test_stuck_stages.py::test_each_way_stands_where_it_helps",),
    ),
    Mutation(
        "it is forgotten how a seat came about",
        3,
        f"{CORE}/explain/approval_requests.py",
        "        sentences += describe_given_seats(request)\n",
        "",
        (
            "tests/unit/core/explain/test_approval_requests.py"
            "::test_it_says_how_a_seat_came_about_also_after_the_request_has_ended",
        ),
    ),
    Mutation(
        "a seat by name is asked again after an abstention",
        3,
        f"{CORE}/approvals/seats/foreign_seats.py",
        'left = ("lapsed",) if seat.holder_role is None else ("lapsed", "abstained")',
        'left = ("lapsed", "abstained")',
        (f"{FOREIGN}a_seat_takes_the_place_of_the_abstention_of_a_role",),
    ),
)
