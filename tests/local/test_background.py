"""The threads of `make run`: nothing ends them unseen, and all of them end when they are told."""

import threading
from collections.abc import Iterator
from typing import Any, cast
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from signet.core.backoff import Backoff
from signet.core.errors import Transient
from signet.engine.dispatch.due_looks import DueLooks
from signet.engine.execution.worker import Worker
from signet.engine.integrations.effects import Effects
from signet.engine.telemetry import Silent
from signet.local import background, worker_loop
from signet.local.background import Background, in_background
from signet.local.worker_loop import running_worker, work_once
from signet.store.database import Database, PoolSettings
from signet.store.outbox.due_tenants import DueTenant
from signet.store.outbox.queue import EFFECTS, EVENTS
from signet.telemetry.figures import Figures
from tests.support.database.queue_rows import TENANT, put
from tests.support.database.runtime_roles import as_role
from tests.support.database.server import describe_url
from tests.support.database.wire_proxy import FROM_CLIENT, Silence, WireProxy

WAIT_SECONDS = 20.0
RAISED = [
    Transient("DATABASE_READ_ONLY", "no writes"),
    psycopg.InternalError("a class that nobody foresaw"),
    KeyError("a secret"),
    MemoryError(),
    SystemExit(3),
    KeyboardInterrupt(),
]


class Told(Silent):
    """Telemetry that keeps what threads tell."""

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self.looks: list[str] = []

    def thread_failed(self, thread: str, error: BaseException) -> None:
        self.failures.append(error)

    def looked(self, thread: str) -> None:
        self.looks.append(thread)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "RETRY", Backoff(0.0, 0.0))


@pytest.fixture
def silent_database(owner_url: str) -> Iterator[tuple[Database, WireProxy]]:
    parts = describe_url(owner_url)
    with WireProxy(parts["host"], int(parts["port"])) as proxy:
        url = make_conninfo(owner_url, host="127.0.0.1", port=proxy.port, sslmode="prefer")
        database = Database(url, PoolSettings(size=1))
        yield database, proxy
        database.close()


def test_nothing_that_is_raised_ends_the_thread(capsys: pytest.CaptureFixture[str]) -> None:
    left, all_raised, told = list(RAISED), threading.Event(), Told()

    def look(stop: threading.Event) -> float:
        if left:
            raise left.pop(0)
        all_raised.set()
        return WAIT_SECONDS

    with in_background(Background("x", look, lambda: None, told), "x", None):
        assert all_raised.wait(WAIT_SECONDS)
    assert told.failures == RAISED and told.looks[0] == "x"
    said = capsys.readouterr().err
    assert "x: DATABASE_READ_ONLY: no writes" in said and "x: INTERNAL_ERROR: KeyError" in said
    assert "secret" not in said
    assert "x" not in {thread.name for thread in threading.enumerate()}


def test_a_ring_ends_a_pause_and_none_is_lost() -> None:
    bell, looks = threading.Event(), threading.Semaphore(0)

    def look(stop: threading.Event) -> float:
        looks.release()
        return WAIT_SECONDS

    with in_background(Background("x", look, lambda: None, Told(), bell), "x", None) as stop:
        for _ in range(3):
            assert looks.acquire(timeout=WAIT_SECONDS / 4)
            bell.set()
        stop.set()
    assert "x" not in {thread.name for thread in threading.enumerate()}


def test_after_a_failure_a_ring_hurries_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "RETRY", Backoff(WAIT_SECONDS, WAIT_SECONDS))
    bell, told, failed = threading.Event(), Told(), threading.Event()
    monkeypatch.setattr(told, "thread_failed", lambda name, error: failed.set())

    def look(stop: threading.Event) -> float:
        bell.set()
        raise Transient("DATABASE_READ_ONLY", "no writes")

    with in_background(Background("x", look, lambda: None, told, bell), "x", None):
        assert failed.wait(WAIT_SECONDS)
        assert told.looks == []


