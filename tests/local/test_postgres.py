"""The embedded Postgres, started and killed for real."""

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from signet.local import postgres, postgres_place, postgres_process
from signet.local.postgres import PostgresFailed, running_postgres, start_postgres, throwaway_postgres
from tests.local.conftest import copy_state
from tests.support.database.embedded_postgres import (
    answer,
    first_line,
    is_running,
    permissions,
    processes_about,
    remember,
    remembered,
    until,
)

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no signal tells of a parent's end")


def test_the_second_start_finds_the_data_of_the_first(folder: Path) -> None:
    state = folder / ".signet"
    first = start_postgres(state)
    remember(first.url, "kept")
    first.stop()
    first.stop()
    assert not is_running(first.pid)
    with running_postgres(state) as second:
        assert remembered(second.url) == ["kept"]
        assert second.url != first.url and second.password == first.password
        assert second.major == 18 and second.data_directory == state / "postgres" / "data"
        assert answer(second.url, "show fsync") == "on"
        assert answer(second.url, "show synchronous_commit") == "on"
    assert processes_about(state) == []


def test_another_process_finds_the_server_that_runs(state: Path) -> None:
    assert postgres.find_running_url(state) is None
    with running_postgres(state) as server:
        assert postgres.find_running_url(state) == server.url
        note = server.data_directory / "postmaster.pid"
        kept = note.read_text()
        # A note that names another process: the server of these data was killed.
        note.write_text(kept.replace(str(server.pid), str(os.getpid()), 1))
        assert postgres.find_running_url(state) is None
        note.write_text(kept)
    assert postgres.find_running_url(state) is None


def test_it_is_an_owner_s_utf8_server_on_loopback_and_on_a_socket(state: Path) -> None:
    with running_postgres(state) as server:
        assert answer(server.url, "select usesuper from pg_user where usename = current_user") is True
        assert answer(server.url, "show server_encoding") == "UTF8"
        assert answer(server.url, "select lower('ÄÉ')") == "äé"
        assert answer(server.url, "select inet_server_addr()::text") == "127.0.0.1/32"
        assert answer(server.url, "select inet_server_addr()", host=server.socket_directory) is None
        assert server.password not in repr(server)
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(server.url.replace(server.password, "wrong"))


def test_the_older_embedded_major_runs_too(folder: Path) -> None:
    with throwaway_postgres(major=16) as server:
        assert str(answer(server.url, "show server_version")).startswith("16.")


def test_a_throwaway_server_leaves_no_folder_and_no_process() -> None:
    with throwaway_postgres() as server:
        state = server.data_directory.parent.parent
        assert answer(server.url, "show fsync") == "off"
        assert answer(server.url, "show max_connections") == "200"
    assert not state.exists() and not is_running(server.pid)


def test_only_the_one_who_starts_may_read_the_password_and_the_log(state: Path) -> None:
    with running_postgres(state) as server:
        home = state / "postgres"
        for name in ("password", "server.log"):
            seen = (home / name).stat()
            assert stat.S_IMODE(seen.st_mode) == 0o600 and seen.st_uid == os.geteuid()
        assert (home / "password").read_text() == server.password
        assert [path.name for path in home.glob(f"{postgres_place.UNFINISHED}*")] == []


def test_the_user_s_environment_does_not_reach_the_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        *(("PGDATA", "/nowhere"), ("PGPORT", "1"), ("PGHOST", "nowhere"), ("PGUSER", "nobody-here")),
        *(("PGOPTIONS", "-c wrong=1"), ("LC_ALL", "tr_TR.UTF-8"), ("LANG", "xx"), ("TZ", "Asia/Tokyo")),
    ):
        monkeypatch.setenv(name, value)
    with running_postgres(folder / ".signet") as server:
        monkeypatch.delenv("PGOPTIONS")
        assert answer(server.url, "show timezone") == "UTC"
        assert answer(server.url, "show lc_messages") == "C"
        assert answer(server.url, "show lc_monetary") == "C"


@pytest.mark.parametrize("name", ["it's a \"state\", isn't ü", "long" * 40])
def test_any_path_will_do(folder: Path, name: str) -> None:
    state = folder / name
    for _ in range(2):
        with running_postgres(state) as server:
            assert answer(server.url, "select 1", host=server.socket_directory) == 1
    assert not postgres_place.outside_folder(state / "postgres").exists()


