"""Runner of the plain SQL files in `migrations/`: `NNNN_verb_noun.sql`, with an up and a down part.

The header states `phase: expand|contract` and `transaction: on|off`. Expanding is safe before new code
runs, contracting only after. `role: admin` is for what the owner of the tables may not do. With
`partitions: TABLE …`, outside of a transaction, the part runs once for each partition of these tables, and
`{partition}` is its name. A file that was applied and then edited is an error. Two runners at once are safe:
the second waits for the first.
"""

import hashlib
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import psycopg
from psycopg.rows import class_row, scalar_row

from signet.core.errors import Defect, Transient
from signet.store.deadlines import OWNER_LIMITS
from signet.store.statements import Statements

Phase = Literal["expand", "contract"]
_SQL = Statements(__file__)
_FILE = re.compile(r"(?P<number>\d{4})_(?P<name>[a-z][a-z0-9]*(_[a-z0-9]+)+)\.sql")
_HEADER = re.compile(r"^-- (?P<key>phase|transaction|role): (?P<value>\w+)$", re.MULTILINE)
_PARTITIONED = re.compile(r"^-- partitions: (?P<tables>\w+(?: \w+)*)$", re.MULTILINE)
_PARTS = re.compile(r"\A(?P<header>.*?)^-- up\n(?P<up>.*?)^-- down\n(?P<down>.*)\Z", re.DOTALL | re.MULTILINE)
_ALLOWED = {"phase": {"expand", "contract"}, "transaction": {"on", "off"}, "role": {"admin", "owner"}}
_NOTICE_LIMIT = 50
# How long a migration waits for a lock, how often, and how long it lets others pass in between.
MAX_LOCK_SECONDS = 5.0
MAX_LOCK_TRIES = 10
LOCK_PAUSE_SECONDS = 2.0
LOCK_POLL_SECONDS = 0.2  # until the one who migrates has ended


@dataclass(frozen=True)
class Migration:
    number: int
    name: str
    phase: str
    in_transaction: bool
    as_admin: bool
    # The part is run for each partition of these.
    partitioned: Sequence[str]
    up: str
    down: str
    checksum: str


@dataclass(frozen=True)
class AppliedMigration:
    number: int
    name: str
    checksum: str
    applied_at: datetime


@dataclass(frozen=True)
class MigrationStatus:
    migration: Migration
    applied_at: datetime | None


def read_migrations(folder: Path) -> tuple[Migration, ...]:
    paths = sorted(path for path in folder.glob("*.sql") if path.name != "schema.sql")
    migrations = tuple(_read_migration(path) for path in paths)
    numbers = [migration.number for migration in migrations]
    if numbers != list(range(1, len(numbers) + 1)):
        raise Defect(
            "MIGRATION_NUMBERING", f"migration numbers must run 0001, 0002, … without gap: {numbers}"
        )
    return migrations


