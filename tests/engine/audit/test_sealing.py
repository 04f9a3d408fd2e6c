"""Seals on real Postgres: each row is in exactly one seal, however late its transaction commits."""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from signet.core.audit.trail import AuditEntry
from signet.core.audit.verification import Seal
from signet.engine.audit import trail as sealing
from signet.engine.audit.trail import Sealing, append_administration, begin_new_epoch, list_seals, seal_tenant
from signet.engine.audit.verify import verify_tenant
from signet.ids import make_id
from signet.store.audit.write import insert_seal, read_transaction
from signet.store.database import Connection, Database, PoolSettings
from tests.engine.audit.audited import Admin, Audited, make_document, tamper


def rows_by_seal(admin: Admin) -> Counter[int]:
    """Count the rows in each seal's range; a row in two seals or in none changes the sum."""
    found = admin.execute(
        "SELECT s.sequence, count(*) FROM audit_seals s JOIN audit_log a ON a.tenant_id = s.tenant_id"
        " AND a.epoch = s.epoch AND a.xid >= s.from_xid AND a.xid < s.to_xid GROUP BY 1"
    ).fetchall()
    return Counter({int(str(sequence)): int(str(count)) for sequence, count in found})


def test_what_is_there_is_sealed_once(audited: Audited, admin: Admin) -> None:
    make_document(audited, 3)
    assert audited.seal() == Sealing(1, 3)
    assert audited.seal() == Sealing(0, 0)
    make_document(audited, 2)
    assert audited.seal() == Sealing(1, 2)
    assert rows_by_seal(admin) == {1: 3, 2: 2}
    assert verify_tenant(audited.api, audited.tenant_id).is_sound


@pytest.mark.parametrize("max_rows", [1, 2, 10])
def test_transactions_have_the_order_of_their_numbers_and_not_of_their_digits(
    audited: Audited, superuser: Admin, max_rows: int
) -> None:
    make_document(audited, 4)
    tamper(superuser, "UPDATE audit_log SET xid = (7 + seq)::text::xid8")
    audited.seal(max_rows)
    rows = superuser.execute("SELECT xid::text, seq FROM audit_log ORDER BY seq").fetchall()
    assert rows == [("8", 1), ("9", 2), ("10", 3), ("11", 4)]
    assert sum(rows_by_seal(superuser).values()) == 4
    result = verify_tenant(audited.api, audited.tenant_id)
    # Rows contain their transaction, so verification finds the change there; the seals still agree.
    assert {finding.code for finding in result.findings} == {"AUDIT_ROW_COLUMN"}
    assert (result.row_count, result.tail_count) == (4, 0)


def test_a_late_commit_is_in_the_next_seal(audited: Audited, admin: Admin) -> None:
    early, late, after = uuid4(), uuid4(), uuid4()
    audited.write(early, [1])
    with audited.api.transaction(audited.tenant_id) as open_transaction:
        audited.write_version(open_transaction, late, 1, {"amount": 1})
        audited.write(after, [1])
        # The row of `after` is committed, but follows a transaction that still runs.
        running = read_transaction(open_transaction).xid
        assert audited.seal(until=running) == Sealing(1, 1)
        assert audited.seal(until=running) == Sealing(0, 0)
        result = verify_tenant(audited.api, audited.tenant_id)
        assert (result.is_sound, result.tail_count) == (True, 1)
    assert audited.seal() == Sealing(1, 2)
    assert rows_by_seal(admin) == {1: 1, 2: 2}
    result = verify_tenant(audited.api, audited.tenant_id)
    assert (result.is_sound, result.row_count, result.tail_count) == (True, 3, 0)


def test_a_transaction_that_rolls_back_leaves_no_gap(audited: Audited) -> None:
    with pytest.raises(RuntimeError), audited.api.transaction(audited.tenant_id) as connection:
        audited.write_version(connection, uuid4(), 1, {})
        raise RuntimeError
    make_document(audited, 1)
    assert audited.seal() == Sealing(1, 1)
    assert verify_tenant(audited.api, audited.tenant_id).is_sound


def test_a_seal_is_bounded_and_keeps_transactions_whole(audited: Audited, admin: Admin) -> None:
    make_document(audited, 3)
    with audited.api.transaction(audited.tenant_id) as connection:
        for _ in range(5):
            audited.write_version(connection, uuid4(), 1, {})
    make_document(audited, 1)
    assert audited.seal(max_rows=2) == Sealing(4, 9)
    assert rows_by_seal(admin) == {1: 2, 2: 1, 3: 5, 4: 1}
    assert verify_tenant(audited.api, audited.tenant_id).is_sound


