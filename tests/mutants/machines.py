"""Faults in what machines may do: keys with their owners, and service accounts (with WF-03)."""

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
MIGRATION = "migrations/0017_give_keys_owners.sql"
KEYS, KEYS_SQL = f"{SIGNET}/engine/tenants/api_keys.py", f"{SIGNET}/store/tenants/api_keys.sql"
PRINCIPAL = f"{SIGNET}/core/tenants/principal.py"
RUN_AS = f"{SIGNET}/engine/definitions/run_as.py"
ACCOUNTS = f"{SIGNET}/engine/tenants/service_accounts.py"
USABLE = f"{SIGNET}/core/tenants/service_accounts.py"
OF_KEYS = "tests/functions/routes/tenants/test_api_keys.py::test_"
OF_OWNERS = "tests/functions/routes/tenants/test_key_owners.py::test_"
OF_ACCOUNTS = "tests/functions/routes/tenants/test_service_accounts.py::test_"
OF_PUBLISHING = "tests/integration/engine/definitions/test_run_as.py::test_"
OF_RUNNING = "tests/integration/engine/execution/nodes/test_running_accounts.py::test_"

OF_API_KEYS = (
    Mutation(
        "a key outlives its owner",
        3,
        KEYS,
        'if stored.owner_status != "active":',
        'if stored.owner_status == "gone":',
        (f"{OF_OWNERS}the_key_of_a_disabled_owner_is_dead",),
    ),
    Mutation(
        "a key keeps a role that its owner lost",
        3,
        KEYS,
        "list_counting_roles(stored.roles, stored.permissions, stored.owner_permissions)",
        "tuple(stored.roles)",
        (f"{OF_OWNERS}a_role_of_a_key_counts_while_its_owner_covers_it",),
    ),
    Mutation(
        "one permission of a role is enough",
        3,
        f"{SIGNET}/core/tenants/api_key.py",
        "if role in permissions and all(",
        "if role in permissions and any(",
        (
            "tests/unit/core/tenants/test_api_key.py::test_a_role_counts_while_the_owner_has_every_permission_of_it",
        ),
    ),
    Mutation(
        "a key is made with a role of the token alone",
        3,
        KEYS,
        "            _require_roles_of_owner(act, caller.principal.subject, wanted)\n",
        "",
        (f"{OF_OWNERS}a_key_gets_no_role_that_its_maker_has_by_a_token_alone",),
    ),
    Mutation(
        "two keys of one name are one actor",
        3,
        KEYS,
        'f"{KEY_PREFIX}{key_id}"',
        'f"{KEY_PREFIX}{stored.name}"',
        (f"{OF_KEYS}audit_rows_tell_two_keys_of_one_name_apart",),
    ),
    Mutation(
        "the audit row of a key names no owner",
        3,
        f"{SIGNET}/core/audit/trail.py",
        '            **({"key": key.to_json()} if key is not None else {}),\n',
        "",
        (
            f"{OF_KEYS}audit_rows_tell_two_keys_of_one_name_apart",
            "tests/unit/core/audit/test_entries_of_keys.py::test_an_entry_tells_the_key_and_its_owner",
        ),
    ),
    Mutation(
        "an owner of before is not behind the key",
        3,
        KEYS,
        "behind=frozenset((stored.created_by, *stored.owners)),",
        "behind=frozenset((stored.created_by, stored.owner_id)),",
        (f"{OF_OWNERS}everybody_who_owned_a_key_stays_behind_it",),
    ),
    Mutation(
        "nobody is behind a key",
        3,
        KEYS,
        "behind=frozenset((stored.created_by, *stored.owners)),",
        "behind=frozenset(),",
        (
            f"{OF_OWNERS}everybody_who_owned_a_key_stays_behind_it",
            "tests/functions/routes/approvals/test_keys_and_approvals.py"
            "::test_nobody_behind_the_key_decides_what_it_asked_for",
        ),
    ),
    Mutation(
        "a key is taken over by a person who was not asked",
        3,
        KEYS,
        "if key.proposed_owner_id != person:",
        "if key.proposed_owner_id is None:",
        (f"{OF_OWNERS}who_may_give_a_key_away",),
    ),
    Mutation(
        "a key gives a key away",
        3,
        KEYS,
        '            _require_person(caller, "give API keys away")\n',
        "",
        (f"{OF_OWNERS}a_key_neither_gives_nor_takes_a_key",),
    ),
    Mutation(
        "any owner is written into a key",
        3,
        MIGRATION,
        "AND NEW.owner_id IS DISTINCT FROM OLD.proposed_owner_id THEN",
        "AND false THEN",
        (f"{OF_OWNERS}nobody_becomes_an_owner_without_being_asked",),
    ),
    Mutation(
        "an owner of a key is forgotten",
        3,
        MIGRATION,
        "CREATE TRIGGER reject_change BEFORE UPDATE OR DELETE ON api_key_owners\n"
        "    FOR EACH ROW EXECUTE FUNCTION reject_any_change();\n",
        "",
        (f"{OF_OWNERS}everybody_who_owned_a_key_stays_behind_it",),
    ),
    Mutation(
        "an approval hides whose key asked for it",
        3,
        f"{SIGNET}/store/tenants/machine_labels.sql",
        "SELECT 'key:' || k.id AS subject, 'key' AS kind, k.name, k.owner_id",
        "SELECT 'key:' || k.id AS subject, 'key' AS kind, k.name, k.created_by AS owner_id",
        (
            "tests/functions/routes/approvals/test_keys_and_approvals.py"
            "::test_people_who_are_asked_see_whose_key_asked_them",
        ),
    ),
)

