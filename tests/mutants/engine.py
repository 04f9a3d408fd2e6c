"""Faults in waves: who moves (WF-01), what happens once (WF-02, 14, 16), edits (WF-05), steps (WF-09, 15)."""

from tests.mutants.mutation import Mutation

WAVE = "shared/signet/engine/execution/wave.py"
PLACE = "shared/signet/engine/execution/nodes/context.py"
ROWS = "shared/signet/engine/execution/rows.py"
OPENING_A_WAVE = "migrations/0060_look_up_each_key.sql"
READING = (
    "tests/integration/engine/execution/test_waves_without_statistics.py"
    "::test_a_wave_reads_no_more_where_its_plans_are_older_than_the_rows"
)
WRITING_STEPS = "migrations/0075_ask_less_of_each_row.sql"
KEYS = "shared/signet/core/runtime/idempotency_keys.py"
REACTIONS = "shared/signet/core/runtime/document_changes.py"
PROJECTION = "shared/signet/core/runtime/projection.py"
JOURNEY = "shared/signet/core/runtime/execution.py"
ROUTING = "shared/signet/core/runtime/tokens.py"
WF_01 = "tests/scenarios/invariants/test_wf_01_one_writer_for_an_instance.py::test_wf_01_"
WF_02 = "tests/scenarios/invariants/test_wf_02_a_step_happens_once.py::test_wf_02_"
WF_05 = "tests/scenarios/invariants/test_wf_05_an_edit_is_found_out.py::test_wf_05_"
WF_09 = "tests/scenarios/invariants/test_wf_09_every_effect_has_its_step.py::test_wf_09_"
WF_14 = "tests/scenarios/invariants/test_wf_14_the_receipt_comes_first.py::test_wf_14_"
WF_15 = "tests/scenarios/invariants/test_wf_15_an_instance_is_the_sum_of_its_steps.py::test_wf_15_"
WF_16 = "tests/scenarios/invariants/test_wf_16_a_join_fires_once.py::test_wf_16_"
OUTAGES = "tests/faults/test_outages.py::test_"
BOUNDS = "tests/integration/engine/dispatch/test_claim_bounds.py::test_"
STEP_KEY = "return _digest(str(instance_id), node_id, token_id, str(entity_version))"