def test_two_sealers_at_once_make_one_seal(audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both sealers choose the same seal before either writes it."""
    make_document(audited, 3)
    audited.settle()
    barrier, results = threading.Barrier(2, timeout=10), list[Sealing]()

    def insert_together(connection: Connection, seal: Seal) -> bool:
        barrier.wait()
        return insert_seal(connection, seal)

    monkeypatch.setattr(sealing, "insert_seal", insert_together)

    def run(janitor: Database) -> None:
        results.append(seal_tenant(janitor, audited.tenant_id))

    threads = [threading.Thread(target=run, args=[audited.janitor]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert sorted(result.seal_count for result in results) == [0, 1]
    assert verify_tenant(audited.api, audited.tenant_id).is_sound


def test_sealing_beside_writers_misses_nothing(audited: Audited, admin: Admin) -> None:
    """Commit in another order than the rows' numbers, while the sealer runs again and again."""
    done = threading.Event()

    def write() -> None:
        for _ in range(10):
            make_document(audited, 2)

    def seal() -> None:
        while not done.is_set():
            seal_tenant(audited.janitor, audited.tenant_id, max_rows_per_seal=3)

    writers = [threading.Thread(target=write) for _ in range(3)]
    sealer = threading.Thread(target=seal)
    for thread in [sealer, *writers]:
        thread.start()
    for thread in writers:
        thread.join(timeout=60)
    done.set()
    sealer.join(timeout=60)
    audited.seal()
    result = verify_tenant(audited.api, audited.tenant_id)
    assert (result.findings, result.row_count, result.tail_count) == ((), 60, 0)
    assert sum(rows_by_seal(admin).values()) == 60


def test_a_new_epoch_seals_the_rest_of_the_old_one_and_begins_anew(
    audited: Audited, owner_url: str, admin: Admin
) -> None:
    make_document(audited, 1)
    audited.seal()
    make_document(audited, 2)
    owner = Database(owner_url, PoolSettings())
    assert begin_new_epoch(owner, "restored from a dump") == 2
    owner.close()
    make_document(audited, 3)
    assert audited.seal() == Sealing(3 - 1, 5)
    seals = list_seals(audited.janitor, audited.tenant_id)
    assert [(seal.epoch, seal.row_count) for seal in seals] == [(1, 1), (1, 2), (2, 3)]
    assert [seal.from_xid == 0 for seal in seals] == [True, False, True]
    assert verify_tenant(audited.api, audited.tenant_id).is_sound
    assert list_seals(audited.janitor, audited.tenant_id, after=2) == seals[2:]


def test_a_new_epoch_waits_for_whoever_read_the_old_one(audited: Audited, owner_url: str) -> None:
    owner, begun = Database(owner_url, PoolSettings()), threading.Event()

    def begin() -> None:
        begin_new_epoch(owner, "restored")
        begun.set()

    with audited.api.transaction(audited.tenant_id) as connection:
        audited.write_version(connection, uuid4(), 1, {})
        thread = threading.Thread(target=begin)
        thread.start()
        assert not begun.wait(0.3)
    thread.join(timeout=10)
    owner.close()
    assert begun.is_set()


def make_setting(tenant_id: UUID, role: str) -> AuditEntry:
    return AuditEntry(
        id=make_id(),
        tenant_id=tenant_id,
        subject_type="role",
        subject_id=role,
        action="save",
        actor_id="mona",
        via="cli",
        at=datetime.now(UTC),
    )


def test_administration_is_chained_by_subject_also_when_two_write_at_once(audited: Audited) -> None:
    def write(role: str) -> Callable[[], None]:
        def run() -> None:
            for _ in range(10):
                with audited.api.transaction(audited.tenant_id) as connection:
                    entries = [make_setting(audited.tenant_id, each) for each in ("clerk", role, "clerk")]
                    append_administration(connection, audited.tenant_id, entries)

        return run

    threads = [threading.Thread(target=write(role)) for role in ("manager", "auditor", "clerk")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    result = verify_tenant(audited.api, audited.tenant_id)
    assert (result.findings, result.row_count) == ((), 90)


def test_nothing_to_append_is_nothing(audited: Audited) -> None:
    with audited.api.transaction(audited.tenant_id) as connection:
        append_administration(connection, audited.tenant_id, [])
    assert verify_tenant(audited.api, audited.tenant_id).row_count == 0
