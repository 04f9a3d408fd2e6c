"""Faults in the acts that bring a document on which has no workflow, or one that is held (with WF-09)."""

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
ACTS, CHANGES = f"{SIGNET}/core/runtime/operator_actions.py", f"{SIGNET}/core/runtime/document_changes.py"
EXECUTION = f"{SIGNET}/core/runtime/execution.py"
RESTART_CHECK = f"{SIGNET}/core/repair/restart_check.py"
OF_RESTARTS = "tests/integration/engine/instances/test_document_restarts.py::test_"
OF_PAUSES = "tests/integration/engine/documents/test_paused_requests.py::test_"
OF_CORRECTIONS = "tests/integration/engine/instances/test_corrections.py::test_"
OF_REPAIRS = "tests/integration/engine/instances/test_asked_again.py::test_"
OF_DRIFTS = "tests/integration/engine/instances/test_repairs.py::test_"

OF_LISTS = "tests/integration/engine/execution/nodes/test_action.py::test_"

REPAIRING = (
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
        "an instance is ended though its document could not go on",
        9,
        f"{SIGNET}/engine/instances/actions.py",
        "                require_way_on(context, place)\n",
        "                pass\n",
        (f"{OF_RESTARTS}nobody_ends_what_could_not_begin_again",),
    ),
    Mutation(
        "incidents list ends after which nothing leads on",
        9,
        f"{SIGNET}/engine/instances/incidents.py",
        "        elif _is_left_for_good(connection, tenant_id, execution, held):\n",
        "        elif False:\n",
        (f"{OF_RESTARTS}nobody_ends_what_could_not_begin_again",),
    ),
    Mutation(
        "a token is cancelled though its gate stays shut for good",
        9,
        ACTS,
        "    return not takes_rejection and is_done_once(",
        "    return takes_rejection and is_done_once(",
        (f"{OF_RESTARTS}a_token_is_not_cancelled_where_its_gate_would_stay_shut",),
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
        "    raise_if(check_correction(workflow, document.status, decisions, is_amendment=is_amendment))",
        "    assert check_correction is not None",
        (f"{OF_CORRECTIONS}what_people_approved_is_not_corrected",),
    ),
    Mutation(
        "a correction leaves an approval of what it said before",
        3,
        CHANGES,
        "        _send_back(execution, document_state, CORRECTED)",
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
