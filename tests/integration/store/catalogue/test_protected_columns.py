"""Columns that never change, and results of steps that stay: every column, attacked as every role."""

from collections.abc import Iterator
from typing import LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from tests.support.database.attacks import (
    FROZEN,
    NO_PRIVILEGE,
    OWNER,
    STATUS_REGRESSION,
    WRITTEN_ONCE,
    acting,
    attack,
    filled_company,
)
from tests.support.shared_company import CompanyWithWorkers

VIOLATES_CHECK = "23514"
EVENTS, EFFECTS, INSTANCES, STEPS = (
    "workflow_events_outbox",
    "workflow_side_effects_outbox",
    "workflow_instances",
    "workflow_step_executions",
)
# Columns of a row's progress; all others identify it.
QUEUED = {"status", "attempts", "max_attempts", "due_at", "claim_id", "lease_until", "completed_at", "error"}
GIVEN_BACK = {"given_back", "given_back_since", "given_back_code"}
FREE = {
    EVENTS: {*QUEUED, *GIVEN_BACK, "discard_reason"},
    EFFECTS: {
        *QUEUED,
        *("response_json", "withdrawn_at", "withdraw_reason", "discard_reason", "first_id", "held_at"),
        *("planned_at", "claimed_at", "left_at", "lost_at"),
    },
    INSTANCES: {
        "definition_id",
        "definition_version",
        "entity_version",
        "overlap_key",
        "status",
        "reason",
        "version",
        "active_tokens",
        "current_nodes",
        "edit_window",
        "edit_window_node",
        "context_json",
        "timeout_at",
        "last_step_execution_id",
        "actor_id",
        "actor_roles",
        "responsible",
        "pins",
        "request_id",
        "trace_id",
        "completed_at",
        "updated_at",
    },
}
# Another value that the column's own checks accept.
OTHER: dict[str, LiteralString] = {
    "kind": "CASE kind WHEN 'automation' THEN 'envelope' ELSE 'automation' END",
    "effect_type": "'sms'",
    "run_as": "'system'",
    "status": "'running'",
}
OTHER_BY_KIND: dict[str, LiteralString] = {
    "uuid": "gen_random_uuid()",
    "integer": "4711",
    "bigint": "4711",
    "text": "'other'",
    "text[]": "'{other}'",
    "boolean": "true",
    "bytea": "sha256('other')",
    "jsonb": """'{"other": 1}'""",
    "timestamp with time zone": "now() + interval '1 minute'",
}


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with filled_company(server_url) as made:
        yield made


def columns_of(standing: CompanyWithWorkers, table: str) -> dict[str, sql.Composed]:
    """Return for each column a statement that gives it another value in every row."""
    found = standing.rows(
        "SELECT attname, atttypid::regtype::text FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
        table,
    )
    return {
        name: sql.SQL("UPDATE {} SET {} = {}").format(
            sql.Identifier(table), sql.Identifier(name), sql.SQL(OTHER.get(name, OTHER_BY_KIND[kind]))
        )
        for name, kind in found
    }


@pytest.mark.parametrize("table", FREE)
def test_not_even_the_owner_makes_a_row_another_one(standing: CompanyWithWorkers, table: str) -> None:
    columns = columns_of(standing, table)
    assert columns.keys() > FREE[table], "each column is one or the other"
    answers = {name: attack(standing, OWNER, columns[name]) for name in columns.keys() - FREE[table]}
    assert set(answers.values()) == {WRITTEN_ONCE}, answers


def test_the_engine_cannot_make_an_instance_another_one(standing: CompanyWithWorkers) -> None:
    columns = columns_of(standing, INSTANCES)
    for role in ("signet_api", "signet_worker"):
        for name in columns.keys() - FREE[INSTANCES]:
            assert attack(standing, role, columns[name]) == WRITTEN_ONCE, name
        assert attack(standing, role, columns["context_json"]) == ""
        # Only the instance's own step of a move may change these.
        for name in ("definition_id", "definition_version"):
            assert attack(standing, role, columns[name]) == FROZEN, name


GRANTED = {
    "signet_api": {"status", "attempts", "due_at"},
    "signet_worker": {"status", "attempts", "due_at", "claim_id", "lease_until", "completed_at", "error"},
    "signet_janitor": {"status", "due_at", "claim_id", "lease_until", "error"},
    "signet_dispatch": set[str](),
}

