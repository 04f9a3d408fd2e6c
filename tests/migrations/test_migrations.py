"""The runner (order, checksums, phases, down, two at once) and the committed schema."""

import re
import shutil
import threading
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from signet.core.errors import Defect
from signet.store.schema.migrations import migrate_down, migrate_up, read_migration_status, read_migrations
from signet.store.schema.server import create_database, read_server_major, use_database
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.migrations.dump import SCHEMA_FILE, dump_schema
from tests.support.database.server import drop_database

REAL = read_migrations(MIGRATIONS_FOLDER)
HEADER = "-- phase: expand\n-- transaction: on\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the real migrations, to which a test can add more."""
    copy = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS_FOLDER, copy)
    return copy


def add(folder: Path, name: str, up: str, down: str = "SELECT 1;", header: str = HEADER) -> None:
    (folder / f"{len(read_migrations(folder)) + 1:04}_{name}.sql").write_text(
        f"{header}\n-- up\n{up}\n-- down\n{down}\n"
    )


def hush(_: str) -> None:
    pass


def test_the_committed_schema_is_that_of_a_fresh_migrate(owner_url: str) -> None:
    if read_server_major(owner_url) != 18:
        pytest.skip("the dump is worded by Postgres 18; other versions word it differently")
    assert SCHEMA_FILE.read_text() == dump_schema(owner_url), "run `make schema` and read the difference"


def test_a_changed_table_shows_in_the_dump(owner_url: str) -> None:
    with psycopg.connect(owner_url) as connection:
        connection.execute("ALTER TABLE members ADD COLUMN extra text")
    assert SCHEMA_FILE.read_text() != dump_schema(owner_url)


def test_up_is_idempotent_and_tells_its_state(empty_database_url: str) -> None:
    heard: list[str] = []
    assert migrate_up(empty_database_url, REAL, say=heard.append) == len(REAL)
    assert migrate_up(empty_database_url, REAL, say=heard.append) == 0
    assert all(entry.applied_at for entry in read_migration_status(empty_database_url, REAL))
    assert any("no Citus here" in line for line in heard)


def test_asking_for_the_state_changes_nothing(empty_database_url: str) -> None:
    assert not any(entry.applied_at for entry in read_migration_status(empty_database_url, REAL))
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT to_regclass('signet_migrations')").fetchone() == (None,)


def test_down_takes_everything_back_and_up_brings_the_same(empty_database_url: str) -> None:
    migrate_up(empty_database_url, REAL, say=hush)
    before = dump_schema(empty_database_url)
    assert migrate_down(empty_database_url, REAL, steps=len(REAL), say=hush) == len(REAL)
    with psycopg.connect(empty_database_url) as connection:
        left = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " UNION SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
        ).fetchall()
    assert {name for (name,) in left} == {"signet_migrations", "signet_migrations_pkey"}
    migrate_up(empty_database_url, REAL, say=hush)
    assert dump_schema(empty_database_url) == before


def test_each_way_down_takes_back_what_its_way_up_did(empty_database_url: str) -> None:
    migrate_up(empty_database_url, [], say=hush)
    for number, migration in enumerate(REAL, start=1):
        before = dump_schema(empty_database_url)
        migrate_up(empty_database_url, REAL[:number], say=hush)
        migrate_down(empty_database_url, REAL[:number], steps=1, say=hush)
        assert dump_schema(empty_database_url) == before, migration.name
        migrate_up(empty_database_url, REAL[:number], say=hush)


def test_a_database_from_before_the_nine_is_refused(empty_database_url: str) -> None:
    """Refuse a database of the 27 files from before the first release.

    Nothing may be applied on top of them.
    """
    migrate_up(empty_database_url, [], say=hush)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(
            "INSERT INTO signet_migrations (number, name, checksum)"
            " SELECT number, CASE number WHEN 1 THEN 'create_roles' ELSE 'create_other' END, repeat('0', 64)"
            " FROM generate_series(1, 27) AS number"
        )
    for act in (
        lambda: migrate_up(empty_database_url, REAL, say=hush),
        lambda: migrate_down(empty_database_url, REAL, steps=1, say=hush),
        lambda: read_migration_status(empty_database_url, REAL),
    ):
        with pytest.raises(Defect, match=r"0001_create_roles\.sql was edited after it was applied") as caught:
            act()
        assert caught.value.code == "MIGRATION_EDITED"
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT to_regclass('tenants')").fetchone() == (None,)


def test_a_key_from_before_owners_belongs_to_its_maker(empty_database_url: str) -> None:
    """Give keys of every tenant their owner, though row security binds the migrating role."""
    number = next(index for index, one in enumerate(REAL) if one.name == "give_keys_owners")
    migrate_up(empty_database_url, REAL[:number], say=hush)
    with psycopg.connect(empty_database_url) as connection:
        for tenant, maker in ((UUID(int=1), "ada"), (UUID(int=2), "zoe")):
            connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(tenant)])
            connection.execute(
                "INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 't', '{}')", [tenant]
            )
            connection.execute(
                "INSERT INTO api_keys (tenant_id, id, name, secret_hash, roles, created_by, created_at)"
                " VALUES (%s, %s, 'erp', decode(repeat('00', 32), 'hex'), '{clerk}', %s, '2026-01-01')",
                [tenant, tenant, maker],
            )
    migrate_up(empty_database_url, REAL, say=hush)
    with psycopg.connect(empty_database_url) as connection:
        for tenant, maker in ((UUID(int=1), "ada"), (UUID(int=2), "zoe")):
            connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(tenant)])
            owned = connection.execute(
                "SELECT k.owner_id, o.owner_id, o.by FROM api_keys k"
                " JOIN api_key_owners o ON o.tenant_id = k.tenant_id AND o.key_id = k.id"
                " WHERE k.tenant_id = %s",
                [tenant],
            ).fetchall()
            assert owned == [(maker, maker, maker)]


