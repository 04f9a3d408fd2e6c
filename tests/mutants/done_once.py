"""Ways in which something is done again that was approved once, each opened again on purpose (WF-03)."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
ONCE = "tests/scenarios/authority/test_done_once.py::test_"
CONTEXT = f"{SIGNET}/engine/execution/nodes/context.py"
BEFORE = f"{SIGNET}/core/runtime/done_before.py"
LEFT = "tests/scenarios/authority/test_left_undone.py::test_"
WAY = f"{SIGNET}/core/approvals/decided_way.py"
FOR_ONE = "tests/scenarios/authority/test_done_for_one_approval.py::test_"
SECOND = "tests/scenarios/authority/test_second_ways.py::test_"

ELSEWHERE = "tests/scenarios/authority/test_done_elsewhere.py::test_"
BY_HAND = "tests/scenarios/authority/test_done_by_hand.py::test_"

DONE_ONCE: Sequence[Mutation] = (
    Mutation(
        "a loop makes operators forget what was done",
        3,
        f"{SIGNET}/engine/instances/operator_transaction.py",
        "read_decided_way(context).decided_since}",
        "None}",
        (f"{FOR_ONE}a_loop_does_not_have_a_restart_call_again",),
    ),
    Mutation(
        "a person makes by hand what a step makes behind the gate",
        3,
        f"{SIGNET}/engine/documents/decisions/done_by_decision.py",
        "        is_drawn = not workflow.run_actions.isdisjoint(alike)\n",
        "        is_drawn = False\n",
        (f"{BY_HAND}a_payment_that_a_step_is_to_make_is_not_made_by_hand_before",),
    ),
    Mutation(
        "a person makes a payment behind the gate as often as they like",
        3,
        f"{SIGNET}/engine/documents/decisions/done_by_decision.py",
        "(runs.last_version or 0) >= since",
        "False",
        (
            f"{BY_HAND}what_no_step_does_is_done_once_for_each_decision",
            f"{BY_HAND}a_function_that_makes_documents_is_run_by_hand_once",
        ),
    ),
    Mutation(
        "two actions that make the same payment make two for one approval",
        3,
        f"{SIGNET}/core/contracts/alike_actions.py",
        '    if action.kind != "create":\n',
        "    if True:\n",
        (f"{BY_HAND}two_actions_that_make_the_same_payment_make_one",),
    ),
    Mutation(
        "what was made of an approved document makes payments as often as people like",
        3,
        f"{SIGNET}/engine/documents/decisions/record.py",
        "        return 0 if since is None and self.comes_of_approved else since\n",
        "        return since\n",
        (f"{BY_HAND}a_document_that_was_made_of_an_approved_one_makes_a_payment_once",),
    ),
    Mutation(
        "a node by another name does again what was done for a decision",
        3,
        f"{SIGNET}/engine/execution/nodes/done_once.py",
        " if done is None and is_approved else done",
        " if False else done",
        (
            f"{ELSEWHERE}a_call_that_is_drawn_elsewhere_does_not_pay_again",
            f"{ELSEWHERE}a_call_that_is_renamed_does_not_pay_again",
        ),
    ),
    Mutation(
        "a node that the older definition had is held for another's act",
        3,
        BEFORE,
        "    is_known = _is_drawn_alike(",
        "    is_known = False and _is_drawn_alike(",
        (f"{ELSEWHERE}a_call_that_is_not_by_another_name_is_made",),
    ),
    Mutation(
        "an id that did something else pays for the same decision",
        3,
        BEFORE,
        "    return is_in_both and _describe_task(older, node_id) == _describe_task(newer, node_id)\n",
        "    return is_in_both\n",
        (
            f"{ELSEWHERE}an_id_that_does_something_else_now_does_not_pay_again",
            f"{ELSEWHERE}an_id_that_was_a_call_and_makes_documents_now_makes_none",
        ),
    ),
    Mutation(
        "an id that a condition led past pays for the same decision",
        3,
        BEFORE,
        "_list_ways(older, node_id) == _list_ways(newer, node_id)",
        "True",
        (f"{ELSEWHERE}an_id_that_does_something_else_now_does_not_pay_again",),
    ),
    Mutation(
        "a node says for the same decision what another one has said that is kept",
        3,
        BEFORE,
        "    return step.content == content or not (is_known or is_kept)\n",
        "    return not (is_known or is_kept)\n",
        (
            f"{ELSEWHERE}an_id_that_does_something_else_now_does_not_pay_again",
            f"{ELSEWHERE}what_an_instance_did_before_its_move_is_not_done_by_another_name",
        ),
    ),
    Mutation(
        "what was done before a move is taken for what the newer definition has done",
        3,
        f"{SIGNET}/store/instances/earlier_steps.sql",
        "(left_by.definition ->> 'id')::uuid, ",
        "",
        (f"{ELSEWHERE}what_an_instance_did_before_its_move_is_not_done_by_another_name",),
    ),
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
        "a call that may have left is made again",
        3,
        f"{SIGNET}/store/instances/earlier_steps.sql",
        "left_at IS NOT NULL AS",
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
        "step.content == content and not step.is_finished",
        "not step.is_finished",
        (f"{ONCE}a_call_that_would_say_something_else_is_held",),
    ),
    Mutation(
        "what was done for an earlier approval counts for the next",
        3,
        WAY,
        "        if is_decided or not was_behind:\n            since = run.version\n",
        "",
        (f"{FOR_ONE}a_document_that_came_back_is_paid_by_its_next_approval",),
    ),
    Mutation(
        "a loop that asks nobody makes a call again",
        3,
        WAY,
        "if is_decided or not was_behind:",
        "if True:",
        (f"{FOR_ONE}holding_and_releasing_makes_no_call_again",),
    ),
    Mutation(
        "a loop that was gone to its end is left out in silence",
        3,
        BEFORE,
        " and not step.is_finished]",
        "]",
        (f"{FOR_ONE}a_way_that_was_gone_to_its_end_is_held",),
    ),
    Mutation(
        "an answer by hand counts for what nobody answered for",
        3,
        BEFORE,
        "step.content == content and",
        "(step.content == content or step.failed_id is None) and",
        (f"{FOR_ONE}an_answer_by_hand_counts_for_the_same_alone",),
    ),
    Mutation(
        "a call that has failed goes on under another id",
        3,
        f"{SIGNET}/store/instances/waves.sql",
        "coalesce(row.first_id, (",
        "coalesce(NULL, (",
        (f"{FOR_ONE}a_call_that_has_failed_goes_on_under_its_first_id",),
    ),
    Mutation(
        "the edge for errors is forgotten",
        3,
        f"{SIGNET}/engine/execution/nodes/done_once.py",
        "has_answer=((has_ended or has_failed) and",
        "has_answer=(has_ended and",
        (f"{FOR_ONE}the_edge_for_errors_is_taken_again",),
    ),
    Mutation(
        "a second way that nobody took switches off what was approved",
        3,
        f"{SIGNET}/engine/execution/nodes/decided_way.py",
        "    return read_way(runs, context.execution.workflow.is_behind_approvals)",
        "    return read_way(runs[-1:], context.execution.workflow.is_behind_approvals)",
        (
            f"{SECOND}a_withdrawn_request_makes_no_call_again",
            f"{SECOND}people_with_a_part_end_nothing",
            f"{SECOND}a_newer_definition_reads_nothing_that_is_not_pinned",
            f"{SECOND}an_edit_behind_the_approval_keeps_its_pins",
            f"{SECOND}a_rule_sets_nothing_that_people_have_approved",
        ),
    ),
    Mutation(
        "what was approved holds after the document has gone back",
        3,
        WAY,
        "            del known[before + 1 :]\n",
        "            pass\n",
        (f"{SECOND}what_was_approved_is_given_back_with_its_status",),
    ),
    Mutation(
        "a request that comes to nothing loses what was left undone",
        3,
        f"{SIGNET}/engine/execution/wave.py",
        "        leave_again(self._connection, self._claim.tenant_id, self._contexts.values())\n",
        "        leave_again(self._connection, self._claim.tenant_id, ())\n",
        (f"{LEFT}a_request_that_comes_to_nothing_leaves_it_open",),
    ),
    Mutation(
        "a restart forgets the place that was left",
        3,
        f"{SIGNET}/store/instances/moves.sql",
        "SELECT id FROM line ORDER BY distance DESC LIMIT 1",
        "SELECT id FROM line ORDER BY distance LIMIT 1",
        (f"{LEFT}a_request_that_comes_to_nothing_leaves_it_open",),
    ),
    Mutation(
        "two amendments that end at once leave one open without a workflow",
        3,
        "migrations/0058_end_amendments_in_turn.sql",
        " AND d.id = original FOR NO KEY UPDATE;",
        " AND d.id = original;",
        ("tests/concurrency/test_ends_of_amendments.py::test_two_that_end_at_once_give_the_original_back",),
    ),
    Mutation(
        "a failed call that people ask for again is another call",
        3,
        f"{SIGNET}/engine/execution/rows.py",
        "if effect.first_id is not None or is_sent_back or",
        "if is_sent_back or",
        ("tests/scenarios/repair/test_asked_again.py::test_a_failed_call_goes_on_under_its_first_id",),
    ),
    Mutation(
        "what is left undone in a last status is lost",
        15,
        f"{SIGNET}/core/repair/restart_check.py",
        "    if list_undone(workflow, place) and refuse_repeated(",
        '    if not state.edges.keys() <= {"ended"} and refuse_repeated(',
        (f"{LEFT}what_is_left_undone_in_a_last_status_is_not_lost",),
    ),
)
