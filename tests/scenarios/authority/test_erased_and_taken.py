"""A personal value that is erased, and that an action takes over, a rule is asked about, or a call says."""

from collections.abc import Mapping
from typing import Any, LiteralString

import pytest

from signet.core.errors import Rejected
from signet.engine.documents.commands import RunAction
from tests.scenarios.authority.acts import submit, vote
from tests.scenarios.authority.test_erased_behind_gates import (
    BOSS,
    HELD,
    HOUSE,
    LOOK,
    PAY,
    PAYABLE,
    WATCHED,
    approved,
    ask,
    choice,
    erase,
    held,
    linear,
    paid,
)
from tests.scenarios.authority.test_erased_behind_gates import stage as stage_behind_gates
from tests.scenarios.authority.test_erased_while_asked import asking, correct
from tests.support.workflow_stage import Made, WorkflowStage

stage = stage_behind_gates
TAKEN = ("{entity.contact}", {"$expr": "entity.contact"})
TAKE = {"id": "take", "type": "action", "config": {"action": "take", "run_as": "system"}}
MAKE = {"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}
TOLD = {"endpoint": "erp", "payload": {"who": "{entity.contact}"}}
CALL: Mapping[str, Any] = {"id": "call", "type": "webhook_out", "config": TOLD}
RULE: Mapping[str, Any] = {"id": "rule", "type": "rule", "config": {"rules": ["unwatched"]}}
LOCKED: Mapping[str, Any] = {
    **PAYABLE,
    "states": {**PAYABLE["states"], "submitted": {"edit": "locked"}},
}
COUNT: LiteralString = "SELECT count(*) FROM documents WHERE entity_type = %s"


def taking(contract: Mapping[str, Any], taken: Any) -> dict[str, Any]:
    """Return the contract with an action that takes the contact over into the number."""
    return {**contract, "actions": {"take": {"kind": "update", "set": {"number": taken}}}}


def through(*nodes: Mapping[str, Any], on: str) -> dict[str, Any]:
    """Return a slot whose first node leads to the boss with one outcome; then a voter looks in any case."""
    first = nodes[0]["id"]
    edges = [
        {"source": first, "target": "boss", "on": on},
        {"source": first, "target": "look"},
        {"source": "boss", "target": "look"},
    ]
    return {"nodes": [*nodes, BOSS, LOOK], "edges": edges}


def taken_first() -> dict[str, Any]:
    """Return a slot that asks the boss by what the action has taken over."""
    edges = [
        {"source": "take", "target": "boss", "condition": "entity.number == 'watch'"},
        {"source": "take", "target": "look"},
        {"source": "boss", "target": "look"},
    ]
    return {"nodes": [TAKE, BOSS, LOOK], "edges": edges}


def submitted(stage: WorkflowStage, contract: Mapping[str, Any], slot: Mapping[str, Any]) -> Made:
    entity_type = stage.publish(contract, approval=slot)
    stage.add_rule(entity_type, "unwatched", WATCHED, on="delete")
    stage.add_rule(entity_type, "small", "entity.amount > 100", on="delete")
    document = stage.create(entity_type, "carl", contact="watch")
    submit(stage, document, "carl")
    return document


@pytest.mark.parametrize("taken", TAKEN)
def test_an_action_in_front_takes_no_gap_over(stage: WorkflowStage, taken: Any) -> None:
    document = submitted(stage, taking(LOCKED, taken), taken_first())
    assert asking(stage, document) == ["boss"]
    erase(stage, document)
    assert (held(stage, document), asking(stage, document)) == ([HELD], [])
    stage.check_rebuild(document.instance_id)
    # The lawful way: an operator fills the value, and the boss is asked.
    correct(stage, document, contact="watch")
    assert (held(stage, document), asking(stage, document)) == ([], ["boss"])


@pytest.mark.parametrize("taken", TAKEN)
def test_an_action_behind_an_approval_takes_no_gap_over(stage: WorkflowStage, taken: Any) -> None:
    slot = choice("entity.number == 'watch'", BOSS)
    before = {
        **slot,
        "nodes": [TAKE, *slot["nodes"]],
        "edges": [{"source": "take", "target": "choice"}, *slot["edges"]],
    }
    document = approved(stage, taking(PAYABLE, taken), before=before)
    erase(stage, document)
    assert ask(stage, document) == "active"
    assert (held(stage, document), paid(stage, document)) == ([HELD], [])


@pytest.mark.parametrize("by_hand", [True, False], ids=["by hand", "by a step"])
def test_nothing_is_made_with_the_gap(stage: WorkflowStage, by_hand: bool) -> None:
    """The payment asks the boss by what its order says of the contact."""
    payment = stage.publish(PAYABLE, approval=choice("entity.number == 'watch'", BOSS))
    make = {"kind": "create", "entity_type": payment, "set": {"number": "{entity.contact}"}}
    contract = {**PAYABLE, "actions": {"make": make}}
    document = approved(stage, contract, **({} if by_hand else {"before": linear(MAKE)}))
    erase(stage, document)
    if by_hand:
        seen = stage.version_of(document.id)
        with pytest.raises(Rejected) as refused:
            stage.mutate(RunAction(document.id, seen, "make", {}), "carl", "admin")
        assert (refused.value.code, "the action 'make'" in str(refused.value)) == (HELD, True)
    else:
        assert ask(stage, document) == "active"
        assert held(stage, document) == [HELD]
    assert stage.standing.row(COUNT, payment) == (0,)


def test_a_rule_is_not_asked_about_the_gap(stage: WorkflowStage) -> None:
    document = submitted(stage, LOCKED, through(RULE, on="rejected"))
    assert asking(stage, document) == ["boss"]
    erase(stage, document)
    assert (held(stage, document), asking(stage, document)) == ([HELD], [])
    correct(stage, document, contact="watch")
    assert (held(stage, document), asking(stage, document)) == ([], ["boss"])


def test_a_rule_behind_an_approval_is_not_asked_about_the_gap(stage: WorkflowStage) -> None:
    edges = [
        {"source": "rule", "target": "pay"},
        {"source": "rule", "target": "house", "on": "rejected"},
        *({"source": name, "target": "out"} for name in ("pay", "house")),
    ]
    entity_type = stage.publish(
        PAYABLE, approval=linear(LOOK), paying={"nodes": [RULE, PAY, HOUSE], "edges": edges, "exit": "join"}
    )
    stage.add_rule(entity_type, "unwatched", WATCHED, on="delete")
    document = stage.create(entity_type, "carl", contact="watch")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == "approved"
    erase(stage, document)
    assert ask(stage, document) == "paid"
    assert (held(stage, document), paid(stage, document)) == ([HELD], [])


def test_a_rule_about_other_things_is_asked(stage: WorkflowStage) -> None:
    """The lawful way: the rule of the node reads no personal field, and another rule is not asked there."""
    document = submitted(stage, LOCKED, through({**RULE, "config": {"rules": ["small"]}}, on="rejected"))
    assert asking(stage, document) == ["look"]
    erase(stage, document)
    assert (held(stage, document), asking(stage, document)) == ([], ["look"])


def test_a_call_whose_answer_chooses_says_no_gap(stage: WorkflowStage) -> None:
    document = submitted(stage, LOCKED, through(CALL, on="error"))
    stage.answer(document.instance_id, error="ANSWERED: 422")
    stage.drain()
    assert asking(stage, document) == ["boss"]
    erase(stage, document)
    assert (held(stage, document), asking(stage, document)) == ([HELD], [])
    assert paid(stage, document) == ["call"]


def test_a_call_whose_answer_is_kept_says_no_gap(stage: WorkflowStage) -> None:
    call = {**CALL, "config": {**TOLD, "save_as": "bureau"}}
    document = approved(stage, before=linear(call, LOOK))
    erase(stage, document)
    assert ask(stage, document) == "active"
    assert (held(stage, document), paid(stage, document)) == ([HELD], [])


def test_a_call_that_chooses_nothing_says_what_is_there(stage: WorkflowStage) -> None:
    """The lawful way: the receiver is told that the value is gone."""
    document = approved(stage, paying=linear(CALL))
    erase(stage, document)
    assert ask(stage, document) == "paid"
    assert (held(stage, document), paid(stage, document)) == ([], ["call"])


def test_the_answer_to_a_call_that_had_left_before_chooses(stage: WorkflowStage) -> None:
    """The lawful way: the receiver was told the value, and has judged it."""
    edges = [
        {"source": "call", "target": "pay"},
        {"source": "call", "target": "house", "on": "error"},
        *({"source": name, "target": "out"} for name in ("pay", "house")),
    ]
    document = approved(stage, paying={"nodes": [CALL, PAY, HOUSE], "edges": edges, "exit": "join"})
    assert ask(stage, document) == "paid"
    erase(stage, document)
    stage.answer(stage.instance_of(document.id), error="ANSWERED: 422")
    stage.drain()
    assert (held(stage, document), paid(stage, document)) == ([], ["call", "house"])
