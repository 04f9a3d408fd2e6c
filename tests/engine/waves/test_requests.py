"""What people ask for while a document's workflow is under way: served, refused, superseded, ended."""

from copy import deepcopy
from typing import Any

import pytest

from tests.engine.waves.stage import CALL, CONTRACT, Stage


def with_transition(name: str, **changes: Any) -> dict[str, Any]:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"][name] |= changes
    return contract


@pytest.mark.parametrize("is_under_way", [False, True], ids=["at rest", "under way"])
def test_whoever_may_ask_for_an_interrupt_is_not_refused_for_who_came_before(
    stage: Stage, is_under_way: bool
) -> None:
    """Its gate is tried as the person who asks, not as the one whom the workflow serves so far."""
    contract = with_transition("cancel", permission="docs:cancel")
    contract["conditions"] = {"docs:cancel": "actor.user_id != 'carl'"}
    document = stage.create(stage.publish(contract, approval={"nodes": [CALL]}))
    if is_under_way:
        stage.ask(document.document_id, "submit")
    stage.drain()
    stage.ask(document.document_id, "cancel", "mona", "admin")
    stage.drain()
    assert stage.requests(document.document_id)[-1] == ("cancel", "performed")
    assert stage.status_of(document.document_id) == "cancelled"


@pytest.mark.parametrize("transition", ["submit", "cancel"])
def test_a_rule_that_is_against_a_transition_is_not_against_its_refusal(
    stage: Stage, transition: str
) -> None:
    """It was made after the request; the document rests where it was, and can be edited and asked again."""
    entity_type = stage.publish()
    document = stage.create(entity_type)
    stage.ask(document.document_id, transition)
    stage.add_rule(entity_type, "small", "entity.amount < 5", on="transition")
    stage.drain()
    assert stage.requests(document.document_id) == [(transition, "refused")]
    assert stage.nodes(document.instance_id)[-1] == "sys:state:draft"
    stage.edit(document.document_id, amount=7)
    stage.ask(document.document_id, "submit")
    stage.drain()
    assert stage.status_of(document.document_id) == "active"


def test_a_rejection_that_a_rule_is_against_pauses_with_the_reason(stage: Stage) -> None:
    """The gate can neither be passed nor send the document back: for a person, and not for one more try."""
    ask_rule = {"id": "solvent", "type": "rule", "config": {"rules": ["solvent"]}}
    entity_type = stage.publish(approval={"nodes": [ask_rule]})
    document = stage.create(entity_type)
    stage.ask(document.document_id, "submit")
    stage.add_rule(entity_type, "solvent", "entity.amount == 1", on="delete")
    stage.add_rule(entity_type, "forward", "entity.status == 'draft'", on="transition")
    stage.drain()
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"]) == ("paused", "forward is against it")
    assert stage.triggers(document.instance_id) == [("completed", 1), ("completed", 1)]
    stage.check_rebuild(document.instance_id)