def test_two_states_have_two_servers_at_once(state: Path, folder: Path) -> None:
    copy_state(state, folder / "b")
    with running_postgres(state) as first, running_postgres(folder / "b") as second:
        remember(first.url, "first")
        remember(second.url, "second")
        assert "first" in remembered(first.url) and "second" not in remembered(first.url)
        assert "second" in remembered(second.url) and "first" not in remembered(second.url)


def test_one_state_has_one_launcher_at_a_time(
    state: Path, launched: Callable[..., subprocess.Popen[str]]
) -> None:
    other = launched(state)
    server = first_line(other)
    with pytest.raises(PostgresFailed, match=f"in use by process {other.pid}, .*stop that one first"):
        start_postgres(state)
    assert is_running(server)


@pytest.mark.parametrize(
    ("found", "says"), [("16", "made by PostgreSQL 16"), (None, "made by no PostgreSQL")]
)
def test_data_of_another_major_are_refused_and_left_alone(folder: Path, found: str | None, says: str) -> None:
    data = folder / ".signet" / "postgres" / "data"
    data.mkdir(parents=True, mode=0o750)
    if found:
        (data / "PG_VERSION").write_text(f"{found}\n")
    before = (permissions(data), list(data.iterdir()))
    with pytest.raises(PostgresFailed, match=says) as refusal:
        start_postgres(folder / ".signet")
    assert str(data) in str(refusal.value) and "PostgreSQL 18" in str(refusal.value)
    assert (permissions(data), list(data.iterdir())) == before


def test_without_its_password_a_database_is_refused(state: Path) -> None:
    password = state / "postgres" / "password"
    word = password.read_text()
    password.unlink()
    with pytest.raises(PostgresFailed, match=r"password of the database .* is missing"):
        start_postgres(state)
    password.write_text(word)
    with running_postgres(state) as server:
        assert server.password == word and stat.S_IMODE(password.stat().st_mode) == 0o600


@linux_only
def test_a_killed_launcher_takes_the_server_with_it_and_loses_nothing(
    state: Path, launched: Callable[..., subprocess.Popen[str]]
) -> None:
    with running_postgres(state) as first:
        remember(first.url, "before")
    launcher = launched(state)
    server = first_line(launcher)
    launcher.kill()
    launcher.wait()
    until(lambda: not is_running(server) and not processes_about(state / "postgres"))
    with running_postgres(state) as again:
        assert "before" in remembered(again.url)


@linux_only
def test_a_kill_while_the_data_are_made_leaves_nothing_that_looks_like_data(
    folder: Path, launched: Callable[..., subprocess.Popen[str]]
) -> None:
    launcher = launched(folder)
    until(lambda: any(folder.glob(f"postgres/{postgres_place.UNFINISHED}*/global")))
    launcher.kill()
    launcher.wait()
    assert not (folder / "postgres" / "data").exists()
    with running_postgres(folder) as server:
        remember(server.url, "new")
    until(lambda: not processes_about(folder / "postgres"))
    start_postgres(folder).stop()
    assert not list(folder.glob(f"postgres/{postgres_place.UNFINISHED}*"))


def test_a_half_made_database_is_not_used(folder: Path) -> None:
    half = folder / "postgres" / f"{postgres_place.UNFINISHED}x"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    (folder / "postgres" / "password").touch()
    with running_postgres(folder) as server:
        assert answer(server.url, "select 1") == 1
    assert not half.exists()


def test_a_server_that_outlived_its_launcher_is_stopped_first(
    state: Path, launched: Callable[..., subprocess.Popen[str]]
) -> None:
    launcher = launched(state, "orphan")
    left = first_line(launcher)
    launcher.kill()
    launcher.wait()
    assert is_running(left)
    with running_postgres(state) as server:
        assert not is_running(left)
        remember(server.url, "after")


