"""Effects of the release before: each gets the fact whether it may have left, in every tenant."""

from uuid import UUID

import psycopg

from signet.ids import created_at_of, make_id
from signet.store.schema.migrations import migrate_up, read_migrations
from signet.wiring.process import MIGRATIONS_FOLDER

REAL = read_migrations(MIGRATIONS_FOLDER)
TENANTS = (UUID(int=1), UUID(int=2))
LEASE = "LEASE_EXPIRED: whoever worked on it did not come back"
# What its row says, and whether it may have left and was lost.
KINDS = {
    "fresh": ("pending", 0, None, None, (False, False)),
    "tried": ("failed", 1, None, "ANSWERED: 503", (True, False)),
    "taken back": ("pending", 0, '{"status": 503}', None, (True, False)),
    "lost": ("pending", 0, None, LEASE, (True, True)),
    "delivered": ("completed", 1, '{"status": 200}', None, (True, False)),
    "withdrawn": ("withdrawn", 1, None, None, (True, False)),
}


def put(connection: psycopg.Connection, tenant: UUID, kind: str) -> None:
    status, attempts, response, error, _ = KINDS[kind]
    effect_id = make_id()
    connection.execute(
        "INSERT INTO workflow_side_effects_outbox (tenant_id, created_at, id, instance_id, step_execution_id,"
        " effect_type, event_idempotency_key, due_at, trace_id, status, attempts, response_json, error)"
        " VALUES (%s, %s, %s, %s, %s, 'webhook', sha256('k'), now(), %s, %s, %s, %s, %s)",
        [
            tenant,
            created_at_of(effect_id),
            effect_id,
            make_id(),
            make_id(),
            kind,
            status,
            attempts,
            response,
            error,
        ],
    )


def test_an_effect_of_before_says_whether_it_may_have_left(empty_database_url: str) -> None:
    number = next(index for index, one in enumerate(REAL) if one.name == "note_what_left")
    migrate_up(empty_database_url, REAL[:number], say=lambda _: None)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        for tenant in TENANTS:
            connection.execute(
                "INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 't', '{}')", [tenant]
            )
            for kind in KINDS:
                put(connection, tenant, kind)
    migrate_up(empty_database_url, REAL, say=lambda _: None)
    with psycopg.connect(empty_database_url) as connection:
        found = connection.execute(
            "SELECT trace_id, left_at IS NOT NULL, lost_at IS NOT NULL FROM workflow_side_effects_outbox"
        ).fetchall()
    expected = [(kind, *facts) for kind, (*_, facts) in KINDS.items()]
    assert sorted(found) == sorted(expected * 2)
