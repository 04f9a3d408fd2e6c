"""Contracts, patches and automations from draft to archive, and the cache of compiled workflows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from signet.authoring.files import read_document
from signet.core.compiler.compiler import Compilation
from signet.core.errors import Rejected
from signet.engine.cache import TTL_SECONDS, CompiledCache
from signet.engine.definitions.compilation import read_subject, require_definition
from signet.engine.definitions.publication import Published
from signet.engine.documents.commands import Amend, Applied, Create, RequestTransition
from tests.support.company import EXAMPLES, INVOICE, Company
from tests.support.database.unguarded import execute_unguarded
from tests.support.machines import add_account
from tests.support.named_things import supply_mentioned

# What the examples name is there.
pytestmark = pytest.mark.usefixtures("named_things")

Admin = Connection[tuple[Any, ...]]


def read_example(path: str) -> dict[str, Any]:
    document, findings = read_document(Path(EXAMPLES) / path)
    assert findings == () and isinstance(document, dict)
    return document


def save_patch(company: Company, patch: Mapping[str, Any]) -> UUID:
    return company.definitions.create(company.caller(), "org_patch", patch).id


def publish_patch(company: Company, path: str = "invoice/patch.yaml") -> UUID:
    supply_mentioned(company.database, company.tenant_id, read_example(path))
    draft = company.definitions.create(
        company.caller(), "org_patch", read_example(path), {"amount": [1, 2]}
    ).id
    return company.definitions.publish(company.caller(), draft).definition_id


def definition_of(admin: Admin, applied: Applied) -> Mapping[str, Any]:
    row = admin.execute(
        "SELECT d.id, d.definition_kind, d.version FROM workflow_instances i"
        " JOIN workflow_definitions d ON d.id = i.definition_id WHERE i.id = %s",
        [applied.instance_id],
    ).fetchone()
    assert row is not None
    return {"id": row[0], "kind": row[1], "version": row[2]}


def create(company: Company, number: str) -> Applied:
    return company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": number}))


def test_publishing_a_contract_stores_its_compiled_envelope(company: Company, admin: Admin) -> None:
    row = admin.execute(
        "SELECT is_default, status, contract_version, compiled_hash, jsonb_typeof(slots_json)"
        " FROM workflow_definitions WHERE definition_kind = 'envelope'"
    ).fetchone()
    assert row is not None and row[:3] == (True, "published", 1) and row[4] == "object"
    assert definition_of(admin, create(company, "R-1"))["kind"] == "envelope"


def test_a_published_contract_is_frozen_and_a_newer_version_stands_beside_it(
    company: Company, admin: Admin
) -> None:
    document = read_example("invoice/contract.yaml")
    with pytest.raises(Rejected) as caught:
        company.definitions.create_contract(company.caller(), document)
    assert (caught.value.code, caught.value.remedy) == ("VERSION_FROZEN", "Save it as version 2.")
    company.publish("invoice", version=2, label="Invoice, second")
    create(company, "R-2")
    assert admin.execute("SELECT contract_version FROM documents").fetchone() == (2,)


def test_a_contract_with_mistakes_is_rejected_with_all_of_them(company: Company) -> None:
    document = read_example("invoice/contract.yaml") | {"version": 2}
    document["transitions"]["submit"]["condition"] = "entity.grand_totl > 0"
    company.definitions.create_contract(company.caller(), document)
    with pytest.raises(Rejected, match="did you mean `grand_total`"):
        company.definitions.publish_contract(company.caller(), "invoice", 2)
    document["states"]["draft"]["initial"] = False
    with pytest.raises(Rejected) as caught:
        company.definitions.create_contract(company.caller(), document)
    assert caught.value.code == "DEFINITION_INVALID"


def test_a_published_patch_is_what_new_documents_run(company: Company, admin: Admin) -> None:
    before = create(company, "R-1")
    effective = publish_patch(company)
    after = create(company, "R-2")
    assert definition_of(admin, before)["kind"] == "envelope"
    assert definition_of(admin, after) == {"id": effective, "kind": "effective", "version": 1}


def test_a_newer_contract_waits_for_its_patch(company: Company, admin: Admin) -> None:
    """Keep the old workflow until then: publishing a contract must not silently remove the approvals."""
    effective = publish_patch(company)
    company.publish("invoice", version=2)
    assert definition_of(admin, create(company, "R-1"))["id"] == effective
    draft = read_example("invoice/patch.yaml")
    with pytest.raises(Rejected) as caught:
        company.definitions.publish(company.caller(), save_patch(company, draft))
    assert "this is version 2" in caught.value.message or "envelope 1" in caught.value.message
    draft["base"]["envelope_version"] = 2
    moved = company.definitions.publish(company.caller(), save_patch(company, draft))
    assert definition_of(admin, create(company, "R-2"))["id"] == moved.definition_id


def test_a_document_keeps_to_its_version_of_the_contract(company: Company, admin: Admin) -> None:
    """Check that a restart and an amendment run under the contract version of the document."""
    old = create(company, "R-1")
    company.publish("invoice", version=2)
    execute_unguarded(admin, "UPDATE documents SET status = 'active'")
    admin.execute("UPDATE workflow_instances SET status = 'completed', completed_at = now()")
    requested = company.documents.mutate(
        company.caller(), RequestTransition(old.document_id, 1, "cancel", "x")
    )
    assert definition_of(admin, requested)["version"] == 1
    amended = company.documents.mutate(company.caller(), Amend(old.document_id, 1, {"grand_total": 5}))
    assert definition_of(admin, amended)["version"] == 1
    assert definition_of(admin, create(company, "R-2"))["version"] == 2


def compile_definition(company: Company, definition_id: UUID) -> Compilation:
    with company.database.transaction(company.tenant_id) as connection:
        definition = require_definition(connection, company.tenant_id, definition_id)
        return read_subject(connection, company.tenant_id, definition).compile()


def test_compiling_a_draft_tells_all_findings_and_writes_nothing(company: Company, admin: Admin) -> None:
    patch = read_example("invoice/patch.yaml")
    patch["slots"]["submitted_to_approved"]["edges"][0]["condition"] = "entity.grand_totl <= 1"
    patch["slots"]["submitted_to_approved"]["edges"][1]["condition"] = "entity.vendor_id > 1"
    draft = save_patch(company, patch)
    compilation = compile_definition(company, draft)
    assert compilation.artifact is None
    assert {finding.code for finding in compilation.findings} == {"EXPRESSION_INVALID"}
    assert len(compilation.findings) == 2
    assert admin.execute("SELECT count(*) FROM workflow_definitions WHERE status = 'draft'").fetchone() == (
        1,
    )


def test_archiving_a_patch_ends_its_use_and_rolling_back_brings_it_as_a_new_version(
    company: Company, admin: Admin
) -> None:
    caller = company.caller()
    patch_id = save_patch(company, read_example("invoice/patch.yaml"))
    first = company.definitions.publish(caller, patch_id)
    company.definitions.archive(caller, patch_id, accepted=("FALLS_BACK", "ASKS_NOBODY"))
    assert definition_of(admin, create(company, "R-1"))["kind"] == "envelope"
    again = company.definitions.roll_back(caller, patch_id)
    assert isinstance(again, Published)
    assert (again.version, again.compiled_hash) == (2, first.compiled_hash)
    assert definition_of(admin, create(company, "R-2"))["id"] == again.definition_id
    with pytest.raises(Rejected, match="only a published definition"):
        company.definitions.archive(caller, patch_id)


def test_positions_move_without_touching_the_hash(company: Company, admin: Admin) -> None:
    patch_id = save_patch(company, read_example("invoice/patch.yaml"))
    published = company.definitions.publish(company.caller(), patch_id)
    company.definitions.move_canvas(company.caller(), patch_id, {"amount": [9, 9]})
    row = admin.execute("SELECT canvas_json FROM workflow_definitions WHERE id = %s", [patch_id]).fetchone()
    assert row == ({"amount": [9, 9]},)
    compilation = compile_definition(company, patch_id)
    assert compilation.artifact is not None and compilation.artifact.hash == published.compiled_hash


def test_an_automation_is_published_too(company: Company, admin: Admin) -> None:
    add_account(company, "royalty_statements", "clerk")
    draft = company.definitions.create(
        company.caller(), "automation", read_example("royalty/automation.yaml")
    )
    published = company.definitions.publish(company.caller(), draft.id)
    row = admin.execute(
        "SELECT definition_kind, entity_type, compiled_hash FROM workflow_definitions WHERE id = %s",
        [published.definition_id],
    ).fetchone()
    assert row == ("automation", "", published.compiled_hash)


def test_administration_stands_in_the_audit_trail(company: Company, admin: Admin) -> None:
    publish_patch(company)
    rows = admin.execute(
        "SELECT subject_type, action FROM audit_log WHERE subject_type <> 'document' ORDER BY created_at, seq"
    ).fetchall()
    assert {("contract", "publish_contract"), ("definition", "save_draft"), ("definition", "publish")} <= set(
        rows
    )


def test_what_is_not_there(company: Company) -> None:
    for call in (company.definitions.publish, company.definitions.archive, company.definitions.roll_back):
        with pytest.raises(Rejected) as caught:
            call(company.caller(), uuid4())
        assert caught.value.code == "DEFINITION_NOT_FOUND"


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_wf_07_the_cache_verifies_what_it_loads(company: Company, admin: Admin) -> None:
    effective, clock = publish_patch(company), Clock()
    cache = CompiledCache(clock)
    with company.database.transaction(company.tenant_id) as connection:
        first = cache.read(connection, company.tenant_id, effective, 1)
        assert cache.read(connection, company.tenant_id, effective, 1) is first
    admin.execute("ALTER TABLE workflow_definitions DISABLE TRIGGER ALL")
    admin.execute(
        "UPDATE workflow_definitions SET compiled_json = replace(compiled_json, 'locked', 'editable')"
        " WHERE id = %s",
        [effective],
    )
    with company.database.transaction(company.tenant_id) as connection:
        assert cache.read(connection, company.tenant_id, effective, 1) is first  # still within its time
        clock.seconds = TTL_SECONDS
        with pytest.raises(Rejected) as caught:
            cache.read(connection, company.tenant_id, effective, 1)
    assert caught.value.code == "WORKFLOW_HASH_MISMATCH"


def test_wf_07_another_compilers_artifact_does_not_run_until_it_is_recompiled(
    company: Company, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    effective = publish_patch(company)
    monkeypatch.setattr("signet.core.compiler.artifact.RUNNABLE_COMPILER_VERSIONS", frozenset({"2"}))
    with company.database.transaction(company.tenant_id) as connection, pytest.raises(Rejected) as caught:
        CompiledCache().read(connection, company.tenant_id, effective, 1)
    assert caught.value.code == "WORKFLOW_COMPILER_STALE"
    monkeypatch.setattr("signet.core.compiler.graph_json.COMPILER_VERSION", "2")
    recompiled = company.definitions.recompile(company.caller(), effective)
    assert isinstance(recompiled, Published)
    assert recompiled.version == 2
    with company.database.transaction(company.tenant_id) as connection:
        CompiledCache().read(connection, company.tenant_id, recompiled.definition_id, 2)
    assert definition_of(admin, create(company, "R-1"))["id"] == recompiled.definition_id


def test_an_unknown_definition_is_not_run(company: Company) -> None:
    with company.database.transaction(company.tenant_id) as connection, pytest.raises(Rejected) as caught:
        CompiledCache().read(connection, company.tenant_id, uuid4(), 1)
    assert caught.value.code == "DEFINITION_NOT_FOUND"
