"""Calls about large definitions: one at a time for a tenant, beside all other requests."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from signet.engine.definitions import compilation
from signet.engine.definitions.heavy_calls import HeavyCalls, choose_place
from signet.engine.telemetry import SILENT
from signet.store.database import Database
from signet.wiring.heavy_processes import HeavyProcesses
from tests.functions.routes.definitions.test_definitions import DEFINITIONS, patch
from tests.support.api_application import wire
from tests.support.company import INVOICE, Company, make_company
from tests.support.held_calls import Gate, end_process, make_gate
from tests.support.http_client import Client, ClientAnswer

pytestmark = pytest.mark.usefixtures("named_things")


@pytest.fixture(scope="module")
def processes() -> Iterator[HeavyProcesses]:
    processes = HeavyProcesses(2, SILENT, call_seconds=120.0, wait_seconds=120.0)
    yield processes
    processes.stop()


@pytest.fixture
def client(database: Database, company: Company, processes: HeavyProcesses) -> Client:
    return Client(wire(database, heavy_calls=processes), company.tenant_id)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return make_gate(tmp_path)


def hold_compilations(monkeypatch: pytest.MonkeyPatch, gate: Gate) -> None:
    """Hold each compilation of a large definition behind the gate, where it runs."""

    def choose(calls: HeavyCalls, connection: Any, tenant_id: Any, *, is_large: bool) -> HeavyCalls:
        chosen = choose_place(calls, connection, tenant_id, is_large=is_large)
        return Holding(chosen, gate) if is_large else chosen

    monkeypatch.setattr(compilation, "choose_place", choose)


class Holding:
    def __init__(self, calls: HeavyCalls, gate: Gate) -> None:
        self._calls = calls
        self._gate = gate

    def call(self, function: Any, *arguments: Any, **named: Any) -> Any:
        return self._calls.call(self._gate.hold(function), *arguments, **named)


def large_patch() -> dict[str, Any]:
    """Make a patch with a long payload, so that it counts as large and is quick to compile."""
    document = patch()
    slot = document["slots"]["approved_to_active"]
    payload = {f"part_{n}": "x" * 4_500 for n in range(40)}
    slot["nodes"].append(
        {"id": "told", "type": "webhook_out", "config": {"event": "com.example.told", "payload": payload}}
    )
    slot.setdefault("edges", []).append({"source": slot["nodes"][-2]["id"], "target": "told"})
    return document


def save(client: Client, document: dict[str, Any]) -> str:
    answer = client.post(DEFINITIONS, document)
    return str(answer.headers["location"])


def test_another_call_of_the_tenant_is_refused_and_all_else_is_answered(
    client: Client, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = save(client, patch()), save(client, {**large_patch(), "patch": "large"})
    hold_compilations(monkeypatch, gate)
    with ThreadPoolExecutor() as threads:
        held: Future[ClientAnswer] = threads.submit(client.post, f"{large}/compile")
        with gate.holding():
            for refused in (
                client.post(f"{large}/compile"),
                client.get(f"{large}/explanation"),
                client.get(f"{large}/diff"),
                client.get(f"{large}/impact"),
                client.post(f"{large}/publish", if_match='"1"'),
                client.post(f"{small}/simulate", {"document": INVOICE}),
            ):
                assert (refused.status, refused.code) == (429, "HEAVY_CALL_RUNNING")
                assert refused.headers["retry-after"] == "1"
            assert client.post(f"{small}/compile").status == 200
            assert client.get("/v1/me").status == 200 and not held.done()
        assert held.result().status == 200
    monkeypatch.undo()
    assert client.post(f"{large}/publish", if_match='"1"').status == 200


def test_another_tenant_is_not_refused(
    client: Client,
    gate: Gate,
    database: Database,
    processes: HeavyProcesses,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = make_company(database)
    other.publish("invoice")
    others = Client(wire(database, heavy_calls=processes), other.tenant_id)
    own, foreign = save(client, large_patch()), save(others, large_patch())
    with ThreadPoolExecutor() as threads, monkeypatch.context() as patched:
        hold_compilations(patched, gate)
        held: Future[ClientAnswer] = threads.submit(client.post, f"{own}/compile")
        with gate.holding():
            patched.undo()
            assert others.post(f"{foreign}/compile").status == 200 and not held.done()
        assert held.result().status == 200


def test_a_process_that_ends_is_told_and_the_next_call_works(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = save(client, large_patch())
    with monkeypatch.context() as patched:
        patched.setattr(compilation, "compile_body", end_process)
        answer = client.post(f"{large}/compile")
        assert (answer.status, answer.code) == (503, "HEAVY_CALL_ENDED")
        assert int(answer.headers["retry-after"]) >= 1
    assert client.post(f"{large}/compile").status == 200


def test_processes_answer_as_the_api_itself_would(
    client: Client, database: Database, company: Company
) -> None:
    large = save(client, large_patch())
    plain = Client(wire(database), company.tenant_id)
    script = {"document": INVOICE, "start": "2026-01-01T00:00:00Z", "requests": ["submit"]}
    for method, path, body in (
        ("POST", "compile", None),
        ("GET", "graph", None),
        ("GET", "explanation", None),
        ("GET", "mermaid", None),
        ("GET", "diff", None),
        ("GET", "diff/mermaid", None),
        ("GET", "impact", None),
        ("POST", "simulate", script),
    ):
        answers = [each.call(method, f"{large}/{path}", body) for each in (client, plain)]
        assert [answer.status for answer in answers] == [200, 200], answers[0].body
        assert answers[0].body == answers[1].body
