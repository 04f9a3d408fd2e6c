"""Approvals that were voided before codes: each gets the code of its sentence, in every tenant."""

from uuid import UUID, uuid4

import psycopg

from signet.store.schema.migrations import migrate_up, read_migrations
from signet.wiring.process import MIGRATIONS_FOLDER

REAL = read_migrations(MIGRATIONS_FOLDER)
TENANTS = (UUID(int=1), UUID(int=2))
MOVED = "the document went another way, or was edited"
EDITED = "the document was edited"


def void(connection: psycopg.Connection, tenant: UUID, outcome: str, ended_for: str | None = None) -> None:
    """Put a voided request on record, whose instance has ended for a reason or runs."""
    instance, document = uuid4(), uuid4()
    connection.execute(
        "INSERT INTO workflow_instances (tenant_id, id, kind, entity_type, entity_id, subject_id,"
        " partition_id, definition_id, definition_version, status, reason, begin_node, begin_version,"
        " started_at, updated_at, completed_at)"
        " VALUES (%(tenant)s, %(id)s, 'envelope', 'thing', %(document)s, 's', 0, %(definition)s, 1,"
        " CASE WHEN %(reason)s::text IS NULL THEN 'running' ELSE 'cancelled' END, %(reason)s, 'sys:start',"
        " 1, now(), now(), CASE WHEN %(reason)s::text IS NOT NULL THEN now() END)",
        {"tenant": tenant, "id": instance, "document": document, "definition": uuid4(), "reason": ended_for},
    )
    connection.execute(
        "INSERT INTO approval_requests (tenant_id, id, instance_id, step_execution_id, node_id, document_id,"
        " document_version, snapshot_version_id, snapshot_hash, definition_hash, policy, policy_hash,"
        " requester_id, status, outcome, created_at, ended_at)"
        " VALUES (%s, %s, %s, %s, 'usr:a:b', %s, 1, %s, 'h', 'h', '{}', 'h', 'ada', 'voided', %s, now(),"
        " now())",
        [tenant, uuid4(), instance, uuid4(), document, uuid4(), outcome],
    )


def test_a_void_from_before_codes_gets_that_of_its_sentence(empty_database_url: str) -> None:
    number = next(index for index, one in enumerate(REAL) if one.name == "say_why_approvals_are_void")
    migrate_up(empty_database_url, REAL[:number], say=lambda _: None)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        for tenant in TENANTS:
            connection.execute(
                "INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 't', '{}')", [tenant]
            )
            void(connection, tenant, MOVED)
            void(connection, tenant, EDITED)
            # Who cancels gives a reason in their own words.
            void(connection, tenant, EDITED, ended_for=EDITED)
    migrate_up(empty_database_url, REAL, say=lambda _: None)
    with psycopg.connect(empty_database_url) as connection:
        found = connection.execute(
            "SELECT r.outcome, i.status, r.void_code FROM approval_requests r JOIN workflow_instances i"
            " ON i.tenant_id = r.tenant_id AND i.id = r.instance_id ORDER BY 1, 2, r.tenant_id"
        ).fetchall()
    expected = [
        (MOVED, "running", "moved_on"),
        (EDITED, "cancelled", "instance_ended"),
        (EDITED, "running", "asked_again"),
    ]
    assert sorted(found) == sorted(expected * 2)
