"""Faults in what stands around approvals: paths of functions, ids of people, files of tenants, secrets."""

from tests.mutants.mutation import Mutation

CORE, ENGINE = "shared/signet/core", "shared/signet/engine"
MERGE = f"{CORE}/tenants/tenant_merge.py"
ALIKE, INSTALLING = (
    f"tests/integration/engine/tenants/test_{name}.py::test_" for name in ("look_alikes", "tenant_files")
)
MAKING = "tests/local/test_member_token.py::test_"
CLI = "tests/integration/engine/access/test_command_line.py::test_"
TOKENS = "tests/integration/engine/instances/test_token_actions.py::test_"
EVENTS = "tests/functions/routes/integrations/test_events.py::test_"
CATALOGUE = "tests/integration/store/catalogue/test_"

PATHS = (
    Mutation(
        "a trigger looks where its caller has set the path to",
        4,
        "migrations/0018_pin_search_paths.sql",
        "ALTER FUNCTION reject_published_chain_mutation() SET search_path = pg_catalog, public, pg_temp;",
        "",
        (
            f"{CATALOGUE}search_paths.py::test_a_temporary_table_does_not_stand_in_for_a_published_chain",
            f"{CATALOGUE}search_paths.py::test_a_draft_takes_a_step_also_behind_a_temporary_table",
            f"{CATALOGUE}catalogue.py::test_the_migrated_database_keeps_every_rule",
        ),
    ),
)
NAMES = (
    Mutation(
        "an id that differs by its letters' look is another person's",
        3,
        f"{CORE}/tenants/skeleton.py",
        'latin = folded.replace(_DOTTED_I, "i").translate(_LOOKS)',
        "latin = folded",
        (f"{ALIKE}a_new_id_that_looks_like_a_members_is_refused",),
    ),
    Mutation(
        "an id that differs by case is another person's",
        3,
        f"{CORE}/tenants/skeleton.py",
        "return drawn.lower().replace(",
        "return drawn.replace(",
        (f"{ALIKE}a_new_id_that_looks_like_a_members_is_refused",),
    ),
    Mutation(
        "another hyphen makes another person",
        3,
        f"{CORE}/tenants/skeleton.py",
        "**_LATIN, **_MARKS,",
        "**_LATIN,",
        ("tests/unit/core/tenants/test_skeleton.py::test_forms_of_one_letter_are_one",),
    ),
    Mutation(
        "a second blank makes another person",
        3,
        f"{CORE}/tenants/skeleton.py",
        'joined = " ".join(folded.split()).rstrip(". ")',
        'joined = folded.strip().rstrip(". ")',
        ("tests/unit/core/tenants/test_skeleton.py::test_forms_of_one_letter_are_one",),
    ),
    Mutation(
        "nobody compares new ids with those of members",
        3,
        f"{ENGINE}/tenants/install.py",
        "    require_clear_ids(connection, tenant_id, [member.user_id for member in members])\n",
        "",
        (
            f"{ALIKE}a_new_id_that_looks_like_a_members_is_refused",
            f"{ALIKE}a_new_id_that_nobody_reads_as_it_is_is_refused",
        ),
    ),
    Mutation(
        "members from before skeletons were kept look like nobody",
        3,
        f"{ENGINE}/tenants/look_alikes.py",
        "    _fill_skeletons(connection, tenant_id)\n",
        "",
        (f"{ALIKE}members_whose_skeleton_was_never_written_are_found",),
    ),
    Mutation(
        "a token may name a person who only looks like a member",
        3,
        f"{ENGINE}/access/admission.py",
        "if admission.look_alike is not None:",
        "if False:",
        (f"{ALIKE}a_token_whose_subject_only_looks_like_a_member_is_refused",),
    ),
    Mutation(
        "a person may be called as machines are, to the eye",
        3,
        f"{CORE}/tenants/principal.py",
        "return write_skeleton(subject).startswith((*_MACHINES, COMMAND_LINE_PREFIX))",
        "return subject.startswith((*_MACHINES, COMMAND_LINE_PREFIX))",
        (
            "tests/unit/core/tenants/test_skeleton.py::test_the_beginnings_of_machines_are_reserved_as_they_look",
        ),
    ),
)

COMMAND_LINE = (
    Mutation(
        "a command line acts as the person that it claims",
        3,
        f"{ENGINE}/access/command_line.py",
        "make_command_line(tenant_id, user, address), VIA",
        "make_command_line(tenant_id, claimed or user, address), VIA",
        (f"{CLI}it_is_who_the_server_says_and_never_who_is_claimed",),
    ),
    Mutation(
        "a command line has every permission",
        3,
        f"{CORE}/tenants/principal.py",
        '_COMMAND_LINE_PERMISSIONS = (\n    "workflow:*",\n',
        '_COMMAND_LINE_PERMISSIONS = (\n    "*:*",\n',
        ("tests/unit/core/tenants/test_principal.py::test_a_command_line_may_act_on_workflows_alone",),
    ),
    Mutation(
        "the claimed person is forgotten",
        9,
        f"{CORE}/audit/trail.py",
        '            **({"claimed": caller.claimed} if caller.claimed is not None else {}),\n',
        "",
        (
            "tests/integration/engine/tenants/test_tenant_files.py::test_it_is_on_record_by_whom_it_was_installed",
            f"{TOKENS}nobody_ends_a_wait_of_a_document_in_which_they_took_part",
        ),
    ),
    Mutation(
        "a creator ends the waits of their own document",
        3,
        f"{ENGINE}/instances/actions.py",
        "            take_part_in_answer(transaction, context, caller)\n",
        "",
        (f"{TOKENS}nobody_ends_a_wait_of_a_document_in_which_they_took_part",),
    ),
    Mutation(
        "a creator ends them from the command line",
        3,
        f"{ENGINE}/instances/hand_answers.py",
        "frozenset((*caller.principal.responsible, *claimed))",
        "caller.principal.responsible",
        (f"{TOKENS}nobody_ends_a_wait_of_a_document_in_which_they_took_part",),
    ),
)

