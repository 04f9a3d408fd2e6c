"""A company with a row in every tenant table, and the names in it that an outsider might guess."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID, uuid4

from psycopg import sql
from psycopg.types.json import Jsonb

from signet.api.application import Application
from signet.core.approvals.policy import hash_policy
from signet.core.tenants.quotas import QUOTAS
from signet.ids import created_at_of, make_id
from tests.integration.engine.definitions.test_definitions import read_example
from tests.support.api_application import OPERATOR, wire
from tests.support.approval_requests import one_stage
from tests.support.database.attacks import fill, tenant_tables
from tests.support.http_client import Client
from tests.support.shared_company import CompanyWithWorkers, standing_company

# A word in texts of the victim and nowhere else. An answer to an outsider that holds it is a leak.
MARK = "SECRETMARK"
NAME = "secret_mark"

DEAD_LETTER = make_id()

# The victim's own people may send requests meanwhile, which are counted.
UNCOUNTED = ("quota_meters",)

# The query of the victim's rows for each name in a path.
PLACES: Mapping[str, LiteralString] = {
    "document_id": "SELECT id FROM documents WHERE deleted_at IS NULL ORDER BY id LIMIT 1",
    "request_id": "SELECT id FROM transition_requests ORDER BY id LIMIT 1",
    "approval_id": f"SELECT id FROM approval_requests WHERE node_id = 'usr:approval:{NAME}'",
    "delegation_id": "SELECT id FROM approval_delegations ORDER BY id LIMIT 1",
    "instance_id": "SELECT id FROM workflow_instances ORDER BY id LIMIT 1",
    "dead_letter_id": "SELECT id FROM workflow_side_effects_outbox WHERE status = 'dead_letter'",
    "effect_id": "SELECT id FROM workflow_side_effects_outbox WHERE status = 'dead_letter'",
    "definition_id": f"SELECT id FROM workflow_definitions WHERE name = '{NAME}' AND base_ref IS NOT NULL",
    "entity_type": f"SELECT '{NAME}'",
    "node_id": "SELECT 'sys:start'",
    "template": "SELECT 'invoice'",
    "notification_id": "SELECT id FROM notifications ORDER BY id LIMIT 1",
    "event_id": "SELECT id FROM workflow_inbound_events ORDER BY id LIMIT 1",
    "endpoint": "SELECT name FROM inbound_endpoints",
    "name": f"SELECT '{NAME}'",
    "version": "SELECT 1",
    "user_id": f"SELECT '{NAME}'",
    "role": f"SELECT '{NAME}'",
    "key_id": "SELECT id FROM api_keys ORDER BY id LIMIT 1",
    "change_id": "SELECT id FROM control_changes ORDER BY id LIMIT 1",
    "account_id": f"SELECT '{NAME}'",
    "tenant_id": "SELECT tenant_id FROM tenants",
    "quota_name": "SELECT 'api:read'",
    "incident_id": "SELECT id FROM incidents ORDER BY id LIMIT 1",
    "proposal_id": "SELECT id FROM break_glass_proposals ORDER BY id LIMIT 1",
    "other_version": "SELECT 1",
    "rule": f"SELECT '{NAME}'",
    "action": "SELECT 'assign_cost_center'",
}


@dataclass(frozen=True)
class Victim:
    standing: CompanyWithWorkers
    application: Application
    # The victim's things by their names in paths.
    things: Mapping[str, str]
    # Every id of the tenant. None may be returned to others who did not send it.
    ids: frozenset[str]

    @property
    def tenant_id(self) -> UUID:
        return self.standing.company.tenant_id

    @property
    def admin(self) -> Client:
        return Client(self.application, self.tenant_id, "carl", ("admin",))

    @property
    def operator(self) -> Client:
        return Client(self.application, uuid4(), "olga", (OPERATOR,))

    def digest(self) -> dict[str, Any]:
        """Return the digest of all its rows, table by table."""
        tables = [name for name in tenant_tables(self.standing) if name not in UNCOUNTED]
        return {table: self._digest_table(table) for table in tables}

    def _digest_table(self, table: str) -> Any:
        query = sql.SQL(
            "SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM {} t WHERE tenant_id = {}"
        ).format(sql.Identifier(table), str(self.tenant_id))
        return self.standing.admin.execute(query).fetchone()


@contextmanager
def standing_victim(server_url: str, keys: Sequence[str]) -> Iterator[Victim]:
    """Yield the victim, with an answer under each of these idempotency keys."""
    with standing_company(server_url) as standing:
        fill(standing)
        mark(standing)
        standing.run(
            "INSERT INTO idempotency_keys SELECT tenant_id, key, repeat('0', 64), %s"
            " FROM tenants, unnest(%s::text[]) AS key",
            Jsonb({"status": 200, "body": {"kept": MARK}}),
            list(keys),
        )
        application = wire(standing.company.database)
        things = {name: str(standing.row(query)[0]) for name, query in PLACES.items()}
        yield Victim(standing, application, things, frozenset(_list_ids(standing)))


AMPLE: LiteralString = (
    "INSERT INTO tenant_quotas (tenant_id, name, capacity, refill_seconds)"
    " SELECT tenant_id, %s, 10000000, 1 FROM tenants ON CONFLICT (tenant_id, name)"
    " DO UPDATE SET capacity = 10000000, refill_seconds = 1"
)


def mark(standing: CompanyWithWorkers) -> None:
    """Give unique names and texts, and a quota that lasts for every route there is."""
    mark_people(standing)
    standing.run(
        "INSERT INTO approval_chains (tenant_id, name, version, label, hash, created_by)"
        " SELECT tenant_id, %s, 1, %s, hash, created_by FROM approval_chains LIMIT 1",
        NAME,
        MARK,
    )
    standing.run(
        "INSERT INTO approval_chain_steps SELECT tenant_id, %s, 1, position, body FROM approval_chain_steps",
        NAME,
    )
    text = one_stage("carl").to_text()
    standing.run(
        "INSERT INTO approval_requests (tenant_id, id, instance_id, step_execution_id, node_id, document_id,"
        " document_version, snapshot_version_id, snapshot_hash, definition_hash, policy, policy_hash,"
        " requester_id, created_at)"
        " SELECT tenant_id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), %s, document_id,"
        " version, id, hash, hash, %s, %s, 'carl', now() FROM document_versions LIMIT 1",
        f"usr:approval:{NAME}",
        text,
        hash_policy(text),
    )
    standing.run("UPDATE inbound_endpoints SET name = %s", NAME)
    standing.run("UPDATE endpoints SET name = %s", NAME)
    # Its own people need quota to look for everything.
    lift_quotas(standing)
    standing.run(
        "INSERT INTO workflow_side_effects_outbox (tenant_id, created_at, id, instance_id, step_execution_id,"
        " effect_type, endpoint, event_idempotency_key, status, due_at, error)"
        " SELECT tenant_id, %s, %s, gen_random_uuid(), gen_random_uuid(), 'webhook', %s, sha256('dead'),"
        " 'dead_letter', now(), %s FROM tenants",
        created_at_of(DEAD_LETTER),
        DEAD_LETTER,
        NAME,
        MARK,
    )
    company = standing.company
    company.publish("invoice", contract=NAME, label=MARK)
    patch = {**read_example("invoice/patch.yaml"), "patch": NAME, "label": MARK}
    company.definitions.create(company.caller(), "org_patch", patch)
    standing.run(
        "INSERT INTO rules (tenant_id, entity_type, name, phase, condition, actions)"
        " SELECT tenant_id, %s, %s, 'before', '{\"expression\": \"false\"}', %s FROM tenants",
        NAME,
        NAME,
        Jsonb([{"kind": "reject", "message": MARK, "field": None}]),
    )
    mark_times(standing)
    standing.run_unguarded("UPDATE documents SET data = data || jsonb_build_object('notes', %s::text)", MARK)


def lift_quotas(standing: CompanyWithWorkers) -> None:
    """Let the people of all tenants that are there ask as often as they like."""
    for name in QUOTAS:
        standing.run(AMPLE, name)


def mark_times(standing: CompanyWithWorkers) -> None:
    """Mark what begins or ends by itself: calendars and automations."""
    standing.run("INSERT INTO calendars SELECT tenant_id, %s, 1 FROM tenants", NAME)
    standing.run(
        "INSERT INTO calendar_versions (tenant_id, name, version, body, hash, created_by)"
        " SELECT tenant_id, %s, 1, %s, repeat('0', 64), 'carl' FROM tenants",
        NAME,
        json.dumps({"zone": MARK}),
    )
    standing.run(
        "INSERT INTO automations (tenant_id, id, name, entity_type, paused_at, paused_by, pause_note)"
        " SELECT tenant_id, gen_random_uuid(), %s, %s, now(), %s, %s FROM tenants",
        *(NAME, NAME, NAME, MARK),
    )
    standing.run(
        "INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id,"
        " data) SELECT tenant_id, now(), gen_random_uuid(), 'automation', id, 'not_started', %s, %s"
        " FROM automations WHERE name = %s",
        *(NAME, Jsonb({"code": "AUTOMATION_PAUSED", "reason": MARK}), NAME),
    )


def mark_people(standing: CompanyWithWorkers) -> None:
    standing.run("INSERT INTO roles SELECT tenant_id, %s, ARRAY['secret_mark:read'] FROM tenants", NAME)
    standing.run("INSERT INTO members SELECT tenant_id, %s, %s FROM tenants", NAME, MARK)
    standing.run("INSERT INTO member_roles SELECT tenant_id, %s, %s FROM tenants", NAME, NAME)
    standing.run("INSERT INTO org_chart SELECT tenant_id, %s, 'mona' FROM tenants", NAME)
    standing.run("UPDATE service_accounts SET id = %s, label = %s", NAME, MARK)


def _list_ids(standing: CompanyWithWorkers) -> Iterator[str]:
    columns = standing.rows(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND data_type = 'uuid' AND table_name = ANY (%s)",
        tenant_tables(standing),
    )
    for table, column in columns:
        query = sql.SQL("SELECT DISTINCT {}::text FROM {} WHERE {} IS NOT NULL").format(
            *[sql.Identifier(name) for name in (column, table, column)]
        )
        for (found,) in standing.admin.execute(query).fetchall():
            yield str(found)


def never_was(things: Mapping[str, str]) -> dict[str, str]:
    """Return ids and names of the same forms that nobody has."""
    return {name: _never(name, value) for name, value in things.items()}


def _never(name: str, value: str) -> str:
    try:
        UUID(value)
    except ValueError:
        return value if value.isdigit() else f"never_{value}"
    return str(uuid4())
