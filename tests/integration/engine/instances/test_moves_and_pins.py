"""Moves behind a gate: a newer definition that reads more than was pinned is not taken."""

from typing import Any
from uuid import UUID

import pytest

from signet.engine.approvals.inbox import Approvals
from signet.engine.instances.moves import InstanceMoves
from tests.support.core.approval_policies import user
from tests.support.moved_instances import codes, move, pin_of
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [user("anna")]}}
SUM = {"id": "sum", "type": "script", "config": {"set": {"payable": "entity.amount"}}}
APPROVAL = {"nodes": [SUM, LOOK], "edges": [{"source": "sum", "target": "look"}]}


def pay(text: str) -> dict[str, Any]:
    """Call the bank after the first call, with this in the payload."""
    config = {"endpoint": "erp", "payload": {"account": text}}
    nodes = [CALL, {"id": "pay", "type": "webhook_out", "config": config}]
    return {"nodes": nodes, "edges": [{"source": "call", "target": "pay"}]}


def approved(stage: WorkflowStage) -> tuple[str, Made]:
    """Have a document approved, that waits behind the gate for its first call."""
    stage.add_member("anna")
    vendors = stage.publish()
    reads = {"number": {"type": "string"}, "amount": {"type": "int"}}
    vendor = {"type": "ref", "entity_type": vendors, "reads": reads}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": vendor}}
    slots = {"approval": APPROVAL, "posting": pay("{entity.vendor.number}")}
    entity_type = stage.publish(contract, **slots)
    seller = stage.create(vendors, "dora", number="DE-GOOD")
    document = stage.create(entity_type, "dora", vendor=str(seller.id))
    stage.ask(document.id, "submit", "dora")
    stage.drain()
    company = stage.standing.company
    query = "SELECT id FROM approval_requests WHERE document_id = %s"
    request_id = UUID(str(stage.standing.row(query, document.id)[0]))
    approvals = Approvals(company.database, stage.caches())
    approvals.decide(company.caller("anna"), request_id, "approved", "seen")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    return entity_type, document


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("{entity.vendor.number} {entity.vendor.amount}", "vendor.amount"),
        ("{context.payable}", "context.payable"),
    ],
)
def test_what_only_the_newer_definition_reads_holds_the_move_back(
    stage: WorkflowStage, moves: InstanceMoves, text: str, read: str
) -> None:
    entity_type, document = approved(stage)
    version = stage.publish_next(entity_type, approval=APPROVAL, posting=pay(text))
    outcome = move(moves, stage, document, version)
    assert (outcome.outcome, codes(outcome)) == ("blocked", ["READS_UNPINNED"])
    assert outcome.report is not None and f"reads {read}," in outcome.report.obstacles[0].sentence
    assert pin_of(stage, document) == ("effective", "own", 1)


def test_one_that_reads_no_more_is_taken(stage: WorkflowStage, moves: InstanceMoves) -> None:
    entity_type, document = approved(stage)
    version = stage.publish_next(entity_type, approval=APPROVAL, posting=pay("to {entity.vendor.number}"))
    assert move(moves, stage, document, version).outcome == "moved"


def test_before_the_approval_it_is_taken_too(stage: WorkflowStage, moves: InstanceMoves) -> None:
    entity_type, _ = approved(stage)
    document = stage.create(entity_type, "dora")
    stage.drain()
    version = stage.publish_next(entity_type, approval=APPROVAL, posting=pay("{entity.vendor.amount}"))
    assert move(moves, stage, document, version).outcome == "moved"
