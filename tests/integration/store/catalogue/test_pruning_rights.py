"""Functions that prune, attacked: as each role, beyond their bounds, and for rows that must stay."""

from collections.abc import Iterator
from typing import LiteralString

import pytest
from psycopg import sql

from tests.support.database.attacks import NO_PRIVILEGE, NO_ROW, acting, attack, filled_company, tenant_tables
from tests.support.database.catalogue import RUNTIME_ROLES
from tests.support.shared_company import CompanyWithWorkers

BAD_PARAMETER = "22023"
JANITOR = "signet_janitor"
CALLS: list[LiteralString] = [
    "SELECT prune_outbox('events', '90 days', 10)",
    "SELECT prune_receipts('90 days', NULL, 10)",
    "SELECT prune_idempotency_keys('7 days', 10)",
    "SELECT prune_inbound_events(10)",
    "SELECT prune_notifications('90 days', 10)",
    "SELECT prune_quota_meters(10)",
    "SELECT prune_incidents('365 days', 10)",
    "SELECT prune_eligibility_changes('365 days', 10)",
    "SELECT purge_documents('365 days', 10)",
    "SELECT drop_empty_months('90 days', 10)",
    "SELECT drop_history_months('365 days', 10)",
    "SELECT housekeeping_tenants('running', '0', NULL, 10)",
    "SELECT create_month_partitions('2001-01-01', 1)",
]
BEYOND: list[LiteralString] = [
    "SELECT prune_outbox('events', '23 hours', 10)",
    "SELECT prune_outbox('events', NULL, 10)",
    "SELECT prune_outbox('events', '90 days', 10001)",
    "SELECT prune_outbox('events', '90 days', 0)",
    "SELECT prune_outbox('events', '90 days', NULL)",
    "SELECT prune_outbox('audit_log', '90 days', 10)",
    "SELECT prune_outbox(NULL, '90 days', 10)",
    "SELECT prune_receipts('-90 days', NULL, 10)",
    "SELECT prune_idempotency_keys('0', 10)",
    "SELECT prune_inbound_events(-1)",
    "SELECT prune_notifications('1 hour', 10)",
    "SELECT prune_quota_meters(NULL)",
    "SELECT prune_incidents('23 hours', 10)",
    "SELECT prune_incidents('365 days', 0)",
    "SELECT prune_eligibility_changes('1 hour', 10)",
    "SELECT prune_eligibility_changes('365 days', 0)",
    "SELECT purge_documents('0', 10)",
    "SELECT drop_empty_months('0', 10)",
    "SELECT drop_history_months('29 days', 10)",
    "SELECT housekeeping_tenants('members', '0', NULL, 10)",
    "SELECT housekeeping_tenants('running', '0', NULL, 1001)",
]
INNER: list[LiteralString] = [
    "SELECT is_outbox_empty('workflow_events_outbox', now(), now())",
    "SELECT list_months('workflow_event'::regclass)",
    "SELECT require_bounds('1 day', '1 day', 1)",
]


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with filled_company(server_url) as made:
        yield made


@pytest.mark.parametrize("statement", CALLS)
def test_only_the_janitor_may_call(standing: CompanyWithWorkers, statement: LiteralString) -> None:
    for role in ("signet_api", "signet_worker"):
        assert attack(standing, role, statement) == NO_PRIVILEGE, role
    assert attack(standing, JANITOR, statement) in ("", NO_ROW)


@pytest.mark.parametrize("statement", INNER)
def test_what_they_are_made_of_is_for_nobody(standing: CompanyWithWorkers, statement: LiteralString) -> None:
    for role in ("signet_api", "signet_worker", JANITOR):
        assert attack(standing, role, statement) == NO_PRIVILEGE, role


@pytest.mark.parametrize("statement", BEYOND)
def test_not_even_the_janitor_may_go_beyond(standing: CompanyWithWorkers, statement: LiteralString) -> None:
    assert attack(standing, JANITOR, statement) == BAD_PARAMETER


def test_no_role_but_by_those_takes_a_row_away(standing: CompanyWithWorkers) -> None:
    for table in tenant_tables(standing):
        for statement in ("DELETE FROM {}", "TRUNCATE {}", "DROP TABLE {}"):
            wanted = sql.SQL(statement).format(sql.Identifier(table))
            assert attack(standing, JANITOR, wanted) == NO_PRIVILEGE, table


def test_what_the_janitor_may_change_is_how_things_go_on(standing: CompanyWithWorkers) -> None:
    """Refuse the janitor every change of content."""
    attacks: list[LiteralString] = [
        "UPDATE documents SET data = '{}'",
        "UPDATE documents SET purged_at = now()",
        "UPDATE personal_values SET salt = NULL, value = NULL, erased_at = now()",
        "UPDATE document_versions SET snapshot = '{}'",
        "UPDATE workflow_instances SET context_json = '{}'",
        "UPDATE workflow_instances SET active_tokens = '[]'",
        "UPDATE workflow_instances SET completed_at = now() - interval '1 year'",
        "UPDATE workflow_step_executions SET output_json = '{}'",
        "UPDATE workflow_events_outbox SET completed_at = now() - interval '1 year'",
        "UPDATE workflow_events_outbox SET payload_json = '{}'",
        "UPDATE idempotency_keys SET created_at = now() - interval '1 year'",
        "UPDATE notifications SET read_at = now() - interval '1 year'",
        "UPDATE audit_seals SET row_count = 1",
        "INSERT INTO documents SELECT * FROM documents",
        "DELETE FROM housekeeping_tasks",
    ]
    for statement in attacks:
        assert attack(standing, JANITOR, statement) == NO_PRIVILEGE, statement


def test_the_table_of_tasks_is_the_janitors(standing: CompanyWithWorkers) -> None:
    standing.run("INSERT INTO housekeeping_tasks (task) VALUES ('a') ON CONFLICT DO NOTHING")
    for role in set(RUNTIME_ROLES) - {JANITOR}:
        assert attack(standing, role, "UPDATE housekeeping_tasks SET next_due_at = now()") == NO_PRIVILEGE
        assert attack(standing, role, "DELETE FROM housekeeping_tasks") == NO_PRIVILEGE
    assert attack(standing, "signet_worker", "SELECT FROM housekeeping_tasks") == NO_PRIVILEGE
    assert attack(standing, JANITOR, "UPDATE housekeeping_tasks SET next_due_at = now()") == ""


def test_without_a_tenant_nothing_goes_and_another_tenants_rows_stay(standing: CompanyWithWorkers) -> None:
    standing.run("UPDATE notifications SET read_at = now() - interval '1 year'")
    count = "SELECT count(*) FROM notifications"
    (before,) = standing.row(count)
    for tenant in ("", "00000000-0000-0000-0000-000000000009"):
        with acting(standing, JANITOR, tenant) as connection:
            assert connection.execute("SELECT prune_notifications('1 day', 10)").fetchone() == (0,)
    with acting(standing, JANITOR) as connection:
        assert connection.execute("SELECT prune_notifications('1 day', 10)").fetchone() == (before,)


def test_a_table_of_the_callers_own_is_not_taken_for_one_of_these(standing: CompanyWithWorkers) -> None:
    standing.run("UPDATE notifications SET read_at = now() - interval '1 year'")
    with acting(standing, JANITOR) as connection:
        connection.execute("RESET ROLE")
        connection.execute("CREATE TEMP TABLE notifications (LIKE public.notifications)")
        connection.execute("SET LOCAL ROLE signet_janitor")
        (count,) = connection.execute("SELECT prune_notifications('1 day', 1)").fetchone() or (0,)
    assert count == 1
