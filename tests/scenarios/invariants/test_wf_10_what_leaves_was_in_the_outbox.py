"""WF-10: nothing reaches the outside but through the outbox.

The engine knows no network. A wave writes each effect as a row of its own transaction, with its step. A
worker delivers committed rows only, and records the evidence on the row and on the step.
"""

import ast
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

import signet
from signet.engine.integrations.effects import Effects
from signet.outbound.connector import Delivery, OutboundMessage
from tests.support.workflow_stage import CALL, Made, WorkflowStage, standing_stage

PACKAGE = Path(signet.__file__).parent
TELL: dict[str, Any] = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "Look"},
}
# Modules that can reach anything but the database.
NETWORK = {"socket", "ssl", "http", "urllib", "urllib3", "smtplib", "asyncio", "boto3", "botocore"}
LAYERS = ("core", "engine", "store", "authoring")
EFFECTS: LiteralString = (
    "SELECT e.effect_type, e.status, e.response_json, s.status FROM workflow_side_effects_outbox e"
    " JOIN workflow_step_executions s ON s.id = e.step_execution_id WHERE e.instance_id = %s ORDER BY e.id"
)


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def begin(stage: WorkflowStage) -> Made:
    """Submit a document whose workflow sends a message and makes a call."""
    slots = {"nodes": [TELL, CALL], "edges": [{"source": "tell", "target": "call"}]}
    made = stage.create(stage.publish(checks=slots))
    stage.ask(made.id, "submit")
    return made


def effects_of(stage: WorkflowStage, made: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(EFFECTS, made.instance_id)


class WatchingConnector:
    """A connector that checks over a connection of its own that its message is committed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.seen: list[tuple[Any, ...]] = []

    def deliver(self, message: OutboundMessage) -> Delivery:
        query: LiteralString = (
            "SELECT e.status, s.id IS NOT NULL FROM workflow_side_effects_outbox e"
            " LEFT JOIN workflow_step_executions s ON s.id = e.step_execution_id WHERE e.id = %s"
        )
        with psycopg.connect(self._url) as connection:
            self.seen.extend(connection.execute(query, (message.id,)).fetchall())
        return Delivery(202, None, {"said": "yes"})


def test_wf_10_a_wave_reaches_nobody(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch) -> None:
    made = begin(stage)
    with monkeypatch.context() as patched:
        for name in ("connect", "connect_ex", "sendto"):
            patched.setattr(socket.socket, name, _refuse, raising=False)
        for name in ("getaddrinfo", "create_connection", "gethostbyname"):
            patched.setattr(socket, name, _refuse)
        stage.drain()
    assert [(kind, status) for kind, status, *_ in effects_of(stage, made)] == [
        ("email", "pending"),
        ("webhook", "pending"),
    ]


def _refuse(*arguments: Any, **named: Any) -> Any:
    raise AssertionError("the engine speaks to somebody")


def _deliver(stage: WorkflowStage) -> WatchingConnector:
    stage.standing.run(
        "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
        " VALUES (%s, 'erp', 'https://erp.example/', '{s}', 'carl')"
        " ON CONFLICT (tenant_id, name) DO UPDATE SET url = excluded.url, secret_refs = excluded.secret_refs",
        stage.tenant_id,
    )
    stage.drain()
    watching = WatchingConnector(stage.standing.admin_url)
    Effects(stage.database, {"webhook": watching, "email": watching}).work(stage.tenant_id)
    return watching


def test_wf_10_what_is_delivered_was_committed_with_its_step(stage: WorkflowStage) -> None:
    begin(stage)
    assert _deliver(stage).seen == [("processing", True)] * 2


def test_wf_10_evidence_stands_on_the_row_and_on_the_step(stage: WorkflowStage) -> None:
    made = begin(stage)
    _deliver(stage)
    stage.drain()
    rows = effects_of(stage, made)
    assert [(kind, status) for kind, status, *_ in rows] == [("email", "completed"), ("webhook", "completed")]
    assert all(response["status"] == 202 and response["body"] == {"said": "yes"} for *_, response, _ in rows)
    (output,) = stage.standing.row(
        "SELECT output_json FROM workflow_step_executions WHERE instance_id = %s AND node_id LIKE %s",
        made.instance_id,
        "%:call",
    )
    assert 202 in _values(output)


def _values(found: Any) -> list[Any]:
    """Return all values inside the value, at any depth."""
    inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return [found, *(value for each in inner for value in _values(each))]


def test_wf_10_a_wave_that_is_rolled_back_leaves_nothing_to_be_sent(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = begin(stage)

    def break_off(*arguments: Any) -> None:
        raise psycopg.errors.NumericValueOutOfRange("in the last moment")

    with monkeypatch.context() as patched:
        patched.setattr("signet.engine.execution.wave.end_wave", break_off)
        with pytest.raises(psycopg.errors.NumericValueOutOfRange):
            stage.drain()
    assert effects_of(stage, made) == []
    watching = WatchingConnector(stage.standing.admin_url)
    assert Effects(stage.database, {"webhook": watching, "email": watching}).work(stage.tenant_id) == 0
    assert watching.seen == []


@pytest.mark.parametrize("layer", LAYERS)
def test_wf_10_no_module_of_the_engine_knows_a_network(layer: str) -> None:
    """Allow such modules only in the wiring, behind a port."""
    for path in (PACKAGE / layer).rglob("*.py"):
        for name in _imports(path):
            # Parsing an address reaches no server, and to hang up on the database sends nothing.
            is_harmless = name == "urllib.parse" or (path.name, name) == ("deadlines.py", "socket")
            assert is_harmless or name.split(".")[0] not in NETWORK, f"{path.name}: {name}"
            assert not name.startswith(("signet.outbound.webhook", "signet.aws")), f"{path.name}: {name}"


def test_wf_10_only_the_worker_of_effects_calls_a_connector() -> None:
    callers = [
        path.stem
        for path in PACKAGE.rglob("*.py")
        if any(
            isinstance(node, ast.Attribute) and node.attr == "deliver"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    ]
    assert callers == ["effects"]


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