ENGINE = (
    Mutation(
        "an instance is moved without its lock",
        1,
        OPENING_A_WAVE,
        "pg_try_advisory_xact_lock(hashtextextended(i.id::text, 0)) AS is_taken",
        "true AS is_taken",
        (f"{WF_01}an_instance_that_somebody_holds_is_passed_by",),
    ),
    Mutation(
        "an instance is moved while another transaction holds its document",
        1,
        OPENING_A_WAVE,
        "AND (i.entity_id IS NULL OR i.entity_id = ANY (entities))",
        "AND (i.entity_id IS NULL OR i.entity_id IS NOT NULL)",
        (f"{WF_01}an_instance_that_somebody_holds_is_passed_by",),
    ),
    Mutation(
        "foreign keys are checked by the tenant alone, request by request",
        3,
        "migrations/0059_index_requests_by_known_steps.sql",
        "\n    WHERE step_execution_id IS NOT NULL;",
        ";",
        (READING,),
    ),
    Mutation(
        "a session reads all of a tenant's effects, whose table was empty when it planned",
        9,
        OPENING_A_WAVE,
        "e.step_execution_id = s.id\n                OFFSET 0\n",
        "e.step_execution_id = s.id\n",
        (READING,),
    ),
    Mutation(
        "to be passed by costs an attempt",
        1,
        "shared/signet/store/outbox/given_back.sql",
        "SET status = 'pending', attempts = q.attempts - 1,",
        "SET status = 'pending', attempts = q.attempts,",
        (
            f"{WF_01}an_instance_that_somebody_holds_is_passed_by",
            f"{WF_01}a_worker_that_comes_while_another_is_at_it_does_nothing",
        ),
    ),
    Mutation(
        "an outage costs an attempt",
        1,
        "shared/signet/engine/execution/worker.py",
        "self._give_back(claimed, error)",
        "pass",
        (f"{OUTAGES}a_locked_table_costs_no_attempt",),
    ),
    Mutation(
        "what could not be given back is forgotten",
        1,
        "shared/signet/engine/dispatch/unsettled.py",
        "self._left.append(_Kept(tenant_id, write))",
        "pass",
        (f"{OUTAGES}a_server_that_refuses_from_the_nth_statement_on_costs_no_attempt",),
    ),
    Mutation(
        "an unforeseen error ends a background thread",
        1,
        "shared/signet/local/background.py",
        "return RETRY.delay_seconds(self._failures, make_id())",
        "return 3_600.0",
        ("tests/local/test_background.py::test_nothing_that_is_raised_ends_the_thread",),
    ),
    Mutation(
        "a claim never looks at everything again",
        1,
        "shared/signet/engine/dispatch/claim_bounds.py",
        "if bound is None or self._clock() - bound.looked_at >= LOOK_AT_ALL_SECONDS:",
        "if bound is None:",
        (f"{BOUNDS}what_comes_late_with_an_earlier_time_is_never_missed",),
    ),
    Mutation(
        "what was passed by is taken for done",
        1,
        WAVE,
        "elif trigger.instance_id in self._contexts or trigger.instance_id not in self._opened.known:",
        "elif trigger.instance_id:",
        (
            f"{WF_01}an_instance_that_somebody_holds_is_passed_by",
            f"{WF_01}a_worker_that_comes_while_another_is_at_it_does_nothing",
        ),
    ),
    Mutation(
        "a step's key leaves out the document's version",
        2,
        KEYS,
        STEP_KEY,
        "return _digest(str(instance_id), node_id, token_id)",
        (f"{WF_02}the_key_of_a_step_is_its_instance_node_token_and_version",),
    ),
    Mutation(
        "a step's key leaves out its token",
        2,
        KEYS,
        STEP_KEY,
        "return _digest(str(instance_id), node_id, str(entity_version))",
        (f"{WF_02}the_key_of_a_step_is_its_instance_node_token_and_version",),
    ),
    Mutation(
        "an instance's row is believed against its steps",
        2,
        WAVE,
        "            wave.check_projections()\n",
        "",
        (
            f"{WF_02}a_wave_on_any_row_of_the_past_repeats_nothing",
            f"{WF_02}an_instance_whose_row_lagged_goes_on_where_its_steps_are",
        ),
    ),
    Mutation(
        "what people did is keyed by the row that says so",
        2,
        ROWS,
        'f"seq:{step.seq}"',
        'f"seq:{step.id}"',
        (f"{WF_02}what_people_did_is_taken_in_once",),
    ),
    Mutation(
        "a row that lags is never rebuilt",
        2,
        "shared/signet/engine/execution/worker.py",
        "            if isinstance(error, LostReceipt) and rebuild_instance(",
        "            if not isinstance(error, Exception) and rebuild_instance(",
        (
            f"{WF_02}a_wave_on_any_row_of_the_past_repeats_nothing",
            f"{WF_02}an_instance_whose_row_lagged_goes_on_where_its_steps_are",
        ),
    ),
    Mutation(
        "an edit in a stable region is an edit like any other",
        5,
        REACTIONS,
        "if node_id in execution.workflow.stable_nodes]",
        'if node_id == "nowhere"]',
        (f"{WF_05}drift_in_a_stable_region_pauses",),
    ),
    Mutation(
        "an edit leaves tokens where they are",
        5,
        REACTIONS,
        "    if not under_way:\n",
        "    if live:\n",
        (
            f"{WF_05}an_edit_on_the_way_of_a_request_goes_back_to_its_state",
            f"{WF_05}an_edit_on_an_automatic_way_begins_its_slot_anew",
            f"{WF_05}an_edit_behind_a_gate_begins_the_slot_behind_it_anew",
        ),
    ),
    Mutation(
        "an edit is not on record",
        5,
        REACTIONS,
        '    execution.control("edited", {**seen, **kept}, version_after=document_state.version)\n',
        "    execution.projection.entity_version = document_state.version\n",
        (f"{WF_05}an_edit_at_rest_is_on_record_and_moves_nobody",),
    ),
    Mutation(
        "an instance does not see what it changes itself",
        5,
        PROJECTION,
        """\
    projection.entity_version = max(projection.entity_version, step.version_after)
    projection.context.update(step.variables)
""",
        "    projection.context.update(step.variables)\n",
        (f"{WF_05}what_the_instance_itself_changes_is_no_drift",),
    ),
    Mutation(
        "an edit does not end the request that was made before it",
        5,
        "shared/signet/engine/documents/decide.py",
        '            supersede_request(change, row, "edited")\n            return change\n',
        "            return change\n",
        (f"{WF_05}an_edit_on_the_way_of_a_request_goes_back_to_its_state",),
    ),
    Mutation(
        "what a step does to a document does not name it",
        9,
        PLACE,
        "step.id if step else None)",
        "None)",
        (
            f"{WF_09}the_steps_row_comes_before_what_it_does",
            f"{WF_09}every_version_that_a_workflow_makes_is_of_a_step",
            f"{WF_09}random_workflows_do_nothing_without_a_step",
        ),
    ),
    Mutation(
        "a refusal does not name its step",
        9,
        "shared/signet/engine/execution/rows.py",
        "context.documents.execute(context.system_caller(step_id), operation)",
        "context.documents.execute(context.system_caller(), operation)",
        (f"{WF_09}random_workflows_do_nothing_without_a_step",),
    ),
    Mutation(
        "a step is written when all is done",
        9,
        WAVE,
        ("        self.write_new_steps()\n        for context, pending in pending_actions:\n"),
        "        for context, pending in pending_actions:\n",
        (f"{WF_09}the_steps_row_comes_before_what_it_does",),
    ),
    Mutation(
        "nodes act without regard to their receipts",
        14,
        WAVE,
        "if write_steps(self._connection, rows, self._opened.transaction.now) < len(rows):",
        "if write_steps(self._connection, rows, self._opened.transaction.now) < 0:",
        (f"{WF_14}where_a_receipt_was_lost_nobody_acts",),
    ),
    Mutation(
        "nodes act before their receipts are written",
        14,
        WAVE,
        ("        self.write_new_steps()\n        for context, pending in pending_actions:\n"),
        "        for context, pending in pending_actions:\n",
        (
            f"{WF_14}where_a_receipt_was_lost_nobody_acts",
            f"{WF_14}a_node_acts_when_its_receipt_and_its_step_are_written",
        ),
    ),
    Mutation(
        "a step is written without a receipt",
        14,
        WRITING_STEPS,
        "FROM step JOIN receipt ON receipt.step_execution_id = step.id",
        "FROM step",
        (f"{WF_14}a_step_is_written_only_with_its_receipt",),
    ),
    Mutation(
        "a step does not keep the variables that it set",
        15,
        PROJECTION,
        '                output["variables"] = dict(self.variables)\n',
        "                pass\n",
        (f"{WF_15}after_every_wave_of_a_random_life_a_rebuild_finds_the_same_row",),
    ),
    Mutation(
        "an instance does not say which of its steps was the last",
        15,
        ROWS,
        "    if happened > context.last_step[0]:\n",
        "    if context.last_step[1] is None:\n",
        (f"{WF_15}after_every_wave_of_a_random_life_a_rebuild_finds_the_same_row",),
    ),
    Mutation(
        "a rebuild forgets who is acted for",
        15,
        "shared/signet/engine/execution/rebuild.py",
        "        _parse_first_actor(beginning),\n",
        '        Actor(""),\n',
        (f"{WF_15}after_every_wave_of_a_random_life_a_rebuild_finds_the_same_row",),
    ),
    Mutation(
        "a rebuild reads all steps with the workflow that the instance was moved to last",
        15,
        "shared/signet/engine/execution/rebuild.py",
        "            self.workflows[0],\n",
        "            self.workflows[-1],\n",
        (f"{WF_15}of_one_whose_first_steps_are_of_nodes_that_are_gone",),
    ),
    Mutation(
        "a rebuild reads steps after a move with the workflow of before",
        15,
        PROJECTION,
        "            workflow = moved_to[seq]\n",
        "            pass\n",
        (f"{WF_15}of_one_that_was_moved_to_another_workflow",),
    ),
    Mutation(
        "a rebuild leaves an instance under the definition that it began with",
        15,
        "shared/signet/engine/execution/rebuild.py",
        '        "definition_id": definition_id,\n',
        '        "definition_id": row.definition_id,\n',
        (f"{WF_15}of_one_that_was_moved_to_another_workflow",),
    ),
    Mutation(
        "a rebuild reads steps in the order in which they began",
        15,
        PROJECTION,
        "sorted(events, key=lambda event: event[:2])",
        "sorted(events, key=lambda event: event[2].seq)",
        (f"{WF_15}after_every_wave_of_a_random_life_a_rebuild_finds_the_same_row",),
    ),
    Mutation(
        "a join's receipt is that of the branch that arrived",
        16,
        ROWS,
        'if step.epoch is not None and step.status != "cancelled":',
        "if step.epoch == 0:",
        (
            f"{WF_16}all_of_them_in_the_same_wave",
            f"{WF_16}the_last_of_them_fires_it",
            f"{WF_16}a_join_that_has_fired_cannot_fire_again",
        ),
    ),
    Mutation(
        "a join's receipt is the same for every time",
        16,
        KEYS,
        'f"epoch:{epoch}"',
        '"epoch"',
        (f"{WF_16}when_the_split_parts_again_its_join_fires_again",),
    ),
    Mutation(
        "a join whose receipt is there fires all the same",
        16,
        WAVE,
        "if write_steps(self._connection, rows, self._opened.transaction.now) < len(rows):",
        "if write_steps(self._connection, rows, self._opened.transaction.now) < len(rows) - 1:",
        (f"{WF_16}a_join_that_has_fired_cannot_fire_again",),
    ),
    Mutation(
        "losers that had not begun leave no row",
        16,
        JOURNEY,
        "        elif token.state is TokenState.READY:\n            step = self._make_step(token)",
        "        elif token.state is TokenState.JOINED:\n            step = self._make_step(token)",
        (f"{WF_16}a_loser_that_had_not_begun_has_its_row_too",),
    ),
    Mutation(
        "losers go on",
        16,
        ROUTING,
        ("    _cancel_below(position, parent_id, changes)\n    parent = position.tokens[parent_id]\n"),
        "    parent = position.tokens[parent_id]\n",
        (
            f"{WF_16}any_of_them_and_the_others_are_cancelled",
            f"{WF_16}two_that_arrive_at_an_any_join_in_the_same_wave",
        ),
    ),
)
