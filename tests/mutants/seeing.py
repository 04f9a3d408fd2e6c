"""Rules of what people have seen when they decide: variables, steps before the gate, other documents."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
NODES = f"{SIGNET}/engine/execution/nodes"
OUTDATED = f"{SIGNET}/store/instances/outdated_variables.sql"
PINS, LIVE = f"{NODES}/request_pins.py", f"{SIGNET}/core/runtime/graph/live_variables.py"
OLDER = "tests/scenarios/authority/test_older_variables.py::test_"
SEEN = "tests/scenarios/authority/test_seen_references.py::test_"
SOURCES = "tests/unit/core/runtime/graph/test_live_variables.py::test_"
COMPILED = "tests/unit/core/compiler/test_authority_checks.py::test_"

SEEING: Sequence[Mutation] = (
    Mutation(
        "a condition goes by a variable of before an edit",
        3,
        f"{NODES}/registry.py",
        "    problem = _find_unread(context, deciding, token, reads_refs=reads_refs)\n",
        "    problem = None\n",
        (
            f"{OLDER}a_condition_goes_by_no_amount_of_before_an_edit",
            f"{OLDER}the_next_person_to_ask_is_chosen_by_no_older_amount",
        ),
    ),
    Mutation(
        "a call says a variable of before an edit",
        3,
        f"{NODES}/registry.py",
        "find_outdated_read(context, node) or find_erased_read(context, node)",
        "find_erased_read(context, node)",
        (f"{OLDER}a_call_says_no_amount_of_before_an_edit",),
    ),
    Mutation(
        "behind a rejection a call says a variable of before an edit",
        3,
        f"{NODES}/registry.py",
        'is_sent_back = token.rejected and node.type.name == "lifecycle_gate"',
        "is_sent_back = token.rejected",
        (f"{OLDER}behind_a_rejection_nothing_goes_by_an_amount_of_before_an_edit",),
    ),
    Mutation(
        "a variable holds for what its own script reads alone",
        3,
        LIVE,
        'places = {name: content["slot_map"].get(name) or name for name in content["nodes"]}',
        'places = {name: name for name in content["nodes"]}',
        (f"{OLDER}a_variable_of_the_way_that_was_gone_is_older_too",),
    ),
    Mutation(
        "a variable is worked out from no other one",
        3,
        LIVE,
        "        waiting += new\n",
        "",
        (f"{SOURCES}what_another_variable_was_worked_out_from_counts",),
    ),
    Mutation(
        "an edit between two instances makes no variable older",
        3,
        OUTDATED,
        "WHERE l.begin_version > l.left_at",
        "WHERE false",
        (f"{OLDER}an_edit_between_two_instances_makes_a_variable_older",),
    ),
    Mutation(
        "what people have approved as older is held",
        3,
        OUTDATED,
        "r.status = 'approved'",
        "r.status = 'voided'",
        (f"{OLDER}what_people_have_approved_as_older_chooses_the_way",),
    ),
    Mutation(
        "an edit that is taken back strands the document",
        3,
        OUTDATED,
        "  AND data.set_with -> field.name IS DISTINCT FROM %(data)s::jsonb -> field.name\n",
        "",
        (f"{OLDER}a_condition_goes_by_no_amount_of_before_an_edit",),
    ),
    Mutation(
        "what the workflow changes makes a variable older",
        3,
        OUTDATED,
        "s.node_type = 'control' AND s.version_after",
        "s.version_after",
        (f"{OLDER}what_the_workflow_itself_changes_makes_no_variable_older",),
    ),
    Mutation(
        "a request decides about a variable of before an edit",
        3,
        PINS,
        "    if unseen:\n",
        "    if False:\n",
        (
            f"{OLDER}a_request_decides_about_no_variable_of_before_an_edit",
            f"{OLDER}an_interrupt_that_decides_goes_by_no_older_variable",
        ),
    ),
    Mutation(
        "a step before the gate changes what was decided",
        3,
        PINS,
        "    if changed:\n",
        "    if False:\n",
        (f"{OLDER}a_step_before_the_gate_changes_nothing_that_was_decided",),
    ),
    Mutation(
        "publishing is silent about a step before the gate of a request that decides",
        3,
        f"{SIGNET}/core/compiler/soundness.py",
        "        if transition in contract.separation_of_duties.deciding:\n",
        "        if False:\n",
        (f"{COMPILED}an_action_changes_nothing_that_a_request_has_decided",),
    ),
    Mutation(
        "a request decides about what its maker has not seen",
        3,
        f"{SIGNET}/core/approvals/decided_pins.py",
        "    if now is None or now == seen:\n",
        "    if True:\n",
        (
            f"{SEEN}who_has_read_another_account_decides_about_nothing",
            f"{SEEN}who_names_no_reference_decides_about_nothing",
        ),
    ),
    Mutation(
        "every reader is shown what is read of other documents",
        3,
        f"{SIGNET}/engine/documents/read.py",
        "return loaded if any(read.may(loaded.permission_of_transition(name)) for name in asked) else None\n",
        "return loaded\n",
        (f"{SEEN}only_who_may_ask_is_shown_what_is_decided",),
    ),
)
