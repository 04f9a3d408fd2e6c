"""Views of authority: each promise that they make to people, broken on purpose."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
READER = f"{SIGNET}/engine/approvals/vote_reader.py"
VIEW = f"{SIGNET}/engine/approvals/request_view.py"
SCENES = "tests/scenarios/authority"
VIEWS, EXPLAINED = f"{SCENES}/test_views.py::test_", f"{SCENES}/test_explanations.py::test_"
ADDITIONS = "tests/unit/core/approvals/test_additions.py::test_"
CHANGED = "tests/scenarios/authority/test_what_changed.py::test_"
LISTED = "tests/functions/routes/approvals/test_inbox_lists.py::test_a29_"
FIGURES = "tests/integration/telemetry/test_approval_figures.py::test_"

VIEWS_OF_AUTHORITY: Sequence[Mutation] = (
    Mutation(
        "the inbox knows nothing of grants",
        3,
        READER,
        "subject, replace(voters, changes=changes.get(subject.request.id, ()))",
        "subject, replace(voters, changes=())",
        (f"{VIEWS}a_role_that_the_requester_gave_meanwhile",),
    ),
    Mutation(
        "the inbox lets people vote on what takes no vote",
        3,
        READER,
        "        if refusal is not None:\n            return ReadRequest",
        "        if False:\n            return ReadRequest",
        (f"{VIEWS}what_takes_no_vote_says_so",),
    ),
    Mutation(
        "who approved before is told that they may reject no more",
        3,
        READER,
        'rejection = self.check.choose(person, "rejected")',
        "rejection = approval",
        (f"{VIEWS}a_person_who_approved_before_may_still_reject",),
    ),
    Mutation(
        "the content of each document is read by itself",
        3,
        READER,
        "        self.read_contents([subject.document for subject in subjects if subject.has_condition])",
        "        for subject in subjects:\n            self.read_contents([subject.document])",
        (f"{VIEWS}a_page_takes_as_many_statements_as_one_item",),
    ),
    Mutation(
        "a person whose vote lapsed is not asked again",
        3,
        f"{SIGNET}/store/approvals/inbox.sql",
        " AND c.status <> 'lapsed'",
        "",
        (f"{VIEWS}a_person_whose_vote_lapsed_is_asked_like_everybody",),
    ),
    Mutation(
        "people see what others have decided",
        3,
        f"{SIGNET}/store/approvals/inbox.sql",
        " AND c.decided_by = %(user_id)s",
        "",
        (f"{LISTED}what_others_have_decided_is_not_there",),
    ),
    Mutation(
        "the amount in the list of decisions is that of now",
        3,
        f"{SIGNET}/store/approvals/inbox.sql",
        "SELECT v.snapshot::jsonb -> 'data' AS data OFFSET 0",
        "SELECT d.data FROM documents d WHERE d.tenant_id = v.tenant_id AND d.id = v.document_id OFFSET 0",
        (f"{LISTED}what_one_has_decided_is_there_the_newest_first",),
    ),
    Mutation(
        "a summary shows a personal field",
        3,
        f"{SIGNET}/core/contracts/summary_checks.py",
        "    if field.personal:\n",
        "    if False:\n",
        ("tests/unit/core/contracts/test_summary_checks.py::test_fields_that_it_cannot_hold",),
    ),
    Mutation(
        "a pin does not say that the other document has changed",
        3,
        VIEW,
        "is_changed=field in changed,",
        "is_changed=False,",
        (f"{VIEWS}what_takes_no_vote_says_so",),
    ),
    Mutation(
        "a stage to come forgets who approved the one before",
        3,
        READER,
        "if subject.next_stage is not None and policy.same_person is None:",
        "if False:",
        (f"{EXPLAINED}nobody_else_for_the_second_stage",),
    ),
    Mutation(
        "who took part is named as an addition",
        3,
        f"{SIGNET}/core/approvals/additions.py",
        "        and find_conflict(person) is None\n",
        "",
        (f"{ADDITIONS}duties_another_approval_and_a_vote_in_the_stage_rule_a_member_out",),
    ),
    Mutation(
        "an addition need not fulfil the condition",
        3,
        f"{SIGNET}/core/approvals/additions.py",
        "        and _fulfils_conditions(check, person, given.union(members[person]))\n",
        "",
        (f"{ADDITIONS}a_condition_is_asked_of_them_with_the_role",),
    ),
    Mutation(
        "an instance whose gate asks again moves to another definition",
        3,
        f"{SIGNET}/core/repair/move_check.py",
        '_ASKING = ("approval", "lifecycle_gate")',
        '_ASKING = ("approval",)',
        ("tests/unit/core/repair/test_move_check.py::test_a_token_that_cannot_go_on_is_blocked",),
    ),
    Mutation(
        "an approval that is not proven is counted as any pause",
        3,
        f"{SIGNET}/engine/telemetry.py",
        'UNPROVEN_CODES = frozenset({"APPROVAL_UNPROVEN", "APPROVAL_SAME_PERSON"})',
        "UNPROVEN_CODES: frozenset[str] = frozenset()",
        (f"{FIGURES}an_approval_that_was_written_past_the_api_is_told_at_once",),
    ),
    Mutation(
        "nobody counts the votes that lapse",
        3,
        f"{SIGNET}/engine/execution/claim.py",
        "        self.stats.lapsed = lapsed\n",
        "",
        (f"{FIGURES}votes_that_lapse_are_counted",),
    ),
    Mutation(
        "an amendment hides an account that changed",
        3,
        f"{SIGNET}/engine/approvals/comparison.py",
        "    if pins is not None:\n",
        "    if False:\n",
        (f"{CHANGED}an_amendment_shows_the_account_that_changed_meanwhile",),
    ),
    Mutation(
        "a trivial change hides who has said no",
        3,
        f"{SIGNET}/store/approvals/voters.sql",
        "FROM rejected CROSS JOIN asked\n",
        "FROM rejected JOIN asked ON asked.data = (SELECT v.snapshot::jsonb -> 'data' FROM"
        " document_versions v WHERE v.tenant_id = %(tenant_id)s AND v.id = rejected.snapshot_version_id)\n",
        (f"{CHANGED}a_rejection_is_shown_after_a_trivial_change",),
    ),
    Mutation(
        "nobody reads by which key a document was created",
        3,
        f"{SIGNET}/engine/approvals/request_view.py",
        "_show_responsible(found, names.name, names.label_of(creator_id)),",
        "_show_responsible(found, names.name, None),",
        (
            "tests/functions/routes/approvals/test_keys_and_approvals.py"
            "::test_people_who_are_asked_see_whose_key_asked_them",
        ),
    ),
    Mutation(
        "a key of an older release has no name",
        3,
        f"{SIGNET}/engine/approvals/shown_names.py",
        "self.people.get(user_id) or self.label_of(user_id))",
        "self.people.get(user_id))",
        (
            "tests/functions/routes/approvals/test_keys_and_approvals.py"
            "::test_a_key_of_an_older_release_is_named_by_its_label",
        ),
    ),
    Mutation(
        "the times of voided approvals are told",
        3,
        f"{SIGNET}/core/explain/waits.py",
        "        if not _is_time_of_approval(trigger) or trigger.due_at in awaited\n",
        "",
        (
            "tests/unit/core/explain/test_times_of_approvals.py"
            "::test_the_time_of_a_voided_approval_is_not_named",
            "tests/scenarios/authority/test_explained_times.py"
            "::test_only_the_times_of_the_open_request_are_told",
        ),
    ),
    Mutation(
        "a refusal by a condition is an expression",
        3,
        f"{SIGNET}/engine/cache.py",
        "    return CompiledContract(contract, expected_hash, words.describe_condition)\n",
        "    return CompiledContract(contract, expected_hash)\n",
        (
            "tests/scenarios/authority/test_conditions_in_words.py"
            "::test_a_vote_and_a_request_are_refused_in_words",
        ),
    ),
    Mutation(
        "an amendment hides who has said no",
        3,
        f"{SIGNET}/store/approvals/voters.sql",
        "    WHERE d.amended_from_id IS NOT NULL AND line.distance < %(limit)s\n",
        "    WHERE d.amended_from_id IS NOT NULL AND line.distance < 1\n",
        (f"{CHANGED}a_rejection_is_shown_of_an_amended_original",),
    ),
)