FILES = (
    Mutation(
        "a claimed person gives themselves a role by a file",
        3,
        f"{ENGINE}/tenants/tenant_files.py",
        "    require_other_people(connection, changed, persons)\n",
        "",
        (f"{INSTALLING}nobody_who_is_claimed_gives_themselves_anything",),
    ),
    Mutation(
        "a file gives back the roles that were taken",
        3,
        MERGE,
        "if knows and name not in installed and name not in found]",
        "if name not in found]",
        (f"{INSTALLING}nobody_loses_or_gets_back_a_role",),
    ),
    Mutation(
        "a file takes the roles that were given",
        3,
        MERGE,
        "taken = {name for name in installed if name not in wanted}",
        "taken = {name for name in found if name not in wanted}",
        (f"{INSTALLING}nobody_loses_or_gets_back_a_role",),
    ),
    Mutation(
        "a file overwrites what people wrote",
        3,
        MERGE,
        "    if found in (wanted, installed):\n        return wanted\n",
        "    if True:\n        return wanted\n",
        (f"{INSTALLING}nobody_loses_or_gets_back_a_role",),
    ),
    Mutation(
        "an installation leaves no trace",
        9,
        f"{ENGINE}/tenants/tenant_files.py",
        "        if merge.changes:\n            _note(",
        "        if False:\n            _note(",
        (
            f"{INSTALLING}it_is_on_record_by_whom_it_was_installed",
            f"{INSTALLING}what_the_file_changes_arrives_and_is_on_record",
        ),
    ),
    Mutation(
        "an installation does not remember what it installed",
        3,
        f"{ENGINE}/tenants/tenant_files.py",
        "        save_installed(connection, tenant_id, wanted.to_json())\n",
        "",
        (f"{INSTALLING}what_the_file_changes_arrives_and_is_on_record",),
    ),
)

SECRETS = (
    Mutation(
        "an endpoint signs with the secret of a sender",
        10,
        f"{ENGINE}/integrations/secret_uses.py",
        "    if taken:\n",
        "    if False:\n",
        (
            f"{EVENTS}the_secret_of_a_sender_signs_nothing_that_goes_out",
            "tests/functions/routes/integrations/test_endpoints.py::test_a_secret_belongs_to_one_endpoint",
        ),
    ),
    Mutation(
        "the database lets a secret have two uses",
        10,
        "migrations/0019_guard_names_and_secrets.sql",
        "FROM unnest(have) AS new_one WHERE new_one <> ALL (had);",
        "FROM unnest(have) AS new_one WHERE new_one <> ALL (had) ON CONFLICT DO NOTHING;",
        (f"{CATALOGUE}secret_uses.py::test_a_secret_has_one_use",),
    ),
    Mutation(
        "a secret that an endpoint let go is not free",
        10,
        "migrations/0019_guard_names_and_secrets.sql",
        "      AND u.secret <> ALL (have);",
        "      AND false;",
        (
            "tests/functions/routes/integrations/test_endpoints.py"
            "::test_a_secret_is_free_when_its_endpoint_lets_it_go",
        ),
    ),
    Mutation(
        "what Signet signed comes in as a sender's",
        10,
        f"{ENGINE}/integrations/inbound_events.py",
        "if is_own(message_id, message.content):",
        "if False:",
        (f"{EVENTS}what_signet_signed_itself_is_refused_like_a_wrong_signature",),
    ),
)

TOKENS_FOR_TRYING = (
    Mutation(
        "a token is made in any environment",
        3,
        "shared/signet/local/member_token.py",
        "if environment != LOCAL:",
        "if False:",
        (f"{MAKING}other_environments_get_none",),
    ),
    Mutation(
        "a token is made by a database elsewhere",
        3,
        "shared/signet/local/member_token.py",
        "if not is_on_loopback(url):",
        "if False:",
        (f"{MAKING}a_database_elsewhere_gets_none",),
    ),
)

TRAIL = "tests/functions/routes/tenants/test_audit.py::test_"
TENANT_TRAIL = (
    Mutation(
        "anybody reads the trail of the tenant",
        9,
        f"{ENGINE}/tenants/trail.py",
        "            read.require(READ_TRAIL)\n",
        "",
        (f"{TRAIL}it_wants_its_own_permission",),
    ),
    Mutation(
        "the trail of the tenant shows documents",
        9,
        "shared/signet/store/audit/tenant_trail.sql",
        " AND subject_type <> 'document'",
        "",
        (
            f"{TRAIL}the_trail_of_the_tenant_is_read_page_by_page",
            "tests/integration/cli/test_audit.py::test_the_rows_about_the_tenant_are_listed_newest_first",
        ),
    ),
)

SURROUNDINGS = (*PATHS, *NAMES, *COMMAND_LINE, *FILES, *SECRETS, *TOKENS_FOR_TRYING, *TENANT_TRAIL)
