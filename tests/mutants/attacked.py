"""Ways around an approval that attacks have found, each opened again on purpose."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
SCENES = "tests/scenarios/authority"
HELD = "migrations/0032_hold_what_an_attack_got_around.sql"
ALIKE = "tests/integration/engine/tenants/test_look_alikes.py::test_"
FORGED = f"{SCENES}/test_forged_asking.py::test_"
BOUND = "migrations/0043_bind_effects_to_steps.sql"
STRAY = f"{SCENES}/test_stray_effects.py::test_"
EARLIER = f"{SCENES}/test_earlier_requesters.py::test_"

ATTACKED: Sequence[Mutation] = (
    Mutation(
        "a worker sends what no step asks for",
        3,
        BOUND,
        "WHEN (current_user = 'signet_worker') EXECUTE FUNCTION reject_stray_effect()",
        "WHEN (current_user = 'nobody') EXECUTE FUNCTION reject_stray_effect()",
        (f"{STRAY}no_step_at_all_sends_nothing", f"{STRAY}the_step_of_another_instance_sends_nothing"),
    ),
    Mutation(
        "a worker sends once more for a later step",
        3,
        BOUND,
        """\
       OR EXISTS (
        SELECT FROM workflow_side_effects_outbox e
        WHERE e.tenant_id = NEW.tenant_id AND e.created_at >= made_at
          AND e.step_execution_id = NEW.step_execution_id)""",
        "",
        (f"{STRAY}a_step_sends_once",),
    ),
    Mutation(
        "a worker sends for a step whose effects are gone",
        3,
        BOUND,
        " AND s.started_at >= now()\n",
        "\n",
        (f"{STRAY}a_step_of_earlier_sends_nothing_more",),
    ),
    Mutation(
        "a worker sends for a node that sends nothing",
        3,
        BOUND,
        """\
          AND s.node_type IN ('webhook_out', 'notification'))
""",
        """\
          )
""",
        (f"{STRAY}a_node_that_sends_nothing_sends_nothing",),
    ),
    Mutation(
        "a worker sends in the name of another instance",
        3,
        BOUND,
        "AND s.instance_id = NEW.instance_id ",
        "",
        (f"{STRAY}the_step_of_another_instance_sends_nothing",),
    ),
    Mutation(
        "who asked for the same before may vote",
        3,
        HELD,
        "AND earlier.transition = q.transition AND earlier.status = 'superseded'",
        "AND earlier.transition = q.transition AND earlier.status = 'open'",
        (
            f"{EARLIER}who_asked_first_stays_barred",
            f"{EARLIER}the_view_names_all_who_asked",
            f"{EARLIER}an_only_voter_who_asked_is_told_that_nobody_is_left",
        ),
    ),
    Mutation(
        "a worker moves an instance",
        3,
        HELD,
        "current_user IN ('signet_worker', 'signet_janitor')",
        "current_user IN ('nobody')",
        (f"{SCENES}/test_statements_of_workers.py::test_only_an_operator_moves_an_instance",),
    ),
    Mutation(
        "a worker asks in the name of a person",
        3,
        HELD,
        "REVOKE INSERT ON transition_requests FROM signet_worker;",
        "",
        (f"{SCENES}/test_statements_of_workers.py::test_the_worker_asks_in_nobodys_name",),
    ),
    Mutation(
        "a key writes as who owned it before",
        3,
        f"{SIGNET}/api/auth/authentication.py",
        " and not (may_write and known.principal.is_key)",
        "",
        (
            "tests/functions/routes/tenants/test_keys_that_changed_hands.py"
            "::test_a_key_that_was_used_a_moment_ago_writes_with_its_new_owner",
        ),
    ),
    Mutation(
        "a key confirms a change of the control",
        3,
        f"{SIGNET}/engine/control/changes.py",
        "    if act.caller.principal.is_key:\n",
        "    if False:\n",
        ("tests/functions/routes/control/test_control_changes.py::test_a_key_confirms_nothing",),
    ),
    Mutation(
        "two letters that run into each other are two",
        3,
        f"{SIGNET}/core/tenants/skeleton.py",
        '_PAIRS = (("rn", "m"), ("vv", "w"))',
        "_PAIRS: tuple[tuple[str, str], ...] = ()",
        (f"{ALIKE}letters_that_are_drawn_alike_are_one",),
    ),
    Mutation(
        "a digit is read in one way alone",
        3,
        f"{SIGNET}/core/tenants/skeleton.py",
        'str.maketrans("01", "oi")',
        'str.maketrans("01", "ol")',
        (f"{ALIKE}letters_that_are_drawn_alike_are_one",),
    ),
    Mutation(
        "who says to erase on the command line is nobody",
        3,
        f"{SIGNET}/engine/documents/erase.py",
        " | terms.list_claimed()\n",
        "\n",
        (
            f"{SCENES}/test_by_which_ways.py"
            "::test_nobody_has_a_document_approved_by_their_own_will[operator-erase]",
        ),
    ),
    Mutation(
        "a roll-back forgets who wrote the text",
        3,
        f"{SIGNET}/engine/definitions/publication.py",
        "older.canvas_json, proposal, wrote=wrote)",
        "older.canvas_json, proposal)",
        (
            "tests/functions/routes/control/test_four_eyes.py::test_what_comes_back_names_who_wrote_and_who_proposed_it",
        ),
    ),
    Mutation(
        "a worker writes an approved document",
        3,
        HELD,
        "WHEN (current_user = 'signet_worker')",
        "WHEN (current_user = 'nobody')",
        (
            f"{SCENES}/test_statements_of_workers.py::test_a_document_of_a_step_begins_where_its_contract_says",
        ),
    ),
    Mutation(
        "a vote believes any request",
        3,
        f"{SIGNET}/engine/approvals/decide.py",
        "    _require_explained(caches, pipeline, subject, policy)\n",
        "",
        (
            f"{FORGED}a_request_that_no_step_asks_takes_no_vote",
            f"{FORGED}a_step_that_was_written_too_is_not_enough",
        ),
    ),
    Mutation(
        "a vote believes any policy of a request",
        3,
        f"{SIGNET}/core/approvals/entitlement.py",
        "    if chain != request.chain_name or policy != asked:\n",
        "    if False:\n",
        ("tests/unit/core/approvals/test_foreign_requests.py::test_what_it_does_not_ask",),
    ),
    Mutation(
        "a vote counts from any seat that the policy could draw",
        3,
        f"{SIGNET}/core/approvals/entitlement.py",
        "            if reason is not None:\n                found[",
        "            if reason is not None and reason.startswith('the policy'):\n                found[",
        (f"{FORGED}a_seat_that_was_added_gives_no_vote",),
    ),
    Mutation(
        "a seat of the wider circle counts before it is due",
        3,
        f"{SIGNET}/core/approvals/seats/foreign_seats.py",
        "    if seat.asked_at >= due:\n",
        "    if seat.asked_at >= began:\n",
        (f"{FORGED}a_seat_that_was_added_gives_no_vote",),
    ),
    Mutation(
        "a stage may lack a seat that its policy draws",
        3,
        f"{SIGNET}/core/approvals/proof.py",
        "        if other is not None:\n",
        "        if False:\n",
        (f"{FORGED}a_stage_that_lacks_a_seat_of_its_policy_opens_no_gate",),
    ),
)