def test_an_edited_applied_file_is_named(folder: Path, empty_database_url: str) -> None:
    migrate_up(empty_database_url, read_migrations(folder), say=hush)
    edited = next(folder.glob("0002_*.sql"))
    edited.write_text(edited.read_text() + "\n-- a thought that came later\n")
    with pytest.raises(Defect, match=re.escape(edited.name)) as caught:
        migrate_up(empty_database_url, read_migrations(folder), say=hush)
    assert caught.value.code == "MIGRATION_EDITED"


def test_a_newer_database_is_refused(folder: Path, empty_database_url: str) -> None:
    add(folder, "create_more", "CREATE TABLE more (tenant_id uuid);", "DROP TABLE more;")
    migrate_up(empty_database_url, read_migrations(folder), say=hush)
    with pytest.raises(Defect, match=r"0\d+_create_more.sql, which this release does not know"):
        migrate_up(empty_database_url, REAL, say=hush)


def test_a_failing_migration_leaves_nothing_of_itself(folder: Path, empty_database_url: str) -> None:
    add(folder, "create_half", "CREATE TABLE half (id int); SELECT 1 / 0;")
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate_up(empty_database_url, read_migrations(folder), say=hush)
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT to_regclass('half')").fetchone() == (None,)
    status = read_migration_status(empty_database_url, read_migrations(folder))
    assert [bool(entry.applied_at) for entry in status] == [True] * len(REAL) + [False]


def test_expand_stops_before_the_first_contract(folder: Path, empty_database_url: str) -> None:
    add(folder, "drop_old", "SELECT 1;", header="-- phase: contract\n-- transaction: on\n")
    add(folder, "add_new", "SELECT 1;")
    assert migrate_up(empty_database_url, read_migrations(folder), phase="expand", say=hush) == len(REAL)
    assert migrate_up(empty_database_url, read_migrations(folder), say=hush) == 2


def test_outside_a_transaction(folder: Path, empty_database_url: str) -> None:
    add(
        folder,
        "index_concurrently",
        "CREATE INDEX CONCURRENTLY members_by_email ON members (tenant_id, email);",
        "DROP INDEX CONCURRENTLY members_by_email;",
        header="-- phase: expand\n-- transaction: off\n",
    )
    migrations = read_migrations(folder)
    migrate_up(empty_database_url, migrations, say=hush)
    with psycopg.connect(empty_database_url) as connection:
        row = connection.execute(
            "SELECT relowner::regrole::text FROM pg_class WHERE relname = 'members_by_email'"
        ).fetchone()
    assert row == ("signet_owner",)
    assert migrate_down(empty_database_url, migrations, steps=1, say=hush) == 1


def test_one_statement_for_each_partition(folder: Path, empty_database_url: str) -> None:
    add(
        folder,
        "index_partitions",
        "CREATE INDEX CONCURRENTLY {partition}_more ON {partition} (tenant_id, trace_id);",
        "DROP INDEX CONCURRENTLY {partition}_more;",
        header="-- phase: expand\n-- transaction: off\n"
        "-- partitions: workflow_events_outbox workflow_side_effects_outbox\n",
    )
    migrations = read_migrations(folder)
    migrate_up(empty_database_url, migrations, say=hush)
    counted = (
        "SELECT count(*) FILTER (WHERE relname LIKE '%\\_more' AND relkind = 'i'),"
        " count(*) FILTER (WHERE relispartition AND relkind = 'r' AND relname LIKE '%\\_outbox\\_%')"
        " FROM pg_class"
    )
    with psycopg.connect(empty_database_url) as connection:
        indexes, partitions = connection.execute(counted).fetchone() or (0, 0)
    assert indexes == partitions > 2
    assert migrate_down(empty_database_url, migrations, steps=1, say=hush) == 1
    with psycopg.connect(empty_database_url) as connection:
        assert (connection.execute(counted).fetchone() or (None,))[0] == 0


def test_two_runners_at_once_apply_each_once(server_url: str) -> None:
    name = "signet_two_runners"
    create_database(server_url, name)
    url, counts = use_database(server_url, name), list[int]()
    barrier = threading.Barrier(2, timeout=10)

    def run() -> None:
        barrier.wait()
        counts.append(migrate_up(url, REAL, say=hush))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    drop_database(server_url, name)
    assert sorted(counts) == [0, len(REAL)]


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("0001_create_it.sql", "-- up\nSELECT 1;\n-- down\n", "MIGRATION_HEADER"),
        ("0001_create_it.sql", "-- phase: later\n-- transaction: on\n-- up\n-- down\n", "MIGRATION_HEADER"),
        ("0001_create_it.sql", HEADER + "-- partitions: a b\n-- up\n-- down\n", "MIGRATION_HEADER"),
        ("0001_create_it.sql", HEADER + "-- up\nSELECT 1;\n", "MIGRATION_FORM"),
        ("1_create.sql", HEADER + "-- up\n-- down\n", "MIGRATION_FORM"),
        ("0002_create_it.sql", HEADER + "-- up\n-- down\n", "MIGRATION_NUMBERING"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, name: str, text: str, code: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(Defect) as caught:
        read_migrations(tmp_path)
    assert caught.value.code == code
