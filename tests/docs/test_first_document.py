"""docs/first_document.md, sent to the stack that `make run` starts, in the order of the page."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.engine.tenants.install import install_tenant
from signet.local.tenant_file import read_tenant_file
from signet.local.worker_loop import running_worker
from signet.store.database import Database
from signet.wiring.effects import make_effects
from signet.wiring.engine import make_worker
from tests.support.api_application import wire
from tests.support.http_client import Client, ClientAnswer

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "first_document.md"
WAIT_SECONDS = 20.0


@dataclass(frozen=True)
class Sent:
    who: str
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    status: int


def read_page() -> Iterator[Sent]:
    for block in re.findall(
        r"^```http\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        first, *rest = block.splitlines()
        who, method, path = first.replace(":", "", 1).split()
        headers = dict(line.split(": ", 1) for line in rest if re.match(r"[A-Z][\w-]+: ", line))
        bodies = [json.loads(line) for line in rest if line.startswith("{")]
        yield Sent(who, method, path, headers, bodies[0] if bodies else None, int(rest[-1]))


@pytest.fixture
def people(database: Database, worker: Database) -> Iterator[dict[str, Client]]:
    tenant = read_tenant_file(ROOT / "examples" / "tenant.yaml")
    install_tenant(database, tenant, COMMAND_LINE)
    application = wire(database)
    with running_worker(worker, make_worker(worker), make_effects(worker)):
        yield {
            member.user_id: Client(application, tenant.tenant_id, member.user_id, member.roles)
            for member in tenant.members
        }


def send(people: dict[str, Client], sent: Sent, known: dict[str, str]) -> ClientAnswer:
    path = re.sub(r"{(\w+)}", lambda found: known[found[1]], sent.path)
    headers: dict[str, Any] = {name.lower().replace("-", "_"): value for name, value in sent.headers.items()}
    return people[sent.who].call(sent.method, path, sent.body, **headers)


def test_the_page_does_what_it_says(people: dict[str, Client]) -> None:
    known: dict[str, str] = {}
    for sent in read_page():
        deadline = time.monotonic() + WAIT_SECONDS
        answer = send(people, sent, known)
        # The worker may need a moment, as the reader of the page does.
        while answer.status == 202 or (answer.status == 200 and answer.body.get("items") == []):
            assert time.monotonic() < deadline, (sent, answer.text)
            time.sleep(0.05)
            if sent.method == "POST":
                break
            answer = send(people, sent, known)
        assert answer.status == sent.status or (sent.status, answer.status) == (200, 202), (sent, answer.text)
        learn(known, answer)
    assert people["carl"].get(known["document"]).body["data"]["number"] == "R-1"


def learn(known: dict[str, str], answer: ClientAnswer) -> None:
    body = json.loads(answer.text) if answer.text else {}
    if (
        "/v1/documents/" in answer.headers.get("location", "")
        and "requests" not in answer.headers["location"]
    ):
        known["document"] = answer.headers["location"]
    if body.get("definitions"):
        known["definition"] = body["definitions"][0]["id"]
    for item in body.get("items", []):
        if "request_id" in item:
            known["approval"] = item["request_id"]
