"""Amendments whose workflow begins again: open again, unless another one is, and with a way on when held."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.runtime.operator_actions import Sequel
from signet.engine.cache import CompiledCache, ContractCache
from signet.engine.documents.commands import RequestTransition
from signet.engine.instances.corrections import Corrections
from signet.engine.instances.document_restarts import Restarts
from signet.engine.instances.explain import explain
from signet.engine.instances.incidents import IncidentFilter, list_open
from signet.engine.instances.repairs import Repairs
from tests.support.amended_documents import (
    AMENDABLE,
    GONE,
    MOVED_ON,
    OPEN,
    STRICT,
    SUSPENDING,
    amend,
    answer,
    incidents,
    line,
    move_on,
    read,
    refusal,
    settle,
    settled,
    submit,
    withdraw,
)
from tests.support.operated_instances import check, operating_on
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def cancel(stage: WorkflowStage, amendment: Made, then: Sequel) -> Made:
    """End its workflow by a person's order, and return it with the instance that it has then."""
    instances, olga = operating_on(stage)
    instance_id = stage.instance_of(amendment.id)
    version = stage.instance(instance_id)["version"]
    instances.cancel(olga, instance_id, version, "not like this", then=then)
    stage.drain()
    return Made(amendment.id, stage.instance_of(amendment.id))


def restart_at_once(stage: WorkflowStage, amendment: Made) -> Made:
    return cancel(stage, amendment, "restart")


def restart_later(stage: WorkflowStage, amendment: Made) -> Made:
    cancel(stage, amendment, "leave")
    assert read(stage, amendment).amendment_open is None
    restarts = Restarts(stage.standing.company.database, stage.caches(), CompiledCache())
    _, olga = operating_on(stage)
    restarts.restart(olga, amendment.id, stage.version_of(amendment.id), "after all")
    stage.drain()
    return Made(amendment.id, stage.instance_of(amendment.id))


@pytest.mark.parametrize("again", [restart_at_once, restart_later])
def test_an_amendment_that_is_restarted_is_open_again(stage: WorkflowStage, again: Any) -> None:
    original = settled(stage, SUSPENDING)
    amendment = amend(stage, original, amount=2)
    submit(stage, amendment)
    begun = again(stage, amendment)
    assert begun.instance_id != amendment.instance_id
    for document in (original, amendment):
        assert read(stage, document).amendment_open == amendment.id
    version = stage.version_of(original.id)
    refused = refusal(stage, RequestTransition(original.id, version, "renew", "why"))
    assert refused.code == OPEN
    with pytest.raises(Rejected, match=str(amendment.id)):
        amend(stage, original, amount=3)
    answer(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")
    check(stage, begun)


def test_an_amendment_that_is_restarted_beside_another_is_open_when_that_is_given_up(
    stage: WorkflowStage,
) -> None:
    original = settled(stage, SUSPENDING)
    first = amend(stage, original)
    submit(stage, first)
    cancel(stage, first, "leave")
    second = amend(stage, original)
    stage.drain()
    restarts = Restarts(stage.standing.company.database, stage.caches(), CompiledCache())
    _, olga = operating_on(stage)
    restarts.restart(olga, first.id, stage.version_of(first.id), "after all")
    stage.drain()
    assert read(stage, original).amendment_open == second.id
    assert incidents(stage, first) == [(GONE, "business", None)]
    withdraw(stage, second)
    assert read(stage, original).amendment_open == first.id
    instances, olga = operating_on(stage)
    instance_id = stage.instance_of(first.id)
    instances.retry(olga, instance_id, stage.instance(instance_id)["version"], "it is alone now")
    stage.drain()
    answer(stage, first)
    assert (stage.status_of(original.id), stage.status_of(first.id)) == ("amended", "active")
    assert line(stage, original) == (None, first.id, first.id)


def test_a_correction_lets_an_amendment_stand_for_the_original_of_now(stage: WorkflowStage) -> None:
    original = settled(stage)
    amendment = amend(stage, original, amount=2)
    submit(stage, amendment)
    move_on(stage, original)
    answer(stage, amendment)
    assert incidents(stage, amendment) == [(MOVED_ON, "business", None)]
    _, olga = operating_on(stage)
    corrections = Corrections(stage.standing.company.database, stage.caches(), CompiledCache())
    corrections.correct(olga, amendment.id, stage.version_of(amendment.id), {"amount": 3}, "as it is now")
    stage.drain()
    answer(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")


def test_an_amendment_of_what_is_gone_is_given_up_for_good(stage: WorkflowStage) -> None:
    """Name nothing else: what goes back is held at the same gate again."""
    original = settled(stage)
    amendment = amend(stage, original, amount=2)
    submit(stage, amendment)
    withdraw(stage, original)
    answer(stage, amendment)
    assert incidents(stage, amendment) == [(GONE, "business", None)]
    found = explain(stage.standing.company.database, ContractCache(), stage.tenant_id, amendment.instance_id)
    (incident,) = found.incidents
    assert {act.name for act in incident.acts} == {"cancel", "fail"}
    assert all("--then leave" in act.command for act in incident.acts)
    assert "for good" in incident.text and "Go to" not in incident.remedy
    withdraw(stage, amendment)
    assert stage.status_of(amendment.id) == "cancelled"
    assert incidents(stage, amendment) == [(GONE, "business", "withdrawn")]


def test_an_amendment_where_an_edit_makes_another_goes_back_to_its_beginning(stage: WorkflowStage) -> None:
    original = settled(stage, STRICT)
    amendment = amend(stage, original, amount=2)
    submit(stage, amendment)
    move_on(stage, original)
    answer(stage, amendment)
    wanted = IncidentFilter(instance_id=amendment.instance_id)
    (listed,) = list_open(stage.standing.company.database, stage.tenant_id, wanted, limit=9)
    (targets,) = [act.targets for act in listed.acts if act.name == "go_to"]
    assert "sys:state:amended" in targets
    _, olga = operating_on(stage)
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    version = stage.instance(amendment.instance_id)["version"]
    repairs.go_to(olga, amendment.instance_id, version, "sys:state:amended", "look at it again")
    stage.drain()
    assert read(stage, amendment).amendment_open == amendment.id
    stage.edit(amendment.id)
    stage.drain()
    settle(stage, amendment)
    assert (stage.status_of(original.id), stage.status_of(amendment.id)) == ("amended", "active")


def test_an_amendment_whose_call_is_held_begins_again_too(stage: WorkflowStage) -> None:
    """No gate holds it: the refused transition is that of the gate behind the call."""
    locked = {**AMENDABLE, "states": {**AMENDABLE["states"], "submitted": {"edit": "locked"}}}
    original = settled(stage, locked)
    amendment = amend(stage, original, amount=2)
    move_on(stage, original)
    submit(stage, amendment)
    assert incidents(stage, amendment) == [(MOVED_ON, "business", None)]
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    version = stage.instance(amendment.instance_id)["version"]
    _, olga = operating_on(stage)
    repairs.go_to(olga, amendment.instance_id, version, "sys:state:amended", "look at it again")
    stage.drain()
    assert stage.status_of(amendment.id) == "draft"
    assert incidents(stage, amendment) == [(MOVED_ON, "business", "withdrawn")]
    stage.check_rebuild(amendment.instance_id)
