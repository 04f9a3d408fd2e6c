"""`signet audit …` as an operator calls it: 0 sound, 1 broken with the row named, 2 no answer."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.core.audit.trail import AuditEntry
from signet.engine.audit.trail import append_administration
from signet.ids import make_id
from tests.support.audited_tenant import Admin, Audited, make_document, tamper
from tests.support.database.runtime_roles import as_role


@pytest.fixture
def signet(audited: Audited, owner_url: str) -> "Signet":
    return Signet(owner_url, str(audited.tenant_id))


class Signet:
    def __init__(self, url: str, tenant: str) -> None:
        self._url, self._tenant = url, tenant

    def __call__(
        self, *arguments: str, role: str = "signet_api", exit_code: int = 0, tenant: bool = True
    ) -> str:
        more = ["--tenant", self._tenant] if tenant else []
        url = self._url if role == "admin" else as_role(self._url, role)
        result = CliRunner().invoke(app, ["audit", *arguments, "--database-url", url, *more])
        assert result.exit_code == exit_code, result.output
        # An error that the command does not translate would be a traceback for who calls it.
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.output


def test_seal_anchor_verify_export(audited: Audited, signet: Signet, tmp_path: Path) -> None:
    make_document(audited, 2)
    audited.settle()
    assert "2 rows sealed in 1 seals" in signet("seal", role="signet_janitor")
    signet("anchor", "--output", str(tmp_path / "anchor"))
    assert "sound" in signet("verify", "--anchor", str(tmp_path / "anchor"))
    assert "manifest" in signet("export", str(tmp_path / "bundle"))
    assert "not empty" in signet("export", str(tmp_path / "bundle"), exit_code=2)


def test_the_rows_about_the_tenant_are_listed_newest_first(audited: Audited, signet: Signet) -> None:
    make_document(audited, 2)
    assert signet("list") == "", "nothing but documents"
    for action in ("set_manager", "change\x1b[2J"):
        entry = AuditEntry(
            id=make_id(),
            tenant_id=audited.tenant_id,
            subject_type="member",
            subject_id="anna",
            action=action,
            actor_id="root",
            via="test",
            at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        )
        with audited.api.transaction(audited.tenant_id) as connection:
            append_administration(connection, audited.tenant_id, [entry])
    newest, older = signet("list").splitlines()
    assert "root  change\\u001b[2J member anna" in newest and "2026-01-02" in newest
    assert "root  set_manager member anna" in older
    assert signet("list", "--limit", "1").splitlines() == [newest]
    before = newest.rpartition("[")[2].rstrip("]")
    assert signet("list", "--before", before).splitlines() == [older]


def test_a_broken_trail_is_exit_code_1_and_the_row_is_named(
    audited: Audited, signet: Signet, superuser: Admin
) -> None:
    document_id = make_document(audited, 2)
    tamper(superuser, "UPDATE audit_log SET actor_id = 'eve' WHERE seq = 2")
    said = signet("verify", exit_code=1)
    assert f"BROKEN document {document_id}, seq 2, id " in said and "AUDIT_ROW_COLUMN" in said
    assert "not sealed yet: 2 rows" in said


def test_no_answer_is_exit_code_2(signet: Signet, tmp_path: Path) -> None:
    assert "cannot be read" in signet("verify", "--anchor", str(tmp_path / "none"), exit_code=2)
    assert "There is no document" in signet(
        "erase", "--document", str(uuid4()), "--actor", "m", "--reason", "r", exit_code=2
    )


def test_erase_and_begin_epoch(audited: Audited, signet: Signet, superuser: Admin) -> None:
    document_id = uuid4()
    audited.write_personal(document_id, "name", "Erika")
    erase = ["erase", "--document", str(document_id), "--actor", "mona", "--reason", "asked"]
    assert "1 values of name erased" in signet(*erase)
    assert "0 values erased" in signet(*erase)
    row = superuser.execute(
        "SELECT actor_id, content::jsonb -> 'detail' ->> 'claimed' FROM audit_log"
        " WHERE action = 'erase_personal'"
    ).fetchone()
    assert row is not None and str(row[0]).startswith("cli:") and row[1] == "mona"
    begin = ["begin-epoch", "--reason", "restored"]
    assert "epoch 2 has begun" in signet(*begin, role="admin", tenant=False)
