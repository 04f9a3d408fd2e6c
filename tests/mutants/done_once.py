"""Ways in which something is done again that was approved once, each opened again on purpose (WF-03)."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
ONCE = "tests/scenarios/authority/test_done_once.py::test_"
CONTEXT = f"{SIGNET}/engine/execution/nodes/context.py"
BEFORE = f"{SIGNET}/core/runtime/done_before.py"

DONE_ONCE: Sequence[Mutation] = (
    Mutation(
        "the engine makes a call again behind its gate",
        3,
        CONTEXT,
        " and root_of(token.id) == ROOT:\n",
        ":\n",
        (f"{ONCE}a_withdrawn_request_makes_no_call_again", f"{ONCE}a_rejected_request_makes_no_call_again"),
    ),
    Mutation(
        "a new instance makes a call again behind the gate",
        3,
        CONTEXT,
        'if self.row.birth not in ("reentered", "restarted") and ',
        "if ",
        (f"{ONCE}a_restart_sends_nothing_that_may_have_left",),
    ),
    Mutation(
        "a call that may have arrived is made again",
        3,
        f"{SIGNET}/store/instances/earlier_steps.sql",
        "may_have_left(status, attempts, response_json, error) AS",
        "status = 'completed' AS",
        (f"{ONCE}what_may_have_left_is_held",),
    ),
    Mutation(
        "items of a list leave out the answer for the list",
        3,
        f"{SIGNET}/store/instances/earlier_steps.sql",
        "(position('#' IN s.token_id) > 0) = kind.is_item",
        "NOT kind.is_item",
        ("tests/integration/store/test_earlier_steps.py::test_items_of_a_list_leave_out_no_other_step",),
    ),
    Mutation(
        "a call is taken as made that said something else",
        3,
        BEFORE,
        "        if step.has_answer and (step.is_by_hand or step.content == content):\n",
        "        if step.has_answer:\n",
        (f"{ONCE}a_call_that_would_say_something_else_is_held",),
    ),
    Mutation(
        "what was done before a gate counts behind it",
        3,
        f"{SIGNET}/core/runtime/execution.py",
        'return step.outcome == "passed" and self',
        "return step.outcome is step and self",
        (f"{ONCE}a_new_approval_after_a_rejection_pays_again",),
    ),
)
