"""Faults in what is put on record of changes that were not made, and of what nodes were given."""

from tests.mutants.mutation import Mutation

DOCUMENTS = "shared/signet/engine/documents"
OF_REJECTIONS = "tests/integration/engine/documents/test_rejections.py::test_"
OF_CORRECTIONS = "tests/integration/engine/instances/test_corrections.py::test_"
ROWS = "shared/signet/engine/execution/rows.py"
OF_INPUTS = "tests/integration/engine/execution/nodes/test_inputs.py::test_"
OF_ACTS = "tests/functions/routes/instances/test_actions.py::test_"
OF_ACTIONS = "tests/integration/engine/execution/nodes/test_action.py::test_"

RECORDING = (
    Mutation(
        "what a rule has stopped is not kept",
        9,
        f"{DOCUMENTS}/mutate.py",
        "        keep_rejections(self._database, mutation.tenant_id, mutation.rejected)\n",
        "",
        (f"{OF_REJECTIONS}a_refused_change_leaves_what_the_rule_read_and_who_asked",),
    ),
    Mutation(
        "a rejection names the key and not its owners",
        9,
        f"{DOCUMENTS}/rules.py",
        '"responsible": keep(change.caller.principal.responsible)',
        '"responsible": keep(frozenset((change.caller.principal.subject,)))',
        (f"{OF_REJECTIONS}a_key_leaves_its_owners",),
    ),
    Mutation(
        "one transaction keeps as many rejections as one likes",
        9,
        f"{DOCUMENTS}/rules.py",
        "for change in rejected[:MAX_KEPT]",
        "for change in rejected",
        (f"{OF_REJECTIONS}a_transaction_keeps_so_many_and_no_more",),
    ),
    Mutation(
        "a dry run of a correction leaves a rejection",
        9,
        "shared/signet/engine/instances/corrections.py",
        "            if not dry_run:\n",
        "            if rejected:\n",
        (f"{OF_CORRECTIONS}a_correction_that_a_rule_stops_is_kept_unless_it_only_was_tried",),
    ),
    Mutation(
        "a held gate does not keep what its rule read",
        9,
        f"{DOCUMENTS}/unit_of_work.py",
        "make_rejection_rows(self.rejected, self.keep_responsible)",
        "make_rejection_rows((), self.keep_responsible)",
        (
            "tests/integration/engine/incidents/test_incidents.py::test_a_gate_that_a_rule_holds_says_what_the_rule_read",
        ),
    ),
    Mutation(
        "the input of a step repeats personal values",
        9,
        ROWS,
        "_bound(_mask_given(context, step.given))",
        "_bound(step.given)",
        (f"{OF_INPUTS}an_input_repeats_no_personal_value",),
    ),
    Mutation(
        "the input of a step is as large as it comes",
        9,
        ROWS,
        "return given if size <= MAX_INPUT_BYTES else",
        "return given if size else",
        (f"{OF_INPUTS}a_large_input_leaves_its_size_and_its_hash",),
    ),
    Mutation(
        "a dry run of many acts",
        9,
        "shared/signet/engine/instances/bulk_acts.py",
        "    dry_run = order.dry_run\n",
        "    dry_run = False\n",
        (f"{OF_ACTS}a_dry_run_of_many_says_of_each_what_would_happen",),
    ),
    Mutation(
        "a denial takes no edge for errors",
        9,
        "shared/signet/core/compiler/merge.py",
        'if edge.on == "error" and types.get(edge.source) == "action":',
        'if edge.on == "nothing":',
        (f"{OF_ACTIONS}a_denial_takes_the_edge_for_errors_that_the_author_drew",),
    ),
)