def test_the_engine_sleeps_until_the_next_row_is_due(
    admin: psycopg.Connection[Any], owner_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_loop, "MAX_SLEEP_SECONDS", 600.0)
    admin.execute("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'any', '{}')", [TENANT])
    database, worked = Database(as_role(owner_url, "signet_worker"), PoolSettings()), list[UUID]()
    looks = (DueLooks(EVENTS), DueLooks(EFFECTS))

    def work(tenant_id: UUID) -> int:
        worked.append(tenant_id)
        return 1

    def look() -> float:
        return work_once(database, looks, (work, work), threading.Event())

    try:
        assert look() == 600.0
        put(admin, "events", TENANT, "-1 hour")
        assert look() == 600.0
        put(admin, "effects", TENANT, "-300 seconds")
        assert 0 < look() <= 300
        assert worked == []
        put(admin, "events", TENANT, "1 second")
        assert (look(), worked) == (0.0, [TENANT])
    finally:
        database.close()


def test_what_is_left_is_settled_at_the_end() -> None:
    done: list[str] = []
    thread = Background("x", lambda stop: WAIT_SECONDS, lambda: done.append("settled"), Told())
    with in_background(thread, "x", None):
        assert done == []
    assert done == ["settled"]


def test_a_thread_that_waits_for_a_silent_database_ends_in_bounded_time(
    silent_database: tuple[Database, WireProxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, proxy = silent_database
    monkeypatch.setattr(background, "LEAVE_SECONDS", 0.1)
    monkeypatch.setattr(background, "HURRIED_SECONDS", WAIT_SECONDS)
    silent, told = threading.Event(), Told()

    def look(stop: threading.Event) -> float:
        with database.tenantless_transaction() as connection:
            proxy.arm(Silence(FROM_CLIENT, 1), silent.set)
            connection.execute("SELECT 1")
        return 0.0

    with in_background(Background("x", look, lambda: None, told), "x", database):
        assert silent.wait(WAIT_SECONDS)
    assert [getattr(error, "code", "") for error in told.failures] == ["DATABASE_UNAVAILABLE"]
    assert "x" not in {thread.name for thread in threading.enumerate()}


def test_a_thread_that_does_not_end_keeps_nobody(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "LEAVE_SECONDS", 0.05)
    busy, release = threading.Event(), threading.Event()

    def look(stop: threading.Event) -> float:
        busy.set()
        release.wait(WAIT_SECONDS)
        return 0.0

    with in_background(Background("x", look, lambda: None, Told()), "x", None):
        assert busy.wait(WAIT_SECONDS)
    assert "x: THREAD_LEFT" in capsys.readouterr().out
    release.set()


class Working:
    """A worker that fails for one tenant, and knows for which ones it worked."""

    def __init__(self, failing: int) -> None:
        self.failing, self.worked, self.settled = failing, list[int](), 0

    def work(self, tenant_id: int) -> int:
        if tenant_id == self.failing:
            raise Transient("STATEMENT_TIMED_OUT", "too long")
        self.worked.append(tenant_id)
        return 1

    def settle(self) -> None:
        self.settled += 1


def test_one_tenant_s_failure_leaves_the_others_their_turn(
    owner_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = [cast(DueTenant, type("Due", (), {"tenant_id": number})) for number in (1, 2, 3)]
    monkeypatch.setattr(DueLooks, "list_tenants", lambda looks, connection, at_most: due)
    worker, effects, told = Working(1), Working(3), Told()
    served = threading.Event()
    monkeypatch.setattr(told, "thread_failed", lambda thread, error: served.set())
    database = Database(owner_url, PoolSettings())
    with running_worker(database, cast(Worker, worker), cast(Effects, effects), told):
        assert served.wait(WAIT_SECONDS)
    database.close()
    assert worker.worked[:2] == [2, 3] and effects.worked[:2] == [1, 2]
    assert worker.settled > 1 and effects.settled > 1


def test_figures_say_when_a_thread_last_looked() -> None:
    figures = Figures()
    assert figures.list_looks() == {}
    figures.add_look("x")
    figures.add_thread_failure("x", "DATABASE_READ_ONLY")
    assert set(figures.list_looks()) == {"x"}
    shown = {figure.name: figure.samples for figure in figures.list()}
    assert [labels for _, labels, _ in shown["signet_thread_looked_timestamp_seconds"]] == [{"thread": "x"}]
    (failed,) = shown["signet_thread_failures_total"]
    assert failed == ("", {"thread": "x", "code": "DATABASE_READ_ONLY"}, 1)
