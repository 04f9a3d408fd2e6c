"""Faults in the acts that bring a document on which has no workflow, or one that is held (with WF-09)."""

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
ACTS, CHANGES = f"{SIGNET}/core/runtime/operator_actions.py", f"{SIGNET}/core/runtime/document_changes.py"
EXECUTION = f"{SIGNET}/core/runtime/execution.py"
RESTART_CHECK = f"{SIGNET}/core/repair/restart_check.py"
OF_RESTARTS = "tests/integration/engine/instances/test_document_restarts.py::test_"
OF_PAUSES = "tests/integration/engine/documents/test_paused_requests.py::test_"
OF_CORRECTIONS = "tests/integration/engine/instances/test_corrections.py::test_"
MOVES_SQL = f"{SIGNET}/store/instances/moves.sql"
EARLIER_SQL = f"{SIGNET}/store/instances/earlier_steps.sql"
LEADING_ON = "tests/scenarios/repair/test_acts_that_lead_on.py::test_"
SENT_TWICE = "tests/scenarios/repair/test_sent_twice.py::test_"
OF_REPAIRS = "tests/integration/engine/instances/test_asked_again.py::test_"
OF_DRIFTS = "tests/integration/engine/instances/test_repairs.py::test_"

OF_LISTS = "tests/integration/engine/execution/nodes/test_action.py::test_"

