"""`signet automation …` as an operator calls it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.engine.documents.commands import Create
from signet.engine.execution.worker import Worker
from tests.support.company import INVOICE, Company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain

Signet = Callable[..., str]
PAYLOAD: dict[str, Any] = {"count": {"type": "int"}}


@pytest.fixture
def signet(company: Company, owner_url: str) -> Signet:
    for name, trigger in (("by_hand", {"on": "manual"}), ("large", {"on": "create", "condition": "1 == 2"})):
        nodes = [{"id": "look", "type": "condition"}]
        body = {"automation": name, "trigger": trigger, "nodes": nodes, "payload": PAYLOAD}
        about = {"entity_type": "invoice"} if name == "large" else {}
        draft = company.definitions.create(company.caller(), "automation", {**body, **about})
        company.definitions.publish(company.caller(), draft.id)

    def run(*words: object, exit_code: int = 0) -> str:
        environment = {"SIGNET_DATABASE_URL": as_role(owner_url, "signet_api")}
        given = ["automation", *map(str, words), "--tenant", str(company.tenant_id)]
        result = CliRunner().invoke(app, given, env=environment)
        assert result.exit_code == exit_code, result.output
        return result.output

    return run


def test_why_it_did_not_start(signet: Signet, company: Company, worker: Worker) -> None:
    assert signet("why", "large") == "Nothing has fired 'large' yet.\n"
    document = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    drain(worker, [company.tenant_id])
    said = signet("why", "large", exit_code=1)
    assert f"not_started for {document.document_id} by carl CONDITION_FALSE: the condition" in said
    (told,) = json.loads(signet("why", "large", "--json", "--document", document.document_id, exit_code=1))
    assert told["data"]["code"] == "CONDITION_FALSE"


def test_one_is_started_paused_and_let_go(signet: Signet) -> None:
    actor = ("--actor", "olga")
    assert signet("start", "by_hand", *actor, "--payload", '{"count": 3}').startswith("Started: instance ")
    assert "no JSON" in signet("start", "by_hand", *actor, "--payload", "three", exit_code=2)
    assert "no JSON object" in signet("start", "by_hand", *actor, "--payload", "3", exit_code=2)
    assert "/more is no field" in signet("start", "by_hand", *actor, "--payload", '{"more": 1}', exit_code=1)
    assert "paused by cli:" in signet("pause", "by_hand", *actor, "--note", "counted twice")
    assert "is paused: counted twice" in signet("start", "by_hand", *actor, exit_code=1)
    assert signet("resume", "by_hand", *actor) == "by_hand: version 1\n"
    assert signet("list") == "by_hand: version 1\nlarge about invoice: version 1\n"
    assert [one["name"] for one in json.loads(signet("list", "--json"))] == ["by_hand", "large"]


def test_all_are_stopped_and_let_go(signet: Signet) -> None:
    actor = ("--actor", "olga")
    assert signet("stop-all", *actor, "--note", "a storm") == "All automations are stopped.\n"
    assert "are stopped: a storm" in signet("start", "by_hand", *actor, exit_code=1)
    assert signet("allow-all", *actor) == "Automations start again.\n"
    assert signet("why", "by_hand") == "Nothing has fired 'by_hand' yet.\n"
