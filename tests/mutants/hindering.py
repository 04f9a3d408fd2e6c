"""Faults in who stands behind what a refusal, a hold or an open amendment has left as it was."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

MIGRATION = "migrations/0076_keep_who_hinders.sql"
HINDERERS = "shared/signet/engine/documents/persons/hinderers.py"
UNIT = "shared/signet/engine/documents/unit_of_work.py"
KEPT = "tests/scenarios/authority/test_what_refusals_keep.py::test_"
STEPS = f"{KEPT}who_holds_a_step_behind_the_gate_is_behind_what_is_read_there"
ACTS = f"{KEPT}who_has_an_act_refused_is_behind_what_is_read_of_the_document"
OWN = f"{KEPT}who_wrote_what_no_refusal_has_read_has_no_part"
MANY = "tests/scenarios/authority/test_left_as_it_was.py::test_many_newer_instances_hide_no_step"

HINDERING: Sequence[Mutation] = (
    Mutation(
        "who wrote what a rule has refused by is nobody",
        3,
        UNIT,
        "                self.hinderers.add_by_rule(rules, context, change)\n",
        "",
        (f"{STEPS}[RULE_REJECTED]", f"{ACTS}[rule-edit-of its own]"),
    ),
    Mutation(
        "who holds the key that a step wants is nobody",
        3,
        UNIT,
        "        self.hinderers.add_by_keys([change], [] if lost else [change])\n",
        "",
        (f"{STEPS}[KEY_TAKEN]",),
    ),
    Mutation(
        "who holds the key that a person wants is nobody",
        3,
        UNIT,
        "        self.hinderers.add_by_keys(before, decided)\n",
        "",
        (f"{KEPT}who_holds_the_key_of_a_refused_act_is_behind_what_is_read",),
    ),
    Mutation(
        "who wrote what a permission was refused by is nobody",
        3,
        UNIT,
        "            self.hinderers.add_by_permission(operation, context, change)\n",
        "",
        (f"{ACTS}[permission-hold-of a group]",),
    ),
    Mutation(
        "a refused call keeps nobody",
        3,
        "shared/signet/engine/documents/mutate.py",
        "        keep_hinderers(self._database, mutation.tenant_id, mutation.hindered)\n",
        "",
        (f"{ACTS}[permission-drop-of its own]",),
    ),
    Mutation(
        "a refused call with an Idempotency-Key keeps nobody",
        3,
        HINDERERS,
        "        database.run_last(write)\n",
        "        write()\n",
        (f"{KEPT}who_is_behind_a_refusal_is_kept_though_its_request_is_undone",),
    ),
    Mutation(
        "a refused step keeps nobody",
        3,
        UNIT,
        "        self.hinderers.write()\n",
        "",
        (f"{STEPS}[RULE_REJECTED]",),
    ),
    Mutation(
        "who has written anything is behind each refusal",
        3,
        HINDERERS,
        "if context.data.get(field) == new.get(field)",
        "if True",
        (f"{KEPT}what_an_edit_says_itself_is_no_part_of_its_refusal",),
    ),
    Mutation(
        "who wrote a document whose step is held has written only their fields",
        3,
        MIGRATION,
        "codes <> '{}' AND ",
        "false AND ",
        (f"{KEPT}while_a_step_is_held_who_wrote_the_document_is_behind_each_field",),
    ),
    Mutation(
        "who takes the permission of a step is nobody",
        3,
        MIGRATION,
        "'PERMISSION_DENIED' = ANY (codes)",
        "false",
        (f"{KEPT}who_takes_the_permission_of_a_step_is_behind_what_is_read_there",),
    ),
    Mutation(
        "who suspends a document by an amendment is nobody",
        3,
        MIGRATION,
        "a.original_id = document AND a.closing IS NULL",
        "a.original_id = document AND false",
        (f"{KEPT}who_suspends_a_document_by_an_amendment_is_behind_what_is_read",),
    ),
    Mutation(
        "who amends is behind what they have suspended nothing of",
        3,
        MIGRATION,
        "'{amendment,while_open}' = 'suspended'",
        "'{amendment,while_open}' IS DISTINCT FROM 'nothing'",
        (f"{KEPT}an_amendment_that_suspends_nothing_has_nobody_behind_the_original",),
    ),
    Mutation(
        "the newest instances hide what a step could write",
        3,
        MIGRATION,
        "            LIMIT 1000\n        ), run",
        "            LIMIT 20\n        ), run",
        (f"{MANY}[21]",),
    ),
    Mutation(
        "too many instances hide what a step could write",
        3,
        MIGRATION,
        "WHERE (SELECT count(*) FROM newest) = 1000",
        "WHERE false",
        (f"{MANY}[1000]",),
    ),
    Mutation(
        "a person who stands behind a document as it is can be taken away",
        3,
        MIGRATION,
        "coalesce(known, '{}') || hinderers",
        "hinderers",
        (f"{KEPT}who_stands_behind_a_refusal_stays",),
    ),
)
