"""Rules of what steps make of approved documents, each broken on purpose: nothing goes on unasked."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
DERIVED = "tests/scenarios/authority/test_derived_documents.py::test_"
EDITS = "tests/scenarios/authority/test_unasked_edits.py::test_"
AMENDMENTS = "tests/scenarios/authority/test_unasked_amendments.py::test_"
TOLD = "tests/integration/engine/definitions/test_made_documents.py::test_"
GATE = f"{SIGNET}/engine/execution/nodes/lifecycle_gate.py"
CONTENT = f"{SIGNET}/core/approvals/unasked_content.py"
NODES = f"{SIGNET}/engine/execution/nodes/decided_way.py"
DECIDED = f"{SIGNET}/engine/documents/decisions/done_by_decision.py"
GUARDED = f"{SIGNET}/core/runtime/graph/guarded_gates.py"
VALUES = f"{SIGNET}/store/approvals/typed_values.sql"

UNASKED: Sequence[Mutation] = (
    Mutation(
        "an amendment of what was approved with its origin settles unasked",
        3,
        GATE,
        '        is_free = decision.outcome == "passed" and not requests\n',
        "        is_free = False\n",
        (
            f"{DERIVED}an_amendment_of_what_was_approved_with_its_origin_settles_by_a_decision_alone",
            f"{EDITS}a_changed_payment_does_not_settle_without_a_call",
        ),
    ),
    Mutation(
        "an amendment that a request has decided about does not settle",
        3,
        CONTENT,
        "    if transition in contract.separation_of_duties.deciding:\n",
        "    if not transition:\n",
        (f"{DERIVED}an_amendment_loses_nothing", f"{EDITS}a_transition_that_decides_asks_who_wants_it"),
    ),
    Mutation(
        "a value that a step gave is changed by a person, and paid",
        3,
        CONTENT,
        "    if typed_over:\n",
        "    if not typed_over and is_decided and is_amendment:\n",
        (f"{EDITS}a_payment_that_a_person_has_changed_is_not_paid",),
    ),
    Mutation(
        "a call of what nobody was asked about goes out before the gate",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    if unasked is not None:\n",
        "    if unasked is not None and moved is not None:\n",
        (
            f"{EDITS}a_changed_payment_moves_on_to_where_people_may_edit_it",
            f"{AMENDMENTS}an_amendment_neither_calls_nor_makes_a_payout_on_its_way",
            f"{AMENDMENTS}a_call_behind_the_withdrawal_of_an_amendment_is_held",
        ),
    ),
    Mutation(
        "an approval that may be left out lets a call go out before it",
        3,
        GUARDED,
        "        return self.may_ask and not self.may_settle_unasked\n",
        "        return self.may_ask\n",
        (f"{EDITS}a_call_before_an_approval_that_may_be_left_out_is_held",),
    ),
    Mutation(
        "a call before an approval that is certain is held",
        0,
        GUARDED,
        "        return self.may_ask and not self.may_settle_unasked\n",
        "        return False and self.may_ask\n",
        (
            f"{EDITS}a_call_before_the_approval_that_is_certain_is_made",
            f"{AMENDMENTS}an_amendment_whose_way_asks_is_rated_approved_and_paid",
        ),
    ),
    Mutation(
        "an approval that waits for its gate is no answer",
        0,
        NODES,
        "    if any(request.document_version == document.version for request in unused):\n",
        "    if not unused and document.version < 1:\n",
        (f"{EDITS}a_call_behind_an_approval_that_was_given_is_made",),
    ),
    Mutation(
        "an edit that people have decided about since is held",
        0,
        DECIDED,
        "        typed_over = list_since(since=way.since)\n",
        "        typed_over = list_since(since=0)\n",
        (f"{EDITS}a_call_before_the_approval_that_is_certain_is_made",),
    ),
    Mutation(
        "an amendment of an approved amendment goes its way unasked",
        3,
        DECIDED,
        "find_first_original(connection, tenant_id, row.id) if is_amendment",
        "row.amended_from_id if row.amended_from_id",
        (f"{AMENDMENTS}an_amendment_of_an_approved_amendment_is_asked_about_itself",),
    ),
    Mutation(
        "people make payouts by hand of what nobody was asked about",
        3,
        DECIDED,
        "    if unasked is not None:\n",
        "    if unasked is not None and row.id is None:\n",
        (f"{EDITS}a_changed_payment_makes_no_payout",),
    ),
    Mutation(
        "a clerk may not fill what a step has left empty",
        0,
        VALUES,
        "      AND coalesce(made.given #> ARRAY[change.field, 'after'], 'null') <> 'null'\n",
        "",
        (f"{EDITS}a_clerk_fills_what_the_step_has_left_empty",),
    ),
    Mutation(
        "what the workflow itself writes counts as typed",
        0,
        VALUES,
        "      AND a.content::json ->> 'instance_id' IS NULL\n",
        "",
        (f"{EDITS}a_value_that_its_own_step_writes_is_as_it_was_published",),
    ),
    Mutation(
        "a personal value cannot be put back",
        0,
        VALUES,
        "WHERE coalesce(said.value, compared.said) <> ",
        "WHERE compared.said <> ",
        (f"{EDITS}a_personal_value_is_put_back",),
    ),
    Mutation(
        "an edit that the contract accepts by name is held",
        0,
        VALUES,
        "      AND NOT typed.content #>> '{detail,status}' = ANY (%(accepted)s::text[])\n",
        "      AND (%(accepted)s::text[]) IS NOT NULL\n",
        (f"{EDITS}the_contract_accepts_an_edit_by_name",),
    ),
    Mutation(
        "what nobody was asked about cannot be withdrawn",
        0,
        CONTENT,
        "    is_stopped = state.final or contract",
        "    is_stopped = to == contract",
        (
            f"{EDITS}a_changed_payment_is_withdrawn_for_good",
            f"{AMENDMENTS}a_call_behind_the_withdrawal_of_an_amendment_is_held",
        ),
    ),
    Mutation(
        "a patch lets people edit behind a conditional approval, and nobody is told",
        3,
        f"{SIGNET}/core/compiler/authority_checks.py",
        "[slot.exit for slot in slots.values() if _asks_anybody(graph, slot)]",
        "[slot.exit for slot in slots.values() if _asks_anybody(graph, slot) and len(slots) < 2]",
        (
            "tests/unit/core/compiler/test_windows_behind.py::test_an_approval_for_some_documents_alone_counts_too",
        ),
    ),
    Mutation(
        "what is made behind an approval may be edited, and nobody is told",
        3,
        f"{SIGNET}/engine/definitions/made_documents.py",
        "    if states:\n",
        "    if not states and made:\n",
        (
            f"{TOLD}who_publishes_what_makes_it_is_told",
            f"{TOLD}who_publishes_what_is_made_is_told",
            f"{TOLD}who_publishes_a_contract_of_what_is_made_is_told",
        ),
    ),
)
