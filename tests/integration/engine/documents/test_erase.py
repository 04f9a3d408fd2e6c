"""Erasure: the value is gone, everything still verifies, and the audit trail names who erased it."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from signet.core.errors import Rejected
from signet.engine.audit.export import export_bundle
from signet.engine.audit.verify import verify_tenant
from signet.engine.documents.erase import Erasure, erase_personal
from tests.support.audited_tenant import Admin, Audited, tamper

SECRET = "Erika Mustermann-Geheim"


def find_text(admin: Admin, text: str) -> list[str]:
    """Return every column of every table that contains this text, of any type."""
    columns = admin.execute(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    ).fetchall()
    found = []
    for table, column in columns:
        names = sql.Identifier(str(table)), sql.Identifier(str(column))
        query = sql.SQL("SELECT count(*) FROM {} WHERE position(%s in {}::text) > 0").format(*names)
        if admin.execute(query, [text]).fetchone() != (0,):
            found.append(f"{table}.{column}")
    return found


def test_erasure_takes_the_value_and_leaves_every_hash(
    audited: Audited, admin: Admin, tmp_path: Path
) -> None:
    document_id = uuid4()
    personal = audited.write_personal(document_id, "name", SECRET)
    audited.write(document_id, [2])
    audited.seal()
    assert find_text(admin, SECRET) == ["personal_values.value"]

    erasure = erase_personal(
        audited.api, audited.tenant_id, document_id, actor_id="mona", via="api", reason="asked by letter"
    )

    assert erasure == Erasure((str(personal),), ("name",))
    assert find_text(admin, SECRET) == []
    result = verify_tenant(audited.api, audited.tenant_id)
    assert (result.is_sound, result.row_count, result.tail_count) == (True, 3, 1)
    row = admin.execute(
        "SELECT actor_id, content::jsonb ->> 'reason', content::jsonb -> 'detail' -> 'erased' FROM audit_log"
        " WHERE action = 'erase_personal' AND seq = 3"
    ).fetchone()
    assert row == ("mona", "asked by letter", [{"personal": str(personal), "field": "name"}])
    export_bundle(audited.api, audited.tenant_id, tmp_path / "bundle")
    assert all(SECRET not in path.read_text() for path in (tmp_path / "bundle").iterdir())


def test_only_the_named_fields_and_only_once(audited: Audited, admin: Admin) -> None:
    document_id = uuid4()
    audited.write_personal(document_id, "name", SECRET)
    who: dict[str, Any] = {"actor_id": "mona", "via": "api", "reason": "asked"}
    other = erase_personal(audited.api, audited.tenant_id, document_id, fields=["email"], **who)
    first = erase_personal(audited.api, audited.tenant_id, document_id, fields=["name"], **who)
    again = erase_personal(audited.api, audited.tenant_id, document_id, **who)
    assert (other.ids, first.fields, again.ids) == ((), ("name",), ())
    assert verify_tenant(audited.api, audited.tenant_id).row_count == 2


def test_an_unknown_document_is_refused(audited: Audited) -> None:
    with pytest.raises(Rejected) as caught:
        erase_personal(audited.api, audited.tenant_id, uuid4(), actor_id="m", via="api", reason="r")
    assert caught.value.code == "DOCUMENT_NOT_FOUND"


def test_a_replaced_or_vanished_value_is_found(audited: Audited, superuser: Admin) -> None:
    personal = audited.write_personal(uuid4(), "name", SECRET)
    tamper(superuser, "UPDATE personal_values SET value = '\"Erik\"'")
    (finding,) = verify_tenant(audited.api, audited.tenant_id).findings
    assert (finding.code, str(personal) in finding.where) == ("PERSONAL_VALUE_REPLACED", True)
    tamper(superuser, "DELETE FROM personal_values")
    (finding,) = verify_tenant(audited.api, audited.tenant_id).findings
    assert finding.code == "PERSONAL_VALUE_MISSING"


@pytest.mark.parametrize("role", ["signet_api", "signet_worker", "signet_owner"])
@pytest.mark.parametrize(
    "attack",
    [
        "UPDATE personal_values SET value = '1'",
        "UPDATE personal_values SET erased_at = now(), salt = NULL, value = NULL, field = 'x'",
        "DELETE FROM personal_values",
    ],
)
def test_a_personal_value_can_only_be_erased(audited: Audited, admin: Admin, role: str, attack: str) -> None:
    audited.write_personal(uuid4(), "name", SECRET)
    with pytest.raises(psycopg.Error) as caught, admin.transaction():
        admin.execute(f"SET LOCAL ROLE {role}".encode())
        admin.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(audited.tenant_id)])
        admin.execute(attack.encode())
    assert caught.value.sqlstate in {"SG002", "42501"}
