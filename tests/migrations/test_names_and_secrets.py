"""Rows of before as 0019 takes them over: skeletons of members, and the one use of each secret."""

from collections.abc import Callable
from uuid import UUID

import psycopg
import pytest

from signet.store.schema.migrations import migrate_up, read_migrations
from signet.wiring.process import MIGRATIONS_FOLDER

ALL = read_migrations(MIGRATIONS_FOLDER)
BEFORE = [migration for migration in ALL if migration.number < 19]
ONE, OTHER = UUID(int=1), UUID(int=2)
Run = Callable[..., list[tuple[object, ...]]]


@pytest.fixture
def run(empty_database_url: str) -> Run:
    migrate_up(empty_database_url, BEFORE, say=lambda _: None)

    def run(statement: str, *values: object) -> list[tuple[object, ...]]:
        with psycopg.connect(empty_database_url) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    for tenant_id in (ONE, OTHER):
        run("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'x', '{}')", tenant_id)
    return run


def test_the_oldest_of_ids_that_look_alike_has_the_skeleton(run: Run, empty_database_url: str) -> None:
    insert = "INSERT INTO members (tenant_id, user_id, display_name, created_at) VALUES (%s, %s, 'x', %s)"
    for tenant_id, user_id, day in (
        (ONE, "App1", "2026-01-02"),
        (ONE, "app1", "2026-01-01"),
        (ONE, " app1", "2026-01-03"),
        (ONE, "zo\u00eb", "2026-01-01"),
        (ONE, "Mona_M@a.example", "2026-01-01"),
        (OTHER, "APP1", "2026-01-05"),
    ):
        run(insert, tenant_id, user_id, day)
    migrate_up(empty_database_url, ALL, say=lambda _: None)
    kept = run("SELECT user_id, skeleton FROM members WHERE tenant_id = %s ORDER BY user_id", ONE)
    assert kept == [
        (" app1", None),
        ("App1", None),
        ("Mona_M@a.example", "mona_m@a.example"),
        ("app1", "app1"),
        # The application alone knows the letters of other alphabets.
        ("zo\u00eb", None),
    ]
    assert run("SELECT skeleton FROM members WHERE tenant_id = %s", OTHER) == [("app1",)]


def test_the_oldest_of_endpoints_that_share_a_secret_has_it(run: Run, empty_database_url: str) -> None:
    out = "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by, created_at)"
    out += " VALUES (%s, %s, 'https://a.example/', %s, 'carl', %s)"
    inbound = "INSERT INTO inbound_endpoints (tenant_id, name, key_prefix, secrets, created_by, created_at,"
    inbound += " updated_at) VALUES (%s, %s, 'x', %s, 'carl', %s, now())"
    run(inbound, ONE, "bank", ["bank_key", "shared"], "2026-01-01")
    run(out, ONE, "hook", ["bank_key"], "2026-01-02")
    run(out, ONE, "erp", ["erp_key", "shared"], "2025-01-02")
    run(out, OTHER, "hook", ["bank_key"], "2026-01-02")
    migrate_up(empty_database_url, ALL, say=lambda _: None)
    uses = "SELECT secret, direction, endpoint FROM secret_uses WHERE tenant_id = %s ORDER BY secret"
    assert run(uses, ONE) == [("bank_key", "in", "bank"), ("erp_key", "out", "erp"), ("shared", "out", "erp")]
    assert run(uses, OTHER) == [("bank_key", "out", "hook")]
    # Both go on: nothing of theirs was changed.
    assert run("SELECT name, secret_refs FROM endpoints WHERE tenant_id = %s ORDER BY name", ONE) == [
        ("erp", ["erp_key", "shared"]),
        ("hook", ["bank_key"]),
    ]
