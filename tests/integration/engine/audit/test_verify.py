"""Tampering by the server's owner: found, and the row is named."""

import json
from dataclasses import asdict, replace

import psycopg
import pytest

from signet.core.audit.verification import hash_seal
from signet.engine.audit.trail import list_seals
from signet.engine.audit.verify import Verification, verify_tenant
from tests.support.audited_tenant import Admin, Audited, make_document, tamper

TEXT_COLUMNS = ["subject_type", "subject_id", "previous_hash", "hash", "content", "action", "actor_id"]


def verify(audited: Audited) -> Verification:
    return verify_tenant(audited.api, audited.tenant_id)


def find_row(admin: Admin, seq: int) -> tuple[str, str]:
    row = admin.execute("SELECT id::text, subject_id FROM audit_log WHERE seq = %s", [seq]).fetchone()
    assert row
    return str(row[0]), str(row[1])


@pytest.mark.parametrize("column", TEXT_COLUMNS)
def test_every_byte_of_every_text_column_in_turn(audited: Audited, superuser: Admin, column: str) -> None:
    make_document(audited, 3)
    audited.seal()
    superuser.execute("ALTER TABLE audit_log DROP CONSTRAINT audit_log_hash_check")
    superuser.execute("ALTER TABLE audit_log DROP CONSTRAINT audit_log_previous_hash_check")
    identifier, _ = find_row(superuser, 2)
    read = f"SELECT {column} FROM audit_log WHERE id = %s"
    row = superuser.execute(read.encode(), [identifier]).fetchone()
    assert row
    original = str(row[0])
    assert original.isascii()
    change = f"UPDATE audit_log SET {column} = %s WHERE id = %s"
    for place, old in enumerate(original):
        changed = original[:place] + ("0" if old != "0" else "1") + original[place + 1 :]
        tamper(superuser, change, [changed, identifier])
        assert identifier in verify(audited).findings[0].where, f"{column}, byte {place}"
    tamper(superuser, change, [original, identifier])
    assert verify(audited).is_sound


@pytest.mark.parametrize(
    "change",
    [
        "seq = 7",
        "seq = NULL",
        "epoch = 2",
        "epoch = -1",
        "xid = '3'::xid8",
        "xid = '18446744073709551615'::xid8",
        *[f"created_at = created_at + interval '{1} microsecond' * 10 ^ {n}" for n in range(0, 16)],
        "created_at = 'infinity'",
        "created_at = '2026-01-01 BC'",
    ],
)
def test_every_other_column(audited: Audited, superuser: Admin, change: str) -> None:
    make_document(audited, 3)
    audited.seal()
    superuser.execute("ALTER TABLE audit_log DROP CONSTRAINT audit_log_check")
    identifier, _ = find_row(superuser, 2)
    tamper(superuser, f"UPDATE audit_log SET {change} WHERE id = %s", [identifier])
    assert identifier in verify(audited).findings[0].where


def test_every_byte_of_the_ids(audited: Audited, superuser: Admin) -> None:
    make_document(audited, 2)
    audited.seal()
    identifier, _ = find_row(superuser, 2)
    for place in range(16):
        old = bytes.fromhex(identifier.replace("-", ""))
        new = (old[:place] + bytes([old[place] ^ 1]) + old[place + 1 :]).hex()
        tamper(superuser, "UPDATE audit_log SET id = %s WHERE id = %s", [new, identifier])
        assert verify(audited).findings[0].where.replace("-", "").endswith(new)
        tamper(superuser, "UPDATE audit_log SET id = %s WHERE id = %s", [identifier, new])
    tamper(
        superuser,
        "UPDATE audit_log SET tenant_id = '00000000-0000-0000-0000-000000000001' WHERE id = %s",
        [identifier],
    )
    assert "AUDIT_ROW_MISSING" in {finding.code for finding in verify(audited).findings}


@pytest.mark.parametrize("seq", [1, 2, 3])
def test_a_deleted_row_is_named(audited: Audited, superuser: Admin, seq: int) -> None:
    """Cover the newest row of a chain too: its version is then without a row."""
    make_document(audited, 3)
    audited.seal()
    tamper(superuser, "DELETE FROM audit_log WHERE seq = %s", [seq])
    findings = verify(audited).findings
    named = f"seq {seq}" if seq < 3 else "version 3"
    assert findings[0].code == "AUDIT_ROW_MISSING" and named in findings[0].where
    assert findings[-1].code == "AUDIT_SEAL_COUNT"


def test_a_deleted_row_of_the_unsealed_tail_is_named(audited: Audited, superuser: Admin) -> None:
    document_id = make_document(audited, 2)
    audited.seal()
    audited.write(document_id, [3])
    assert verify(audited).tail_count == 1
    tamper(superuser, "DELETE FROM audit_log WHERE seq = 3")
    (finding,) = verify(audited).findings
    assert (finding.code, f"document {document_id}, version 3" in finding.where) == (
        "AUDIT_ROW_MISSING",
        True,
    )
    tamper(superuser, "DELETE FROM document_versions WHERE version = 3")
    (finding,) = verify(audited).findings
    assert finding.where == f"document {document_id}, version 3"


