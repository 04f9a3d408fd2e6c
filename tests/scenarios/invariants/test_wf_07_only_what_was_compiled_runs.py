"""WF-07: the engine loads only compiled workflows with the right hash, of a compiler that it knows.

`tests/properties/test_determinism.py` checks stored bytes and hash for random workflows;
`tests/integration/engine/definitions/test_definitions.py` shows how long the cache trusts a verified one.
"""

import json
from uuid import UUID

import psycopg
import pytest

from signet.core.canonical_json import content_hash, hash_bytes
from signet.core.compiler.artifact import COMPILER_VERSION
from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.definitions.publication import Published
from signet.engine.documents.commands import Create
from tests.integration.engine.definitions.test_definitions import publish_patch, read_example
from tests.support.company import INVOICE, Company
from tests.support.shared_company import Admin


def load(company: Company, definition_id: UUID, version: int = 1) -> str:
    """Return the hash of the workflow that an instance of this definition would run."""
    with company.database.transaction(company.tenant_id) as connection:
        return CompiledCache().read(connection, company.tenant_id, definition_id, version).hash


def refusal(company: Company, definition_id: UUID) -> str:
    with pytest.raises(Rejected) as caught:
        load(company, definition_id)
    return caught.value.code


def tamper(admin: Admin, definition_id: UUID, text: str, compiled_hash: str) -> None:
    """Change a definition after disabling its triggers, which only the owner can."""
    admin.execute("ALTER TABLE workflow_definitions DISABLE TRIGGER ALL")
    admin.execute(
        "UPDATE workflow_definitions SET compiled_json = %s, compiled_hash = %s WHERE id = %s",
        [text, compiled_hash, definition_id],
    )


def stored_text(admin: Admin, definition_id: UUID) -> str:
    row = admin.execute(
        "SELECT compiled_json FROM workflow_definitions WHERE id = %s", [definition_id]
    ).fetchone()
    assert row is not None
    return str(row[0])


def test_wf_07_every_published_workflow_has_the_hash_of_its_bytes(company: Company, admin: Admin) -> None:
    publish_patch(company)
    rows = admin.execute(
        "SELECT id, version, compiled_json, compiled_hash, compiler_version FROM workflow_definitions"
        " WHERE definition_kind IN ('envelope', 'effective')"
    ).fetchall()
    assert len(rows) == 2
    for definition_id, version, text, compiled_hash, compiler_version in rows:
        assert compiled_hash == hash_bytes(text.encode()) == content_hash(json.loads(text))
        assert compiler_version == json.loads(text)["compiler_version"] == COMPILER_VERSION
        assert load(company, definition_id, version) == compiled_hash


def test_wf_07_an_uncompiled_definition_does_not_run(company: Company, admin: Admin) -> None:
    """Refuse to load a draft, which has no artifact; no document starts under it."""
    draft = company.definitions.create(company.caller(), "org_patch", read_example("invoice/patch.yaml")).id
    assert refusal(company, draft) == "DEFINITION_NOT_FOUND"
    created = company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": "R-1"}))
    ran = admin.execute(
        "SELECT d.definition_kind, d.compiled_json IS NOT NULL FROM workflow_instances i"
        " JOIN workflow_definitions d ON d.id = i.definition_id WHERE i.id = %s",
        [created.instance_id],
    ).fetchone()
    assert ran == ("envelope", True)


@pytest.mark.parametrize("kind", ["envelope", "effective", "automation"])
def test_wf_07_nothing_that_runs_can_be_published_without_its_artifact(
    company: Company, admin: Admin, kind: str
) -> None:
    """Refuse a row that is complete but for its artifact, and accept it with one."""
    insert = (
        "INSERT INTO workflow_definitions (tenant_id, id, definition_kind, entity_type, name, status,"
        " is_default, contract_version, nodes_json, edges_json, slots_json, body_patches_json, created_by,"
        " published_at, compiled_json, compiled_hash, compiler_version)"
        " SELECT tenant_id, gen_random_uuid(), %(kind)s, 'other', 'other', 'published',"
        " %(kind)s = 'envelope', 1, nodes_json, edges_json, slots_json,"
        " CASE WHEN %(kind)s = 'automation' THEN '{}'::jsonb END, 'eve', now(), {compiled}"
        " FROM workflow_definitions WHERE is_default"
    )
    with pytest.raises(psycopg.errors.CheckViolation):
        admin.execute(insert.replace("{compiled}", "NULL, NULL, NULL"), {"kind": kind})
    with pytest.raises(psycopg.errors.CheckViolation):
        admin.execute(insert.replace("{compiled}", "compiled_json, NULL, compiler_version"), {"kind": kind})
    whole = insert.replace("{compiled}", "compiled_json, compiled_hash, compiler_version")
    assert admin.execute(whole, {"kind": kind}).rowcount == 1


def test_wf_07_altered_bytes_do_not_run(company: Company, admin: Admin) -> None:
    effective = publish_patch(company)
    text = stored_text(admin, effective)
    tamper(admin, effective, text.replace('"locked"', '"editable"'), hash_bytes(text.encode()))
    assert refusal(company, effective) == "WORKFLOW_HASH_MISMATCH"
    tamper(admin, effective, text, hash_bytes(b"another workflow"))
    assert refusal(company, effective) == "WORKFLOW_HASH_MISMATCH"
    tamper(admin, effective, text, hash_bytes(text.encode()))
    assert load(company, effective) == hash_bytes(text.encode())


def test_wf_07_the_artifact_of_another_compiler_does_not_run(company: Company, admin: Admin) -> None:
    """Refuse an artifact with the right hash but an unknown meaning."""
    effective = publish_patch(company)
    text = stored_text(admin, effective)
    old = text.replace(f'"compiler_version":"{COMPILER_VERSION}"', '"compiler_version":"0"')
    assert old != text
    tamper(admin, effective, old, hash_bytes(old.encode()))
    assert refusal(company, effective) == "WORKFLOW_COMPILER_STALE"


def test_wf_07_a_recompiled_definition_runs_and_the_stale_one_stays_as_it_was(
    company: Company, admin: Admin
) -> None:
    effective = publish_patch(company)
    before = stored_text(admin, effective)
    recompiled = company.definitions.recompile(company.caller(), effective)
    assert isinstance(recompiled, Published)
    assert recompiled.definition_id != effective
    assert load(company, recompiled.definition_id, recompiled.version) == recompiled.compiled_hash
    assert stored_text(admin, effective) == before