def test_a_note_of_a_process_number_that_went_to_another_is_not_believed(state: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        note = state / "postgres" / "data" / "postmaster.pid"
        note.write_text(f"{other.pid}\n{note.parent}\n")
        with running_postgres(state) as server:
            assert server.pid != other.pid
        assert other.poll() is None
        other.kill()


def test_a_port_that_was_taken_in_between_is_replaced(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports = iter([port, port, postgres._free_port()])
        monkeypatch.setattr(postgres, "_free_port", lambda: next(ports))
        with running_postgres(state) as server:
            assert server.port != port
        monkeypatch.setattr(postgres, "_free_port", lambda: port)
        with pytest.raises(PostgresFailed, match="could not create any TCP/IP sockets"):
            start_postgres(state)
    assert processes_about(state / "postgres") == []


def test_a_failed_start_quotes_the_server_s_log(state: Path) -> None:
    rules = state / "postgres" / "data" / "pg_hba.conf"
    sound = rules.read_text()
    rules.write_text("nonsense\n")
    with pytest.raises(PostgresFailed, match=r"(?s)server\.log.*nonsense"):
        start_postgres(state)
    rules.write_text(sound)


def test_a_stop_that_is_not_obeyed_becomes_harder(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_process, "_STOP_STEPS", ((signal.SIGCONT, 0.01), (signal.SIGQUIT, 5.0)))
    server = start_postgres(state)
    remember(server.url, "survives")
    server.stop()
    assert not is_running(server.pid)
    monkeypatch.undo()
    with running_postgres(state) as again:
        assert "survives" in remembered(again.url)


def stop_a_session(url: str) -> None:
    """Let a session of the server stand still, so that it does not end when it is asked to."""
    client = psycopg.connect(url)
    os.kill(client.info.backend_pid, signal.SIGSTOP)
    client.close()


def test_a_server_that_waits_for_a_session_is_ended_with_all_its_processes(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = postgres_process._STOP_STEPS
    monkeypatch.setattr(postgres_process, "_STOP_STEPS", ((signal.SIGINT, 0.5), *steps[1:]))
    server = start_postgres(state)
    remember(server.url, "survives")
    stop_a_session(server.url)
    server.stop()
    assert processes_about(state) == []
    with running_postgres(state) as again:
        assert "survives" in remembered(again.url)


def test_a_server_that_does_not_end_as_somebody_asked_is_ended_and_started_again(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_postgres(state) as server:
        first = server.pid
        stop_a_session(server.url)
        assert not server.tend()
        os.kill(first, signal.SIGINT)
        until(lambda: postgres_process.is_stopping(server.data_directory))
        assert not server.tend() and not server.tend() and is_running(first), "it has its time"
        monkeypatch.setattr(postgres_process, "STOP_SECONDS", 0.0)
        until(server.tend)
        assert server.pid != first and answer(server.url, "SELECT 1") == 1
    assert processes_about(state) == []


def test_it_is_started_from_the_main_thread_only(folder: Path) -> None:
    said: list[str] = []

    def start() -> None:
        try:
            start_postgres(folder)
        except PostgresFailed as error:
            said.append(str(error))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert said == ["The embedded PostgreSQL must be started from the main thread."]


def test_a_missing_wheel_names_the_remedy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_place, "WHEEL", "not_installed_here")
    with pytest.raises(PostgresFailed, match=r"not installed in .*`make run` installs it"):
        start_postgres(folder / ".signet")
    with pytest.raises(PostgresFailed, match=r"PostgreSQL 9 is not among"):
        start_postgres(folder / ".signet", major=9)
    assert not (folder / ".signet").exists()


def test_a_log_that_grew_too_long_is_begun_anew(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = state / "postgres" / "server.log"
    monkeypatch.setattr(postgres, "LOG_BYTES", log.stat().st_size - 1)
    log_begin = log.read_bytes()
    start_postgres(state).stop()
    assert not log.read_bytes().startswith(log_begin)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
def test_a_server_that_ended_by_itself_is_started_again(folder: Path, number: signal.Signals) -> None:
    state = folder / ".signet"
    with running_postgres(state) as server:
        remember(server.url, "kept")
        url, first = server.url, server.pid
        assert not server.tend()
        os.kill(first, number)
        server._process.wait()
        assert server.tend()
        assert (server.url, remembered(url)) == (url, ["kept"]) and server.pid != first
        assert not server.tend()
    assert processes_about(state) == []


def test_a_server_that_ends_again_and_again_is_given_up_with_its_last_words(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "MAX_RESTARTS", 1)
    with running_postgres(state) as server:
        for is_last in (False, True):
            os.kill(server.pid, signal.SIGQUIT)
            server._process.wait()
            if not is_last:
                assert server.tend()
        with pytest.raises(PostgresFailed, match="ended by itself 2 times"):
            server.tend()
    assert processes_about(state) == []
