"""A company with a row in every tenant table, and statements against it as any role."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from signet.core.control.change import hash_change
from signet.engine.documents.commands import RequestTransition, Update
from tests.support.database.catalogue import RUNTIME_ROLES, WITHOUT_TENANT
from tests.support.shared_company import Admin, CompanyWithWorkers, standing_company

OWNER = "signet_owner"
ROLES = [*RUNTIME_ROLES, OWNER]
STATUS_REGRESSION, WRITTEN_ONCE, FROZEN = "SG001", "SG002", "SG003"
NO_PRIVILEGE = "42501"  # also the answer of row security to another tenant's row
NO_ROW = "no row"


@contextmanager
def filled_company(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        if made.row("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") != (True,):
            pytest.skip("only a superuser may act as the owner and fill every table")
        fill(made)
        yield made


def fill(standing: CompanyWithWorkers) -> None:
    """Write at least one row of the company in every tenant table."""
    company = standing.company
    applied = standing.create(vendor_contact="Erna Example")
    company.documents.mutate(company.caller(), Update(applied.document_id, 1, {"cost_center": "C"}))
    company.documents.mutate(company.caller(), RequestTransition(applied.document_id, 2, "submit"))
    ended = standing.create().document_id
    standing.put_at(ended, "submitted", "amend_only")
    company.documents.mutate(company.caller(), Update(ended, 1, {"grand_total": 5}))
    tenant = company.tenant_id
    standing.run("INSERT INTO members VALUES (%s, 'mona', 'Mona')", tenant)
    standing.run("INSERT INTO org_chart VALUES (%s, 'carl', 'mona')", tenant)
    standing.run(
        "INSERT INTO audit_seals VALUES (%s, 1, 1, '0', '9', 0, %s, NULL, %s, now())",
        tenant,
        "0" * 64,
        "0" * 64,
    )
    standing.run("INSERT INTO document_turns VALUES (%s, %s, 'clerk', 1)", tenant, applied.document_id)
    standing.run(
        "INSERT INTO rules (tenant_id, entity_type, name, phase, condition, actions)"
        " VALUES (%s, 'other', 'a', 'before', '{}', '[]')",
        tenant,
    )
    standing.run(
        "INSERT INTO rule_executions VALUES (%s, %s, %s, 1, 'invoice', 'a', 1, 'before', true, '{}', now())",
        tenant,
        uuid4(),
        applied.document_id,
    )
    standing.run(
        "INSERT INTO idempotency_keys VALUES (%s, 'kept', %s, '[]'), (%s, 'open', %s, NULL)",
        *[tenant, "0" * 64] * 2,
    )
    standing.run(
        "INSERT INTO contracts SELECT tenant_id, 'draft_one', 1, 'draft', body, hash, created_by"
        " FROM contracts"
    )
    standing.run(
        "INSERT INTO workflow_side_effects_outbox (tenant_id, created_at, id, instance_id, step_execution_id,"
        " effect_type, event_idempotency_key, due_at)"
        " SELECT tenant_id, created_at, id, instance_id, id, 'webhook', idempotency_key, created_at"
        " FROM workflow_step_executions"
    )
    standing.run(
        "INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id)"
        " SELECT tenant_id, now(), id, 'instance', id, 'started', 'carl' FROM workflow_instances"
    )
    standing.run("INSERT INTO tenant_quotas VALUES (%s, 'api:read', 10, 60)", tenant)
    standing.run("INSERT INTO audit_anchors VALUES (%s, 1)", tenant)
    standing.run("INSERT INTO quota_meters VALUES (%s, 'api:read', now())", tenant)
    standing.run("INSERT INTO request_waits VALUES (%s, gen_random_uuid(), 'somebody', now())", tenant)
    fill_automations(standing)
    fill_approvals(standing)
    fill_endpoints(standing)
    fill_machines(standing)
    fill_control(standing)
    fill_calendars(standing)


def fill_calendars(standing: CompanyWithWorkers) -> None:
    """Write a calendar in its first version."""
    tenant = standing.company.tenant_id
    standing.run("INSERT INTO calendars VALUES (%s, 'office', 1)", tenant)
    standing.run(
        "INSERT INTO calendar_versions (tenant_id, name, version, body, hash, created_by)"
        " VALUES (%s, 'office', 1, '{}', repeat('0', 64), 'carl')",
        tenant,
    )


def fill_automations(standing: CompanyWithWorkers) -> None:
    """Write an automation that listens, the switch of all, a cause, and a start that waits."""
    tenant = standing.company.tenant_id
    standing.run(
        "INSERT INTO automations (tenant_id, id, name, entity_type, definition_id, definition_version)"
        " VALUES (%s, gen_random_uuid(), 'chase', 'invoice', gen_random_uuid(), 1)",
        tenant,
    )
    standing.run(
        "INSERT INTO workflow_triggers SELECT tenant_id, entity_type, 'never', id, definition_id,"
        " definition_version FROM automations"
    )
    standing.run("INSERT INTO automation_switches (tenant_id) VALUES (%s) ON CONFLICT DO NOTHING", tenant)
    standing.run(
        "INSERT INTO instance_causes (tenant_id, instance_id) SELECT tenant_id, id FROM workflow_instances"
    )
    standing.run(
        "INSERT INTO queued_starts (tenant_id, overlap_key, id, automation_id, payload, entity_version)"
        " SELECT tenant_id, id || '/', gen_random_uuid(), id, '{}', 1 FROM automations"
    )


def fill_machines(standing: CompanyWithWorkers) -> None:
    """Write a key, with its owner, and a service account."""
    tenant = standing.company.tenant_id
    standing.run(
        "INSERT INTO api_keys (tenant_id, id, name, secret_hash, roles, created_by, created_at)"
        " VALUES (%s, gen_random_uuid(), 'erp', decode(repeat('00', 32), 'hex'), '{clerk}', 'carl', now())",
        tenant,
    )
    standing.run(
        "INSERT INTO service_accounts (tenant_id, id, label, roles, owner_id, created_by)"
        " VALUES (%s, 'posting', 'Posting', '{clerk}', 'carl', 'carl')",
        tenant,
    )


def fill_control(standing: CompanyWithWorkers) -> None:
    """Write a change that waits for another person; the authors of drafts are there by publishing."""
    standing.run(
        "INSERT INTO control_changes (tenant_id, id, kind, name, act, body, base_version, hash, proposed_by,"
        " responsible, created_at, expires_at)"
        " VALUES (%s, gen_random_uuid(), 'endpoint', 'erp', 'replace', '{}', 1, %s, 'mona', '{mona}', now(),"
        " now() + interval '14 days')",
        standing.company.tenant_id,
        hash_change("endpoint", "erp", "replace", 1, "{}"),
    )


def fill_endpoints(standing: CompanyWithWorkers) -> None:
    """Write an endpoint to call, an endpoint for senders, and an event that was sent."""
    standing.run(
        "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
        " VALUES (%s, 'erp', 'https://erp.example/', '{erp}', 'carl')"
        " ON CONFLICT (tenant_id, name) DO UPDATE SET url = excluded.url, secret_refs = excluded.secret_refs",
        standing.company.tenant_id,
    )
    standing.run(
        "INSERT INTO inbound_endpoints VALUES (%s, 'bank', 'paid:', '/data/invoice', '{bank}', 'active', 1,"
        " 'carl', now(), now())",
        standing.company.tenant_id,
    )
    standing.run(
        "INSERT INTO workflow_inbound_events VALUES (%s, gen_random_uuid(), 'paid:R-1', '{}',"
        " 'endpoint:bank', 'm-1', NULL, now(), now() + interval '7 days')",
        standing.company.tenant_id,
    )
    standing.run(
        "INSERT INTO workflow_event_waits"
        " VALUES (%s, 'paid:R-1', gen_random_uuid(), gen_random_uuid(), now())",
        standing.company.tenant_id,
    )
    standing.run(
        "INSERT INTO workflow_event_offers SELECT tenant_id, id, gen_random_uuid(), gen_random_uuid(), now(),"
        " true FROM workflow_inbound_events WHERE tenant_id = %s",
        standing.company.tenant_id,
    )


def fill_approvals(standing: CompanyWithWorkers) -> None:
    """Write a request about every version of every document, each with a seat that carl filled for mona."""
    standing.run(
        "INSERT INTO approval_chains (tenant_id, name, version, hash, created_by)"
        " VALUES (%s, 'large', 1, repeat('0', 64), 'carl')",
        standing.company.tenant_id,
    )
    standing.run(
        "INSERT INTO approval_chain_steps SELECT tenant_id, name, version, 1, '{}' FROM approval_chains"
    )
    standing.run(
        "INSERT INTO approval_delegations SELECT tenant_id, gen_random_uuid(), 'mona', 'carl', NULL, now(),"
        " now() + interval '1 day', NULL, 'mona', now() FROM tenants"
    )
    standing.run(
        "INSERT INTO approval_requests (tenant_id, id, instance_id, step_execution_id, node_id, document_id,"
        " document_version, snapshot_version_id, snapshot_hash, definition_hash, policy, policy_hash,"
        " requester_id, created_at)"
        " SELECT tenant_id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'usr:a:b', document_id,"
        " version, id, hash, hash, '{}', hash, 'carl', now() FROM document_versions"
    )
    standing.run(
        "INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id, status,"
        " decided_by, on_behalf_of, decided_at)"
        " SELECT tenant_id, id, 1, 1, 'mona', 'approved', 'carl', 'mona', now() FROM approval_requests"
    )
    standing.run(
        "INSERT INTO approval_decisions"
        " SELECT tenant_id, gen_random_uuid(), id, 1, 1, 'approved', NULL, 'carl',"
        " 'mona', NULL, document_version, snapshot_hash, definition_hash, policy_hash, NULL, now()"
        " FROM approval_requests"
    )
    standing.run("INSERT INTO approval_turns VALUES (%s, 'clerk', 1)", standing.company.tenant_id)
    standing.run(
        "INSERT INTO break_glass_proposals (tenant_id, id, request_id, stage, user_id, reason, proposed_by,"
        " proposed_persons, proposed_at, expires_at)"
        " SELECT tenant_id, gen_random_uuid(), id, 1, 'mona', 'why', 'olga', '{olga}', now(),"
        " now() + interval '1 day' FROM approval_requests"
    )
    standing.run(
        "INSERT INTO incidents (tenant_id, id, instance_id, seq, entity_type, entity_id, token_id, node_id,"
        " code, kind, message, attempts, opened_at) SELECT tenant_id, gen_random_uuid(), id, 1, entity_type,"
        " entity_id, 'T', 'usr:a:b', 'STEP_FAILED', 'business', 'why', 1, now()"
        " FROM workflow_instances LIMIT 1"
    )
    standing.run(
        "INSERT INTO amendments SELECT a.tenant_id, a.id, o.id, o.version, o.status, now()"
        " FROM documents a JOIN documents o ON o.tenant_id = a.tenant_id AND o.id < a.id LIMIT 1"
    )
    standing.run(
        "INSERT INTO notifications SELECT tenant_id, gen_random_uuid(), 'mona', NULL, 'approval_wanted', id,"
        " '{}', now() FROM approval_requests"
    )


@contextmanager
def acting(standing: CompanyWithWorkers, role: str, tenant: str | None = None) -> Iterator[Admin]:
    """Yield a connection in that role and tenant, and roll everything back at the end."""
    with psycopg.connect(standing.admin_url) as connection:
        seen = str(standing.company.tenant_id) if tenant is None else tenant
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [seen])
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
        yield connection
        connection.rollback()


def attack(
    standing: CompanyWithWorkers, role: str, statement: LiteralString | sql.Composed, *values: Any
) -> str:
    """Return the SQLSTATE of the answer, or '' if the statement hit a row."""
    with acting(standing, role) as connection:
        try:
            hit = connection.execute(statement, values).rowcount
        except psycopg.Error as error:
            return error.sqlstate or "?"
    return "" if hit else NO_ROW


def tenant_tables(standing: CompanyWithWorkers) -> list[str]:
    found = standing.rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT relispartition AND relname <> ALL (%s) ORDER BY relname",
        list(WITHOUT_TENANT),
    )
    return [name for (name,) in found]
