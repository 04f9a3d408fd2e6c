"""Faults in what starts automations: a start that is lost, doubled, or made where people have stopped it."""

from collections.abc import Sequence

from tests.mutants.mutation import NO_INVARIANT, Mutation

CORE = "shared/signet/core/automations"
ENGINE = "shared/signet/engine"
STARTS = "tests/integration/engine/automations/test_start_transaction.py::test_"
LOOPS = "tests/integration/engine/automations/test_loops.py::test_"
OVERLAP = "tests/integration/engine/automations/test_overlap.py::test_"
ACTS = "tests/integration/engine/automations/test_automations.py::test_"

STARTING: Sequence[Mutation] = (
    Mutation(
        "one that starts itself goes round for ever",
        NO_INVARIANT,
        f"{CORE}/start_decision.py",
        '    if link in chain and repeat != "allow":\n',
        "    if False:\n",
        (f"{LOOPS}one_that_starts_itself_is_stopped",),
    ),
    Mutation(
        "a chain has no end",
        NO_INVARIANT,
        f"{CORE}/start_decision.py",
        "    if len(chain) >= MAX_DEPTH:\n",
        "    if False:\n",
        ("tests/unit/core/automations/test_start_decision.py::test_a_chain_has_an_end",),
    ),
    Mutation(
        "the chain ends with a wait",
        NO_INVARIANT,
        f"{CORE}/chain.py",
        "    return parse_chain(told[-1]) if told else known\n",
        "    return parse_chain(told[-1]) if told else ()\n",
        (f"{LOOPS}the_chain_goes_on_through_a_wait",),
    ),
    Mutation(
        "the chain does not go through the workflow of the document",
        NO_INVARIANT,
        f"{ENGINE}/documents/firings.py",
        " if caller.chain else payload\n",
        " if False else payload\n",
        (f"{LOOPS}the_chain_goes_on_through_the_workflow_of_the_document",),
    ),
    Mutation(
        "starts are not written with the change",
        NO_INVARIANT,
        "shared/signet/store/documents/write.py",
        "    if not batch.firings:\n        return DeferredStatement(_SQL.write_edits, values)\n",
        "    if True:\n        return DeferredStatement(_SQL.write_edits, values)\n",
        (f"{STARTS}a_new_document_starts_it",),
    ),
    Mutation(
        "nobody asks whether all are stopped",
        NO_INVARIANT,
        "shared/signet/store/automations/starts.sql",
        "SELECT stop_note, started_minute, started_count FROM automation_switches\n"
        "WHERE tenant_id = %(tenant_id)s\nFOR NO KEY UPDATE\n",
        "SELECT stop_note, started_minute, started_count FROM automation_switches\n"
        "WHERE tenant_id = %(tenant_id)s\n",
        (f"{ACTS}after_the_commit_that_stops_all_nothing_starts",),
    ),
    Mutation(
        "everybody may start one",
        NO_INVARIANT,
        f"{ENGINE}/automations/automations.py",
        "            act.require(START)\n",
        "",
        (f"{ACTS}each_act_needs_its_permission",),
    ),
    Mutation(
        "who published does not answer for what it does",
        NO_INVARIANT,
        f"{ENGINE}/automations/start_transaction.py",
        "        persons = actor.responsible | frozenset(definition.persons)\n",
        "        persons = actor.responsible\n",
        (f"{STARTS}who_published_answers_with_who_made_the_change",),
    ),
    Mutation(
        "what is archived goes on listening",
        NO_INVARIANT,
        f"{ENGINE}/definitions/archive.py",
        "        put_out_of_force(act.connection, tenant_id, definition.id)\n",
        "        pass\n",
        (f"{STARTS}what_is_archived_starts_no_more",),
    ),
    Mutation(
        "who leads past an automation is not behind what it left",
        NO_INVARIANT,
        "migrations/0081_start_automations.sql",
        "                  WHERE t.tenant_id = current_tenant_id() AND t.entity_type = document_type) AS n\n",
        "                  WHERE false) AS n\n",
        (
            "tests/scenarios/authority/test_left_as_it_was.py"
            "::test_who_leads_past_the_step_does_not_approve_what_reads_its_field",
        ),
    ),
    Mutation(
        "what waits behind a start that comes to nothing never starts",
        NO_INVARIANT,
        f"{ENGINE}/automations/claimed_starts.py",
        '                started.release_after(refusal, trigger.payload_json.get("released_key"))\n',
        "",
        (f"{OVERLAP}what_was_deleted_while_it_waited_lets_the_next_one_start",),
    ),
    Mutation(
        "what is over a limit is lost",
        NO_INVARIANT,
        f"{ENGINE}/automations/claimed_starts.py",
        '    if refusal is None or refusal.verdict not in ("delayed", "too_deep"):\n',
        '    if refusal is None or refusal.verdict != "too_deep":\n',
        (f"{OVERLAP}what_is_over_a_limit_is_delayed_and_not_lost",),
    ),
)