OF_SERVICE_ACCOUNTS = (
    Mutation(
        "a step runs as a disabled account",
        3,
        USABLE,
        'if status != "active":',
        'if status == "gone":',
        (f"{OF_RUNNING}an_instance_pauses_while_its_account_cannot_be_used",),
    ),
    Mutation(
        "a step runs as the account of a disabled owner",
        3,
        USABLE,
        'if owner_status != "active":',
        'if owner_status == "gone":',
        (f"{OF_RUNNING}an_instance_pauses_while_its_account_cannot_be_used",),
    ),
    Mutation(
        "an effect leaves as a disabled account",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    if problem is not None:\n        return Blocked(problem)\n",
        "",
        (f"{OF_RUNNING}steps_that_ask_no_permission_pause_too",),
    ),
    Mutation(
        "a policy gate does not ask for its account",
        3,
        f"{SIGNET}/core/runtime/decisions.py",
        "    if decision_input.actor_problem is not None:\n"
        "        return Decision(None, evidence=evidence, reason=decision_input.actor_problem)\n",
        "",
        (f"{OF_RUNNING}an_instance_pauses_while_its_account_cannot_be_used",),
    ),
    Mutation(
        "a policy gate forgets which account it asks for",
        3,
        f"{SIGNET}/core/compiler/merge.py",
        'if "service_account" in node.config:',
        "if False:",
        (f"{OF_RUNNING}a_step_has_the_roles_that_the_account_has_when_it_comes",),
    ),
    Mutation(
        "an account gets what its editor does not have",
        3,
        ACCOUNTS,
        "            require_roles(act, given)\n",
        "",
        (f"{OF_ACCOUNTS}nobody_gives_an_account_more_than_they_have",),
    ),
    Mutation(
        "enabling an account gives nothing",
        3,
        ACCOUNTS,
        'counts = before is not None and (before.status == "active" or status == "disabled")',
        "counts = before is not None",
        (f"{OF_ACCOUNTS}nobody_gives_an_account_more_than_they_have",),
    ),
    Mutation(
        "a person is called like a service account",
        3,
        PRINCIPAL,
        '_MACHINES = (KEY_PREFIX, SERVICE_PREFIX, "signet:")',
        '_MACHINES = (KEY_PREFIX, "signet:")',
        (f"{OF_ACCOUNTS}an_account_is_no_person",),
    ),
    Mutation(
        "a service account is a member by SQL",
        3,
        MIGRATION,
        "CHECK (user_id !~ '^(key|service|signet):') NOT VALID;",
        "CHECK (true) NOT VALID;",
        (f"{OF_ACCOUNTS}an_account_is_no_person",),
    ),
    Mutation(
        "a publisher passes on without the permission for it",
        3,
        RUN_AS,
        "        _require(act, node_id, config, RUN_AS)\n",
        "",
        (f"{OF_PUBLISHING}pete_publishes_no_step_that_may_do_what_he_may_not",),
    ),
    Mutation(
        "a publisher passes on what they may not do",
        3,
        RUN_AS,
        '            _require(act, node_id, config, gate["config"]["permission"])\n',
        "            pass\n",
        (f"{OF_PUBLISHING}pete_publishes_no_step_that_may_do_what_he_may_not",),
    ),
    Mutation(
        "a recompiled step passes on what nobody may",
        3,
        f"{SIGNET}/engine/definitions/publication.py",
        "    require_run_as(act, artifact)\n    return patch, artifact, findings",
        "    return patch, artifact, findings",
        (f"{OF_PUBLISHING}rolling_back_and_recompiling_pass_rights_on_too",),
    ),
    Mutation(
        "a step is published for an account that is not there",
        3,
        f"{SIGNET}/engine/definitions/account_findings.py",
        "        if problem is not None:\n",
        "        if False:\n",
        (f"{OF_PUBLISHING}an_account_that_cannot_be_used_is_a_finding",),
    ),
    Mutation(
        "a step does not say which account it runs as",
        3,
        f"{SIGNET}/core/compiler/slot_graph.py",
        "    findings.extend(_check_run_as(node_id, described))\n",
        "",
        (f"{OF_PUBLISHING}a_name_stands_exactly_where_a_step_runs_as_an_account",),
    ),
)

MACHINES = (*OF_API_KEYS, *OF_SERVICE_ACCOUNTS)
