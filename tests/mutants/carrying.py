"""Rules of values on their way to a payment, and of who stands behind them, each broken on purpose."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
PERSONS = "tests/scenarios/authority/test_persons_of_variables.py::test_"
NEWER = "tests/scenarios/authority/test_newer_definitions.py::test_"
MOVED = "tests/integration/engine/instances/test_moves_and_approvals.py::test_"
SLOTS = "tests/unit/core/runtime/graph/test_deciding_slots.py::test_"
MADE = "tests/scenarios/authority/test_derived_documents.py::test_"
FREE = "tests/unit/core/compiler/test_free_ways.py::test_"

CARRYING: Sequence[Mutation] = (
    Mutation(
        "nobody is told of a way that asks nobody",
        3,
        f"{SIGNET}/core/compiler/compiler.py",
        "        yield from check_free_ways(graph, asked, source.names.contract)\n",
        "",
        (f"{FREE}an_amendment_that_asks_nobody_is_found",),
    ),
    Mutation(
        "a pin is lost where a document between has no ref",
        3,
        f"{SIGNET}/core/approvals/pins.py",
        '    others = (pin for pin in pins.values() if pin["document_id"] not in known)\n',
        "    others = (pin for pin in pins.values() if False)\n",
        (f"{MADE}a_payment_takes_what_was_approved_also_where_a_document_between_keeps_the_id_as_text",),
    ),
    Mutation(
        "a gate forgets the pins that its document carries on",
        3,
        f"{SIGNET}/core/approvals/pins.py",
        "    return {**carried, **used}\n",
        "    return used\n",
        (f"{MADE}a_payment_takes_what_was_approved_also_where_a_document_between_keeps_the_id_as_text",),
    ),
    Mutation(
        "one person moves a document to where a variable leads past its approval",
        3,
        f"{SIGNET}/core/runtime/graph/deciding_slots.py",
        "        if not new:\n",
        "        if True:\n",
        (
            f"{MOVED}nobody_moves_a_document_to_another_way_to_its_approval_alone",
            f"{SLOTS}a_slot_that_sets_a_field_of_the_way_to_an_approval_decides",
        ),
    ),
    Mutation(
        "one person moves a document to where a rule leads past its approval",
        3,
        f"{SIGNET}/core/runtime/graph/deciding_slots.py",
        '    if node["type"] == "rule" or config.get("chain") is not None:\n',
        "    if False:\n",
        (
            f"{MOVED}nobody_moves_a_document_past_what_an_action_or_a_rule_reads_alone",
            f"{SLOTS}a_slot_that_sets_what_stands_before_an_approval_decides",
        ),
    ),
    Mutation(
        "one person moves a document to where an action copies what leads past its approval",
        3,
        f"{SIGNET}/core/runtime/graph/deciding_slots.py",
        '    for part in list_template_parts(template_from_json(action["set"])):\n',
        "    for part in ():\n",
        (
            f"{MOVED}nobody_moves_a_document_past_what_an_action_or_a_rule_reads_alone",
            f"{SLOTS}a_slot_that_sets_what_stands_before_an_approval_decides",
        ),
    ),
    Mutation(
        "one person moves a document to where a gate leads around its approval",
        3,
        f"{SIGNET}/core/runtime/graph/deciding_slots.py",
        'if deciding and nodes[name]["type"] == "lifecycle_gate"]',
        "if False]",
        (f"{SLOTS}what_a_gate_reads_decides_where_people_are_asked",),
    ),
    Mutation(
        "a script of a newer definition reads what nobody has approved",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    if problem:",
        "    if False:",
        (f"{NEWER}a_newer_definition_reads_nothing_that_was_not_approved",),
    ),
    Mutation(
        "a call of a newer definition reads what nobody has approved",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    unread = find_unpinned_read(context, node) if reads_refs else None\n",
        "    unread = None\n",
        (f"{NEWER}a_newer_definition_reads_nothing_that_was_not_approved",),
    ),
    Mutation(
        "a definition that nobody has approved by counts as the approved one",
        3,
        f"{SIGNET}/store/approvals/requests.sql",
        "WHERE q.tenant_id = %(tenant_id)s AND q.document_id = %(document_id)s AND q.applied\n",
        "WHERE q.tenant_id = %(tenant_id)s AND q.document_id = %(document_id)s AND q.applied AND false\n",
        (f"{NEWER}a_third_definition_does_not_take_the_second_for_approved",),
    ),
    Mutation(
        "a variable hides who wrote what a script has read",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    keep_sources(context, deciding)\n",
        "",
        (
            f"{PERSONS}who_wrote_what_a_script_has_read_does_not_approve_what_reads_the_variable",
            f"{PERSONS}who_wrote_what_a_script_has_read_does_not_approve_what_is_made",
        ),
    ),
    Mutation(
        "the answer to a call hides who wrote what it was told",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    keep_sources(context, node)\n",
        "",
        (f"{PERSONS}who_wrote_what_a_payload_has_told_does_not_approve_what_reads_the_answer",),
    ),
    Mutation(
        "a field that is filled from a variable names nobody behind it",
        3,
        f"{SIGNET}/engine/documents/persons/authorship.py",
        "if context.row is None or not operation.reads_variables:",
        "if True:",
        (f"{PERSONS}who_wrote_what_a_script_has_read_stands_behind_the_field_that_it_fills",),
    ),
)
