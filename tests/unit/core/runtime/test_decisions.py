"""Decisions of single nodes: why one cannot go on, and gates that ask of the persons behind a key."""

import pytest

from signet.core.runtime.decisions import Decision, DecisionInput, decide
from signet.core.runtime.projection import start_projection
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.runtime.test_execution import approval, load

KEY = {"user_id": "key:erp", "roles": []}


def decide_submit(*behind: str, problem: str | None = None) -> Decision:
    contract = {**CONTRACT, "conditions": {"invoice:submit": "actor.user_id != 'ada'"}}
    workflow = load({"approval": {"nodes": [approval("first")]}}, contract)
    token = start_projection("sys:gate:submit", 1).tokens()[0]
    persons = [{"entity": {"grand_total": 1}, "actor": {"user_id": person, "roles": []}} for person in behind]
    given = DecisionInput(
        {"entity": {"grand_total": 1}, "actor": KEY},
        permissions=("*:*",),
        problem=problem,
        list_behind=lambda condition, env: persons,
    )
    return decide(workflow, token, given)


def test_a_node_that_may_not_read_what_it_reads_is_held() -> None:
    assert decide_submit(problem="the ref leads elsewhere") == Decision(
        None, reason="the ref leads elsewhere"
    )


@pytest.mark.parametrize("behind", [(), ("mia",), ("mia", "ben")])
def test_a_gate_passes_where_its_condition_holds_for_everybody(behind: tuple[str, ...]) -> None:
    assert decide_submit(*behind).outcome == "passed"


def test_a_gate_names_the_person_behind_the_key_for_whom_it_does_not_hold() -> None:
    refused = decide_submit("mia", "ada")
    assert refused.outcome != "passed"
    assert refused.reason is not None
    assert refused.reason.endswith("does not hold for ada, who is behind the key")
