"""Faults in amendments, and in which patch is in force (WF-03): nobody approved what would come of them."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
ORIGINALS = "tests/integration/engine/documents/test_originals.py::test_"
AMENDMENTS = "tests/integration/engine/documents/test_amendments.py::test_"
AGAIN = "tests/integration/engine/documents/test_amendments_begun_again.py::test_"
REPLACED = "tests/scenarios/authority/test_replaced_refs.py::test_"
PATCHES = "tests/integration/engine/access/test_named_things.py::test_"

AMENDING: Sequence[Mutation] = (
    Mutation(
        "an amendment ends what is in force at once",
        3,
        f"{SIGNET}/core/documents/amendments.py",
        "    return state is not None and state.settled and not contract",
        "    return state is None and not contract",
        (
            f"{ORIGINALS}the_original_is_in_force_until_the_amendment_settles",
            f"{ORIGINALS}what_is_given_up_gives_the_original_back",
        ),
    ),
    Mutation(
        "a second amendment of one document is let through",
        3,
        f"{SIGNET}/engine/documents/unit_of_work.py",
        "        if met := list_amendable(amendable):\n",
        "        if met := []:\n",
        (f"{ORIGINALS}one_is_open_at_a_time", f"{ORIGINALS}an_edit_of_what_is_settled_does_the_same"),
    ),
    Mutation(
        "an original that moved on is replaced",
        3,
        f"{SIGNET}/core/documents/amendments.py",
        "    if (made_of.version, made_of.status) == (now.version, now.status):\n",
        "    if True:\n",
        (f"{ORIGINALS}an_original_that_moved_on_holds_the_gate",),
    ),
    Mutation(
        "an amendment that nobody can edit is held for good",
        9,
        f"{SIGNET}/core/runtime/go_to_targets.py",
        "    if token.hold is not None and token.hold.reason.startswith(MOVEMENTS):\n",
        "    if token.hold is None and begins_amendments(workflow, status) is None:\n",
        (f"{ORIGINALS}an_amendment_that_nobody_can_edit_there_begins_again",),
    ),
    Mutation(
        "an amendment begins again in the status that it was held in",
        9,
        f"{SIGNET}/engine/instances/repairs.py",
        "            version = _give_back(transaction, context, node, reason)\n",
        "            version = None\n",
        (f"{ORIGINALS}an_amendment_that_nobody_can_edit_there_begins_again",),
    ),
    Mutation(
        "an amendment whose call is held has no way back",
        9,
        f"{SIGNET}/engine/instances/repairs.py",
        "    behind = [gate for node in held for gate in workflow.list_gates_of_slot(node)]\n",
        "    behind: list[str] = []\n",
        (f"{AGAIN}an_amendment_whose_call_is_held_begins_again_too",),
    ),
    Mutation(
        "a drift of what is held is noted again in each wave",
        9,
        f"{SIGNET}/core/runtime/projection.py",
        "        return is_held and self.reason == _reason_of_holds(self.position)\n",
        "        return is_held\n",
        (
            "tests/integration/engine/documents/test_paused_requests.py::test_"
            "a_drift_of_what_is_held_is_one_incident_and_ends_with_its_instance",
        ),
    ),
    Mutation(
        "an original that is settled no more is replaced",
        3,
        f"{SIGNET}/core/documents/amendments.py",
        "    if not state.settled:\n",
        "    if False:\n",
        (f"{ORIGINALS}an_original_that_is_not_settled_any_more_is_not_replaced",),
    ),
    Mutation(
        "an amendment of what is gone is sent in a circle",
        9,
        f"{SIGNET}/core/documents/amendments.py",
        "    if state is None or state.final:\n",
        "    if state is None:\n",
        (f"{AGAIN}an_amendment_of_what_is_gone_is_given_up_for_good",),
    ),
    Mutation(
        "a correction lets no amendment stand for the original of now",
        9,
        f"{SIGNET}/engine/documents/amendments.py",
        '    return change.note.action in ("update", "correct") and not settles',
        '    return change.note.action == "update" and not settles',
        (f"{AGAIN}a_correction_lets_an_amendment_stand_for_the_original_of_now",),
    ),
    Mutation(
        "an amendment settles beside its original",
        3,
        f"{SIGNET}/engine/documents/amendments.py",
        "        change.further.append(end_original(of_original, original, detail, change.note.reason))\n",
        "",
        (f"{ORIGINALS}the_original_is_in_force_until_the_amendment_settles",),
    ),
    Mutation(
        "what is given up stays open",
        3,
        "migrations/0058_end_amendments_in_turn.sql",
        "a.document_id = NEW.entity_id AND a.closing IS NULL\n    RETURNING",
        "a.document_id = NEW.entity_id AND a.closing IS NULL AND false\n    RETURNING",
        (f"{ORIGINALS}what_is_given_up_gives_the_original_back",),
    ),
    Mutation(
        "an amendment that begins again is not open again",
        3,
        "migrations/0041_keep_originals_in_force.sql",
        "a.document_id = NEW.entity_id AND a.closing = 'given_up'",
        "a.document_id = NEW.entity_id AND a.closing = 'handed_on'",
        (f"{ORIGINALS}an_amendment_that_begins_again_is_open_again",),
    ),
    Mutation(
        "an amendment that is restarted is not open again",
        3,
        "migrations/0050_open_amendments_again.sql",
        "WHEN (NEW.birth IN ('reentered', 'restarted') AND",
        "WHEN (NEW.birth IN ('reentered') AND",
        (f"{AGAIN}an_amendment_that_is_restarted_is_open_again",),
    ),
    Mutation(
        "an amendment under way is not open when the other one is given up",
        3,
        "migrations/0058_end_amendments_in_turn.sql",
        "    IF free IS NOT NULL THEN\n",
        "    IF false THEN\n",
        (f"{AGAIN}an_amendment_that_is_restarted_beside_another_is_open_when_that_is_given_up",),
    ),
    Mutation(
        "a suspended document goes on",
        3,
        f"{SIGNET}/core/documents/request_check.py",
        'amendment.while_open != "suspended"',
        "True",
        (f"{AMENDMENTS}a_contract_may_suspend_the_original",),
    ),
    Mutation(
        "a key of the line is another document's",
        3,
        f"{SIGNET}/store/documents/amendments.sql",
        "   OR EXISTS (SELECT FROM amendments a\n",
        "   OR false AND EXISTS (SELECT FROM amendments a\n",
        (f"{AMENDMENTS}the_key_belongs_to_the_line", f"{AMENDMENTS}an_edit_hands_an_amendment_on"),
    ),
    Mutation(
        "an incident outlives the workflow that an amendment ends",
        3,
        f"{SIGNET}/store/documents/write.sql",
        "n.instance_id = ended.id AND n.closed_at IS NULL",
        "n.instance_id = ended.id AND n.closed_at IS NULL AND false",
        (f"{ORIGINALS}a_workflow_of_the_original_ends_with_it",),
    ),
    Mutation(
        "another patch takes a type over in silence",
        3,
        f"{SIGNET}/engine/definitions/replacement.py",
        "    if active.name != replaces:\n",
        "    if False:\n",
        (
            f"{PATCHES}another_patch_wants_the_one_that_it_replaces_by_name",
            f"{PATCHES}a_roll_back_replaces_no_other_patch",
        ),
    ),
    Mutation(
        "a patch that was replaced comes back",
        3,
        f"{SIGNET}/store/definitions/write.sql",
        "  AND name = %(name)s AND contract_version = %(contract_version)s AND status = 'published'\n",
        "  AND name = %(name)s AND contract_version = %(contract_version)s AND false\n",
        (f"{PATCHES}what_is_replaced_does_not_come_back",),
    ),
    Mutation(
        "a call leaves for an amendment that can never settle",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    if moved is not None:\n",
        "    if False:\n",
        (
            f"{ORIGINALS}nothing_leaves_for_an_amendment_whose_original_is_gone",
            f"{ORIGINALS}nothing_leaves_until_a_person_has_seen_an_original_that_moved_on",
        ),
    ),
    Mutation(
        "a bill is paid to the vendor that was replaced",
        3,
        f"{SIGNET}/store/documents/referenced.sql",
        "d.id = coalesce(line.in_force, o.id)",
        "d.id = o.id",
        (
            f"{REPLACED}a_bill_that_names_the_old_vendor_pays_the_one_in_force",
            f"{REPLACED}people_are_asked_again_about_a_vendor_that_was_replaced",
        ),
    ),
    Mutation(
        "an approval counts although its vendor was replaced",
        3,
        "migrations/0069_follow_replaced_documents.sql",
        "d.id = document_in_force(o.id, o.status)",
        "d.id = o.id",
        (f"{REPLACED}people_are_asked_again_about_a_vendor_that_was_replaced",),
    ),
    Mutation(
        "past a thousand amendments a bill is paid to the first vendor",
        3,
        f"{SIGNET}/engine/documents/references.py",
        "referenced is not None and referenced.is_past_bound",
        "False",
        (f"{REPLACED}past_a_thousand_amendments_no_replaced_document_is_read",),
    ),
    Mutation(
        "past a thousand amendments an approval counts as it was given",
        3,
        "migrations/0073_refuse_long_lines.sql",
        "        WHEN 'amended' THEN (SELECT line.current_id FROM line_of_amendments(document) AS line)\n",
        "        WHEN 'amended' THEN coalesce("
        "(SELECT line.current_id FROM line_of_amendments(document) AS line), document)\n",
        (f"{REPLACED}past_a_thousand_amendments_no_replaced_document_is_read",),
    ),
)
