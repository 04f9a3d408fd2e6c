"""Faults in what a list with `each: keep` has done: a payment is made twice, or not at all."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

KEPT = "shared/signet/core/repair/kept_items.py"
LISTS = "tests/scenarios/authority/test_kept_lists.py::test_"
CONTENT = "tests/unit/core/repair/test_kept_items.py::test_"

KEEPING: Sequence[Mutation] = (
    Mutation(
        "a retry does again what was kept",
        3,
        KEPT,
        "record.item == mark",
        "record.item != mark",
        (f"{CONTENT}what_is_done_is_known_wherever_it_stands",),
    ),
    Mutation(
        "what another round has done counts for this one",
        3,
        KEPT,
        'stored is not None and stored.get("round") == name',
        "stored is not None",
        (f"{LISTS}what_a_skipped_list_has_done_does_not_count_for_the_next_decision",),
    ),
    Mutation(
        "what another instance has done counts for this one",
        3,
        KEPT,
        'f"{instance}:{origin_of(token_id) or token_id}"',
        "origin_of(token_id) or token_id",
        (f"{CONTENT}another_round_does_all_of_it",),
    ),
    Mutation(
        "what is done stays noted when the list has ended",
        3,
        "shared/signet/engine/execution/nodes/action.py",
        "{**saved.variables, name: None}",
        "saved.variables",
        (f"{LISTS}each_decision_is_carried_out_in_full",),
    ),
    Mutation(
        "what the action is not given makes another item",
        3,
        KEPT,
        "record.given == given",
        "False",
        (f"{LISTS}what_the_action_is_not_given_makes_no_payment_again",),
    ),
    Mutation(
        "what was taken out of a list is forgotten",
        3,
        KEPT,
        "for record in (*done, *self._left)]",
        "for record in done]",
        (f"{LISTS}what_was_taken_out_and_comes_back_is_not_paid_again",),
    ),
    Mutation(
        "one payment stands for all lines that say the same",
        3,
        KEPT,
        "        self._left.remove(record)\n",
        "",
        (f"{CONTENT}equal_items_are_done_each_by_itself",),
    ),
    Mutation(
        "a correction does not name the list that acts again",
        2,
        "shared/signet/engine/instances/corrections.py",
        "        transaction.report.repeats = list_repeated_items(context)\n",
        "        pass\n",
        (f"{LISTS}a_line_that_was_done_and_says_something_else_is_named",),
    ),
    Mutation(
        "a correction names a list that does only what is new",
        2,
        KEPT,
        "return self.has_left and new > 0",
        "return new > 0",
        (f"{LISTS}a_corrected_list_repeats_nothing_and_leaves_nothing_out",),
    ),
    Mutation(
        "the items of a round hold their own retry",
        2,
        "shared/signet/core/runtime/done_before.py",
        'step.token.partition(f"/{node.id}#")[0]',
        "step.token",
        (f"{LISTS}a_later_round_keeps_its_own_items",),
    ),
    Mutation(
        "a retry does not name the list that acts again",
        2,
        "shared/signet/engine/instances/actions.py",
        "            transaction.report.repeats = list_repeated_items(context)\n",
        "",
        (f"{LISTS}a_retry_names_a_list_that_says_something_else_by_now",),
    ),
)
