"""Migrations beside a service that runs: no lock is held for long, and none is waited for without end."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from signet.core.errors import Transient
from signet.store.schema import migrations
from signet.store.schema.migrations import Migration, migrate_up, read_migrations
from signet.wiring.process import MIGRATIONS_FOLDER

# The files up to this one landed before the rule.
LANDED = 53
REAL = read_migrations(MIGRATIONS_FOLDER)
MADE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.IGNORECASE)
INDEXED = re.compile(r"CREATE (?:UNIQUE )?INDEX(?! CONCURRENTLY)[^;]*? ON (?:ONLY )?(\w+)", re.IGNORECASE)
ALTERED = re.compile(r"ALTER TABLE (?:ONLY )?(\w+)([^;]*)", re.IGNORECASE)
CONSTRAINED = re.compile(r"\b(?:CHECK|REFERENCES|SET NOT NULL)\b", re.IGNORECASE)
NOT_VALID, VALIDATED = re.compile(r"\bNOT VALID\b", re.IGNORECASE), re.compile(r"VALIDATE CONSTRAINT (\w+)")
NAMED = re.compile(r"ADD CONSTRAINT (\w+)", re.IGNORECASE)
COMMENT, BODY = re.compile(r"--[^\n]*"), re.compile(r"(\$\w*\$).*?\1", re.DOTALL)


def find_faults(up: str) -> Iterator[str]:
    """Yield what reads a table of before under a lock that keeps others from writing."""
    text = BODY.sub("", COMMENT.sub("", up))
    new = set(MADE.findall(text))
    for table in INDEXED.findall(text):
        if table not in new:
            yield f"an index of {table} without CONCURRENTLY"
    for table, changes in ALTERED.findall(text):
        if table not in new and CONSTRAINED.search(changes) and not NOT_VALID.search(changes):
            yield f"a constraint of {table} without NOT VALID"
    added = set(NAMED.findall(text))
    for constraint in VALIDATED.findall(text):
        if constraint in added:
            yield f"{constraint} is validated under the lock that adds it"


@pytest.mark.parametrize("migration", REAL[LANDED:], ids=lambda migration: migration.name)
def test_a_migration_keeps_nobody_from_writing(migration: Migration) -> None:
    assert list(find_faults(migration.up)) == []


@pytest.mark.parametrize(
    "up",
    [
        "CREATE INDEX a ON documents (id);",
        "CREATE UNIQUE INDEX a\n    ON documents (id);",
        "ALTER TABLE documents ADD COLUMN a text CHECK (a <> '');",
        "ALTER TABLE documents ADD CONSTRAINT a CHECK (id IS NOT NULL);",
        "ALTER TABLE documents ALTER COLUMN data SET NOT NULL;",
        "ALTER TABLE t ADD CONSTRAINT a CHECK (true) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT a;",
    ],
)
def test_what_locks_for_long_is_found(up: str) -> None:
    assert len(list(find_faults(up))) == 1


@pytest.mark.parametrize(
    "up",
    [
        "CREATE INDEX CONCURRENTLY a ON documents (id);",
        "CREATE TABLE t (a text CHECK (a <> '')); CREATE INDEX b ON t (a);",
        "ALTER TABLE documents ADD CONSTRAINT a CHECK (id IS NOT NULL) NOT VALID;",
        "ALTER TABLE documents ADD COLUMN a text; -- CREATE INDEX a ON documents (id);",
    ],
)
def test_what_locks_for_a_moment_is_fine(up: str) -> None:
    assert list(find_faults(up)) == []


# --- waiting for a lock ---


@pytest.fixture
def altering(
    tmp_path: Path, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Migration, ...]:
    """Return two migrations of which the first is applied; a lock is waited for very shortly."""
    monkeypatch.setattr(migrations, "MAX_LOCK_SECONDS", 0.01)
    monkeypatch.setattr(migrations, "LOCK_PAUSE_SECONDS", 0.0)
    head = "-- phase: expand\n-- transaction: on\n-- role: admin\n\n-- up\n"
    (tmp_path / "0001_create_thing.sql").write_text(f"{head}CREATE TABLE thing (a text);\n-- down\n")
    (tmp_path / "0002_widen_thing.sql").write_text(f"{head}ALTER TABLE thing ADD COLUMN b text;\n-- down\n")
    found = read_migrations(tmp_path)
    migrate_up(empty_database_url, found[:1], say=lambda _: None)
    return found


def test_a_migration_lets_others_pass_and_tries_again(
    altering: tuple[Migration, ...], empty_database_url: str
) -> None:
    with psycopg.connect(empty_database_url) as other:
        other.execute("LOCK TABLE thing IN ACCESS SHARE MODE")
        heard: list[str] = []

        def hear(line: str) -> None:
            heard.append(line)
            other.rollback()

        assert migrate_up(empty_database_url, altering, say=hear) == 1
    assert heard == [
        "  0002_widen_thing.sql waits for a lock, and lets others pass",
        "applied 0002 widen_thing",
    ]


def test_a_migration_does_not_wait_without_end(
    altering: tuple[Migration, ...], empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MAX_LOCK_TRIES", 2)
    heard: list[str] = []
    with psycopg.connect(empty_database_url) as other:
        other.execute("LOCK TABLE thing IN ACCESS SHARE MODE")
        with pytest.raises(Transient) as refused:
            migrate_up(empty_database_url, altering, say=heard.append)
    assert (refused.value.code, len(heard)) == ("MIGRATION_LOCKED", 1)
    assert migrate_up(empty_database_url, altering, say=heard.append) == 1
