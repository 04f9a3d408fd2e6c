"""A second way into the status, which asks nobody, switches off nothing that people have approved."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.instances.moves import InstanceMoves, MoveTarget
from tests.scenarios.authority.acts import edit, submit, vote
from tests.scenarios.authority.test_done_once import (
    APPROVED,
    BOOKED,
    LOOK,
    PAY,
    SETTLE,
    ask_reverse,
    booked,
    held_by,
    linear,
    list_calls,
    list_paid,
    operator,
    withdraw,
)
from tests.scenarios.authority.test_done_once import stage as stage
from tests.scenarios.authority.test_restarts_behind_gates import DUTIES, cancel, restart
from tests.scenarios.authority.test_rules_behind_gates import save
from tests.support.operated_instances import version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

ONE = BOOKED
FAST: Mapping[str, Any] = {"from": ["draft"], "to": "approved", "kind": "requested"}
SECOND: Mapping[str, Any] = {**BOOKED, "transitions": {**BOOKED["transitions"], "fast": FAST}}
DECIDING: Mapping[str, Any] = {**SECOND, "separation_of_duties": {"deciding": ["fast"]}}
WAYS = pytest.mark.parametrize("contract", [ONE, SECOND, DECIDING], ids=["one", "second", "deciding"])


@WAYS
def test_a_withdrawn_request_makes_no_call_again(stage: WorkflowStage, contract: Mapping[str, Any]) -> None:
    document = booked(stage, contract=contract)
    ask_reverse(stage, document)
    withdraw(stage, document)
    assert list_paid(stage, document) == ["completed"]


@WAYS
def test_people_with_a_part_end_nothing(stage: WorkflowStage, contract: Mapping[str, Any]) -> None:
    document = booked(stage, contract=contract)
    assert cancel(stage, document, "carl", "restart") == DUTIES
    with pytest.raises(Rejected) as refused:
        cancel_and_restart(stage, document)
    assert refused.value.code == "INSTANCE_TARGET_REPEATS"


def cancel_and_restart(stage: WorkflowStage, document: Made) -> None:
    assert cancel(stage, document, then="leave") == "done"
    restart(stage, document)


def test_who_came_by_the_free_way_is_not_behind_an_approval(stage: WorkflowStage) -> None:
    """The control: nobody has decided, so that a request that is withdrawn calls again."""
    slots = {"approval": linear(LOOK), "booking": linear(PAY, SETTLE), "reversal": linear(LOOK)}
    document = stage.create(stage.publish(SECOND, **slots), "carl", number="P1")
    stage.ask(document.id, "fast", "carl")
    stage.drain()
    stage.answer(document.instance_id)
    stage.drain()
    ask_reverse(stage, document)
    withdraw(stage, document)
    assert list_paid(stage, document) == ["completed", "pending"]


def test_what_was_approved_is_given_back_with_its_status(stage: WorkflowStage) -> None:
    """The control: after the reversal the document comes by the free way, as its contract lets it."""
    document = booked(stage, contract=SECOND)
    ask_reverse(stage, document)
    assert vote(stage, document.id, "ben") == APPROVED
    stage.ask(document.id, "fast", "carl")
    stage.drain()
    assert list_paid(stage, document) == ["completed", "pending"]


def pay_vendor(to: str) -> dict[str, Any]:
    return {**PAY, "config": {"endpoint": "erp", "payload": {"amount": 1, "to": {"$expr": to}}}}


def vendored(stage: WorkflowStage, contract: Mapping[str, Any], to: str) -> tuple[str, Made, Made]:
    """Let a document be approved whose vendor is edited afterwards."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    supplier = stage.create(vendor, "max", number="GOOD")
    contract = {**contract, "fields": {**CONTRACT["fields"], "vendor": ref}}
    name = stage.publish(contract, approval=linear(LOOK), booking=linear(SETTLE, pay_vendor(to)))
    document = stage.create(name, "carl", number="P1", vendor=str(supplier.id))
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    edit(stage, supplier, "max", number="FRAUD")
    return name, document, supplier


@WAYS
def test_a_newer_definition_reads_nothing_that_is_not_pinned(
    stage: WorkflowStage, contract: Mapping[str, Any]
) -> None:
    name, document, _ = vendored(stage, contract, "entity.number")
    slots = {"approval": linear(LOOK), "booking": linear(SETTLE, pay_vendor("entity.vendor.number"))}
    newer = MoveTarget(stage.publish_next(name, 1, **slots))
    moves = InstanceMoves(stage.standing.company.database, stage.caches(), CompiledCache())
    moved = moves.move(operator(stage), document.instance_id, version(stage, document), newer, "newer")
    assert moved.outcome == "blocked" and moved.report is not None
    assert [one.code for one in moved.report.obstacles] == ["READS_UNPINNED"]
    assert cancel(stage, document, then="leave") == "done"
    begun = restart(stage, document, target=newer)
    assert (begun.outcome, [one.code for one in begun.report.obstacles]) == ("blocked", ["READS_UNPINNED"])


@WAYS
def test_an_edit_behind_the_approval_keeps_its_pins(
    stage: WorkflowStage, contract: Mapping[str, Any]
) -> None:
    states = {**BOOKED["states"], "approved": {"edit": "editable"}}
    _, document, _ = vendored(stage, {**contract, "states": states}, "entity.vendor.number")
    edit(stage, document, "carl", amount=9)
    stage.drain()
    stage.answer(document.instance_id)
    stage.drain()
    assert [payload["to"] for _, payload in list_calls(stage, document) if "to" in payload] == ["GOOD"]


@WAYS
def test_a_rule_sets_nothing_that_people_have_approved(
    stage: WorkflowStage, contract: Mapping[str, Any]
) -> None:
    states = {**BOOKED["states"], "approved": {"edit": "amend_only"}}
    contract = {**contract, "states": states, "amendment": {"from": ["active"]}}
    stamp = {"id": "stamp", "type": "action", "config": {"action": "post", "run_as": "system"}}
    name = stage.publish(contract, approval=linear(LOOK), booking=linear(stamp, PAY))
    save(stage, name, "entity.is_posted == true", "DE-FRAUD")
    document = stage.create(name, "carl", number="DE-OWN")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    assert held_by(stage, document) == [("RULE_SETS_APPROVED", "usr:booking:stamp")]
    assert list_calls(stage, document) == []
