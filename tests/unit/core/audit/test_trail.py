"""Writing the audit trail: chains, seals, commitments. Checks of it are in test_verification.py."""

import json
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from signet.core.audit.trail import (
    SALT_BYTES,
    Head,
    PersonalValue,
    Transaction,
    chain,
    chain_all,
    commit,
    find_references,
    verify_personal,
    write_time,
)
from signet.core.audit.verification import hash_seal, hash_text, verify_chains, verify_rows, verify_seals
from signet.core.canonical_json import canonical_bytes
from signet.core.documents.personal_data import make_reference
from tests.support.core.audit_trail import leave_unchained, make_entry, make_trail, seal_rows

TRANSACTION = Transaction(epoch=1, xid=2**60)
SALT = b"s" * SALT_BYTES
VALUE_ID = str(UUID(int=7))


def test_a_row_says_who_what_when_where_from_why_and_how() -> None:
    entry = make_entry(
        1, on_behalf_of="mona", reason="asked", instance_id=UUID(int=3), step_id=UUID(int=4), detail={"a": 1}
    )
    row = chain(Head(4, "a" * 64), entry, TRANSACTION)
    said = json.loads(row.content)
    assert (row.seq, row.previous_hash, row.hash) == (5, "a" * 64, hash_text(row.content))
    assert (said["actor_id"], said["on_behalf_of"], said["via"]) == ("carl", "mona", "api")
    assert (said["reason"], said["step_id"]) == ("asked", str(UUID(int=4)))
    assert (said["at"], said["xid"]) == ("2026-03-01T12:00:00.000001Z", str(2**60))
    assert canonical_bytes(said).decode() == row.content


def test_the_first_row_of_a_chain_has_none_before_it_and_an_unchained_row_no_place() -> None:
    first, loose = chain(None, make_entry(1), TRANSACTION), leave_unchained(make_entry(2), TRANSACTION)
    assert (first.seq, first.previous_hash) == (1, None)
    assert (loose.seq, loose.previous_hash) == (None, None)


def test_many_entries_continue_their_own_chains() -> None:
    heads = {("document", "d1"): Head(2, "b" * 64)}
    entries = [make_entry(1), make_entry(2, "d2"), make_entry(3), make_entry(4, "d2")]
    rows = chain_all(heads, entries, TRANSACTION)
    assert [(row.subject_id, row.seq) for row in rows] == [("d1", 3), ("d2", 1), ("d1", 4), ("d2", 2)]
    assert (rows[2].previous_hash, rows[3].previous_hash) == (rows[0].hash, rows[1].hash)


def test_a_time_is_utc_with_six_digits_and_never_without_a_zone() -> None:
    summer = timezone(timedelta(hours=2))
    assert write_time(datetime(2026, 7, 1, 12, tzinfo=summer)) == "2026-07-01T10:00:00.000000Z"
    with pytest.raises(ValueError, match="zone"):
        write_time(datetime(2026, 7, 1, 12, tzinfo=UTC).replace(tzinfo=None))


def test_a_trail_as_it_is_written_is_sound() -> None:
    rows, seals = make_trail()
    report = verify_seals(seals, rows)
    assert [*verify_rows(rows), *verify_chains(rows[:4]), *report.findings] == []
    assert (report.seal_count, report.sealed_count, report.tail_count) == (2, 6, 2)


def test_a_seal_begins_where_the_last_one_ended_and_anew_in_a_new_epoch() -> None:
    rows, (first, second) = make_trail()
    later = seal_rows(second, rows, 5, epoch=2)
    assert (first.from_xid, first.to_xid, second.from_xid, second.to_xid) == (0, 14, 14, 23)
    assert (later.sequence, later.from_xid, later.previous_seal) == (3, 0, second.seal)
    assert hash_seal(later) == later.seal


def test_the_text_of_a_seal_is_canonical_json() -> None:
    _, (first, _) = make_trail()
    said = {name: getattr(first, name) for name in first.__slots__ if name != "seal"}
    said |= {"from_xid": str(first.from_xid), "to_xid": str(first.to_xid)}
    assert hash_text(canonical_bytes(said).decode()) == first.seal


def test_a_commitment_fixes_value_and_salt() -> None:
    assert commit(SALT, "Erika") == commit(SALT, "Erika")
    assert len({commit(SALT, "Erika"), commit(SALT, "Erik"), commit(b"t" * SALT_BYTES, "Erika")}) == 3
    with pytest.raises(ValueError, match="32 bytes"):
        commit(b"short", "Erika")


def test_references_are_found_at_any_depth_and_lookalikes_are_not() -> None:
    reference = make_reference(VALUE_ID, "c" * 64)
    lookalikes = [{"$personal": 1, "commitment": "c" * 64}, make_reference("x", "c" * 64), "text"]
    snapshot = {"data": {"name": reference, "lines": [{"who": reference}, *lookalikes]}}
    assert list(find_references(snapshot)) == [(VALUE_ID, "c" * 64)] * 2
    assert list(find_references([make_reference(VALUE_ID, "short")])) == []


@pytest.mark.parametrize(
    ("salt", "value", "codes"),
    [
        (SALT, '"Erika"', []),
        (SALT, '"Erik"', ["PERSONAL_VALUE_REPLACED"]),
        (SALT, None, ["PERSONAL_VALUE_REPLACED"]),
        (SALT, "no json", ["PERSONAL_VALUE_REPLACED"]),
        (SALT, "[" * 100_000, ["PERSONAL_VALUE_REPLACED"]),
        (b"short", '"Erika"', ["PERSONAL_VALUE_REPLACED"]),
        (None, None, []),
    ],
)
def test_a_kept_value_is_the_one_that_was_committed_to(
    salt: bytes | None, value: str | None, codes: list[str]
) -> None:
    kept = {VALUE_ID: PersonalValue(VALUE_ID, salt, value)}
    findings = verify_personal([(VALUE_ID, commit(SALT, "Erika"))], kept)
    assert [finding.code for finding in findings] == codes


def test_a_value_that_vanished_is_named() -> None:
    (finding,) = verify_personal([(VALUE_ID, "c" * 64)], {})
    assert (finding.code, VALUE_ID in finding.where) == ("PERSONAL_VALUE_MISSING", True)
