"""Faults in who counts as having acted: by an answer, by a key, or by a line of another (WF-03)."""

from tests.mutants.mutation import Mutation

HAND = "shared/signet/engine/instances/hand_answers.py"
ANSWERED = "tests/scenarios/authority/test_answers_by_hand.py::test_"

ANSWERS = (
    Mutation(
        "who answers by hand may approve",
        3,
        HAND,
        "    transaction.add_editors(context.document.id, persons)\n",
        "",
        (f"{ANSWERED}who_answers_for_the_bank_does_not_approve",),
    ),
    Mutation(
        "who has approved writes the answer",
        3,
        HAND,
        " or _find_vote(context, persons)\n",
        "\n",
        (f"{ANSWERED}who_has_approved_answers_no_more",),
    ),
    Mutation(
        "an earlier answer excuses an edit",
        3,
        "shared/signet/store/instances/write.sql",
        "            AND (v.actor_id = %(person)s OR %(person)s = ANY (p.persons))))",
        "            AND false))",
        (f"{ANSWERED}an_operator_may_end_more_than_one_wait",),
    ),
    Mutation(
        "an answer by hand is not shown",
        3,
        "shared/signet/engine/approvals/request_view.py",
        "        answered_by_hand=[_show_answer(row, name) for row in answers],",
        "        answered_by_hand=[],",
        (f"{ANSWERED}those_who_decide_see_what_was_answered",),
    ),
)

ACTORS = (*ANSWERS,)
