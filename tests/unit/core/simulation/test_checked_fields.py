"""Everything that actions are given and write is checked against the contract, as by the engine."""

from typing import Any

import pytest

from signet.core.contracts.reader import parse_contract
from signet.core.simulation import Simulation, WorldScript, simulate
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.simulation.test_run import DOCUMENT, NOW, chain, load

CALL = ("call", "webhook_out", {"endpoint": "bank", "save_as": "paid"})
STAMP = {"action": "post", "payload": {"at": {"$expr": "context.paid.body.day"}}, "run_as": "system"}
SET = {"posted": "{payload.at}"}
WRITES_NO_BOOL = {**CONTRACT, "actions": {"post": {**CONTRACT["actions"]["post"], "set": SET}}}
WITHOUT_DAY = "1 field(s) of the payload are not as the contract says: /at is required"


def run(contract: dict[str, Any], body: Any, *, checks: bool = True) -> Simulation:
    read, mistakes = parse_contract(contract)
    assert read is not None, mistakes
    script = WorldScript(
        requests=["submit"],
        outputs={"bank": {"status": 200, "body": body}},
        contract=read if checks else None,
    )
    workflow = load(contract, posting=chain(CALL, ("stamp", "action", STAMP)))
    return simulate(workflow, DOCUMENT, script, NOW)


def test_an_action_that_is_given_what_the_contract_wants_runs() -> None:
    done = run(CONTRACT, {"day": "2026-01-01"})
    assert (done.status, done.document["posted"]) == ("completed", True)


@pytest.mark.parametrize("body", [None, {"date": "2026-01-01"}, {"day": None}])
def test_an_answer_without_the_field_holds_the_action_behind_it(body: Any) -> None:
    held = run(CONTRACT, body)
    assert held.status == "paused" and WITHOUT_DAY in str(held.reason)
    assert [step.step.node for step in held.steps if step.outcome == "error"] == ["usr:posting:stamp"]
    assert run(CONTRACT, body, checks=False).status == "completed"


def test_an_action_writes_nothing_that_the_document_may_not_be() -> None:
    held = run(WRITES_NO_BOOL, {"day": "2026-01-01"})
    assert held.status == "paused" and "posted" not in held.document
    assert "1 field(s) of the document are not as the contract says: /posted" in str(held.reason)
