"""Rules that the table by which ways rests on, each broken on purpose: a cell of the table ends otherwise."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
CONTRACT = f"{SIGNET}/core/contracts/compiled_contract.py"
AUTHORSHIP = f"{SIGNET}/engine/documents/persons/authorship.py"
PROVING = "migrations/0011_prove_approvals.sql"
EDITORS = "migrations/0021_keep_editors.sql"
EDITS = "migrations/0085_ask_less_of_each_edit.sql"
KEPT_EDITORS = "tests/integration/store/test_kept_editors.py::"
READING = "migrations/0046_read_each_person_once.sql"
TABLE = (
    "tests/scenarios/authority/test_by_which_ways.py::test_nobody_has_a_document_approved_by_their_own_will"
)


def cell(person: str, way: str) -> str:
    return f"{TABLE}[{person}-{way}]"


WAYS_MUTATIONS: Sequence[Mutation] = (
    Mutation(
        "a creator may decide",
        3,
        CONTRACT,
        '(("creator", creator), ',
        '(("creator", ()), ',
        (cell("creator", "vote"), cell("key owner", "key"), cell("creator", "bulk")),
    ),
    Mutation(
        "a requester may decide",
        3,
        CONTRACT,
        '("requester", requesters))',
        '("requester", ()))',
        (cell("requester", "vote"), cell("requester", "manager line")),
    ),
    Mutation(
        "a person who erases may decide about what is left",
        3,
        f"{SIGNET}/engine/documents/erase.py",
        "        add_editors(connection, tenant_id, document_id, persons)\n",
        "",
        (cell("granter", "erase"), cell("delegator", "erase")),
    ),
    Mutation(
        "new content of a step is nobody's",
        3,
        AUTHORSHIP,
        "if is_edit or has_new_content else wrote",
        "if is_edit else wrote",
        (cell("editor", "system step"),),
    ),
    Mutation(
        "a value that a step takes over has no author",
        3,
        f"{SIGNET}/engine/documents/unit_of_work.py",
        "        change.content_responsible |= find_sources_of(operation, context)\n",
        "",
        (cell("reference editor", "system step"), cell("reference editor", "derive")),
    ),
    Mutation(
        "a derived document has no one behind its origin",
        3,
        AUTHORSHIP,
        " | of_origin\n",
        "\n",
        (cell("creator", "derive"), cell("rule author", "derive"), cell("key owner", "system step")),
    ),
    Mutation(
        "an operator ends the wait for people",
        3,
        f"{SIGNET}/core/runtime/operator_actions.py",
        "    if node.type.name not in OUTCOME_OF_WAIT:\n",
        "    if False:\n",
        (cell("operator", "system step"),),
    ),
    Mutation(
        "the worker writes requests approved",
        3,
        PROVING,
        "REVOKE UPDATE (stage, status, outcome, applied, escalate_at, expire_at, ended_at)"
        " ON approval_requests FROM signet_worker;\n",
        "",
        (cell("operator", "SQL as worker"),),
    ),
    Mutation(
        "the worker writes seats approved",
        3,
        PROVING,
        "REVOKE UPDATE (status, decided_by, on_behalf_of, decided_at)"
        " ON approval_seats FROM signet_worker;\n",
        "",
        (cell("operator", "SQL as worker"), cell("delegator", "SQL as worker")),
    ),
    Mutation(
        "the worker writes other requesters",
        3,
        PROVING,
        "REVOKE UPDATE ON transition_requests FROM signet_api, signet_worker;\n",
        "",
        (cell("requester", "SQL as worker"),),
    ),
    Mutation(
        "an editor is taken out of a document",
        3,
        EDITS,
        "WHEN (NOT OLD.editor_ids <@ NEW.editor_ids)",
        "WHEN (false)",
        (f"{KEPT_EDITORS}test_a_trigger_keeps_them_for_every_role",),
    ),
    Mutation(
        "a document changes without its version",
        3,
        READING,
        "       OR (NEW.purged_at IS NULL AND (NEW",
        "       OR (false AND NEW.purged_at IS NULL AND (NEW",
        (f"{KEPT_EDITORS}test_a_trigger_keeps_them_for_every_role",),
    ),
    Mutation(
        "a document changes without evidence",
        3,
        EDITS,
        "    IF least(versions, entries) < written THEN\n",
        "    IF least(versions, entries) < written AND false THEN\n",
        (cell("creator", "SQL as worker"),),
    ),
    Mutation(
        "a field is said to be older than it is",
        3,
        EDITS,
        "AS field WHERE field.value::bigint <= d.version)",
        "AS field WHERE field.value::bigint < 0)",
        (cell("reference editor", "SQL as worker"),),
    ),
    Mutation(
        "the worker writes documents by any statement",
        3,
        EDITORS,
        "REVOKE UPDATE (status, version, data, editor_ids,",
        "REVOKE UPDATE (version, data,",
        (cell("creator", "SQL as worker"), cell("editor", "SQL as worker")),
    ),
    Mutation(
        "another set of editors stands for the first",
        3,
        EDITS,
        "                       OLD.editor_ids) <@ n.persons) THEN\n",
        "                       OLD.editor_ids) <@ n.persons) OR true THEN\n",
        (f"{KEPT_EDITORS}test_a_set_of_editors_only_grows",),
    ),
    Mutation(
        "some editors are taken for none",
        3,
        EDITS,
        "    IF OLD.editor_ids = '{}' AND OLD.editor_responsible = sha256('') THEN\n",
        "    IF true THEN\n",
        (f"{KEPT_EDITORS}test_a_set_of_editors_only_grows",),
    ),
    Mutation(
        "a set that nobody knows stands for no editors",
        3,
        EDITS,
        "        IF EXISTS (SELECT FROM responsible_sets n\n"
        "                   WHERE n.tenant_id = NEW.tenant_id AND n.hash = NEW.editor_responsible) THEN\n",
        "        IF true THEN\n",
        (f"{KEPT_EDITORS}test_the_first_editors_are_a_set_that_is_there",),
    ),
    Mutation(
        "an edit of some documents is written for the others",
        3,
        EDITS,
        "    IF written <> cardinality(ids) THEN\n",
        "    IF written > cardinality(ids) THEN\n",
        (f"{KEPT_EDITORS}test_no_edit_is_written_in_part",),
    ),
    Mutation(
        "the worker writes other creators",
        3,
        PROVING,
        "REVOKE UPDATE ON documents FROM signet_api, signet_worker;\n",
        "",
        (cell("creator", "SQL as worker"),),
    ),
    Mutation(
        "a variable that the small amount left unset is never older",
        3,
        "shared/signet/engine/execution/nodes/outdated_variables.py",
        "    known = variables.keys() | execution.workflow.entries_of_variables.keys()\n",
        "    known = variables.keys()\n",
        (
            "tests/scenarios/authority/test_unset_variables.py::test_"
            "a_variable_that_the_small_amount_left_unset_is_older_too",
        ),
    ),
)
