"""Faults in answers by hand: who may give one, which shape it has, and where it is seen (WF-03)."""

from tests.mutants.mutation import Mutation

HAND = "shared/signet/engine/instances/hand_answers.py"
SHAPE = "shared/signet/core/runtime/hand_answers.py"
GIVEN = "shared/signet/store/approvals/given_decisions.sql"
MADE = "tests/scenarios/authority/test_answers_for_what_was_made.py::test_"
BEHIND = "tests/scenarios/authority/test_approvals_behind_gates.py::test_"
SKIPPED = "tests/scenarios/authority/test_skipped_nodes.py::test_"
INCIDENTS = "tests/integration/engine/incidents/test_incidents.py::test_"

ANSWERING = (
    Mutation(
        "who has approved says behind the gate where the money goes",
        3,
        HAND,
        """        or _find_approval(transaction, context, persons, "give the answer")
""",
        "",
        (
            f"{SKIPPED}who_approved_says_nothing_about_the_account_behind_the_gate",
            f"{MADE}who_approved_the_origin_names_no_account_for_the_payment",
        ),
    ),
    Mutation(
        "who has approved the origin says where the money of the payment goes",
        3,
        GIVEN,
        "(a.content::json #>> '{detail,made_by,document_id}')::uuid",
        "NULL::uuid",
        (
            f"{MADE}who_approved_the_origin_names_no_account_for_the_payment",
            f"{MADE}it_holds_over_further_documents",
        ),
    ),
    Mutation(
        "the origin of an amended document is forgotten",
        3,
        GIVEN,
        "(SELECT d.amended_from_id FROM",
        "(SELECT NULL::uuid FROM",
        (f"{MADE}it_holds_for_the_amendment_of_the_payment",),
    ),
    Mutation(
        "only the next origin counts",
        3,
        GIVEN,
        "line.distance <= %(limit)s",
        "line.distance <= least(%(limit)s, 1)",
        (f"{MADE}it_holds_over_further_documents",),
    ),
    Mutation(
        "what comes from too many documents is answered by anybody",
        3,
        "shared/signet/store/approvals/given_decisions.py",
        " if length <= MAX_LINE else None",
        "",
        (f"{MADE}a_line_of_documents_has_an_end",),
    ),
    Mutation(
        "an approval of a gate counts for the voters alone",
        3,
        GIVEN,
        "(VALUES (v.decided_by), (v.on_behalf_of))",
        "(VALUES (v.decided_by))",
        (
            f"{SKIPPED}those_an_approver_voted_for_give_no_answer_either",
            f"{MADE}it_holds_for_those_who_were_voted_for",
        ),
    ),
    Mutation(
        "an approval behind a gate is forgotten with its slot",
        3,
        GIVEN,
        "q.void_code IN ('moved_on', 'instance_ended')",
        "q.void_code IN ('instance_ended')",
        (f"{BEHIND}who_approved_behind_a_gate_names_no_account_at_the_next_one",),
    ),
    Mutation(
        "an approval behind a gate is forgotten with its instance",
        3,
        GIVEN,
        "q.void_code IN ('moved_on', 'instance_ended')",
        "q.void_code IN ('moved_on')",
        (f"{BEHIND}an_approval_that_ended_with_its_instance_still_bars",),
    ),
    Mutation(
        "who is sent past an approval behind a gate counts as asked again",
        3,
        "shared/signet/core/approvals/withdrawals.py",
        'Void("moved_on" if is_past else "asked_again", reason)',
        'Void("asked_again", reason)',
        (f"{BEHIND}who_was_sent_past_bars_like_who_was_passed",),
    ),
    Mutation(
        "an approval that no gate used bars its voter in front of the gate too",
        3,
        GIVEN,
        "AND (place.is_behind_gate",
        "AND (true",
        (f"{BEHIND}what_another_person_rejected_bars_nobody",),
    ),
    Mutation(
        "a skip is not shown to those who decide",
        3,
        "shared/signet/store/approvals/voters.sql",
        "('sys:control:advanced', 'sys:control:skipped')",
        "('sys:control:advanced')",
        (f"{SKIPPED}those_who_decide_see_what_was_said_for_a_skipped_node",),
    ),
    Mutation(
        "a skip by the command line names nobody",
        3,
        "shared/signet/core/runtime/execution.py",
        'self._control_by_hand("skipped", token.id, token.node, reason, actor, claimed)',
        'self._control_by_hand("skipped", token.id, token.node, reason, actor, None)',
        (f"{SKIPPED}those_who_decide_see_what_was_said_for_a_skipped_node",),
    ),
    Mutation(
        "a skip without an answer passes an approval",
        3,
        SHAPE,
        '        return _refuse(FieldError(POINTER, "ANSWER_MISSING", sentence))\n',
        "        return None\n",
        (
            f"{SKIPPED}nobody_skips_past_an_approval_by_saying_nothing",
            f"{SKIPPED}nobody_ends_a_call_without_its_answer",
        ),
    ),
    Mutation(
        "an answer leaves out what is read behind it",
        3,
        HAND,
        "    if refused is not None:\n        raise refused\n",
        "",
        (f"{SKIPPED}nobody_leaves_out_of_an_answer_what_the_next_step_reads",),
    ),
    Mutation(
        "any object is the answer of an action",
        3,
        SHAPE,
        '    return _read_output(node, payload, contract) if node.type.name == "action" else payload\n',
        "    return payload\n",
        (f"{SKIPPED}nobody_skips_past_an_approval_by_saying_nothing",),
    ),
    Mutation(
        "who has skipped once answers nothing more",
        3,
        "shared/signet/store/instances/write.sql",
        "('sys:control:advanced', 'sys:control:skipped')",
        "('sys:control:advanced')",
        (f"{SKIPPED}who_has_skipped_once_may_skip_again",),
    ),
    Mutation(
        "the audit row says nothing of the answer",
        3,
        "shared/signet/engine/instances/repairs.py",
        ", **describe_answer(node, answer)}",
        "}",
        (f"{SKIPPED}the_audit_row_seals_the_answer",),
    ),
    Mutation(
        "a retry is offered where a person has paused",
        15,
        "shared/signet/engine/instances/incidents.py",
        "is_paused_by_person=held.is_paused_by_person",
        "is_paused_by_person=False",
        (f"{INCIDENTS}an_incident_offers_no_retry_where_a_person_has_paused_the_instance",),
    ),
    Mutation(
        "to resume retries what is held",
        15,
        "shared/signet/engine/instances/actions.py",
        '            transaction.control(context, "resumed")\n            free_paused',
        '            transaction.retry(context, "resumed")\n            free_paused',
        (f"{INCIDENTS}to_resume_lifts_the_pause_and_leaves_what_is_held",),
    ),
)
