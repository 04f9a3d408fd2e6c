"""Routes and use cases, loaded at their first call: once, completely, and with an error if one is broken."""

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, cast
from uuid import uuid4

import pytest

from signet.api.application import make_resolver
from signet.api.lazy import LazyAttribute
from signet.api.routes import index, table
from signet.api.use_cases import UseCase, UseCases
from signet.core.control.change import CONTROL_KINDS
from signet.core.errors import Transient
from signet.engine.telemetry import RequestReport, Silent
from signet.store.database import Database
from signet.wiring.api import make_use_cases
from tests.functions.handlers.test_api import BrokenDatabase
from tests.support.api_application import wire
from tests.support.http_client import Client

ROOT = Path(__file__).resolve().parents[3]


class Reached:
    """Use cases that all raise REACHED: the route was found and called."""

    def __getattr__(self, name: str) -> Any:
        raise Transient("REACHED", name)


class Watch(Silent):
    def __init__(self) -> None:
        self.reports: list[RequestReport] = []

    def request_ended(self, report: RequestReport) -> None:
        self.reports.append(report)


class ImportMeeting:
    """An import that holds the first caller until the second has come."""

    def __init__(self, load: Callable[[str], ModuleType]) -> None:
        self._load = load
        self.inside, self.second_came = threading.Event(), threading.Event()

    def __call__(self, name: str) -> ModuleType:
        self.inside.set()
        assert self.second_came.wait(10)
        return self._load(name)


def test_two_first_requests_of_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    application, tenant_id = wire(Reached()), uuid4()
    meeting = ImportMeeting(importlib.import_module)
    monkeypatch.setattr(table, "import_module", meeting)

    def come_second() -> int:
        assert meeting.inside.wait(10)
        meeting.second_came.set()
        return Client(application, tenant_id).get("/v1/health").status

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(lambda: Client(application, tenant_id).get("/v1/health").status)
        second = pool.submit(come_second)
        assert (first.result(20), second.result(20)) == (503, 503)


def test_what_is_made_once_is_made_once() -> None:
    inside, second_came = threading.Event(), threading.Event()

    class Owner:
        @LazyAttribute
        def part(self) -> object:
            inside.set()
            assert second_came.wait(10)
            return object()

    owner = Owner()

    def come_second() -> object:
        assert inside.wait(10)
        second_came.set()
        return owner.part

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(lambda: owner.part), pool.submit(come_second)
        assert first.result(20) is second.result(20)
    assert owner.part is first.result()
    assert Owner().__dict__ == {}


def test_a_failed_making_is_tried_again() -> None:
    outcomes: list[Any] = [ImportError("no such module"), None]

    class FailingOwner:
        @LazyAttribute
        def part(self) -> None:
            if (outcome := outcomes.pop(0)) is not None:
                raise outcome

    owner = FailingOwner()
    with pytest.raises(ImportError):
        _ = owner.part
    assert owner.part is None
    assert outcomes == []


def test_a_broken_group_is_told_and_harms_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    client = Client(wire(Reached(), telemetry=watch), uuid4())
    load = importlib.import_module

    def load_others(name: str) -> ModuleType:
        if name == "signet.api.routes.operations.health":
            raise ImportError("broken")
        return load(name)

    monkeypatch.setattr(table, "import_module", load_others)
    for _ in range(2):
        answer = client.get("/v1/health")
        assert (answer.status, answer.code) == (500, "INTERNAL_ERROR")
        assert "broken" not in answer.text
    assert [type(report.error) for report in watch.reports] == [ImportError, ImportError]
    assert client.get("/v1/roles").code == "REACHED"
    monkeypatch.setattr(table, "import_module", load)
    assert client.get("/v1/health").code == "REACHED"


def test_a_broken_group_stops_the_preparation(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> ModuleType:
        raise ImportError("broken")

    monkeypatch.setattr(table, "import_module", load)
    with pytest.raises(ImportError, match="broken"):
        wire(Reached()).prepare()


def test_the_preparation_is_no_request() -> None:
    watch = Watch()
    application = wire(BrokenDatabase(AssertionError("the database was asked")), telemetry=watch)
    application.prepare()
    assert watch.reports == []
    assert Client(application, uuid4()).get("/v1/unknown").status == 404
    assert [report.status for report in watch.reports] == [404]


def test_every_group_declares_what_the_index_says() -> None:
    """Load the groups as a request does, without the models of the answers."""
    resolver = make_resolver()
    table.load_all_groups(resolver)
    assert index.make_index(resolver.declared) == index.read_index()


def run(script: str) -> Any:
    environment = {
        "PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}",
        "PATH": "",
        # Nothing listens there.
        "SIGNET_DATABASE_URL": "postgresql://127.0.0.1:1/none",
        "SIGNET_ENVIRONMENT": "local",
        "SIGNET_DEVELOPMENT_SECRET": "the secret of the function tests, long",
    }
    command = [sys.executable, "-c", script]
    completed = subprocess.run(
        command, check=True, env=environment, stdout=subprocess.PIPE, text=True, timeout=60
    )
    return json.loads(completed.stdout)


CALL = """
import json, sys
from uuid import uuid4
from tests.support.api_application import wire
from tests.support.http_client import Client
from tests.unit.api.test_lazy import Reached

client = Client(wire(Reached()), uuid4())
"""


def test_a_request_loads_its_own_group_alone() -> None:
    script = f"""{CALL}
assert client.get("/v1/health").code == "REACHED"
print(json.dumps([name for name in sys.modules if name.startswith("signet.api.routes.")]))
"""
    assert sorted(run(script)) == [
        f"signet.api.routes.{name}" for name in ("index", "operations", "operations.health", "table")
    ]


def test_first_requests_of_all_groups_at_once() -> None:
    """Call in a process where no group is imported yet."""
    script = f"""{CALL}
from concurrent.futures import ThreadPoolExecutor
from signet.api.routes.index import read_index
paths = [entry.path for entry in read_index() if entry.method == "GET" and "<" not in entry.path]
with ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(lambda path: (path, client.get(path).status), [*paths, *paths]))
print(json.dumps([answer for answer in answers if answer[1] >= 500 and answer[1] != 503]))
"""
    assert run(script) == []


def test_what_is_prepared_loads_nothing_more() -> None:
    """Prepare by the wiring, without a database; then call another application of the same process."""
    script = f"""
import sys
from signet.wiring.api import load_everything
load_everything()
prepared = set(sys.modules)
{CALL}
from signet.api.routes.index import read_index
loaded = set(sys.modules)
for entry in read_index():
    client.call(entry.method, entry.path.replace("<", "").replace(">", ""))
late = [name for name in set(sys.modules) - loaded if name.startswith(("signet.", "pydantic", "jwt"))]
print(json.dumps([late, "jwt" in prepared, "signet.engine.instances.actions" in prepared]))
"""
    assert run(script) == [[], True, True]


def test_a_use_case_is_of_the_type_that_it_is_declared_as() -> None:
    use = make_use_cases(cast(Database, object()))
    use.make_all()
    parts = {name: part for name, part in vars(UseCases).items() if isinstance(part, UseCase)}
    assert len(parts) > 25
    for name, part in parts.items():
        made = type(getattr(use, name))
        assert f"{made.__module__}:{made.__qualname__}" == part.place
        assert UseCases.__annotations__[name] == f"UseCase[{made.__qualname__}]"


def test_each_kind_of_control_has_its_use_case() -> None:
    use = make_use_cases(cast(Database, object()))
    assert set(use.control_changes._things) == set(CONTROL_KINDS)