REPAIRING = (
    Mutation(
        "a correction repeats a call and does not say so",
        9,
        f"{SIGNET}/engine/instances/corrections.py",
        "    if again is not None:\n",
        "    if again is None:\n",
        (f"{SENT_TWICE}a_correction_names_what_is_sent_again_and_keeps_its_first_id",),
    ),
    Mutation(
        "a call that an operator sends back has an id that its receiver does not know",
        9,
        f"{SIGNET}/engine/execution/rows.py",
        "is_sent_back = origin is not None or root_of(step.token) != ROOT\n",
        "is_sent_back = origin is not None\n",
        (
            f"{SENT_TWICE}a_correction_names_what_is_sent_again_and_keeps_its_first_id",
            f"{SENT_TWICE}what_is_sent_back_keeps_the_id_of_its_own_round",
        ),
    ),
    Mutation(
        "a new call has the id of one that people rejected, so that its receiver drops it",
        9,
        f"{SIGNET}/store/instances/waves.sql",
        "s.seq > way.began AND ",
        "",
        (f"{SENT_TWICE}what_is_sent_back_keeps_the_id_of_its_own_round",),
    ),
    Mutation(
        "items of a list are dropped in silence",
        9,
        f"{SIGNET}/core/runtime/decisions.py",
        "    if len(items) <= limit:\n",
        "    if True:\n",
        (f"{OF_LISTS}a_list_that_is_longer_than_the_node_takes_is_held_as_a_whole",),
    ),
    Mutation(
        "an incident does not name the item that failed",
        9,
        f"{SIGNET}/engine/execution/nodes/action.py",
        "    if index is None:\n        return",
        "    if True:\n        return",
        (
            f"{OF_LISTS}the_item_that_is_wrong_is_named",
            f"{OF_LISTS}the_item_whose_key_is_taken_is_named",
        ),
    ),
    Mutation(
        "a refused request restarts an automatic way",
        9,
        CHANGES,
        "    if document_state.begins_for_request and (",
        "    if not document_state and (",
        (f"{OF_RESTARTS}r8_a_refused_request_restarts_nothing",),
    ),
    Mutation(
        "an instance is ended and nobody says what follows",
        9,
        ACTS,
        "    if then is not None or not only_goes_by_itself(workflow, status):",
        "    if True:",
        (f"{OF_RESTARTS}r2_cancel_wants_to_know_what_follows",),
    ),
    Mutation(
        "a document is left without an incident",
        9,
        EXECUTION,
        """        step = self.control(name, {**data, "then": "leave"}, actor=actor)
        self.hold_changes.append(HoldChange(None, step, is_new=True))
""",
        """        step = self.control(name, {**data, "then": "leave"}, actor=actor)
""",
        (f"{OF_RESTARTS}r2_what_a_person_cancelled_begins_again",),
    ),
    Mutation(
        "a restarted instance acts for the operator",
        9,
        f"{SIGNET}/engine/instances/document_restarts.py",
        "            actor=self.context.execution.projection.actor,\n",
        "",
        (f"{OF_RESTARTS}r2_what_a_person_cancelled_begins_again",),
    ),
    Mutation(
        "a restart behind a passed gate leaves out what follows it",
        9,
        RESTART_CHECK,
        'return node.type.name == "slot_in" or (',
        "return (",
        (f"{OF_RESTARTS}behind_a_passed_gate_it_begins_at_the_slot",),
    ),
    Mutation(
        "a request is parked while a person has paused the workflow",
        9,
        f"{SIGNET}/core/documents/request_check.py",
        "    if pause is None or (",
        "    if pause is not None or (",
        (f"{OF_PAUSES}r9_what_a_person_paused_serves_nothing",),
    ),
    Mutation(
        "an interrupt is served while a person has paused the workflow",
        9,
        f"{SIGNET}/core/documents/request_check.py",
        'transition.kind == "interrupting" and not pause["is_by_person"]',
        'transition.kind == "interrupting"',
        (f"{OF_PAUSES}r9_what_a_person_paused_serves_nothing",),
    ),
    Mutation(
        "what the engine has paused serves no interrupt",
        9,
        CHANGES,
        "    if gate is None or document_state.is_paused_by_person:",
        "    if gate is None or document_state:",
        (f"{OF_PAUSES}r9_an_interrupt_of_what_the_engine_paused_is_served",),
    ),
    Mutation(
        "a person withdraws what another one has asked for",
        9,
        f"{SIGNET}/engine/documents/paused_requests.py",
        "    if row.requester_id != context.caller.principal.subject:",
        "    if row.requester_id is None:",
        (f"{OF_PAUSES}r9_a_person_withdraws_their_own_request",),
    ),
    Mutation(
        "what was withdrawn goes on",
        9,
        CHANGES,
        "        _send_back(execution, document_state, REQUEST_WITHDRAWN)",
        "        return",
        (f"{OF_PAUSES}r9_a_person_withdraws_their_own_request",),
    ),
    Mutation(
        "what people approved is corrected",
        3,
        f"{SIGNET}/engine/instances/corrections.py",
        "    raise_if(\n        check_correction(workflow, document.status, decisions,",
        "    bool(\n        check_correction(workflow, document.status, decisions,",
        (f"{OF_CORRECTIONS}what_people_approved_is_not_corrected",),
    ),
    Mutation(
        "a correction leaves an approval of what it said before",
        3,
        CHANGES,
        "        again = _send_back(execution, document_state, CORRECTED)",
        "        pass",
        (f"{OF_CORRECTIONS}people_are_asked_about_what_it_says_now",),
    ),
    Mutation(
        "a document without an incident is corrected",
        9,
        f"{SIGNET}/engine/instances/corrections.py",
        "    if not transaction.has_open_incident(document_id):",
        "    if document_id is None:",
        (f"{OF_CORRECTIONS}without_an_incident_it_is_edited",),
    ),
    Mutation(
        "a dry run is written",
        9,
        f"{SIGNET}/engine/instances/operator_transaction.py",
        "            raise _DryRun",
        "            self.write()",
        (f"{OF_REPAIRS}an_act_is_tried_before_it_is_done", f"{OF_CORRECTIONS}a_dry_run_changes_nothing"),
    ),
    Mutation(
        "people are asked again by the request of before",
        3,
        f"{SIGNET}/core/runtime/projection.py",
        '    return ask_again(projection.position, step.data["token"], seq, projection.entity_version)',
        "    return TokenChanges()",
        (f"{OF_REPAIRS}people_are_asked_again_by_the_roles_of_today",),
    ),
    Mutation(
        "an end is listed that the server would refuse",
        9,
        f"{SIGNET}/engine/instances/incidents.py",
        "        if (sequels if name in _ENDING else not is_over)",
        "        if name in _ENDING or not is_over",
        (f"{LEADING_ON}a_call_behind_an_approval_is_retried_or_skipped_and_nothing_else",),
    ),
    Mutation(
        "a restart is listed that the server would refuse",
        9,
        f"{SIGNET}/engine/instances/incidents.py",
        'names = ["restart"] if refused is None else []',
        'names = ["restart"]',
        (f"{LEADING_ON}what_may_not_begin_again_is_not_listed",),
    ),
    Mutation(
        "a token is cancelled before a gate that would stay shut",
        9,
        ACTS,
        'if gate.config["kind"] == "automatic" and "rejected" not in gate.edges:',
        "if False:",
        (f"{LEADING_ON}a_call_behind_an_approval_is_retried_or_skipped_and_nothing_else",),
    ),
    Mutation(
        "a gate that is held stays so where a person rejects there",
        9,
        f"{SIGNET}/core/runtime/tokens.py",
        "replace(token, rejected=True, hold=None)",
        "replace(token, rejected=True)",
        (f"{LEADING_ON}a_gate_that_is_held_sends_back_what_is_cancelled_there",),
    ),
    Mutation(
        "what is left undone behind a gate leaves no trace",
        9,
        RESTART_CHECK,
        'status, node) is None:\n        return "incident"\n',
        'status, node) is None:\n        return "request"\n',
        (f"{LEADING_ON}what_is_left_undone_behind_a_gate_opens_an_incident",),
    ),
    Mutation(
        "an action that failed counts as done",
        10,
        EARLIER_SQL,
        "WHEN s.node_type = 'action' THEN s.status = 'completed'",
        "WHEN s.node_type = 'action' THEN true",
        (f"{LEADING_ON}what_is_left_undone_behind_a_gate_opens_an_incident",),
    ),
    Mutation(
        "a call that is under way is sent again behind its approval",
        10,
        EARLIER_SQL,
        "'notification') AND (sent.is_done OR effect.is_sent)",
        "'notification') AND sent.is_done",
        (f"{SENT_TWICE}a_call_that_may_have_left_is_not_sent_again_behind_its_approval",),
    ),
    Mutation(
        "a second restart forgets what the first one knew",
        10,
        EARLIER_SQL,
        "AND (gate.id IS NULL OR p.id >= gate.id)",
        "AND p.id = i.id",
        (f"{SENT_TWICE}without_an_approval_it_is_named_and_keeps_its_first_id",),
    ),
    Mutation(
        "a call that is sent again by a restart has an id of its own",
        10,
        f"{SIGNET}/engine/execution/rows.py",
        ' or context.row.birth == "restarted":',
        ":",
        (f"{SENT_TWICE}without_an_approval_it_is_named_and_keeps_its_first_id",),
    ),
    Mutation(
        "a document is left where it can neither go on nor begin again",
        9,
        RESTART_CHECK,
        '    remedy = "Retry what is held, or skip it with the answer. What waits',
        '    return None\n    remedy = "Retry what is held, or skip it with the answer. What waits',
        (f"{SENT_TWICE}a_call_that_may_have_left_is_not_sent_again_behind_its_approval",),
    ),
    Mutation(
        "a move sends again what a cancelled branch has sent",
        10,
        MOVES_SQL,
        "OR s.status = 'cancelled' AND EXISTS (",
        "OR s.status = 'never' AND EXISTS (",
        (f"{SENT_TWICE}a_move_counts_the_call_of_a_branch_that_was_cancelled",),
    ),
    Mutation(
        "a document that was approved goes on with what was changed behind its gate",
        5,
        f"{SIGNET}/core/runtime/go_to_targets.py",
        "        found = [] if is_approved else [node",
        "        found = [node",
        (f"{OF_DRIFTS}a_drift_of_what_people_approved_sends_nothing_on",),
    ),
    Mutation(
        "an instance is sent elsewhere while a person pauses it",
        5,
        f"{SIGNET}/engine/instances/act_checks.py",
        "    return pause is not None and not pause.is_by_person",
        "    return pause is not None",
        (f"{OF_DRIFTS}nobody_goes_anywhere_while_a_person_pauses_it",),
    ),
)
