"""Rules of what stands behind a gate without an approval, each broken on purpose: refs, values, rules."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
POINTED = "tests/scenarios/authority/test_pointed_refs.py::test_"
DECIDERS = "tests/scenarios/authority/test_persons_of_conditions.py::test_"
MADE = "tests/scenarios/authority/test_rules_on_what_is_made.py::test_"
RULED = "tests/scenarios/authority/test_rules_behind_gates.py::test_"
THROUGH = "tests/scenarios/authority/test_through_the_workflow.py::test_"

DECIDED = "tests/scenarios/authority/test_decided_pins.py::test_"
GUARDED = "tests/unit/core/contracts/test_guarded_states.py::test_"
WINDOWS = "tests/unit/core/compiler/test_windows_behind.py::test_"
GUARDS = f"{SIGNET}/core/contracts/guarded_states.py"

ERASED = "tests/scenarios/authority/test_erased_behind_gates.py::test_"
ASKED = "tests/scenarios/authority/test_erased_while_asked.py::test_"
COMPILED = "tests/unit/core/compiler/test_authority_checks.py::test_"

POINTING: Sequence[Mutation] = (
    Mutation(
        "a request that decides may be edited away behind its gate without a word",
        3,
        f"{SIGNET}/core/compiler/authority_checks.py",
        "    asked += [name for name in graph.nodes if _decides(graph, name, deciding)]\n",
        "",
        (f"{WINDOWS}a_status_behind_a_request_that_decides_is_named_with_its_contract",),
    ),
    Mutation(
        "a request that decides is a free way around required approvals",
        3,
        GUARDS,
        "way.is_rejection or way.transition not in deciding)",
        "way.is_rejection or deciding is not None)",
        (
            f"{GUARDED}a_request_that_decides_is_no_free_way_beside_required_approvals",
            f"{GUARDED}the_states_behind_an_approval_that_people_may_edit_are_listed",
        ),
    ),
    Mutation(
        "an explanation is silent about edits behind a request that decides",
        3,
        f"{SIGNET}/core/explain/outline.py",
        "list_states_behind(self.workflow.content, deciding=deciding)",
        "list_states_behind(self.workflow.content, deciding=deciding and ())",
        (
            "tests/unit/core/explain/test_authority_in_words.py"
            "::test_an_edit_behind_a_request_that_decides_is_said_to_change_it_too",
        ),
    ),
    Mutation(
        "an acting node is renamed without a word",
        3,
        f"{SIGNET}/engine/definitions/older_definitions.py",
        "    if gone and added:\n",
        "    if False:\n",
        ("tests/scenarios/authority/test_weaker_patches.py::test_an_acting_node_that_is_renamed_is_named",),
    ),
    Mutation(
        "a step takes the gap of an erasure for an answer",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "find_outdated_read(context, node) or find_erased_read(context, node)",
        "find_outdated_read(context, node)",
        (
            f"{ERASED}an_erased_field_skips_nobody_who_would_be_asked",
            f"{ERASED}an_erased_field_chooses_no_other_account",
        ),
    ),
    Mutation(
        "the way behind a call takes the gap of an erasure for an answer",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        'find_erased_read(context, node, has_left=True) if node.type.name != "approval" else None',
        "None",
        (f"{ERASED}what_is_erased_while_a_call_is_under_way_chooses_no_way_behind_it",),
    ),
    Mutation(
        "a request passes by the gap of an erasure",
        3,
        f"{SIGNET}/engine/documents/decide.py",
        "document) or refuse_erased(operation, context)\n",
        "document)\n",
        (
            f"{ERASED}an_erased_field_opens_no_transition",
            f"{ERASED}an_erased_field_gives_no_permission",
        ),
    ),
    Mutation(
        "an erasure that people knew of holds what they decided",
        3,
        f"{SIGNET}/engine/documents/decisions/record.py",
        "            return list_erased_since(*document, fields, way.decided_since or 1)\n",
        "            return list_erased_since(*document, fields, 1)\n",
        (f"{ERASED}what_was_erased_before_the_decision_was_decided_about",),
    ),
    Mutation(
        "an erasure in what a step made of an approved document chooses the way",
        3,
        f"{SIGNET}/engine/documents/decisions/record.py",
        "        if way.is_decided or self.comes_of_approved:\n",
        "        if way.is_decided:\n",
        (f"{ERASED}an_erasure_in_what_a_step_made_of_it_chooses_no_way",),
    ),
    Mutation(
        "an erasure leaves out who was asked",
        3,
        f"{SIGNET}/engine/documents/decisions/record.py",
        "        return list_erased_since_asked(*document, fields, way.in_status_since)\n",
        "        return frozenset()\n",
        (
            f"{ASKED}an_erasure_leaves_nobody_out_who_was_asked",
            f"{ASKED}an_erasure_opens_no_second_way",
        ),
    ),
    Mutation(
        "what was rejected is held at a gate whose condition reads an erased value",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    if unread is not None or is_sent_back:\n",
        "    if unread is not None:\n",
        (f"{ASKED}a_gate_takes_no_gap_and_sends_back_what_was_rejected",),
    ),
    Mutation(
        "an erasure in an earlier status holds a document for good",
        3,
        f"{SIGNET}/engine/documents/decisions/record.py",
        "        return list_erased_since_asked(*document, fields, way.in_status_since)\n",
        "        return list_erased_since_asked(*document, fields, 1)\n",
        (f"{ASKED}who_comes_again_from_where_nobody_is_asked_is_asked_by_what_it_says",),
    ),
    Mutation(
        "an erasure that people have decided about in the same status holds",
        3,
        f"{SIGNET}/store/documents/personal_values.sql",
        "u.document_id = p.document_id AND u.applied)",
        "u.document_id = p.document_id AND false)",
        (f"{ASKED}what_was_erased_before_a_decision_in_the_same_status_was_decided_about",),
    ),
    Mutation(
        "the approver is not told of an erasure before they were asked",
        3,
        f"{SIGNET}/engine/approvals/request_view.py",
        "erased_fields=list_erased_fields(connection, tenant_id, record.document_id)",
        "erased_fields=found.request.erased_fields",
        (f"{ASKED}what_was_erased_before_anybody_was_asked_is_shown",),
    ),
    Mutation(
        "the approver is not shown the call that failed",
        3,
        f"{SIGNET}/engine/approvals/request_view.py",
        "failed_calls=list_failed_calls(connection, tenant_id, record.document_id, until=record.ended_at)",
        "failed_calls=[]",
        ("tests/scenarios/authority/test_failed_calls.py::test_the_approver_sees_the_call_that_was_refused",),
    ),
    Mutation(
        "a call that went well later is shown as failed",
        3,
        f"{SIGNET}/store/approvals/failed_calls.sql",
        "s.instance_id DESC, s.seq DESC\n",
        "s.instance_id, s.seq\n",
        (
            "tests/scenarios/authority/test_failed_calls.py::test_a_call_that_went_well_later_is_shown_no_more",
        ),
    ),
    Mutation(
        "an edge for errors past an approval is published without a word",
        3,
        f"{SIGNET}/core/compiler/authority_checks.py",
        "        elif failing and passed:\n",
        "        elif False:\n",
        (f"{COMPILED}an_edge_for_errors_past_an_approval_is_named",),
    ),
    Mutation(
        "an approval that a condition leaves out where a call fails is not named",
        3,
        f"{SIGNET}/core/compiler/authority_checks.py",
        "        return 2 if self.around.isdisjoint(begin) else 1\n",
        "        return 1\n",
        (f"{COMPILED}an_edge_for_errors_past_an_approval_is_named",),
    ),
    Mutation(
        "a business key with a character that nobody sees is another one",
        3,
        f"{SIGNET}/core/contracts/field_values.py",
        "            if has_hidden(value):\n",
        "            if False:\n",
        ("tests/unit/core/contracts/test_field_values.py::test_a_business_key_has_one_form",),
    ),
    Mutation(
        "a business key with a blank behind it is another one",
        3,
        f"{SIGNET}/core/contracts/field_values.py",
        "            value = write_key(value)\n",
        "            value = value[:]\n",
        ("tests/unit/core/contracts/test_field_values.py::test_a_business_key_has_one_form",),
    ),
    Mutation(
        "a patch drops the only approval unasked",
        3,
        f"{SIGNET}/engine/definitions/publication.py",
        "        require_accepted([*_list_unclear(findings), *dropped], accepted)\n",
        "        pass\n",
        (
            "tests/scenarios/authority/test_weaker_patches.py"
            "::test_the_only_approval_is_dropped_by_name_alone",
        ),
    ),
    Mutation(
        "a request that decides pins nothing",
        3,
        f"{SIGNET}/engine/execution/nodes/lifecycle_gate.py",
        '        if decision.outcome == "passed" and _is_decided_by_request(context, node):\n',
        "        if False:\n",
        (f"{DECIDED}behind_a_request_that_decides_the_account_is_that_of_the_decision",),
    ),
    Mutation(
        "a request that decides passes where what it was made about has changed",
        3,
        f"{SIGNET}/engine/execution/nodes/request_pins.py",
        "    if changed and ",
        "    if False and ",
        (f"{DECIDED}what_changes_before_the_gate_is_asked_for_again",),
    ),
    Mutation(
        "a value is changed for a moment before the gate of a request",
        3,
        f"{SIGNET}/core/approvals/decided_pins.py",
        ' or not set(pin["responsible"]) <= set(asked["responsible"]):\n',
        ":\n",
        (f"{DECIDED}who_changes_it_and_changes_it_back_is_found",),
    ),
    Mutation(
        "a request that decides undoes what an approval has pinned",
        3,
        f"{SIGNET}/core/approvals/decided_pins.py",
        'return held is not None and "approval" in held and ',
        "return False and held is not None and ",
        (f"{DECIDED}what_an_approval_has_pinned_goes_before",),
    ),
    Mutation(
        "a contract lets people edit behind the approvals that it requires",
        3,
        GUARDS,
        "        if is_editable and name in behind - free:\n",
        "        if False:\n",
        (f"{GUARDED}an_edit_behind_required_approvals_is_refused_unless_it_is_accepted_by_name",),
    ),
    Mutation(
        "a rejection leads to what the required approvals guard",
        3,
        GUARDS,
        "    if led.guarded:\n",
        "    if False:\n",
        (f"{GUARDED}a_rejection_leads_not_to_what_the_approval_guards",),
    ),
    Mutation(
        "a patch lets people edit behind its approvals, and nobody is told",
        3,
        f"{SIGNET}/core/compiler/authority_checks.py",
        "        if is_editable and state_node(name) not in free:\n",
        "        if False:\n",
        (
            "tests/unit/core/compiler/test_windows_behind.py"
            "::test_a_status_behind_approvals_alone_that_people_may_edit_is_named",
        ),
    ),
    Mutation(
        "the approver is not shown where an edit asks nobody",
        3,
        GUARDS,
        "way.transition != slot.transition]\n",
        "True]\n",
        (
            "tests/scenarios/authority/test_views.py"
            "::test_where_an_edit_behind_the_approval_asks_nobody_is_shown",
        ),
    ),
    Mutation(
        "a ref that a step points behind the gate is read as it is",
        3,
        f"{SIGNET}/engine/documents/references.py",
        "(pins or (is_approved and is_approved()))",
        "pins and not (is_approved and is_approved())",
        (
            f"{POINTED}a_ref_that_a_step_sets_behind_the_gate_pays_no_account_of_now",
            f"{POINTED}another_document_than_the_pinned_one_is_not_read",
            f"{POINTED}a_step_of_the_same_slot_reads_it_no_more_than_a_later_one",
        ),
    ),
    Mutation(
        "a document that a step makes behind the gate points refs as it likes",
        3,
        f"{SIGNET}/engine/documents/references.py",
        "(pins or (is_approved and is_approved()))",
        "is_approved and is_approved()",
        (f"{POINTED}a_document_that_a_step_makes_pays_what_was_approved",),
    ),
    Mutation(
        "a condition follows the ref that its step has pointed",
        3,
        f"{SIGNET}/engine/execution/nodes/action.py",
        "        problem = find_unpinned_way(context, pending.node)\n",
        "        problem = None\n",
        (f"{POINTED}a_condition_behind_the_step_reads_it_not",),
    ),
    Mutation(
        "an act of a list reads what the one before has pointed",
        3,
        f"{SIGNET}/engine/execution/nodes/action.py",
        "        problem = find_unpinned_read(context, node)\n",
        "        problem = None\n",
        (f"{POINTED}an_act_of_a_list_reads_nothing_that_the_one_before_has_pointed",),
    ),
    Mutation(
        "an action by hand reads a ref that a step has pointed",
        3,
        f"{SIGNET}/engine/documents/actions.py",
        "    if context.is_own_workflow or not context.pins:\n",
        "    if True:\n",
        (f"{POINTED}an_action_by_hand_reads_it_not",),
    ),
    Mutation(
        "nobody stands behind a condition",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    keep_deciders(context, deciding)\n",
        "",
        (
            f"{DECIDERS}who_changed_what_an_edge_reads_does_not_approve_what_is_made_behind_it",
            f"{DECIDERS}a_ref_that_is_pointed_elsewhere_lifts_no_bar",
        ),
    ),
    Mutation(
        "nobody stands behind the condition of a gate",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "        keep_deciders(context, pending.node)\n",
        "        pass\n",
        (f"{DECIDERS}who_changed_what_lets_a_step_act_does_not_approve_what_it_makes",),
    ),
    Mutation(
        "nobody stands behind a condition that an answer meets",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "        keep_deciders(context, node)\n",
        "        pass\n",
        (f"{DECIDERS}who_changed_what_an_edge_behind_an_approval_reads_does_not_approve_what_is_made",),
    ),
    Mutation(
        "nobody stands behind the condition of an action by hand",
        3,
        f"{SIGNET}/engine/documents/persons/authorship.py",
        "find_sources(context, context.followed | operation.sources)\n",
        "find_sources(context, operation.sources)\n",
        (f"{DECIDERS}who_changed_what_lets_a_person_act_does_not_approve_what_they_make",),
    ),
    Mutation(
        "who wrote the value that chose the way is forgotten",
        3,
        f"{SIGNET}/core/runtime/workflow_reads.py",
        "own | failing | read_by_conditions(contract, node)",
        "frozenset()",
        (f"{DECIDERS}who_wrote_the_value_that_chose_the_way_stays_barred",),
    ),
    Mutation(
        "a rule changes what a step writes",
        3,
        f"{SIGNET}/engine/documents/rules.py",
        "    if change.caller.instance_id is None:\n",
        "    if True:\n",
        (
            f"{MADE}a_rule_sets_nothing_in_what_a_step_makes_behind_the_gate",
            f"{MADE}a_rule_changes_nothing_whomever_the_payment_asks",
            f"{RULED}a_rule_changes_nothing_in_the_slot_of_a_request_that_decides",
        ),
    ),
    Mutation(
        "a rule sets nothing in what people send",
        3,
        f"{SIGNET}/engine/documents/rules.py",
        "    if change.caller.instance_id is None:\n",
        "    if False:\n",
        (f"{RULED}a_rule_sets_values_of_what_people_send",),
    ),
    Mutation(
        "a rule fills what a step's own edit leaves empty",
        3,
        f"{SIGNET}/engine/documents/rules.py",
        "not (is_new and written.get(name) is None)",
        "written.get(name) is not None",
        (f"{THROUGH}a_rule_changes_nothing_that_a_step_posts",),
    ),
)
