"""Faults in the code that keeps definitions frozen (WF-04) and verified (WF-07)."""

from tests.mutants.mutation import Mutation

MIGRATION = "migrations/0003_create_definitions.sql"
WF_04 = "tests/scenarios/invariants/test_wf_04_published_definitions_never_change.py::test_wf_04_"
FORWARD = "tests/functions/routes/control/test_drafts_put_forward.py::test_"
WF_07 = "tests/scenarios/invariants/test_wf_07_only_what_was_compiled_runs.py::test_wf_07_"
CACHE = (
    "tests/integration/engine/definitions/test_definitions.py::test_wf_07_the_cache_verifies_what_it_loads"
)

DEFINITIONS = (
    Mutation(
        "published definitions are not frozen",
        4,
        MIGRATION,
        """\
CREATE TRIGGER reject_published_mutation BEFORE UPDATE OR DELETE ON workflow_definitions
    FOR EACH ROW WHEN (OLD.status <> 'draft') EXECUTE FUNCTION reject_published_definition_mutation();
""",
        "",
        (f"{WF_04}a_published_definition_never_changes", f"{WF_04}a_published_definition_is_never_deleted"),
    ),
    Mutation(
        "published definitions can be deleted",
        4,
        MIGRATION,
        "BEFORE UPDATE OR DELETE ON workflow_definitions\n    FOR EACH ROW WHEN (OLD.status <> 'draft')",
        "BEFORE UPDATE ON workflow_definitions\n    FOR EACH ROW WHEN (OLD.status <> 'draft')",
        (f"{WF_04}a_published_definition_is_never_deleted",),
    ),
    Mutation(
        "archived definitions are not frozen",
        4,
        MIGRATION,
        "WHEN (OLD.status <> 'draft')",
        "WHEN (OLD.status = 'published')",
        (f"{WF_04}a_published_definition_never_changes", f"{WF_04}a_published_definition_is_never_deleted"),
    ),
    Mutation(
        "the artifact is not part of what is frozen",
        4,
        MIGRATION,
        """\
(to_jsonb(NEW) - ARRAY['status', 'canvas_json', 'updated_at', 'revision'])
          IS DISTINCT FROM (to_jsonb(OLD) - ARRAY['status', 'canvas_json', 'updated_at', 'revision'])""",
        """\
(to_jsonb(NEW) - ARRAY['status', 'canvas_json', 'updated_at', 'revision', 'compiled_json'])
          IS DISTINCT FROM
          (to_jsonb(OLD) - ARRAY['status', 'canvas_json', 'updated_at', 'revision', 'compiled_json'])""",
        (f"{WF_04}a_published_definition_never_changes",),
    ),
    Mutation(
        "a published definition may become a draft again",
        4,
        MIGRATION,
        """\
ON workflow_definitions
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('draft>published;published>archived');""",
        """\
ON workflow_definitions
    FOR EACH ROW EXECUTE FUNCTION restrict_status_regression('draft>published;published>archived,draft');""",
        (f"{WF_04}a_published_definition_never_becomes_a_draft_again",),
    ),
    Mutation(
        "a default is only as frozen as any published definition",
        4,
        MIGRATION,
        "FOR EACH ROW WHEN (OLD.is_default)",
        "FOR EACH ROW WHEN (false)",
        (f"{WF_04}a_default_never_changes_at_all",),
    ),
    Mutation(
        "published contracts are not frozen",
        4,
        MIGRATION,
        """\
CREATE TRIGGER reject_published_mutation BEFORE UPDATE OR DELETE ON contracts
    FOR EACH ROW EXECUTE FUNCTION reject_published_contract_mutation();
""",
        "",
        (f"{WF_04}a_published_contract_never_changes",),
    ),
    Mutation(
        "the hash of what is loaded is not compared",
        7,
        "shared/signet/core/compiler/artifact.py",
        "if hash_bytes(text.encode()) != expected_hash:",
        "if not expected_hash:",
        (f"{WF_07}altered_bytes_do_not_run",),
    ),
    Mutation(
        "the artifact of any compiler runs",
        7,
        "shared/signet/core/compiler/artifact.py",
        "if version not in RUNNABLE_COMPILER_VERSIONS:",
        "if version is None:",
        (f"{WF_07}the_artifact_of_another_compiler_does_not_run",),
    ),
    Mutation(
        "a changed row hides behind what its hash once named",
        7,
        "shared/signet/engine/cache.py",
        """\
        artifact = parse_artifact(*stored)
        workflow = self._loaded.get(artifact.hash) or Workflow(artifact)
""",
        """\
        workflow = self._loaded.get(stored[1]) or Workflow(parse_artifact(*stored))
""",
        (CACHE,),
    ),
    Mutation(
        "a definition without an artifact is loaded",
        7,
        "shared/signet/store/definitions/write.sql",
        "AND version = %(version)s AND compiled_json IS NOT NULL",
        "AND version = %(version)s",
        (f"{WF_07}an_uncompiled_definition_does_not_run",),
    ),
    Mutation(
        "documents begin under a draft",
        7,
        "shared/signet/store/documents/write.sql",
        """\
AND status = 'published'
  AND definition_kind IN ('effective', 'envelope')""",
        "AND definition_kind IN ('effective', 'envelope', 'org_patch')",
        (f"{WF_07}an_uncompiled_definition_does_not_run",),
    ),
    Mutation(
        "an effective workflow is stored without its artifact",
        7,
        MIGRATION,
        "NOT is_default AND compiled_json IS NOT NULL AND nodes_json IS NOT NULL",
        "NOT is_default AND nodes_json IS NOT NULL",
        (f"{WF_07}nothing_that_runs_can_be_published_without_its_artifact",),
    ),
    Mutation(
        "an automation is published without its artifact",
        7,
        MIGRATION,
        "AND (status = 'draft' OR compiled_json IS NOT NULL)",
        "",
        (f"{WF_07}nothing_that_runs_can_be_published_without_its_artifact",),
    ),
    Mutation(
        "an artifact is stored without its hash",
        7,
        MIGRATION,
        "CHECK ((compiled_json IS NULL) = (compiled_hash IS NULL)),",
        "CHECK (compiled_json IS NOT NULL OR compiled_hash IS NULL),",
        (f"{WF_07}nothing_that_runs_can_be_published_without_its_artifact",),
    ),
    Mutation(
        "recompiling makes no new row",
        7,
        "shared/signet/engine/definitions/publication.py",
        "new_id, version = _insert_effective(act, patch, artifact, make_authorship(act, authors))",
        "new_id, version = effective.id, effective.version",
        (f"{WF_07}a_recompiled_definition_runs_and_the_stale_one_stays_as_it_was",),
    ),
    Mutation(
        "a deleted draft takes back only what its last author put forward",
        4,
        "shared/signet/store/control/authorship.sql",
        "  AND put_forward IS NOT NULL\n",
        "  AND saved_at = (SELECT max(d.saved_at) FROM draft_authors d WHERE d.name = %(name)s)\n",
        (f"{FORWARD}a_deleted_draft_ends_what_was_put_forward_under_its_name",),
    ),
    Mutation(
        "a publisher puts a sketch forward by a key that its author is behind too",
        4,
        "shared/signet/engine/control/drafts.py",
        "    if others:\n",
        "    if others == own:\n",
        (f"{FORWARD}nobody_puts_a_sketch_forward_by_the_key_of_its_author",),
    ),
)
