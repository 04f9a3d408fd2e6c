"""The acts of the people in the scenes about authority."""

from typing import Any
from uuid import UUID

from signet.core.compiler.node_configurations import Vote
from signet.core.errors import Rejected
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Update
from signet.engine.instances.explain import explain
from tests.support.workflow_stage import Made, WorkflowStage


def newest(stage: WorkflowStage, document_id: UUID) -> Any:
    """Return the newest approval request about the document."""
    query = "SELECT id FROM approval_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1"
    return stage.standing.row(query, document_id)[0]


def submit(stage: WorkflowStage, document: Made, user_id: str) -> None:
    stage.ask(document.id, "submit", user_id)
    stage.drain()


def vote(
    stage: WorkflowStage,
    document_id: UUID,
    user_id: str,
    vote: Vote = "approved",
    *,
    request_id: UUID | None = None,
    roles: tuple[str, ...] = (),
) -> str:
    """Return the status of the request after the vote and its wave, or the code of the refusal."""
    company = stage.standing.company
    approvals, caller = Approvals(company.database, stage.caches()), company.caller(user_id, *roles)
    try:
        result = approvals.decide(caller, request_id or newest(stage, document_id), vote, "seen")
    except Rejected as refused:
        return refused.code
    stage.drain()
    return result.request_status


def edit(stage: WorkflowStage, document: Made, user_id: str, **changes: Any) -> None:
    stage.mutate(Update(document.id, stage.version_of(document.id), changes), user_id)


def list_asked(stage: WorkflowStage, document: Made) -> list[str]:
    """List who is asked about the document now: people, and roles by '@'."""
    rows = stage.standing.rows(
        "SELECT coalesce(s.holder_user_id, '@' || s.holder_role) FROM approval_seats s"
        " JOIN approval_requests q ON q.tenant_id = s.tenant_id AND q.id = s.request_id"
        " WHERE q.document_id = %s AND q.status = 'open' ORDER BY s.position",
        document.id,
    )
    return [row[0] for row in rows]


def list_lapse_reasons(stage: WorkflowStage, document: Made) -> list[str | None]:
    """List what explanations say of the lapsed votes of open requests."""
    contracts, instance_id = stage.caches().contracts, stage.instance_of(document.id)
    explained = explain(stage.standing.company.database, contracts, stage.tenant_id, instance_id)
    return [lapsed.reason for request in explained.approvals for lapsed in request.lapsed]


def add_endpoint(stage: WorkflowStage) -> None:
    stage.standing.run(
        "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
        " VALUES (%s, 'erp', 'https://erp.example', '{erp}', 'olga') ON CONFLICT DO NOTHING",
        stage.tenant_id,
    )
