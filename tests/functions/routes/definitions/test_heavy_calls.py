"""Calls about large definitions: one at a time for a tenant, beside all other requests."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from signet.api.http import routing
from signet.api.http.bodies import LARGE_BODY_BYTES
from signet.core.errors import Transient
from signet.core.previews import compile_report
from signet.engine.definitions import compilation, heavy_calls
from signet.engine.definitions.designer import impact, preview
from signet.engine.definitions.heavy_calls import (
    IN_PLACE,
    REQUEST_SECONDS,
    CallsOfRequest,
    HeavyCalls,
    choose_place,
)
from signet.engine.telemetry import SILENT
from signet.store.database import Database
from signet.store.definitions.write import DefinitionRow
from signet.wiring.heavy_processes import HeavyProcesses
from tests.functions.routes.definitions.test_definitions import DEFINITIONS, patch
from tests.integration.engine.definitions.test_definitions import create
from tests.support.api_application import wire
from tests.support.company import INVOICE, Company, make_company
from tests.support.held_calls import Gate, double, end_process, make_gate
from tests.support.http_client import Client, ClientAnswer
from tests.support.moved_clock import Moved

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


class Unread(AssertionError):
    """The end of a test in which something was read that nobody needs here."""


def refuse_to_read(*arguments: Any, **named: Any) -> None:
    raise Unread


def test_what_is_refused_is_not_parsed(client: Client, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    published = save(client, patch())
    effective = client.post(f"{published}/publish", if_match='"1"').body["definition_id"]
    large = save(client, large_patch())
    hold_compilations(monkeypatch, gate)
    monkeypatch.setattr(preview, "LARGE_ARTIFACT_BYTES", 1)
    with ThreadPoolExecutor() as threads:
        held: Future[ClientAnswer] = threads.submit(client.post, f"{large}/compile")
        with gate.holding():
            monkeypatch.setattr(preview, "parse_artifact", refuse_to_read)
            monkeypatch.setattr(DefinitionRow, "parse_document", refuse_to_read)
            monkeypatch.setattr(compile_report, "parse_body", refuse_to_read)
            for refused in (
                # It is no JSON, and nobody finds out.
                client.post(f"{large}/simulate", '{"document": ' + "[" * LARGE_BODY_BYTES),
                client.post(f"{large}/simulate", {"document": INVOICE}),
                client.post(f"{large}/compile"),
                client.get(f"{DEFINITIONS}/{effective}/explanation"),
                client.get(f"{DEFINITIONS}/{effective}/diff"),
                client.get(f"{DEFINITIONS}/{effective}/impact"),
            ):
                assert (refused.status, refused.code) == (429, "HEAVY_CALL_RUNNING")
        assert held.result().status == 200


def test_the_process_reads_the_text_and_writes_the_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Send what comes from the process as it is."""
    large = save(client, large_patch())
    monkeypatch.setattr(compile_report, "parse_body", refuse_to_read)
    monkeypatch.setattr(DefinitionRow, "parse_document", refuse_to_read)
    monkeypatch.setattr(routing, "to_json", refuse_to_read)
    monkeypatch.setattr(preview, "LARGE_ARTIFACT_BYTES", 1)
    for answered in (
        client.post(f"{large}/compile"),
        client.get(f"{large}/diff"),
        client.post(f"{large}/simulate", {"document": INVOICE}),
    ):
        assert answered.status == 200 and answered.body


def test_an_answer_that_is_kept_under_a_key_is_kept_as_it_is(client: Client) -> None:
    large = save(client, large_patch())
    first, again = (client.post(f"{large}/compile", idempotency_key="one") for _ in range(2))
    assert again.headers["idempotency-replayed"] == "true"
    assert (first.status, first.body) == (again.status, again.body) and first.body["hash"]


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


def test_the_calls_of_one_request_are_bounded_together(
    client: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refuse the impact of a draft where the definitions that run are too many for one request."""
    running = client.post(f"{save(client, patch())}/publish", if_match='"1"')
    assert running.status == 200
    create(company, "R-1")
    other = patch()
    other["slots"]["approved_to_active"]["nodes"][0]["label"] = "Another"
    draft = save(client, other)
    monkeypatch.setattr(impact, "LARGE_ARTIFACT_BYTES", 1)
    assert client.get(f"{draft}/impact").status == 200
    monkeypatch.setattr(heavy_calls, "REQUEST_SECONDS", 0.0)
    refused = client.get(f"{draft}/impact")
    assert (refused.status, refused.code) == (503, "HEAVY_CALLS_TOO_LONG")
    assert "retry-after" in refused.headers


def test_calls_of_a_request_are_made_until_its_time_is_over() -> None:
    clock = Moved()
    calls = CallsOfRequest(IN_PLACE, clock)
    clock.seconds += REQUEST_SECONDS - 1
    assert calls.call(double, 4) == 8
    clock.seconds += 1
    with pytest.raises(Transient) as caught:
        calls.call(double, 4)
    assert caught.value.code == "HEAVY_CALLS_TOO_LONG"


def test_a_process_that_ends_is_told_and_the_next_call_works(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = save(client, large_patch())
    with monkeypatch.context() as patched:
        patched.setattr(compilation, "write_compile_report", end_process)
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
