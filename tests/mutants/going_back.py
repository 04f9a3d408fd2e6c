"""Ways around an approval by going back, each opened again on purpose (WF-03)."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
BACK = "tests/scenarios/authority/test_going_back.py::test_"
TARGETS = f"{SIGNET}/core/runtime/go_to_targets.py"
UNIT = "tests/unit/core/runtime/test_go_to_targets.py::test_"
RESTING = "tests/unit/core/runtime/test_resting_states.py::test_"

GOING_BACK: Sequence[Mutation] = (
    Mutation(
        "an operator sends an amendment to the beginning of others",
        3,
        TARGETS,
        "    if state is not None:\n        yield state\n",
        "    yield state_node(status)\n    if state is not None:\n        yield state\n",
        (
            f"{BACK}an_amendment_is_not_sent_to_the_beginning_of_others",
            f"{UNIT}an_amendment_goes_back_to_its_own_beginning",
        ),
    ),
    Mutation(
        "an amendment begins again at the beginning of others",
        3,
        f"{SIGNET}/engine/documents/decide.py",
        "        is_amendment = row.amended_from_id is not None\n",
        "        is_amendment = False\n",
        (f"{BACK}an_amendment_begins_again_as_an_amendment",),
    ),
    Mutation(
        "a rejected amendment goes to the beginning of others",
        3,
        f"{SIGNET}/core/compiler/envelope.py",
        "        rejected_to = AMENDED  # it begins again where amendments do\n",
        "        rejected_to = contract.initial_state\n",
        (f"{BACK}a_rejected_amendment_begins_again_as_an_amendment",),
    ),
    Mutation(
        "an edit at a gate of many states takes an amendment to the beginning of others",
        3,
        f"{SIGNET}/core/runtime/resting_states.py",
        "AMENDED if is_amendment and begins_amendments(workflow, status) else status",
        "status",
        (
            f"{RESTING}an_edit_at_a_gate_of_many_states_sends_an_amendment_to_its_beginning",
            f"{RESTING}another_request_at_such_a_gate_begins_there",
        ),
    ),
    Mutation(
        "a call behind a gate is made again",
        3,
        TARGETS,
        '    return node.type.name == "webhook_out"\n',
        "    return False\n",
        (
            f"{BACK}nobody_sends_a_payment_again_by_going_back",
            f"{UNIT}behind_approvals_a_slot_before_a_gate_is_not_begun_again",
        ),
    ),
    Mutation(
        "a document behind a gate is made again",
        3,
        "shared/signet/core/contracts/contract.py",
        '\nMAKING = ("create", "python")\n',
        '\nMAKING = ("python",)\n',
        (f"{BACK}nobody_makes_documents_again_by_going_back",),
    ),
    Mutation(
        "people with a part send a document back behind its gate",
        3,
        f"{SIGNET}/engine/instances/repairs.py",
        "            refuse_part_behind_gate(transaction, context, caller)\n",
        "",
        (f"{BACK}people_with_a_part_send_nothing_back_behind_a_gate",),
    ),
    Mutation(
        "people with a part cancel a token behind a gate",
        3,
        f"{SIGNET}/engine/instances/actions.py",
        "            refuse_part_behind_gate(transaction, context, caller)\n"
        "            context.execution.cancel_token(",
        "            context.execution.cancel_token(",
        (f"{BACK}people_with_a_part_cancel_no_token_behind_a_gate",),
    ),
    Mutation(
        "an approver has no part in what is behind the gate",
        3,
        f"{SIGNET}/store/approvals/given_decisions.sql",
        "v.decision = 'approved'\nCROSS",
        "v.decision = 'rejected'\nCROSS",
        (f"{BACK}people_with_a_part_send_nothing_back_behind_a_gate",),
    ),
    Mutation(
        "an operator sends a document past an approval behind a gate",
        3,
        TARGETS,
        "        if ahead is not None and node_id == _exit_of(workflow, slot):\n",
        "        if False:\n",
        (f"{BACK}an_approval_behind_a_gate_is_left_by_its_decision_alone",),
    ),
    Mutation(
        "an instance ends before an approval behind a gate",
        3,
        f"{SIGNET}/engine/instances/document_restarts.py",
        "    raise_if(check_approval_ahead(execution))\n",
        "",
        (f"{BACK}an_approval_behind_a_gate_is_left_by_its_decision_alone",),
    ),
    Mutation(
        "a call of a way that was left is sent again",
        3,
        f"{SIGNET}/engine/instances/dead_effects.py",
        "            refuse_left_behind(connection, tenant_id, [effect.id for effect in dead])\n",
        "",
        (f"{BACK}a_payment_of_a_cancelled_document_is_not_sent",),
    ),
    Mutation(
        "a key asks again for a person who has voted",
        3,
        f"{SIGNET}/core/runtime/document_changes.py",
        "request.actor.responsible.isdisjoint(document_state.deciders)",
        "{request.actor.id}.isdisjoint(document_state.deciders)",
        ("tests/scenarios/authority/test_keys_that_ask.py::test_a_vote_is_taken_back_when_its_voter_asks",),
    ),
    Mutation(
        "a person with a part sends a call again whose end chooses the way",
        3,
        f"{SIGNET}/engine/instances/dead_effects.py",
        "    refuse_part(transaction, context, caller)\n",
        "",
        (f"{BACK}a_person_with_a_part_does_not_send_what_chooses_the_way",),
    ),
    Mutation(
        "a call whose end chooses the way is sent without a reason",
        3,
        f"{SIGNET}/engine/instances/dead_effects.py",
        '    require_reason(reason or "")\n',
        "",
        (f"{BACK}what_chooses_the_way_is_sent_with_a_reason",),
    ),
    Mutation(
        "a payment that the edge for errors has made is sent again",
        3,
        f"{SIGNET}/engine/instances/dead_effects.py",
        "    if done:\n",
        "    if False:\n",
        (f"{BACK}a_payment_that_was_made_another_way_is_not_sent",),
    ),
)
