"""Rules of what an approval holds fast of other documents, each broken on purpose."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
PINNED = "tests/scenarios/authority/test_pinned_refs.py::test_"
TAKEN = "tests/scenarios/authority/test_pinned_actions.py::test_"
VARIABLES = "tests/scenarios/authority/test_variables.py::test_"
PAYLOADS = "tests/scenarios/authority/test_payloads.py::test_"
SENT_BACK = "tests/scenarios/authority/test_sent_back.py::test_"
BY_HAND = "tests/scenarios/authority/test_actions_by_hand.py::test_"
DERIVED = "tests/scenarios/authority/test_derived_documents.py::test_"
AGAIN = "tests/scenarios/authority/test_made_again.py::test_"
MOVES = "tests/integration/engine/instances/test_moves_and_pins.py::test_"

PINNING: Sequence[Mutation] = (
    Mutation(
        "a copy of a rejected document looks like any other",
        3,
        f"{SIGNET}/engine/approvals/request_rows.py",
        "about.document.data, about.contract.unique_fields",
        "about.document.data, ()",
        (f"{AGAIN}a_copy_under_another_number_shows_the_rejection",),
    ),
    Mutation(
        "a content that was rejected is found by its document alone",
        3,
        f"{SIGNET}/store/approvals/requests.sql",
        "r.content_hash = %(content_hash)s AND r.status",
        "r.content_hash = %(content_hash)s AND r.document_id = %(document_id)s AND r.status",
        (f"{AGAIN}a_document_that_is_deleted_and_made_again_goes_to_who_rejected_it",),
    ),
    Mutation(
        "only the newest rejection is remembered",
        3,
        f"{SIGNET}/core/approvals/rejecters.py",
        "    for request in rejected:\n",
        "    for request in list(rejected)[:1]:\n",
        (f"{AGAIN}each_rejecter_is_asked_again_in_their_stage",),
    ),
    Mutation(
        "a rejection of another document is not shown",
        3,
        f"{SIGNET}/store/approvals/voters.sql",
        "q.content_hash = asked.content_hash AND q.status = 'rejected' AND q.id < %(id)s",
        "q.content_hash = asked.content_hash AND q.document_id = asked.document_id AND q.id < %(id)s",
        (f"{AGAIN}a_document_that_is_deleted_and_made_again_goes_to_who_rejected_it",),
    ),
    Mutation(
        "a key that was left forgets what it was asked about",
        3,
        "migrations/0034_remember_earlier_askings.sql",
        "WHERE k.tenant_id = d.tenant_id AND k.document_id = d.id\n",
        "WHERE k.tenant_id = d.tenant_id AND k.document_id = d.id AND false\n",
        (
            f"{AGAIN}a_number_that_is_used_again_lifts_no_bar",
            f"{AGAIN}a_number_that_was_given_up_by_an_edit_lifts_no_bar",
        ),
    ),
    Mutation(
        "a derived document begins without pins",
        3,
        f"{SIGNET}/engine/documents/rows.py",
        '"begin_pins": start.pins or None',
        '"begin_pins": None',
        (f"{DERIVED}a_derived_payment_takes_the_account_that_was_approved",),
    ),
    Mutation(
        "a rule on a derived document reads other documents as they are",
        3,
        f"{SIGNET}/engine/documents/unit_of_work.py",
        "        context = replace(context, pins=inherit_pins(pins, origin, contract, operation.data))\n",
        "",
        (f"{DERIVED}a_rule_on_the_new_document_reads_what_was_approved",),
    ),
    Mutation(
        "an edit of a derived document loses what it was made with",
        3,
        f"{SIGNET}/core/runtime/document_changes.py",
        " or INHERITED in pins[ref])",
        ")",
        (f"{DERIVED}an_edit_of_another_field_loses_nothing",),
    ),
    Mutation(
        "an amendment of a derived document loses what it was made with",
        3,
        f"{SIGNET}/engine/documents/rows.py",
        "change.amended_from.id if change.amended_from is not None else change.document_id",
        "change.document_id",
        (f"{DERIVED}an_amendment_loses_nothing",),
    ),
    Mutation(
        "an action by hand reads other documents as they are",
        3,
        f"{SIGNET}/engine/documents/unit_of_work.py",
        "        self.pins.read_for(operations, self._rows, self._find_contract)\n",
        "",
        (
            f"{BY_HAND}an_action_by_hand_pays_the_account_that_was_approved",
            f"{BY_HAND}an_action_by_hand_sets_what_was_approved_where_people_may_edit",
        ),
    ),
    Mutation(
        "an approval pins nothing of actions that no step runs",
        3,
        f"{SIGNET}/core/approvals/pins.py",
        "workflow.run_actions.union(_list_actions_by_hand(workflow, contract))",
        "workflow.run_actions",
        (f"{BY_HAND}what_actions_by_hand_take_is_shown_and_asked_about",),
    ),
    Mutation(
        "a document that appears changes no pin",
        3,
        "migrations/0022_pin_absent_documents.sql",
        "WHERE (pin.value -> 'version' IS NOT DISTINCT FROM 'null') = EXISTS (",
        "WHERE pin.value -> 'version' <> 'null' AND NOT EXISTS (",
        (f"{PINNED}a_vendor_that_appears_while_people_are_asked_is_asked_about_again",),
    ),
    Mutation(
        "a document of any type is what a ref was to lead to",
        3,
        "migrations/0022_pin_absent_documents.sql",
        "THEN d.entity_type = pin.value ->> 'entity_type'",
        "THEN true",
        (f"{PINNED}a_document_of_another_type_is_no_vendor",),
    ),
    Mutation(
        "steps behind a gate read what was not there",
        3,
        f"{SIGNET}/core/approvals/pins.py",
        "    others = {ref: values for ref, values in current.items() if ref not in held}\n",
        "    others = dict(current)\n",
        (f"{PINNED}a_vendor_that_appears_behind_the_gate_is_not_paid",),
    ),
    Mutation(
        "pins end with their instance",
        3,
        f"{SIGNET}/store/documents/write.sql",
        "        WHERE (row.birth IN ('reentered', 'restarted') AND",
        "        WHERE (row.birth = 'amended' AND",
        (
            f"{PINNED}a_settled_payment_is_paid_as_it_was_approved",
            f"{PINNED}a_cancelled_instance_forgets_nothing",
        ),
    ),
    Mutation(
        "an instance begins with pins of a document that was edited",
        3,
        f"{SIGNET}/store/documents/write.sql",
        "(row.is_begun OR earlier.entity_version = row.entity_version)",
        "true",
        (f"{PINNED}an_edit_that_asks_again_drops_what_was_approved",),
    ),
    Mutation(
        "an edit of a settled document drops what was approved",
        3,
        f"{SIGNET}/store/documents/write.sql",
        "(row.is_begun OR earlier.entity_version = row.entity_version)",
        "earlier.entity_version = row.entity_version",
        (
            f"{PINNED}an_edit_that_asks_nobody_keeps_what_was_approved",
            f"{PINNED}an_edit_without_an_instance_keeps_what_was_approved",
        ),
    ),
    Mutation(
        "an edit behind an approval drops what was approved",
        3,
        f"{SIGNET}/core/runtime/document_changes.py",
        "if is_approved or INHERITED in pins[ref])",
        "if INHERITED in pins[ref])",
        (f"{PINNED}an_edit_that_asks_nobody_keeps_what_was_approved",),
    ),
    Mutation(
        "an edit keeps what was approved before people are asked again",
        3,
        f"{SIGNET}/core/runtime/document_changes.py",
        " if is_approved or INHERITED in pins[ref])",
        ")",
        (f"{PINNED}an_edit_that_asks_again_drops_what_was_approved",),
    ),
    Mutation(
        "a rebuilt instance has no pins of before",
        15,
        f"{SIGNET}/engine/execution/rebuild.py",
        "        beginning.begin_pins,\n",
        "",
        (f"{PINNED}a_settled_payment_is_paid_as_it_was_approved",),
    ),
    Mutation(
        "votes that count no more bar their voters from the next ones",
        3,
        f"{SIGNET}/engine/approvals/requests.py",
        "            and other.id not in self._withdrawn.get(instance_id, ())\n",
        "",
        (
            f"{SENT_BACK}the_only_voter_is_asked_again_when_a_pinned_value_changes",
            f"{SENT_BACK}the_only_voter_is_asked_again_without_a_wider_circle",
            f"{SENT_BACK}the_only_voter_is_asked_again_after_an_erasure",
        ),
    ),
    Mutation(
        "a gate uses an approval of the way that was left",
        3,
        f"{SIGNET}/engine/approvals/requests.py",
        "if r.is_unused and r.id not in withdrawn]",
        "if r.is_unused]",
        (f"{SENT_BACK}a_gate_uses_nothing_of_the_way_before",),
    ),
    Mutation(
        "values that actions take are not pinned",
        3,
        f"{SIGNET}/core/approvals/pins.py",
        ".union(*actions, *conditions, *writing)",
        ".union(*conditions, *writing)",
        (
            f"{TAKEN}an_account_that_an_action_takes_is_asked_about_again",
            f"{TAKEN}an_action_takes_the_account_that_was_approved",
            f"{TAKEN}who_wrote_the_account_that_an_action_takes_does_not_approve",
        ),
    ),
    Mutation(
        "what a payload takes of another document is nobody's",
        3,
        f"{SIGNET}/engine/documents/authorship.py",
        " | operation.sources\n",
        "\n",
        (
            f"{PAYLOADS}who_wrote_what_a_payload_takes_over_does_not_approve",
            f"{PAYLOADS}who_wrote_what_a_payload_takes_over_does_not_approve_what_is_made",
        ),
    ),
    Mutation(
        "behind a gate, a step takes the value of who changed it since",
        3,
        f"{SIGNET}/engine/documents/authorship.py",
        "for ref, pin in context.pins.items() if pin",
        "for ref, pin in context.pins.items() if False and pin",
        (f"{PAYLOADS}behind_the_gate_who_wrote_what_was_approved_counts",),
    ),
    Mutation(
        "values that rules set are not pinned",
        3,
        f"{SIGNET}/core/approvals/pins.py",
        ".union(*actions, *conditions, *writing)",
        ".union(*actions, *conditions)",
        (f"{TAKEN}an_account_that_a_rule_sets_is_pinned_and_not_set_behind_the_gate",),
    ),
    Mutation(
        "a rule that rejects reads old values",
        3,
        f"{SIGNET}/core/documents/rules.py",
        "return bool(self.templates) and (",
        "return (",
        (f"{TAKEN}a_rule_that_rejects_reads_what_holds_now",),
    ),
    Mutation(
        "a refusal takes back that people are asked again",
        3,
        f"{SIGNET}/store/database.py",
        "        if shared is None:\n            act()\n",
        "        if True:\n            act()\n",
        (
            "tests/functions/routes/approvals/test_approvals.py"
            "::test_a_vote_on_what_has_changed_has_it_asked_again",
        ),
    ),
    Mutation(
        "variables behind an approval are not pinned",
        3,
        f"{SIGNET}/engine/approvals/requests.py",
        "for row in self.rows.requests if variables else ():",
        "for row in ():",
        (
            f"{VARIABLES}a_variable_of_before_an_edit_is_shown_as_older",
            f"{VARIABLES}a_variable_that_changes_before_the_vote_is_asked_about_again",
        ),
    ),
    Mutation(
        "a vote does not compare variables",
        3,
        f"{SIGNET}/engine/approvals/decide.py",
        "    if request.changed_variables:\n",
        "    if False:\n",
        (f"{VARIABLES}a_variable_that_changes_before_the_vote_is_asked_about_again",),
    ),
    Mutation(
        "a gate does not compare variables",
        3,
        f"{SIGNET}/engine/execution/nodes/lifecycle_gate.py",
        "if requests and context.approvals.list_changed_variables(context.row.id, context.execution):",
        "if False:",
        (f"{VARIABLES}a_variable_that_changes_behind_the_vote_passes_no_gate",),
    ),
    Mutation(
        "a variable that is set again is pinned as it was",
        3,
        f"{SIGNET}/core/runtime/live_variables.py",
        'return (read | self._live[edge["target"]]) - saved',
        'return read | self._live[edge["target"]]',
        (f"{VARIABLES}a_variable_that_is_set_again_behind_the_approval_is_not_pinned",),
    ),
    Mutation(
        "a variable of an older version is shown as if of this one",
        3,
        f"{SIGNET}/store/approvals/voters.sql",
        "coalesce(setting.entity_version < r.document_version, true)",
        "coalesce(setting.entity_version > r.document_version, true)",
        (
            f"{VARIABLES}a_variable_of_before_an_edit_is_shown_as_older",
            f"{VARIABLES}a_variable_of_a_way_that_is_not_taken_again_is_shown_as_older",
        ),
    ),
    Mutation(
        "an approval of an older release stands for variables that nobody saw",
        3,
        f"{SIGNET}/core/approvals/pins.py",
        "return frozenset(name for name in read_behind if name in now)",
        "return frozenset()",
        (f"{VARIABLES}an_approval_of_an_older_release_is_asked_again_where_a_variable_is_read",),
    ),
    Mutation(
        "pinned variables can be rewritten",
        3,
        "migrations/0030_pin_variables.sql",
        "    WHEN (NEW.variables IS DISTINCT FROM OLD.variables)\n",
        "    WHEN (false)\n",
        (f"{VARIABLES}nobody_rewrites_what_was_pinned",),
    ),
    Mutation(
        "the persons of pins hide who may still vote",
        3,
        f"{SIGNET}/store/approvals/decisions.sql",
        "sum(jsonb_array_length(coalesce(pin.value -> 'responsible', '[]')))",
        "sum(0)",
        (
            "tests/scenarios/authority/test_many_persons.py"
            "::test_persons_of_pins_hide_nobody_who_may_still_vote",
        ),
    ),
    Mutation(
        "a request decides by values of its own person",
        3,
        f"{SIGNET}/engine/documents/decide.py",
        "find_authors(row, pins)",
        "find_authors(row, None)",
        (
            "tests/scenarios/authority/test_deciding_requests.py"
            "::test_who_changed_the_account_does_not_accept_the_payment",
        ),
    ),
    Mutation(
        "a move takes a definition that reads what nobody has approved",
        3,
        f"{SIGNET}/engine/instances/moves.py",
        "            unpinned = list_unpinned_reads(\n"
        "                old.workflow, pinned.contract, new.workflow, target.contract, document.status\n"
        "            )\n",
        "            pass\n",
        (f"{MOVES}what_only_the_newer_definition_reads_holds_the_move_back",),
    ),
    Mutation(
        "a move takes a definition that reads more variables",
        3,
        f"{SIGNET}/core/approvals/unpinned_reads.py",
        "    variables = _list_variables(new) - _list_variables(old)\n",
        "    variables = frozenset[str]()\n",
        (
            f"{MOVES}what_only_the_newer_definition_reads_holds_the_move_back",
            "tests/unit/core/approvals/test_unpinned_reads.py::test_so_is_a_variable_that_is_read_as_it_was",
        ),
    ),
    Mutation(
        "no move is possible before the approval",
        3,
        f"{SIGNET}/core/approvals/unpinned_reads.py",
        "return old.has_approvals and old.is_behind_approvals(status)",
        "return old.has_approvals",
        (f"{MOVES}before_the_approval_it_is_taken_too",),
    ),
)
