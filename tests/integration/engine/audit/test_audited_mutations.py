"""Audit rows of mutate() and publishing, read by verification, erasure and export."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from signet.engine.audit.export import export_bundle
from signet.engine.audit.verify import verify_tenant
from signet.engine.documents.commands import Applied, Create, Update
from signet.engine.documents.erase import erase_personal
from tests.integration.engine.documents.test_erase import find_text
from tests.support.audited_tenant import Admin
from tests.support.company import INVOICE, Company

SECRET = "Erna Example-Geheim"


def test_a_mutated_document_verifies_and_its_personal_value_can_be_erased(
    company: Company, admin: Admin, tmp_path: Path
) -> None:
    created = company.documents.mutate(
        company.caller(), Create("invoice", INVOICE | {"vendor_contact": SECRET})
    )
    assert isinstance(created, Applied)
    company.documents.mutate(company.caller(), Update(created.document_id, 1, {"cost_center": "C"}))
    result = verify_tenant(company.database, company.tenant_id)
    assert (result.findings, result.version_count) == ((), 2)
    assert find_text(admin, SECRET) == ["personal_values.value"]

    who: dict[str, Any] = {"actor_id": "carl", "via": "api", "reason": "asked"}
    erase_personal(company.database, company.tenant_id, created.document_id, **who)
    assert find_text(admin, SECRET) == []
    assert verify_tenant(company.database, company.tenant_id).is_sound
    company.documents.mutate(company.caller(), Update(created.document_id, 2, {"cost_center": "D"}))
    assert verify_tenant(company.database, company.tenant_id).is_sound

    subject = ("document", str(created.document_id))
    bundle = export_bundle(company.database, company.tenant_id, tmp_path / "bundle", subject)
    assert bundle.line_counts["audit_log.jsonl"] == 4
    assert bundle.line_counts["workflow_definitions.jsonl"] == 1
    command = [sys.executable, "-I", "-S", str(tmp_path / "bundle" / "verify.py"), str(tmp_path / "bundle")]
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0
