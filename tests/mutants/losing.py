"""Rules of what is lost, each broken on purpose: answers kept as text, erased values, failed calls."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
LOST = "tests/scenarios/authority/test_lost_answers.py::test_"
READERS = "tests/unit/core/runtime/graph/test_answer_readers.py::test_"
CALLS = f"{SIGNET}/engine/execution/nodes/webhook_out.py"
WEBHOOK = f"{SIGNET}/outbound/webhook.py"

TAKEN = "tests/scenarios/authority/test_erased_and_taken.py::test_"
READS = f"{SIGNET}/core/runtime/workflow_reads.py"
NODES = f"{SIGNET}/engine/execution/nodes/unpinned_reads.py"
FAILED = f"{SIGNET}/store/approvals/failed_calls.sql"
CALLED = "tests/scenarios/authority/test_failed_calls.py::test_"

LOSING: Sequence[Mutation] = (
    Mutation(
        "what was lost of an answer chooses the way",
        3,
        CALLS,
        "        if lost is not None:\n            return lost\n",
        "",
        (
            f"{LOST}a_clerk_does_not_cut_the_answer_that_chooses_who_is_asked",
            f"{LOST}an_answer_that_is_kept_as_text_chooses_nobody",
        ),
    ),
    Mutation(
        "what was lost of the first answer chooses the second way",
        3,
        CALLS,
        "return ActionPlan(done, given=given) if lost is None else lost\n",
        "return ActionPlan(done, given=given)\n",
        (f"{LOST}an_answer_of_before_is_not_read_in_vain_by_a_newer_definition",),
    ),
    Mutation(
        "an answer that ended early is whole",
        3,
        WEBHOOK,
        " or bool(answer.length)",
        "",
        (f"{LOST}an_answer_whose_connection_ends_early_chooses_nobody",),
    ),
    Mutation(
        "of two members of one name the last one counts",
        3,
        WEBHOOK,
        "object_pairs_hook=_read_members",
        "object_pairs_hook=dict",
        (f"{LOST}an_answer_that_is_kept_as_text_chooses_nobody",),
    ),
    Mutation(
        "the text of broken JSON is an answer",
        3,
        f"{SIGNET}/core/runtime/graph/answer_readers.py",
        'not (kept_as_text == "plain" and reader.path == _TEXT)',
        "not reader.path == _TEXT",
        (f"{LOST}a_text_is_read_as_the_text_that_it_is",),
    ),
    Mutation(
        "an answer whose members nobody reads holds its step",
        3,
        f"{SIGNET}/core/runtime/graph/answer_readers.py",
        "return reader.path[:1] == _BODY and",
        "return",
        (f"{LOST}where_nobody_reads_of_the_answer_it_may_be_any_text",),
    ),
    Mutation(
        "what a script takes over of an answer is none that is read",
        3,
        f"{SIGNET}/core/runtime/graph/answer_readers.py",
        "return not reader.tells",
        "return False",
        (f"{READERS}who_reads_a_member_would_read_nothing", f"{READERS}who_decides_by_the_answer_reads_it"),
    ),
    Mutation(
        "an action takes the gap of an erasure over",
        3,
        READS,
        "list_own_fields((*own, *taken, *_list_conditions(node)))",
        "list_own_fields((*own, *_list_conditions(node)))",
        (
            f"{TAKEN}an_action_in_front_takes_no_gap_over",
            f"{TAKEN}an_action_behind_an_approval_takes_no_gap_over",
            f"{TAKEN}nothing_is_made_with_the_gap",
        ),
    ),
    Mutation(
        "an action by hand makes documents with the gap of an erasure",
        3,
        f"{SIGNET}/engine/documents/decisions/done_by_decision.py",
        "        read += contract.parts_of_actions[operation.action]\n",
        "",
        (f"{TAKEN}nothing_is_made_with_the_gap",),
    ),
    Mutation(
        "a rule is asked about the gap of an erasure",
        3,
        NODES,
        "    read |= _read_by_rules(context, contract, node)\n",
        "",
        (
            f"{TAKEN}a_rule_is_not_asked_about_the_gap",
            f"{TAKEN}a_rule_behind_an_approval_is_not_asked_about_the_gap",
        ),
    ),
    Mutation(
        "a node that asks rules is not looked at",
        3,
        READS,
        '            or (node.type.name == "rule" and contract.personal_fields)\n',
        "",
        (f"{TAKEN}a_rule_is_not_asked_about_the_gap",),
    ),
    Mutation(
        "each rule of the tenant holds a node that asks one",
        3,
        NODES,
        ' if rule.rule.name in node.config["rules"])',
        ")",
        (f"{TAKEN}a_rule_about_other_things_is_asked",),
    ),
    Mutation(
        "a call whose answer chooses says the gap of an erasure",
        3,
        READS,
        "(has_left or not _is_answered(node))",
        "True",
        (
            f"{TAKEN}a_call_whose_answer_chooses_says_no_gap",
            f"{TAKEN}a_call_whose_answer_is_kept_says_no_gap",
        ),
    ),
    Mutation(
        "a call that chooses nothing is held by an erasure",
        3,
        READS,
        'return is_call and bool(node.edges.get("error") or node.config["save_as"])',
        "return is_call",
        (f"{TAKEN}a_call_that_chooses_nothing_says_what_is_there",),
    ),
    Mutation(
        "an erasure holds the answer to what was said before it",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "find_erased_read(context, node, has_left=True)",
        "find_erased_read(context, node)",
        (f"{TAKEN}the_answer_to_a_call_that_had_left_before_chooses",),
    ),
    Mutation(
        "a call that failed in another instance is not shown",
        3,
        FAILED,
        "AND i.entity_id = line.id\n",
        "AND i.entity_id = line.id"
        " AND i.id = (SELECT max(n.id::text)::uuid FROM workflow_instances n WHERE n.entity_id = line.id)\n",
        (f"{CALLED}who_decides_in_a_later_instance_sees_it",),
    ),
    Mutation(
        "a call that failed on the way of its origin is not shown",
        3,
        FAILED,
        "WHERE line.distance < %(line)s",
        "WHERE false",
        (
            f"{CALLED}who_decides_about_what_was_made_of_it_sees_it",
            f"{CALLED}who_decides_about_its_amendment_sees_it",
        ),
    ),
    Mutation(
        "who had decided had seen what failed afterwards",
        3,
        FAILED,
        "    WHERE s.completed_at <= coalesce(%(until)s::timestamptz, 'infinity')\n",
        "    WHERE %(until)s::timestamptz IS NULL OR true\n",
        (f"{CALLED}who_has_decided_had_seen_what_failed_by_then",),
    ),
    Mutation(
        "who decides by a request is not shown the call that failed",
        3,
        f"{SIGNET}/engine/documents/read.py",
        "references=references, failed_calls=failed_calls)",
        "references=references)",
        (f"{CALLED}who_decides_by_a_request_sees_it",),
    ),
    Mutation(
        "the view of a request is silent about the call that failed",
        3,
        f"{SIGNET}/store/documents/read.py",
        "references=references, failed_calls=failed_calls)",
        "references=references, failed_calls=[])",
        (f"{CALLED}who_decides_by_a_request_sees_it",),
    ),
)
