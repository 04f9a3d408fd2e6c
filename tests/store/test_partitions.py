"""Monthly partitions: made ahead, each with row security, even if rows came before their partition."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.store.schema.migrations import migrate_down, migrate_up, read_migrations
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.pooling.reaching import as_role
from tests.store.attack import NO_PRIVILEGE, WRITTEN_ONCE
from tests.store.catalogue import find_offenders

Admin = psycopg.Connection[tuple[Any, ...]]
TABLES = [
    "workflow_event",
    "workflow_events_outbox",
    "workflow_side_effects_outbox",
    "workflow_step_executions",
]
CALL: LiteralString = "SELECT create_month_partitions(%s, %s)"
TENANT = UUID(int=1)
LOCK_NOT_AVAILABLE, BAD_PARAMETER = "55P03", "22023"
BEFORE_MONTHS = 8


@pytest.fixture
def janitor(owner_url: str) -> Iterator[Admin]:
    with psycopg.connect(as_role(owner_url, "signet_janitor"), autocommit=True) as connection:
        yield connection


def call(janitor: Admin, first: str, months: int) -> list[str]:
    return [name for (name,) in janitor.execute(CALL, [first, months])]


def partitions(admin: Admin) -> list[str]:
    found = admin.execute(
        "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' AND relname ~ '_\\d{4}_\\d\\d$'"
        " ORDER BY relname"
    )
    return [name for (name,) in found]


def put_step(admin: Admin, created_at: str, tenant_id: UUID = TENANT) -> UUID:
    step_id = uuid4()
    admin.execute(
        "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, node_id,"
        " node_type, token_id, entity_version, version_after, status, idempotency_key, started_at,"
        " actor_user_id)"
        " VALUES (%s, %s, %s, %s, 1, 'a', 'a', 'T', 1, 1, 'running', sha256('a'), now(), 'carl')",
        [tenant_id, created_at, step_id, step_id],
    )
    return step_id


def put_event(admin: Admin, created_at: str) -> UUID:
    event_id = uuid4()
    admin.execute(
        "INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version,"
        " event_type, event_idempotency_key, due_at)"
        " VALUES (%s, %s, %s, %s, 1, 'mutation', sha256('a'), now())",
        [TENANT, created_at, event_id, event_id],
    )
    return event_id


def place_of(admin: Admin, table: LiteralString, row_id: UUID) -> str:
    (place,) = admin.execute(
        psycopg.sql.SQL("SELECT tableoid::regclass::text FROM {} WHERE id = %s").format(
            psycopg.sql.Identifier(table)
        ),
        [row_id],
    ).fetchone() or ("nowhere",)
    return str(place)


@contextmanager
def refused(sqlstate: str) -> Iterator[None]:
    with pytest.raises(psycopg.Error) as caught:
        yield
    assert caught.value.sqlstate == sqlstate


def test_the_migration_makes_this_month_and_two_ahead(admin: Admin) -> None:
    months = admin.execute(
        "SELECT to_char(month, 'YYYY_MM') FROM signet_migrations, generate_series("
        " date_trunc('month', applied_at AT TIME ZONE 'UTC'), applied_at AT TIME ZONE 'UTC'"
        " + interval '2 months', '1 month') AS month WHERE name = 'create_housekeeping'"
    )
    assert partitions(admin) == sorted(f"{table}_{month}" for (month,) in months for table in TABLES)


def test_a_month_is_made_once_and_across_the_year(janitor: Admin, admin: Admin) -> None:
    before = partitions(admin)
    made = call(janitor, "2001-12-31", 2)
    assert sorted(made) == sorted(f"{table}_{month}" for month in ("2001_12", "2002_01") for table in TABLES)
    assert call(janitor, "2001-12-01", 2) == []
    assert partitions(admin) == sorted([*before, *made])
    assert find_offenders(admin) == []


def test_a_month_begins_and_ends_in_utc(janitor: Admin, admin: Admin) -> None:
    janitor.execute("SET TimeZone = 'Asia/Tokyo'")
    call(janitor, "2001-02-15", 1)
    first, last = put_event(admin, "2001-02-01 00:00:00Z"), put_event(admin, "2001-02-28 23:59:59.999999Z")
    earlier, later = put_event(admin, "2001-01-31 23:59:59.999999Z"), put_event(admin, "2001-03-01 00:00:00Z")
    places = [place_of(admin, "workflow_events_outbox", each) for each in (first, last, earlier, later)]
    assert places == ["workflow_events_outbox_2001_02"] * 2 + ["workflow_events_outbox_default"] * 2


def test_rows_that_came_before_their_partition_move_into_it(janitor: Admin, superuser: Admin) -> None:
    mine, foreign = put_step(superuser, "2001-02-10"), put_step(superuser, "2001-02-11", UUID(int=2))
    older, event = put_step(superuser, "2000-01-01"), put_event(superuser, "2001-02-12")
    assert len(call(janitor, "2001-02-01", 1)) == len(TABLES)
    table: LiteralString = "workflow_step_executions"
    assert [place_of(superuser, table, each) for each in (mine, foreign, older)] == [
        "workflow_step_executions_2001_02",
        "workflow_step_executions_2001_02",
        "workflow_step_executions_default",
    ]
    assert place_of(superuser, "workflow_events_outbox", event) == "workflow_events_outbox_2001_02"
    assert find_offenders(superuser) == [], "the walls stand again"
    for step_id in (mine, older):
        for attack in ("DELETE FROM workflow_step_executions", "UPDATE workflow_step_executions SET seq = 7"):
            with refused(WRITTEN_ONCE):
                superuser.execute(f"{attack} WHERE id = %s".encode(), [step_id])
    assert call(janitor, "2000-01-01", 1), "and again, for the next month"
    assert place_of(superuser, table, older) == "workflow_step_executions_2000_01"


def test_one_partition_of_what_is_append_only_cannot_be_truncated(superuser: Admin) -> None:
    for name in partitions(superuser):
        if name.startswith(("workflow_event_2", "workflow_step")):
            with refused(WRITTEN_ONCE):
                superuser.execute(psycopg.sql.SQL("TRUNCATE {}").format(psycopg.sql.Identifier(name)))


def test_it_gives_up_rather_than_wait_for_work_under_way(
    janitor: Admin, admin: Admin, owner_url: str
) -> None:
    with psycopg.connect(owner_url) as working:
        put_event(working, "2026-01-01")
        with refused(LOCK_NOT_AVAILABLE):
            call(janitor, "2001-02-01", 1)
    assert "workflow_event_2001_02" not in partitions(admin), "all or none"
    assert len(call(janitor, "2001-02-01", 1)) == len(TABLES)


@pytest.mark.parametrize(
    ("first", "months"), [("2001-01-01", 0), ("2001-01-01", 25), ("2001-01-01", None), (None, 1)]
)
def test_what_is_asked_for_is_bounded(janitor: Admin, first: str | None, months: int | None) -> None:
    with refused(BAD_PARAMETER):
        janitor.execute(CALL, [first, months])


def test_only_the_janitor_makes_partitions(owner_url: str, janitor: Admin) -> None:
    for role in ("signet_api", "signet_worker", "signet_dispatch"):
        with psycopg.connect(as_role(owner_url, role)) as connection, refused(NO_PRIVILEGE):
            connection.execute(CALL, ["2001-01-01", 1])
    with refused(NO_PRIVILEGE):
        janitor.execute("CALL create_partition('workflow_event', 'mine', '2001-01-01', '2001-02-01')")


def test_a_database_from_before_its_months_keeps_its_rows(empty_database_url: str) -> None:
    migrations = read_migrations(MIGRATIONS_FOLDER)
    migrate_up(empty_database_url, migrations[:BEFORE_MONTHS], say=lambda _: None)
    with psycopg.connect(empty_database_url, autocommit=True) as admin:
        if admin.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() != (True,):
            pytest.skip("only a superuser sees the rows of every tenant")
        (now,) = admin.execute("SELECT now()::text").fetchone() or ("",)
        step_id, event_id, old_id = (
            put_step(admin, now),
            put_event(admin, now),
            put_event(admin, "2000-01-01"),
        )
        migrate_up(empty_database_url, migrations, say=lambda _: None)
        assert place_of(admin, "workflow_step_executions", step_id) != "workflow_step_executions_default"
        assert place_of(admin, "workflow_events_outbox", event_id) != "workflow_events_outbox_default"
        assert place_of(admin, "workflow_events_outbox", old_id) == "workflow_events_outbox_default"

        steps = len(migrations) - BEFORE_MONTHS
        migrate_down(empty_database_url, migrations, steps=steps, say=lambda _: None)
        migrate_up(empty_database_url, migrations, say=lambda _: None)
        assert place_of(admin, "workflow_step_executions", step_id) != "nowhere"
        assert place_of(admin, "workflow_events_outbox", event_id) != "nowhere"
        assert find_offenders(admin) == []