def test_a_history_with_new_chains_and_seals_is_found_by_its_anchor(
    audited: Audited, superuser: Admin
) -> None:
    """Rewrite everything inside consistently, so that only the anchor kept outside disagrees."""
    document_id = make_document(audited, 3)
    audited.seal()
    anchor = [json.dumps(asdict(seal)) for seal in list_seals(audited.janitor, audited.tenant_id)]
    assert verify_tenant(audited.api, audited.tenant_id, anchor).is_sound
    for table in ("audit_log", "audit_seals", "document_versions", "documents"):
        tamper(superuser, f"DELETE FROM {table}")
    audited.write(document_id, [1, 2, 3], {"amount": 1_000_000})
    audited.seal()
    assert verify(audited).is_sound
    (finding,) = verify_tenant(audited.api, audited.tenant_id, anchor).findings
    assert (finding.code, finding.where) == ("AUDIT_ANCHOR_DIFFERS", "seal 1")
    assert verify_tenant(audited.api, audited.tenant_id, ["?"]).findings[0].where == "anchor, line 1"


@pytest.mark.parametrize("column", ["row_count", "epoch", "to_xid", "created_at", "merkle_root", "seal"])
def test_a_changed_seal_is_named(audited: Audited, superuser: Admin, column: str) -> None:
    make_document(audited, 1)
    audited.seal()
    values = {
        "row_count": "row_count + 1",
        "epoch": "2",
        "to_xid": "'99999999'::xid8",
        "created_at": "created_at + interval '1 microsecond'",
    }
    value = values.get(column, f"repeat('f', 64) /* {column} */")
    tamper(superuser, f"UPDATE audit_seals SET {column} = {value}")
    assert verify(audited).findings[0].where == "seal 1"


def test_a_deleted_seal_is_found(audited: Audited, superuser: Admin) -> None:
    for _ in range(2):
        make_document(audited, 1)
        audited.seal()
    anchor = [json.dumps(asdict(seal)) for seal in list_seals(audited.janitor, audited.tenant_id)]
    tamper(superuser, "DELETE FROM audit_seals WHERE sequence = 2")
    result = verify(audited)
    assert (result.is_sound, result.tail_count) == (True, 1)  # no trace of the seal: hence anchors
    result = verify_tenant(audited.api, audited.tenant_id, anchor)
    assert [finding.code for finding in result.findings] == ["AUDIT_ANCHOR_MISSING"]


def test_a_changed_snapshot_is_named(audited: Audited, superuser: Admin) -> None:
    document_id = make_document(audited, 2)
    tamper(superuser, "UPDATE document_versions SET snapshot = '[' || snapshot WHERE version = 1")
    assert f"document {document_id}, version 1" in verify(audited).findings[0].where


def test_a_forged_seal_hash_does_not_help(audited: Audited, superuser: Admin) -> None:
    make_document(audited, 2)
    audited.seal()
    (seal,) = list_seals(audited.janitor, audited.tenant_id)
    forged = replace(seal, row_count=1)
    tamper(superuser, "DELETE FROM audit_log WHERE seq = 2")
    tamper(superuser, "DELETE FROM document_versions WHERE version = 2")
    tamper(superuser, "UPDATE documents SET version = 1")
    tamper(superuser, "UPDATE audit_seals SET row_count = 1, seal = %s", [hash_seal(forged)])
    assert [finding.code for finding in verify(audited).findings] == ["AUDIT_SEAL_ROOT"]


ATTACKS = [
    "UPDATE audit_log SET actor_id = 'eve'",
    "DELETE FROM audit_log",
    "TRUNCATE audit_log",
    "UPDATE audit_seals SET row_count = 0",
    "DELETE FROM audit_seals",
    "TRUNCATE audit_seals",
]


@pytest.mark.parametrize("role", ["signet_api", "signet_worker", "signet_janitor", "signet_owner"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_the_trail_is_append_only_for_every_role(
    audited: Audited, admin: Admin, role: str, attack: str
) -> None:
    make_document(audited, 1)
    audited.seal()
    refusal = (
        psycopg.errors.RaiseException if role == "signet_owner" else psycopg.errors.InsufficientPrivilege
    )
    with pytest.raises(psycopg.Error) as caught, admin.transaction():
        admin.execute(f"SET LOCAL ROLE {role}".encode())
        admin.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(audited.tenant_id)])
        admin.execute(attack.encode())
    assert isinstance(caught.value, refusal) or caught.value.sqlstate == "SG002"
    assert verify(audited).is_sound


@pytest.mark.parametrize("role", ["signet_api", "signet_worker"])
def test_only_the_janitor_seals(audited: Audited, admin: Admin, role: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), admin.transaction():
        admin.execute(f"SET LOCAL ROLE {role}".encode())
        admin.execute("INSERT INTO audit_seals SELECT FROM audit_seals")


@pytest.mark.parametrize("role", ["signet_api", "signet_owner"])
def test_a_row_cannot_be_slipped_under_another_transaction(audited: Audited, admin: Admin, role: str) -> None:
    make_document(audited, 1)
    with pytest.raises(psycopg.Error) as caught, admin.transaction():
        admin.execute(f"SET LOCAL ROLE {role}".encode())
        admin.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(audited.tenant_id)])
        admin.execute(
            "INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, hash, content, action, actor_id,"
            " created_at, epoch, xid) SELECT tenant_id, gen_random_uuid(), 'x', 'x', hash, content, action,"
            " actor_id, created_at, epoch, xid FROM audit_log"
        )
    assert caught.value.sqlstate == "SG002"
