"""Instances under an older definition, and the steps by which tests move them."""

from typing import Any

from signet.core.compiler.node_configurations import Vote
from signet.core.repair.move_check import Report
from signet.core.tenants.caller import Caller
from signet.engine.approvals.inbox import Approvals
from signet.engine.instances.moves import InstanceMoves, MoveOutcome, MoveTarget
from tests.support.workflow_stage import CALL, Made, WorkflowStage

SAY = {
    "id": "say",
    "type": "notification",
    "config": {"channel": "email", "to": [{"by": "user", "user": "ann"}], "text": "hello"},
}
ASK = {"id": "ask", "type": "approval", "config": {"approvers": [{"by": "user", "user": "anna"}]}}
NOTE = {"id": "note", "type": "script", "config": {"set": {"noted": "1"}}}
CALLING: dict[str, Any] = {"nodes": [CALL]}
# The same call, followed by another step.
SAYING: dict[str, Any] = {"nodes": [CALL, SAY], "edges": [{"source": "call", "target": "say"}]}
WAITING = "usr:approval:call"


def olga(stage: WorkflowStage, *roles: str) -> Caller:
    return stage.standing.company.caller("olga", *roles)


def submit(stage: WorkflowStage, entity_type: str) -> Made:
    """Create and submit a document, and run the worker until nothing is due."""
    made = stage.create(entity_type)
    stage.drain()
    stage.ask(made.id, "submit")
    stage.drain()
    return made


def calling(stage: WorkflowStage) -> tuple[str, Made]:
    """Submit a document that waits for one answer from outside, its last wait."""
    entity_type = stage.publish(approval=CALLING)
    made = submit(stage, entity_type)
    assert stage.instance(made.instance_id)["current_nodes"] == [WAITING]
    return entity_type, made


def version_of(stage: WorkflowStage, made: Made) -> int:
    return int(stage.instance(made.instance_id)["version"])


def move(moves: InstanceMoves, stage: WorkflowStage, made: Made, version: int, **more: Any) -> MoveOutcome:
    target = MoveTarget(version, more.pop("name", None))
    return moves.move(olga(stage), made.instance_id, version_of(stage, made), target, **more)


def codes(outcome: MoveOutcome) -> list[str]:
    assert outcome.report is not None
    return codes_of(outcome.report)


def codes_of(report: Report) -> list[str]:
    found = [*report.obstacles, *(each for assessment in report.assessments for each in assessment.obstacles)]
    return [obstacle.code for obstacle in found]


def pin_of(stage: WorkflowStage, made: Made) -> tuple[Any, ...]:
    """Return (kind, name, version) of the definition that the instance runs under."""
    return stage.standing.row(
        "SELECT d.definition_kind, d.name, d.version FROM workflow_instances i JOIN workflow_definitions d"
        " ON (d.tenant_id, d.id, d.version) = (i.tenant_id, i.definition_id, i.definition_version)"
        " WHERE i.id = %s",
        made.instance_id,
    )


def decide(stage: WorkflowStage, made: Made, person: str, vote: Vote = "approved") -> None:
    """Decide the open approval of the document, and run the worker until nothing is due."""
    company = stage.standing.company
    (request_id,) = stage.standing.row(
        "SELECT id FROM approval_requests WHERE document_id = %s AND status = 'open'", made.id
    )
    Approvals(company.database, stage.caches()).decide(
        company.caller(person, "voter"), request_id, vote, None
    )
    stage.drain()