OF_EVENTS = {"signet_api": {"discard_reason"}, "signet_worker": GIVEN_BACK}
OF_EFFECTS = {
    "signet_api": {
        *("withdrawn_at", "withdraw_reason", "discard_reason", "held_at", "planned_at", "max_attempts"),
    },
    "signet_worker": {
        *("response_json", "withdrawn_at", "first_id", "held_at", "max_attempts", "planned_at"),
        *("claimed_at", "left_at", "lost_at"),
    },
    "signet_janitor": {"lost_at"},
}


@pytest.mark.parametrize("table", [EVENTS, EFFECTS])
@pytest.mark.parametrize("role", GRANTED)
def test_a_role_may_write_only_how_a_queued_row_goes_on(
    standing: CompanyWithWorkers, role: str, table: str
) -> None:
    granted = GRANTED[role] | (OF_EFFECTS if table == EFFECTS else OF_EVENTS).get(role, set())
    answers = {name: attack(standing, role, text) for name, text in columns_of(standing, table).items()}
    assert {name for name, answer in answers.items() if answer != NO_PRIVILEGE} == granted


def test_saying_again_what_a_row_is_changes_nothing(standing: CompanyWithWorkers) -> None:
    for table in FREE:
        statement = sql.SQL("UPDATE {} SET id = id").format(sql.Identifier(table))
        assert attack(standing, OWNER, statement) == ""


CLAIMS: dict[LiteralString, str] = {
    "status = 'processing'": VIOLATES_CHECK,
    "status = 'processing', claim_id = gen_random_uuid()": VIOLATES_CHECK,
    "status = 'processing', lease_until = now()": VIOLATES_CHECK,
    "claim_id = gen_random_uuid(), lease_until = now()": VIOLATES_CHECK,
    "status = 'processing', claim_id = gen_random_uuid(), lease_until = now()": "",
}


@pytest.mark.parametrize("table", [EVENTS, EFFECTS])
@pytest.mark.parametrize("change", CLAIMS)
def test_a_row_has_a_claim_with_a_lease_exactly_while_it_is_processing(
    standing: CompanyWithWorkers, change: LiteralString, table: str
) -> None:
    statement = sql.SQL("UPDATE {} SET " + change).format(sql.Identifier(table))
    for role in ("signet_worker", OWNER):
        assert attack(standing, role, statement) == CLAIMS[change]


# --- results of steps ---


@pytest.mark.parametrize("role", ["signet_api", "signet_worker", OWNER])
def test_of_an_ended_step_only_its_consumption_may_still_be_told(
    standing: CompanyWithWorkers, role: str
) -> None:
    """Attack the company's steps, which have all ended."""
    for name, statement in columns_of(standing, STEPS).items():
        expected = {"applied": "", "status": STATUS_REGRESSION}.get(name, WRITTEN_ONCE)
        assert attack(standing, role, statement) == expected, name


@pytest.mark.parametrize("status", ["completed", "failed", "skipped", "cancelled"])
def test_a_running_step_ends_once_with_its_outcome(standing: CompanyWithWorkers, status: str) -> None:
    step_id = insert_running_step(standing)
    end: LiteralString = (
        "UPDATE workflow_step_executions SET status = %s, end_seq = 9, output_json = %s, error = %s,"
        " version_after = 4, completed_at = now() WHERE id = %s"
    )
    with acting(standing, "signet_worker") as connection:
        assert connection.execute(end, [status, '{"outcome": "a"}', "why", step_id]).rowcount == 1
        for late in ("output_json = '{}'", "error = NULL", "end_seq = 10", "version_after = 5"):
            with pytest.raises(psycopg.Error) as caught, connection.transaction():
                change = sql.SQL("UPDATE workflow_step_executions SET {} WHERE id = {}")
                connection.execute(change.format(sql.SQL(late), step_id))
            assert caught.value.sqlstate == WRITTEN_ONCE, late
        connection.execute("UPDATE workflow_step_executions SET applied = true WHERE id = %s", [step_id])


def insert_running_step(standing: CompanyWithWorkers) -> UUID:
    step_id = uuid4()
    standing.run(
        "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, node_id,"
        " node_type, token_id, entity_version, version_after, status, idempotency_key, started_at,"
        " actor_user_id)"
        " SELECT tenant_id, now(), %s, id, 1, 'usr:a:b', 'approval', 'T', 1, 1, 'running', sha256(%s), now(),"
        " 'carl' FROM workflow_instances LIMIT 1",
        step_id,
        step_id.bytes,
    )
    return step_id
