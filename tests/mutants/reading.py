"""Rules of who stands behind what a document reads of another one."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

AUTHORSHIP = "shared/signet/engine/documents/persons/authorship.py"
UNIT = "shared/signet/engine/documents/unit_of_work.py"
READ = "tests/scenarios/authority/test_persons_of_references.py::test_"
FAILURES = "tests/scenarios/authority/test_failures_choose_no_way.py::test_"
ENVIRONMENT = "shared/signet/engine/execution/nodes/expression_environment.py"
LEFT = "tests/scenarios/authority/test_left_as_it_was.py::test_"
LED_PAST = f"{LEFT}who_leads_past_the_step_does_not_approve_what_reads_its_field"
REFERENCED = "shared/signet/store/documents/referenced.sql"
MIGRATION = "migrations/0076_keep_who_hinders.sql"
HANDLER = "shared/signet/engine/execution/nodes/handler.py"

READING: Sequence[Mutation] = (
    Mutation(
        "who deletes what is read is nobody",
        3,
        AUTHORSHIP,
        "(change.after.is_deleted or _may_write_content(change))",
        "_may_write_content(change)",
        (f"{READ}who_deletes_what_a_condition_reads_does_not_approve_what_it_let_past",),
    ),
    Mutation(
        "a deleted document has no authors",
        3,
        REFERENCED,
        "WHERE o.tenant_id = %(tenant_id)s AND o.id = ANY (%(ids)s::uuid[])\n",
        "WHERE o.tenant_id = %(tenant_id)s AND o.id = ANY (%(ids)s::uuid[]) AND d.deleted_at IS NULL\n",
        (f"{READ}who_deletes_what_a_condition_reads_does_not_approve_what_it_let_past",),
    ),
    Mutation(
        "behind a copy stands only who has copied",
        3,
        AUTHORSHIP,
        "    if _is_typed(change):\n",
        "    if change.amended_from is None:\n",
        (
            f"{READ}who_wrote_what_an_action_copies_stands_behind_the_copy",
            f"{READ}who_wrote_what_a_gate_asked_stands_behind_the_status",
        ),
    ),
    Mutation(
        "who wrote what a gate has read of others is not behind the status",
        3,
        "shared/signet/engine/execution/nodes/lifecycle_gate.py",
        "        keep_deciders(context, node)\n",
        "",
        (
            f"{READ}who_wrote_what_a_gate_read_of_others_stands_behind_the_status",
            f"{READ}who_wrote_what_a_gate_read_does_not_decide_by_a_request",
        ),
    ),
    Mutation(
        "who wrote what a rule let past is nobody",
        3,
        UNIT,
        "find_sources(replace(context, data=change.after.data), followed)\n",
        "frozenset()\n",
        (f"{READ}who_wrote_what_a_rule_let_past_does_not_approve_it",),
    ),
    Mutation(
        "a request keeps nobody who wrote what it has read",
        3,
        UNIT,
        "            self.widen_editors(change.document_id, change.content_responsible)\n",
        "            pass\n",
        (f"{READ}who_wrote_what_lets_a_person_ask_does_not_approve_what_they_ask",),
    ),
    Mutation(
        "who wrote what makes a step fail is nobody",
        3,
        "shared/signet/core/runtime/workflow_reads.py",
        'if node.edges.get("error") else',
        "if False else",
        (f"{READ}who_wrote_what_makes_a_step_fail_does_not_approve_where_its_error_leads",),
    ),
    Mutation(
        "who has a step refused chooses the way",
        3,
        "shared/signet/core/runtime/decisions.py",
        "    if node.edges.get(outcome) and (workflow",
        "    if False and (workflow",
        (
            f"{FAILURES}who_has_a_rule_refuse_a_payment_makes_no_other_one",
            f"{FAILURES}who_takes_the_key_of_a_payment_makes_no_other_one",
            f"{FAILURES}who_takes_a_permission_from_an_account_skips_nobody",
        ),
    ),
    Mutation(
        "who has a step refused chooses what is made, and then approved",
        3,
        "shared/signet/core/compiler/authority_checks.py",
        " or any(kind in MAKING for kind in kinds)",
        "",
        (f"{FAILURES}who_has_a_rule_refuse_a_payment_makes_no_other_one",),
    ),
    Mutation(
        "who has a step refused chooses the way to a request that decides",
        3,
        ENVIRONMENT,
        "if may_be_decided(workflow.content, self.documents.contract_of(document).contract):\n",
        "if False:\n",
        (f"{FAILURES}who_makes_a_step_fail_chooses_no_way_though_its_workflow_asks_nobody",),
    ),
    Mutation(
        "who has a step refused chooses the way of what was approved",
        3,
        ENVIRONMENT,
        "return bool(record.given) or ",
        "return ",
        (f"{FAILURES}who_makes_a_step_fail_chooses_no_way_though_its_workflow_asks_nobody",),
    ),
    Mutation(
        "who has a step refused chooses what others read",
        3,
        ENVIRONMENT,
        " or self.documents.refs.is_read(document.entity_type)",
        "",
        (f"{LEFT}who_makes_the_step_of_what_is_read_fail_leaves_nobody_out",),
    ),
    Mutation(
        "what a step has left as it was has who typed it alone",
        3,
        "shared/signet/store/documents/referenced.py",
        "self.wrote.union(persons) if self._is_left_to_steps(field) else frozenset(persons)",
        "frozenset(persons)",
        (
            LED_PAST,
            f"{LEFT}who_kept_the_status_does_not_approve_what_reads_it",
        ),
    ),
    Mutation(
        "what a node's action may write is not known",
        3,
        MIGRATION,
        "->> 'kind' = 'update'\n",
        "->> 'kind' = 'nothing'\n",
        (f"{LED_PAST}[a condition before the gate]",),
    ),
    Mutation(
        "what a function in Python may write is not known",
        3,
        MIGRATION,
        "->> 'kind' = 'python'\n",
        "->> 'kind' = 'nothing'\n",
        (f"{LED_PAST}[a function in Python]",),
    ),
    Mutation(
        "what a rule may set is not known",
        3,
        MIGRATION,
        "->> 'kind' = 'set')",
        "->> 'kind' = 'nothing')",
        (f"{LED_PAST}[a rule that sets]",),
    ),
    Mutation(
        "a status is who changed it last's own",
        3,
        "shared/signet/store/documents/referenced.py",
        "return field == STATUS or ",
        "return ",
        (f"{LEFT}who_kept_the_status_does_not_approve_what_reads_it",),
    ),
    Mutation(
        "who has become an editor in this transaction is not behind what is read",
        3,
        "shared/signet/engine/documents/references.py",
        "referenced = replace(stored, wrote=stored.wrote | _list_authors(held))",
        "referenced = stored",
        (
            "tests/integration/engine/documents/test_references.py::test_"
            "who_becomes_an_editor_in_the_transaction_is_behind_what_steps_may_write",
        ),
    ),
    Mutation(
        "who takes the secret of an endpoint chooses the way",
        3,
        HANDLER,
        "is_ours=_is_ours(effect.error)",
        "is_ours=False",
        (f"{FAILURES}what_the_tenant_has_not_set_up_leads_nowhere",),
    ),
    Mutation(
        "who keeps a call from leaving in time chooses the way",
        3,
        HANDLER,
        "tries.attempts == 0 or tries.was_paused",
        "False",
        (f"{FAILURES}an_answer_that_is_late_leads_on_where_the_receiver_was_asked",),
    ),
)
