"""`signet run`, started and ended for real."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from signet.engine.documents.commands import Create
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as, read_server_major, use_database
from tests.support.company import INVOICE, make_company
from tests.support.database.embedded_postgres import processes_about, until

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no signal tells of a parent's end")
PEOPLE = {"ada", "fiona", "frank", "anton", "olga", "sam", "wanda", "carl"}
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Yield a function that starts `signet run`, by default on a free port."""
    running: list[subprocess.Popen[str]] = []

    def start(
        state: Path, port: int | None = None, database_url: str = "", before: str = ""
    ) -> subprocess.Popen[str]:
        options = ["run", "--port", str(port or _free_port()), "--state", str(state)]
        process = subprocess.Popen(
            [*shlex.split(before), sys.executable, "-m", "signet.cli", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "SIGNET_DATABASE_URL": database_url},
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def read_greeting(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or not lines[-1].startswith("Ctrl-C"):
        lines.append(process.stdout.readline())
        assert lines[-1], f"it ended and said {lines}"
    return "".join(lines)


def call(greeting: str) -> dict[str, Any]:
    """Return the answer to the first `curl` that the greeting prints."""
    line = re.search(r"^  (curl .*)$", greeting, re.MULTILINE)
    assert line is not None
    _curl, _option, header, url = shlex.split(line[1])
    name, _, value = header.partition(": ")
    with urllib.request.urlopen(urllib.request.Request(url, headers={name: value}), timeout=10) as answer:
        assert answer.status == 200
        body: dict[str, Any] = json.load(answer)
        return body


def list_people(greeting: str) -> list[str]:
    """Return the subjects of the tokens that the greeting prints."""
    tokens = re.findall(r"^  curl -H 'authorization: Bearer (\S+)' ", greeting, re.MULTILINE)
    return [jwt.decode(token, options={"verify_signature": False})["sub"] for token in tokens]


def make_token(state: Path, person: str, *options: str) -> str:
    command = [sys.executable, "-m", "signet.cli", "token", person, "--state", str(state), *options]
    environment = {**os.environ, "SIGNET_DATABASE_URL": ""}
    made = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return made.stdout.strip()


def run_command(folder: Path, *words: str) -> str:
    """Run a command in the folder beside `signet run`, without an address of a database."""
    done = subprocess.run(
        [sys.executable, "-m", "signet.cli", *words],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "SIGNET_DATABASE_URL"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "signet: on the database that runs in .signet\n"), done
    return done.stdout


def who_am_i(greeting: str, token: str) -> dict[str, Any]:
    return send(greeting, "GET", "/v1/me", token)


def send(greeting: str, method: str, path: str, token: str, body: Any = None) -> dict[str, Any]:
    url = re.search(r"http://\S+", greeting)
    assert url is not None
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    headers |= {"if-match": "*"} if method == "PUT" else {}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url[0]}{path}", content, headers, method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        read: dict[str, Any] = json.load(answer)
        return read


def read_page(greeting: str) -> str:
    url = re.search(r"http://\S+", greeting)
    assert url is not None
    with urllib.request.urlopen(f"{url[0]}/reference", timeout=10) as answer:
        return str(answer.read().decode())


def end(process: subprocess.Popen[str], number: int) -> str:
    process.send_signal(number)
    said, _ = process.communicate(timeout=20)
    return said


def test_the_printed_curl_answers_and_a_second_start_serves_the_same(start: Start, folder: Path) -> None:
    first = start(folder / ".signet")
    greeting = read_greeting(first)
    body = call(greeting)
    assert read_page(greeting).startswith("<!doctype html>")
    assert body["status"] == "ok" and body["tenant"]["id"]
    assert body["database"]["version"].startswith("18.") and body["database"]["migrations"]
    assert set(list_people(greeting)) == PEOPLE
    # A token made beside it, and a role that an administrator takes away.
    assert who_am_i(greeting, make_token(folder / ".signet", "carl"))["roles"] == ["clerk"]
    ada = make_token(folder / ".signet", "ada")
    assert send(greeting, "PUT", "/v1/members/fiona", ada, {"display_name": "Fiona Finance"})["roles"] == []
    # Commands find the database, and an operator has a token.
    tenant_id = body["tenant"]["id"]
    assert "0030" in run_command(folder, "migrate", "status")
    assert run_command(folder, "instance", "list", "--tenant", tenant_id) == ""
    operator = make_token(folder / ".signet", "otis", "--operator")
    assert send(greeting, "GET", f"/v1/tenants/{tenant_id}/break_glass", operator) == {"items": []}
    assert (end(first, signal.SIGINT), first.returncode) == ("stopping\n", 0)
    assert processes_about(folder) == []

    second = start(folder / ".signet")
    greeting = read_greeting(second)
    assert "kept: fiona is without 'finance_manager', which the file gives\n" in greeting
    assert who_am_i(greeting, make_token(folder / ".signet", "fiona"))["roles"] == []
    assert "applied" not in greeting
    assert {**call(greeting), "threads": []} == {**body, "threads": []}
    for number in [signal.SIGHUP, signal.SIGTERM, signal.SIGINT] * 20:  # together, as when a terminal closes
        second.send_signal(number)
    said, _ = second.communicate(timeout=20)
    assert (said, second.returncode) == ("stopping\n", 0)
    assert processes_about(folder) == []


@linux_only
def test_a_killed_run_leaves_no_process_and_the_next_one_serves(start: Start, state: Path) -> None:
    first = start(state)
    read_greeting(first)
    end(first, signal.SIGKILL)
    until(lambda: not processes_about(state))
    second = start(state, before="nohup")
    call(read_greeting(second))
    second.send_signal(signal.SIGHUP)
    assert end(second, signal.SIGTERM) == "stopping\n"


def test_a_taken_port_is_one_sentence_and_makes_nothing(start: Start, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start(folder / ".signet", port)
        said, _ = process.communicate(timeout=20)
    assert said == (
        f"signet: Port {port} cannot be used (Address already in use). "
        "Choose another with PORT=, as in make run PORT=8701\n"
    )
    assert process.returncode == 1 and list(folder.iterdir()) == []


def test_data_of_another_major_are_one_sentence(start: Start, folder: Path) -> None:
    data = folder / ".signet" / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    process = start(folder / ".signet")
    said, _ = process.communicate(timeout=20)
    assert said.startswith(f"signet: {data} was made by PostgreSQL 16, and this is PostgreSQL 18: ")
    assert process.returncode == 1 and said.count("\n") == 1


def test_a_server_of_ones_own_is_used_and_not_stopped(
    start: Start, folder: Path, empty_database_url: str
) -> None:
    process = start(folder / ".signet", database_url=empty_database_url)
    assert call(read_greeting(process))["status"] == "ok"
    assert [path.name for path in (folder / ".signet").iterdir()] == ["development-secret"]
    assert end(process, signal.SIGTERM) == "stopping\n"
    assert read_server_major(empty_database_url) >= 16  # the port still answers


def test_what_is_made_while_it_runs_is_moved(start: Start, folder: Path, owner_url: str) -> None:
    process = start(folder / ".signet", database_url=owner_url)
    read_greeting(process)
    database = Database(act_as(owner_url, "signet_api"), PoolSettings())
    company = make_company(database)
    company.publish("invoice")
    company.documents.mutate(company.caller(), Create("invoice", INVOICE))

    def has_arrived() -> bool:
        with database.transaction(company.tenant_id) as connection:
            found = connection.execute("SELECT current_nodes FROM workflow_instances").fetchall()
        return found == [(["sys:state:draft"],)]

    until(has_arrived)
    assert end(process, signal.SIGTERM) == "stopping\n"
    database.close()


def test_a_server_that_is_not_there_is_one_sentence_and_makes_nothing(
    start: Start, folder: Path, server_url: str
) -> None:
    process = start(folder / ".signet", database_url=use_database(server_url, "no_such_database"))
    said, _ = process.communicate(timeout=20)
    assert said.startswith("signet: The database cannot be reached: ") and said.count("\n") == 1
    assert 'database "no_such_database" does not exist' in said
    assert process.returncode == 1 and list(folder.iterdir()) == []


def test_an_extension_that_cannot_be_imported_stops_the_start(
    start: Start, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNET_EXTENSIONS", "json,no_such_extension")
    process = start(state)
    said, _ = process.communicate(timeout=20)
    sentence = (
        "signet: SIGNET_EXTENSIONS: the module 'no_such_extension' cannot be imported (ModuleNotFoundError"
    )
    assert sentence in said and "Traceback" not in said
    assert process.returncode == 1
    until(lambda: not processes_about(state))


def test_a_server_that_ends_by_itself_is_started_again(start: Start, folder: Path) -> None:
    process = start(folder / ".signet")
    greeting = read_greeting(process)
    note = folder / ".signet" / "postgres" / "data" / "postmaster.pid"
    first = note.read_text().split("\n")[0]
    os.kill(int(first), signal.SIGQUIT)

    def serves_again() -> bool:
        try:
            return note.read_text().split("\n")[0] != first and call(greeting)["status"] == "ok"
        except (OSError, urllib.error.URLError):
            return False

    until(serves_again)
    said = end(process, signal.SIGTERM)
    # What a thread still had to say may come after it.
    assert "PostgreSQL had ended by itself, and was started again" in said and "stopping\n" in said
    assert process.returncode == 0 and processes_about(folder) == []


def test_health_says_when_the_threads_last_looked(start: Start, folder: Path) -> None:
    process = start(folder / ".signet")
    greeting = read_greeting(process)
    until(lambda: len(call(greeting)["threads"]) == 2)
    threads = {thread["name"]: thread["seconds_ago"] for thread in call(greeting)["threads"]}
    assert set(threads) == {"signet-worker", "signet-janitor"} and min(threads.values()) >= 0
    assert end(process, signal.SIGTERM) == "stopping\n"


def list_children(process: subprocess.Popen[str]) -> set[int]:
    """List the processes for heavy calls that the server has started."""
    path = Path(f"/proc/{process.pid}/task")
    children = {int(pid) for task in path.iterdir() for pid in (task / "children").read_text().split()}
    return {pid for pid in children if b"heavy_process" in Path(f"/proc/{pid}/cmdline").read_bytes()}


@linux_only
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_processes_for_heavy_calls_end_with_the_server(
    start: Start, state: Path, number: signal.Signals
) -> None:
    process = start(state)
    greeting, token = read_greeting(process), make_token(state, "sam")
    nodes = [{"id": "note", "type": "script", "config": {"set": {"a": "1"}}}]
    automation = {"automation": "nightly", "trigger": {"on": "manual"}, "nodes": nodes}
    made = send(greeting, "POST", "/v1/definitions", token, automation)
    run = send(greeting, "POST", f"/v1/definitions/{made['id']}/simulate", token, {})
    assert run["status"] == "completed"
    children = list_children(process)
    assert len(children) == 1
    end(process, number)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children))
