"""Inbound endpoints of before as 0020 takes them over: with everybody who has made or changed them."""

import json
from uuid import UUID

import psycopg

from signet.store.schema.migrations import migrate_up, read_migrations
from signet.wiring.process import MIGRATIONS_FOLDER

ALL = read_migrations(MIGRATIONS_FOLDER)
BEFORE = [migration for migration in ALL if migration.number < 20]
TENANT, KEY = UUID(int=1), UUID(int=7)


def test_an_endpoint_of_before_has_the_persons_of_its_audit_rows(empty_database_url: str) -> None:
    migrate_up(empty_database_url, BEFORE, say=lambda _: None)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'x', '{}')", [TENANT])
        key = (
            "INSERT INTO api_keys (tenant_id, id, name, secret_hash, roles, created_by, owner_id, created_at)"
        )
        key += " VALUES (%s, %s, 'erp', sha256('x'), '{clerk}', 'kim', 'kim', now())"
        connection.execute(key.encode(), [TENANT, KEY])
        owner = "INSERT INTO api_key_owners (tenant_id, key_id, owner_id, since, by)"
        connection.execute(f"{owner} VALUES (%s, %s, 'lou', now(), 'kim')".encode(), [TENANT, KEY])
        made = "INSERT INTO inbound_endpoints (tenant_id, name, key_prefix, secrets, created_by, created_at,"
        made += " updated_at) VALUES (%s, %s, 'x', %s, %s, now(), now())"
        for name, maker in (
            ("bank", "ed"),
            ("erp", "key:erp"),
            ("shop", f"key:{KEY}"),
            ("old", "signet:system"),
        ):
            connection.execute(made.encode(), [TENANT, name, [name], maker])
        note = (
            "INSERT INTO audit_log (tenant_id, id, subject_type, subject_id, hash, content, action, actor_id,"
        )
        note += " created_at, epoch, xid) VALUES (%s, gen_random_uuid(), 'inbound_endpoint', 'bank', %s, %s,"
        note += " 'replace', %s, now(), 1, pg_current_xact_id())"
        for number, (actor, content) in enumerate((("zoe", {}), ("key:gone", {"responsible": ["mia"]}))):
            connection.execute(note.encode(), [TENANT, f"{number:064}", json.dumps(content), actor])
    migrate_up(empty_database_url, ALL, say=lambda _: None)
    with psycopg.connect(empty_database_url) as connection:
        query = "SELECT e.name, s.persons FROM inbound_endpoints e LEFT JOIN responsible_sets s"
        query += " ON s.hash = e.responsible ORDER BY e.name"
        assert connection.execute(query.encode()).fetchall() == [
            ("bank", ["ed", "mia", "zoe"]),
            ("erp", ["kim", "lou"]),
            ("old", None),
            ("shop", ["kim", "lou"]),
        ]