def migrate_up(
    url: str,
    migrations: Sequence[Migration],
    *,
    phase: Phase | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Apply pending migrations in order, and return how many.

    With phase='expand' the first contract migration ends the run.
    """
    with _exclusive(url) as connection:
        applied = _read_applied(connection, migrations)
        pending = migrations[len(applied) :]
        count = 0
        for migration in pending:
            if phase == "expand" and migration.phase == "contract":
                break
            _run(connection, migration, migration.up, _SQL.record_migration, say)
            say(f"applied {migration.number:04} {migration.name}")
            count += 1
    return count


def migrate_down(
    url: str, migrations: Sequence[Migration], *, steps: int, say: Callable[[str], None] = print
) -> int:
    """Revert the last `steps` applied migrations, the newest first, and return how many."""
    with _exclusive(url) as connection:
        applied = _read_applied(connection, migrations)
        chosen = list(reversed(migrations[: len(applied)]))[:steps]
        for migration in chosen:
            _run(connection, migration, migration.down, _SQL.forget_migration, say)
            say(f"took back {migration.number:04} {migration.name}")
    return len(chosen)


def read_migration_status(url: str, migrations: Sequence[Migration]) -> list[MigrationStatus]:
    """Read the status of each migration.

    This changes nothing, even in an empty database, and waits for no other runner.
    """
    with _connected(url) as connection:
        exists = connection.execute(_SQL.find_migration_table).rowcount == 1
        applied = {row.number: row for row in _read_applied(connection, migrations)} if exists else {}
    return [
        MigrationStatus(
            migration, applied[migration.number].applied_at if migration.number in applied else None
        )
        for migration in migrations
    ]


def count_reached(url: str) -> int:
    """Return up to which number the database has each migration, whichever release applied them."""
    with _connected(url) as connection:
        if connection.execute(_SQL.find_migration_table).rowcount != 1:
            return 0
        numbers = {row.number for row in connection.execute(_SQL.list_applied_migrations)}
    return next(number for number in itertools.count() if number + 1 not in numbers)


def _read_migration(path: Path) -> Migration:
    text = path.read_text(encoding="utf-8")
    name, parts = _FILE.fullmatch(path.name), _PARTS.match(text)
    if not name or not parts:
        raise Defect(
            "MIGRATION_FORM",
            f"{path.name}: wants the name NNNN_verb_noun.sql, a '-- up' and a '-- down' part",
        )
    header = {match["key"]: match["value"] for match in _HEADER.finditer(parts["header"])}
    wrong = [key for key, value in header.items() if value not in _ALLOWED[key]]
    tables = _PARTITIONED.search(parts["header"])
    if tables and header.get("transaction") != "off":
        raise Defect(
            "MIGRATION_HEADER", f"{path.name}: '-- partitions: …' is for '-- transaction: off' alone"
        )
    if wrong or not {"phase", "transaction"} <= header.keys():
        raise Defect(
            "MIGRATION_HEADER",
            f"{path.name}: the header must state '-- phase: expand|contract' and '-- transaction: on|off'",
        )
    return Migration(
        number=int(name["number"]),
        name=name["name"],
        phase=header["phase"],
        in_transaction=header["transaction"] == "on",
        as_admin=header.get("role") == "admin",
        partitioned=tables["tables"].split() if tables else (),
        up=parts["up"],
        down=parts["down"],
        checksum=hashlib.sha256(text.encode()).hexdigest(),
    )


def _connected(url: str) -> psycopg.Connection[AppliedMigration]:
    return psycopg.connect(
        url,
        autocommit=True,
        prepare_threshold=None,
        row_factory=class_row(AppliedMigration),
        **OWNER_LIMITS,
    )


@contextmanager
def _exclusive(url: str) -> Iterator[psycopg.Connection[AppliedMigration]]:
    # The lock has a connection and transaction of its own. It must outlive the transactions of the
    # migrations, and also hold while one runs outside of any. Idle, it holds no snapshot, so that CREATE
    # INDEX CONCURRENTLY does not wait for it.
    with psycopg.connect(url, prepare_threshold=None, **OWNER_LIMITS) as guard, _connected(url) as connection:
        guard.execute(_SQL.keep_guard_alive)
        # CREATE INDEX CONCURRENTLY waits for snapshots, and a statement that waits has one: so it asks again.
        while guard.execute(_SQL.try_to_lock_migrations).fetchone() != (True,):
            time.sleep(LOCK_POLL_SECONDS)
        connection.execute(_SQL.keep_made_roles)
        connection.execute(_SQL.create_migration_table)
        yield connection
        guard.rollback()


def _read_applied(
    connection: psycopg.Connection[AppliedMigration], migrations: Sequence[Migration]
) -> list[AppliedMigration]:
    applied = connection.execute(_SQL.list_applied_migrations).fetchall()
    known = {migration.number: migration for migration in migrations}
    for row in applied:
        label = f"{row.number:04}_{row.name}.sql"
        if row.number not in known:
            raise Defect("MIGRATION_UNKNOWN", f"the database has {label}, which this release does not know")
        if known[row.number].checksum != row.checksum:
            raise Defect(
                "MIGRATION_EDITED",
                f"{label} was edited after it was applied: restore it and write a new migration instead."
                " Where nobody edited it, another release made this database: use that release, or remove"
                " a local database with make clean (its data is lost).",
            )
    return applied


def _run(
    connection: psycopg.Connection[AppliedMigration],
    migration: Migration,
    script: str,
    bookkeeping: str,
    say: Callable[[str], None],
) -> None:
    notices: list[str] = []

    def hear(diagnostic: psycopg.errors.Diagnostic) -> None:
        if len(notices) < _NOTICE_LIMIT and diagnostic.message_primary:
            notices.append(diagnostic.message_primary)

    record = {"number": migration.number, "name": migration.name, "checksum": migration.checksum}
    connection.add_notice_handler(hear)
    try:
        if migration.in_transaction:
            for tries in range(1, MAX_LOCK_TRIES + 1):
                if _try(connection, migration, script, bookkeeping, record):
                    break
                _wait_for_others(connection, migration, tries, say)
        else:
            connection.execute(_SQL.act_as_admin if migration.as_admin else _SQL.act_as_owner_until_told)
            for statement in _list_statements(connection, migration, script):
                connection.execute(statement)
            connection.execute(_SQL.act_as_admin)
            connection.execute(bookkeeping, record)
    finally:
        connection.remove_notice_handler(hear)
    for notice in notices:
        say(f"  {notice}")


def _list_statements(
    connection: psycopg.Connection[AppliedMigration], migration: Migration, script: str
) -> list[str]:
    """Return the part itself, or one for each partition: only one statement at a time may be concurrent."""
    if not migration.partitioned:
        return [script]
    with connection.cursor(row_factory=scalar_row) as cursor:
        names = cursor.execute(_SQL.list_partitions, {"tables": list(migration.partitioned)}).fetchall()
    return [script.replace("{partition}", name) for name in names]


def _try(
    connection: psycopg.Connection[AppliedMigration],
    migration: Migration,
    script: str,
    bookkeeping: str,
    record: Mapping[str, object],
) -> bool:
    """Run a migration in one transaction; return False where a lock was not to be had in time."""
    try:
        with connection.transaction():
            connection.execute(_SQL.limit_lock_wait, {"milliseconds": int(MAX_LOCK_SECONDS * 1000)})
            connection.execute(_SQL.act_as_admin if migration.as_admin else _SQL.act_as_owner)
            connection.execute(script)
            connection.execute(_SQL.act_as_admin)
            connection.execute(bookkeeping, record)
    except psycopg.errors.LockNotAvailable:
        return False
    return True


def _wait_for_others(
    connection: psycopg.Connection[AppliedMigration],
    migration: Migration,
    tries: int,
    say: Callable[[str], None],
) -> None:
    label = f"{migration.number:04}_{migration.name}.sql"
    if tries == MAX_LOCK_TRIES:
        sentence = f"{label} waited {tries} times for a lock that a transaction held; nothing of it was done"
        remedy = "Find what has been open for long in pg_stat_activity, end it, and migrate again."
        raise Transient("MIGRATION_LOCKED", sentence, remedy=remedy)
    say(f"  {label} waits for a lock, and lets others pass")
    connection.execute(_SQL.let_others_pass, {"seconds": LOCK_PAUSE_SECONDS})
