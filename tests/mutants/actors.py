"""Faults in who counts as having acted: by an answer, by a key, or by a line of another (WF-03)."""

from tests.mutants.mutation import Mutation

HAND = "shared/signet/engine/instances/hand_answers.py"
ANSWERED = "tests/scenarios/authority/test_answers_by_hand.py::test_"

ANSWERS = (
    Mutation(
        "who answers by hand may approve",
        3,
        HAND,
        "        transaction.add_editors(context.document.id, _list_persons(caller))\n",
        "        pass\n",
        (f"{ANSWERED}who_answers_for_the_bank_does_not_approve",),
    ),
    Mutation(
        "who changed another document that is read writes the answer",
        3,
        "shared/signet/engine/execution/nodes/context.py",
        "        pins = self._make_pins(contract, document, (), None)\n        asked",
        "        pins: Pins = {}\n        asked",
        (f"{ANSWERED}who_changed_what_the_definition_reads_answers_nothing",),
    ),
    Mutation(
        "who has approved writes the answer",
        3,
        HAND,
        """        or _find_approval(transaction, context, persons, "give the answer")
""",
        "",
        (f"{ANSWERED}who_has_approved_answers_no_more",),
    ),
    Mutation(
        "an earlier answer excuses an edit",
        3,
        "shared/signet/store/instances/write.sql",
        "            AND (v.actor_id = %(person)s OR %(person)s = ANY (p.persons))))",
        "            AND false))",
        (f"{ANSWERED}an_operator_may_end_more_than_one_wait",),
    ),
    Mutation(
        "an answer by hand is not shown",
        3,
        "shared/signet/engine/approvals/request_view.py",
        "        answered_by_hand=[_show_answer(row, names.name) for row in answers],",
        "        answered_by_hand=[],",
        (f"{ANSWERED}those_who_decide_see_what_was_answered",),
    ),
)

KEYED = "tests/scenarios/authority/test_keys_and_conditions.py::test_"
CORE = "shared/signet/core"

KEYS = (
    Mutation(
        "a condition is asked of the key alone",
        3,
        f"{CORE}/contracts/compiled_contract.py",
        "        if against is not None:\n",
        "        if False:\n",
        (f"{KEYED}the_condition_of_a_permission_is_asked_of_who_is_behind_a_key",),
    ),
    Mutation(
        "a key with fewer roles hides a role",
        3,
        "shared/signet/engine/access/persons_behind.py",
        "            self._read(behind)\n",
        "            pass\n",
        (f"{KEYED}a_key_with_fewer_roles_hides_no_role",),
    ),
    Mutation(
        "a rule is asked of the key alone",
        3,
        "shared/signet/engine/documents/rules.py",
        "    if rejects is None or context.list_behind is None:\n",
        "    if True:\n",
        (f"{KEYED}a_rule_that_rejects_is_asked_of_who_is_behind_a_key",),
    ),
    Mutation(
        "a gate asks the key alone",
        3,
        f"{CORE}/runtime/decisions.py",
        '    if value is not True:\n        return ""\n',
        '    if value is not True:\n        return ""\n    return None\n',
        (
            f"{KEYED}a_gate_asks_who_is_behind_the_key_that_requested",
            f"{KEYED}a_step_asks_who_is_behind_the_key",
        ),
    ),
    Mutation(
        "a rule node asks the key alone",
        3,
        "shared/signet/engine/execution/nodes/expression_environment.py",
        "env = find_person_against(rule.condition, env, list_behind, wanted=False) or env",
        "pass",
        (f"{KEYED}a_rule_node_asks_who_is_behind_the_key",),
    ),
)

READ = (
    Mutation(
        "a draft that was deleted and saved again looks as it was read",
        3,
        "shared/signet/engine/definitions/contracts.py",
        '"delete_contract", row.version, revision=row.revision)',
        '"delete_contract", row.version)',
        (
            "tests/functions/routes/definitions/test_contracts.py"
            "::test_another_draft_of_the_same_version_has_another_etag",
        ),
    ),
)

LINES = (
    Mutation(
        "people change their own lines by disabling another",
        3,
        "shared/signet/engine/tenants/dependents.py",
        "        require_other_line(act, below, manager)\n",
        "        pass\n",
        (
            "tests/functions/routes/tenants/test_dependents.py::test_nobody_becomes_a_manager_by_handing_over",
            "tests/functions/routes/tenants/test_dependents.py"
            "::test_nobody_changes_their_own_manager_by_disabling_them",
        ),
    ),
)

ABSENT = (
    Mutation(
        "an automatic gate is passed for a person who has left",
        3,
        "shared/signet/engine/execution/nodes/lifecycle_gate.py",
        'find_absent_requester(context) if node.config["kind"] == "automatic" else None',
        "None",
        (
            "tests/scenarios/authority/test_requesters_who_left.py"
            "::test_an_automatic_gate_waits_while_who_asked_is_disabled",
        ),
    ),
)

MANAGERS = (
    Mutation(
        "a key has no manager",
        3,
        "shared/signet/store/approvals/requests.sql",
        "c.user_id = coalesce(k.owner_id, asked.user_id)",
        "c.user_id = asked.user_id",
        (
            "tests/functions/routes/approvals/test_keys_and_approvals.py"
            "::test_the_manager_of_a_key_is_that_of_its_owner",
        ),
    ),
)

BODIES = (
    Mutation(
        "of a vote that is said twice the last one counts",
        3,
        "shared/signet/api/http/message.py",
        "    if len(set(names)) < len(names):",
        "    if False:",
        ("tests/unit/api/http/test_message.py::test_a_member_twice_is_refused",),
    ),
)

NAMES = (
    Mutation(
        "a digit looks like no letter",
        3,
        f"{CORE}/tenants/skeleton.py",
        "read = _DIGITS_OF_A_WORD.sub(lambda digits: digits[0].translate(letters_of_digits), joined)",
        "read = joined",
        ("tests/unit/core/tenants/test_skeleton.py::test_a_digit_beside_a_letter_is_read_as_one",),
    ),
)

ACTORS = (*ANSWERS, *KEYS, *READ, *LINES, *ABSENT, *MANAGERS, *BODIES, *NAMES)
