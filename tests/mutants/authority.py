"""Faults in the checks of authority: lost and required approvals, conditions, seats, names (with WF-03)."""

from tests.mutants.mutation import Mutation

COMPILER = "shared/signet/core/compiler"
TESTS = "tests/unit/core/compiler"
LOST, REQUIRED = f"{TESTS}/test_lost_approvals.py::test_", f"{TESTS}/test_slot_requirements.py::test_"
CHECKED = f"{TESTS}/test_authority_checks.py::test_"

LOST_APPROVALS = (
    Mutation(
        "any branch may win without an approval",
        3,
        f"{COMPILER}/lost_approvals.py",
        '        if paths.graph.nodes[join].config["mode"] == "all":\n            continue\n',
        "        continue\n",
        (f"{LOST}a_branch_without_an_approval_can_win",),
    ),
    Mutation(
        "what leaves a block loses nothing",
        3,
        f"{COMPILER}/lost_approvals.py",
        "        if _is_way_round(paths, departure):",
        "        if False:",
        (f"{LOST}an_edge_that_leaves_the_block_loses_what_is_asked_beside_it",),
    ),
    Mutation(
        "every loss is accepted once one is",
        3,
        f"{COMPILER}/lost_approvals.py",
        "        if lost.join not in accepted:",
        "        if not accepted:",
        (f"{LOST}one_name_accepts_one_join",),
    ),
    Mutation(
        "an acceptance stands for what may come",
        3,
        f"{COMPILER}/lost_approvals.py",
        "        if full not in joins:",
        "        if False:",
        (f"{LOST}nothing_is_accepted_that_is_no_loss",),
    ),
    Mutation(
        "a rejection from before a split is forgotten by who leaves it",
        3,
        "shared/signet/core/runtime/tokens.py",
        "rejected=parent.rejected or token.rejected)",
        "rejected=token.rejected)",
        (
            "tests/unit/core/runtime/test_tokens.py::test_a_rejection_from_before_a_block_stays_beyond_its_exits",
        ),
    ),
)

REQUIRED_APPROVALS = (
    Mutation(
        "a slot requires nothing",
        3,
        f"{COMPILER}/compiler.py",
        "    yield from check_requirements(graph, blocks, shape.order, source.slots, is_bare=is_bare)\n",
        "",
        (
            f"{REQUIRED}what_an_approval_proves",
            f"{REQUIRED}a_patch_that_leaves_the_slot_empty_does_not_compile",
        ),
    ),
    Mutation(
        "one path that asks is enough",
        3,
        f"{COMPILER}/approval_paths.py",
        "            united[course] = min(count, united.get(course, count))",
        "            united[course] = max(count, united.get(course, count))",
        (f"{REQUIRED}every_path_counts",),
    ),
    Mutation(
        "all who are asked approve",
        3,
        f"{COMPILER}/slot_requirements.py",
        "(quorum if isinstance(quorum, int) else 1)",
        "(quorum if isinstance(quorum, int) else len(approvers))",
        (f"{REQUIRED}what_an_approval_proves",),
    ),
    Mutation(
        "an escalation keeps the quorum",
        3,
        f"{COMPILER}/slot_requirements.py",
        '    if config["escalate"] is not None:',
        "    if False:",
        (f"{REQUIRED}what_an_approval_proves",),
    ),
    Mutation(
        "any seat is of the role",
        3,
        f"{COMPILER}/slot_requirements.py",
        "    return role is None or role",
        "    return True or role",
        (f"{REQUIRED}what_an_approval_proves",),
    ),
    Mutation(
        "distinct persons may be the same person",
        3,
        f"{COMPILER}/slot_requirements.py",
        "        if slot.requires.distinct:\n",
        "        if False:\n",
        (f"{REQUIRED}distinct_persons_are_not_the_same_person",),
    ),
    Mutation(
        "the bare envelope passes a gate that requires approvals",
        3,
        "shared/signet/core/runtime/decisions.py",
        "    if slot is not None:\n",
        "    if False:\n",
        (f"{REQUIRED}the_bare_envelope_shuts_its_gate_until_a_patch_comes",),
    ),
)

WHO_MAY_BE_ASKED = (
    Mutation(
        "a condition may ask the system who it is",
        3,
        f"{COMPILER}/authority_checks.py",
        '    if text is not None and reads_actor(text):\n        yield make_finding("ACTOR_IS_SYSTEM"',
        '    if False:\n        yield make_finding("ACTOR_IS_SYSTEM"',
        (
            f"{CHECKED}a_stored_contract_that_does_so_does_not_compile_again",
            f"{CHECKED}a_permissions_condition_is_asked_of_those_who_vote",
            f"{CHECKED}a_step_that_runs_as_the_system_has_no_actor",
        ),
    ),
    Mutation(
        "a contract may ask the system who it is",
        3,
        "shared/signet/core/contracts/lifecycle_checks.py",
        '    if transition.kind != "automatic":\n        return\n    permission =',
        "    return\n    permission =",
        (
            f"{CHECKED}an_automatic_transitions_own_condition_asks_nobody_who_acts",
            f"{CHECKED}where_no_slot_can_ask_the_contract_is_wrong",
        ),
    ),
    Mutation(
        "a requester names who decides",
        3,
        f"{COMPILER}/authority_checks.py",
        "if not _is_locked(name.path))",
        "if not name.path)",
        (
            f"{CHECKED}a_seat_that_the_requester_could_fill",
            f"{CHECKED}the_seats_of_a_chain_are_checked_where_it_is_saved",
        ),
    ),
    Mutation(
        "what is named may be nowhere",
        3,
        "shared/signet/core/tenants/tenant_names.py",
        "        if known is not None and mention.name not in known:",
        "        if False:",
        (
            "tests/integration/engine/access/test_named_things.py::test_a_name_that_is_nowhere_is_not_published",
        ),
    ),
)

AUTHORITY_MUTATIONS = (*LOST_APPROVALS, *REQUIRED_APPROVALS, *WHO_MAY_BE_ASKED)
