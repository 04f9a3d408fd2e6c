"""Checking the audit trail: any change of a row, a seal or a version is found, and the right one is named."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.audit.verification import (
    MAX_FINDINGS,
    AuditFinding,
    AuditRow,
    Seal,
    build_levels,
    find_path,
    hash_seal,
    hash_text,
    merkle_root,
    parse_anchor,
    parse_as,
    parse_json,
    root_of_path,
    verify_chains,
    verify_inclusion,
    verify_rows,
    verify_seals,
    verify_versions,
)
from tests.support.core.audit_trail import by_chain, make_chain, make_trail, make_versions, rehash, seal_rows

# Leaves and roots of the Certificate Transparency reference implementation (RFC 6962).
LEAVES = [
    bytes.fromhex(text)
    for text in [
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    ]
]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
ROWS, SEALS = make_trail()
LOOSE = next(row for row in ROWS if row.seq is None)
T = TypeVar("T", AuditRow, Seal)
ROW_FIELDS = [field.name for field in fields(AuditRow)]


def check(rows: Sequence[AuditRow], seals: Sequence[Seal] = SEALS) -> list[AuditFinding]:
    """Check everything, as the service does."""
    rows = sorted(rows, key=lambda row: (row.position, row.id))
    chained = by_chain([row for row in rows if row.seq is not None])
    return [*verify_rows(rows), *verify_chains(chained), *verify_seals(seals, rows).findings]


def codes(findings: Sequence[AuditFinding]) -> list[str]:
    return [finding.code for finding in findings]


@pytest.mark.parametrize("count", range(len(LEAVES) + 1))
def test_known_roots(count: int) -> None:
    assert merkle_root(LEAVES[:count]) == ROOTS[count]


@given(st.integers(1, 70), st.data())
def test_each_leaf_has_a_path_to_the_root_and_no_other_leaf_or_place_has_it(
    count: int, data: st.DataObject
) -> None:
    leaves = [bytes([number]) for number in range(count)]
    levels, index = build_levels(leaves), data.draw(st.integers(0, count - 1))
    path, root = find_path(levels, index), merkle_root(leaves)
    assert root_of_path(leaves[index], index, count, path) == root
    assert root_of_path(b"other", index, count, path) != root
    assert root_of_path(leaves[index], index, count, [*path, "00"]) is None
    assert root_of_path(leaves[index], count, count, path) is None
    if path:
        assert root_of_path(leaves[index], index, count, path[:-1]) is None
        assert root_of_path(leaves[index], index, count, [*path[:-1], "no hex"]) != root


def flip(text: str, place: int) -> str:
    """Change the character at that place."""
    old = text[place]
    return text[:place] + ("1" if old != "1" else "2") + text[place + 1 :]


def change(value: object, place: int) -> Any:
    if isinstance(value, str):
        return flip(value, place % len(value)) if value else "1"
    return 7 if value is None else int(flip(f"{value}", place % len(f"{value}"))) + 0


def replace_one(item: T, column: str, place: int) -> T:
    values: dict[str, Any] = {column: change(getattr(item, column), place)}
    return replace(item, **values)


@given(st.sampled_from(ROWS), st.sampled_from(ROW_FIELDS), st.integers(0, 5_000))
def test_any_single_byte_of_any_column_is_found_and_the_row_is_named(
    row: AuditRow, column: str, place: int
) -> None:
    changed = replace_one(row, column, place)
    found = check([changed if each is row else each for each in ROWS])
    assert found and changed.name == found[0].where


@given(st.sampled_from(by_chain(ROWS)[:4]))
def test_a_removed_row_is_found(row: AuditRow) -> None:
    found = check([each for each in ROWS if each is not row])
    newest = row.seq == 4
    assert found[0].code == ("AUDIT_SEAL_COUNT" if newest else "AUDIT_ROW_MISSING")
    if not newest:
        assert found[0].where == f"document d1, seq {row.seq}"


def test_a_gap_of_several_rows_is_named_with_both_ends() -> None:
    (finding,) = verify_chains([make_chain(4)[0], make_chain(4)[3]])
    assert finding.where == "document d1, seq 2 to 3"


def test_rows_out_of_order_or_twice_are_found() -> None:
    one, two, three, four = make_chain(4)
    (finding,) = verify_chains([one, two, two, three, four])
    assert (finding.code, finding.where) == ("AUDIT_ROW_TWICE", two.name)
    assert "AUDIT_ROW_TWICE" in codes(list(verify_chains([one, three, two, four])))


def test_an_inserted_row_is_found() -> None:
    extra = make_chain(1, "d9", 11)[0]
    assert codes(check([*ROWS, extra])) == ["AUDIT_SEAL_COUNT"]
    late = replace(extra, epoch=0)
    assert codes(verify_seals(SEALS, [late, *ROWS]).findings) == ["AUDIT_ROW_UNSEALED"]


def test_a_row_that_was_changed_and_hashed_again_breaks_its_chain_and_its_seal() -> None:
    row = by_chain(ROWS)[1]
    found = check([rehash(each, "carl", "eve") if each is row else each for each in ROWS])
    assert codes(found) == ["AUDIT_ROW_COLUMN", "AUDIT_CHAIN_BROKEN", "AUDIT_SEAL_ROOT"]
    assert found[1].where.startswith("document d1, seq 3") and row.id in found[1].sentence


def test_a_first_row_that_claims_a_row_before_it_is_found() -> None:
    (finding,) = verify_chains([replace(make_chain(1)[0], previous_hash="a" * 64)])
    assert finding.code == "AUDIT_CHAIN_BROKEN"


def test_unchained_rows_are_left_to_their_seal() -> None:
    assert list(verify_chains([LOOSE])) == []


@pytest.mark.parametrize(
    "content", ["[]", "no json", "[" * 100_000, '{"xid": 1e999}', '"\ud800"', "9" * 5_000]
)
def test_no_content_is_too_strange(content: str) -> None:
    row = replace(ROWS[0], content=content, hash=hash_text(content))
    assert len(list(verify_rows([row]))) == 1
    assert list(verify_versions([], [row])) == []


def test_a_number_is_not_the_same_as_its_lookalikes() -> None:
    row = rehash(make_chain(1)[0], '"seq":1', '"seq":true')
    assert codes(list(verify_rows([row]))) == ["AUDIT_ROW_COLUMN"]


@given(st.sampled_from(SEALS), st.sampled_from([f.name for f in fields(Seal)]), st.integers(0, 99))
def test_any_change_of_a_seal_is_found_and_the_seal_is_named(seal: Seal, column: str, place: int) -> None:
    changed = replace_one(seal, column, place)
    found = check(ROWS, [changed if each is seal else each for each in SEALS])
    assert found and found[0].where == changed.name and found[0].code == "AUDIT_SEAL_HASH"


def test_a_removed_or_replaced_seal_is_found() -> None:
    assert "AUDIT_SEAL_MISSING" in codes(check(ROWS, SEALS[1:]))
    first = replace(SEALS[0], created_at="2026-03-01T12:00:01.000000Z")
    first = replace(first, seal=hash_seal(first))
    assert codes(check(ROWS, [first, SEALS[1]])) == ["AUDIT_SEAL_CHAIN"]


def test_seals_that_overlap_or_leave_a_gap_are_found() -> None:
    shifted = replace(SEALS[1], from_xid=15)
    shifted = replace(shifted, seal=hash_seal(shifted))
    assert codes(check(ROWS, [SEALS[0], shifted]))[0] == "AUDIT_SEAL_RANGE"
    assert "AUDIT_ROW_UNSEALED" in codes(check(ROWS, [SEALS[0], shifted]))


def test_a_history_that_was_written_anew_with_new_seals_is_found_by_its_anchor() -> None:
    rows = make_chain(3)
    kept = seal_rows(None, rows, 99)
    forged = [rehash(row, "carl", "eve.") for row in rows[:1]]
    assert check(forged, [seal_rows(None, forged, 99)]) != []  # its columns still name carl
    forged = make_chain(2)
    new = seal_rows(None, forged, 99)
    assert check(forged, [new]) == []
    report = verify_seals([new], forged, {1: kept.seal, 2: "b" * 64})
    assert codes(report.findings) == ["AUDIT_ANCHOR_DIFFERS", "AUDIT_ANCHOR_MISSING"]
    assert codes(verify_seals([new], None, {1: new.seal}).findings) == []


def test_anchor_lines_are_seals_or_are_named() -> None:
    good = json.dumps(asdict(SEALS[0]))
    anchored, findings = parse_anchor([good, "", "no seal", good.replace("acme", "").replace("1", "2")])
    assert anchored == {1: SEALS[0].seal}
    assert [finding.where for finding in findings] == ["anchor, line 3", "anchor, line 4"]
    _, many = parse_anchor(["x"] * (MAX_FINDINGS + 5))
    assert len(many) == MAX_FINDINGS


def test_findings_are_bounded() -> None:
    rows = [replace(ROWS[0], epoch=0)] * (MAX_FINDINGS + 5)
    assert len(verify_seals(SEALS, rows).findings) == MAX_FINDINGS


def test_the_tail_is_counted_with_its_oldest_time() -> None:
    report = verify_seals([], ROWS)
    assert (report.tail_count, report.tail_oldest) == (8, min(row.created_at for row in ROWS))


def test_a_row_proves_its_place_in_a_seal_without_its_neighbours() -> None:
    covered = [row for row in ROWS if row.position < SEALS[0].end]
    levels = build_levels([bytes.fromhex(row.hash) for row in covered])
    for index, row in enumerate(covered):
        path = find_path(levels, index)
        assert list(verify_inclusion(row, SEALS[0], index, path)) == []
        assert codes(list(verify_inclusion(row, SEALS[0], index + 1, path))) == ["AUDIT_PROOF_WRONG"]
        assert codes(list(verify_inclusion(row, SEALS[1], index, path))) == ["AUDIT_PROOF_WRONG"]


def test_versions_and_their_rows_agree() -> None:
    rows = [*make_chain(2, "d1"), *make_chain(2, "d2"), LOOSE]
    versions = [*make_versions(2, "d1"), *make_versions(2, "d2")]
    assert list(verify_versions(versions, rows)) == []


def test_a_version_without_row_and_a_row_without_version_are_named() -> None:
    rows, versions = make_chain(3), make_versions(3)
    (finding,) = verify_versions(versions, rows[:2])
    assert (finding.code, finding.where) == ("AUDIT_ROW_MISSING", versions[2].name)
    (finding,) = verify_versions(versions[:2], rows)
    assert (finding.code, finding.where) == ("DOCUMENT_VERSION_MISSING", rows[2].name)


def test_a_changed_snapshot_is_named_also_when_it_was_hashed_again() -> None:
    rows, (one, two) = make_chain(2), make_versions(2)
    changed = replace(two, snapshot="{}")
    assert codes(list(verify_versions([one, changed], rows))) == ["DOCUMENT_VERSION_HASH"]
    changed = replace(changed, hash=hash_text("{}"))
    (finding,) = verify_versions([one, changed], rows)
    assert (finding.code, finding.where) == ("DOCUMENT_VERSION_REPLACED", two.name)


def test_only_exact_objects_are_read() -> None:
    row = asdict(ROWS[0])
    assert parse_as(AuditRow, row) == ROWS[0]
    wrong: list[object] = [row | {"more": 1}, row | {"seq": "1"}, row | {"seq": True}, [], None]
    assert [parse_as(AuditRow, each) for each in wrong] == [None] * len(wrong)
    assert parse_json("3") is None
