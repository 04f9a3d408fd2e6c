"""Rules of who stands behind what a document reads of another one."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

AUTHORSHIP = "shared/signet/engine/documents/authorship.py"
UNIT = "shared/signet/engine/documents/unit_of_work.py"
READ = "tests/scenarios/authority/test_persons_of_references.py::test_"

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
        "shared/signet/store/documents/write.sql",
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
        "shared/signet/core/runtime/workflow.py",
        'if node.edges.get("error") else',
        "if False else",
        (f"{READ}who_wrote_what_makes_a_step_fail_does_not_approve_where_its_error_leads",),
    ),
)
