"""Faults in corrections, and in answers by those who asked: a decision would be used for other content."""

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
GIVEN = f"{SIGNET}/store/approvals/given_decisions.sql"
CORRECTED = "tests/scenarios/authority/test_corrections_of_what_was_approved.py::test_"
DECIDING = "tests/scenarios/authority/test_deciding_requests.py::test_"
ASKED = "tests/scenarios/authority/test_answers_by_those_who_asked.py::test_"

CORRECTING = (
    Mutation(
        "what people approved for a gate is corrected behind it",
        3,
        GIVEN,
        "coalesce(q.applied, false)",
        "false",
        (
            f"{CORRECTED}what_was_approved_for_a_request_is_not_corrected",
            f"{CORRECTED}a_second_instance_uses_what_people_approved_in_the_first",
        ),
    ),
    Mutation(
        "what people approved behind a gate is corrected",
        3,
        f"{SIGNET}/core/approvals/given_decision.py",
        "(self.is_used or self.is_behind_gate)",
        "self.is_used",
        (f"{CORRECTED}what_was_approved_behind_the_gate_is_not_corrected",),
    ),
    Mutation(
        "what people approved behind a gate counts in its slot alone",
        3,
        GIVEN,
        "q.status = 'voided' AND q.applied IS NOT NULL",
        "false",
        (f"{CORRECTED}what_was_approved_behind_the_gate_is_not_corrected",),
    ),
    Mutation(
        "what has passed a gate counts as sent back",
        3,
        GIVEN,
        "s.version > behind.version AND s.status = asked.status",
        "s.version >= behind.version",
        (f"{CORRECTED}what_was_approved_for_a_request_is_not_corrected",),
    ),
    Mutation(
        "what people approved behind a gate counts as sent back",
        3,
        GIVEN,
        "s.version > given.version AND s.status = before.status",
        "s.version >= given.version",
        (f"{CORRECTED}what_was_approved_behind_the_gate_is_not_corrected",),
    ),
    Mutation(
        "what was made of an approved document is corrected",
        3,
        GIVEN,
        "(a.content::json #>> '{detail,made_by,document_id}')::uuid",
        "NULL::uuid",
        (
            f"{CORRECTED}what_was_made_behind_an_approval_is_not_corrected",
            f"{CORRECTED}what_was_made_of_that_is_not_corrected",
        ),
    ),
    Mutation(
        "a line of documents without an end was approved by nobody",
        3,
        GIVEN,
        "WHERE line.distance > %(limit)s",
        "WHERE line.distance > %(limit)s + 1",
        (f"{CORRECTED}what_was_made_of_that_is_not_corrected",),
    ),
    Mutation(
        "what a request has decided is corrected",
        3,
        GIVEN,
        "t.document_id = line.id AND t.status = 'performed'",
        "t.document_id = line.id AND t.status = 'open'",
        (
            f"{CORRECTED}what_was_decided_by_a_request_is_not_corrected",
            f"{CORRECTED}what_was_made_behind_a_request_that_decides_is_not_corrected",
        ),
    ),
    Mutation(
        "what the definition let through is corrected where amendments have a free way",
        3,
        f"{SIGNET}/core/runtime/workflow.py",
        "list_states_behind(self.content, but_amended=True)",
        "list_states_behind(self.content)",
        (f"{CORRECTED}what_the_definition_let_through_is_not_corrected",),
    ),
    Mutation(
        "what a condition let past an approval is corrected",
        3,
        f"{SIGNET}/core/repair/correction_check.py",
        "    elif status in let_past:\n",
        "    elif False:\n",
        (f"{CORRECTED}what_a_condition_let_past_an_approval_is_not_corrected",),
    ),
    Mutation(
        "what a condition let past a request that decides is offered for a correction",
        3,
        f"{SIGNET}/engine/instances/incidents.py",
        "        deciding=held.deciding,\n",
        "        deciding=(),\n",
        (f"{CORRECTED}what_a_condition_let_past_a_request_that_decides_is_not_corrected",),
    ),
    Mutation(
        "a condition on who asks counts as one on the document",
        3,
        f"{SIGNET}/core/runtime/graph/guarded_gates.py",
        'root == "context" or name not in RESERVED_FIELDS',
        "True",
        (f"{CORRECTED}what_a_condition_let_past_an_approval_is_not_corrected",),
    ),
    Mutation(
        "a correction is offered where it is refused",
        3,
        f"{SIGNET}/engine/instances/incidents.py",
        "    is_correctable = _is_correctable(workflow, held, known.given)\n",
        "    is_correctable = True\n",
        (f"{CORRECTED}what_was_approved_for_a_request_is_not_corrected",),
    ),
    Mutation(
        "a request that decides outlives a correction",
        3,
        f"{SIGNET}/engine/documents/decide.py",
        "    if row.requested in context.contract.contract.separation_of_duties.deciding:\n",
        "    if False:\n",
        (f"{CORRECTED}a_request_that_decides_is_asked_anew_after_a_correction",),
    ),
    Mutation(
        "a request that decides outlives an erasure",
        3,
        f"{SIGNET}/engine/documents/erase.py",
        "        write_batch(connection, tenant_id, WriteBatch(ended_requests=[ended]), now=now)\n",
        "",
        (f"{DECIDING}an_erasure_has_the_person_decide_again",),
    ),
    Mutation(
        "the way of an erased document goes on without its request",
        3,
        f"{SIGNET}/engine/documents/erase.py",
        "make_trigger(instance_id, REQUEST_WITHDRAWN, {",
        'make_trigger(instance_id, "continue", {',
        (f"{DECIDING}an_erasure_has_the_person_decide_again",),
    ),
    Mutation(
        "who asked for an earlier transition says where the money goes",
        3,
        f"{SIGNET}/engine/instances/hand_answers.py",
        "        or _find_request(transaction, context, persons)\n",
        "",
        (
            f"{ASKED}who_asked_for_an_earlier_transition_names_no_account",
            f"{ASKED}who_decided_by_a_request_names_no_account_later",
        ),
    ),
    Mutation(
        "who decided by a request counts as its requester alone",
        3,
        f"{SIGNET}/engine/instances/hand_answers.py",
        "        if has_decided and _bars_deciding(context, person):\n",
        "        if False:\n",
        (f"{ASKED}who_decided_is_no_mere_requester",),
    ),
)
