"""Instances brought to situations that an operator meets."""

from typing import Any, LiteralString
from uuid import UUID

from psycopg import Connection

from signet.authoring.files import read_document
from signet.core.tenants.caller import Caller
from signet.engine.documents.commands import Applied, Create, RequestTransition
from signet.engine.execution.worker import Worker
from tests.support import named_things
from tests.support.company import EXAMPLES, INVOICE, Company
from tests.support.drained_waves import drain

Admin = Connection[tuple[Any, ...]]
HELD = "the condition 'entity.grand_total < 100' does not hold"


def read(admin: Admin, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
    return admin.execute(query, values).fetchall()


def publish_patch(company: Company, slots: dict[str, Any], version: int = 1) -> None:
    patch = {"patch": "own", "base": {"entity_type": "invoice", "envelope_version": version}, "slots": slots}
    named_things.publish_patch(company, patch)


def publish_with_transition(company: Company, name: str, version: int = 2, **changes: Any) -> None:
    """Publish the example's contract with one transition changed."""
    transitions = read_document(EXAMPLES / "invoice" / "contract.yaml")[0]["transitions"]
    transitions[name] |= changes
    company.publish("invoice", version=version, transitions=transitions)


def create(company: Company, worker: Worker, **changes: Any) -> Applied:
    """Create an invoice that waits in draft."""
    made = company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, **changes}))
    drain(worker, [company.tenant_id])
    return made


def submit(company: Company, worker: Worker, **changes: Any) -> Applied:
    """Create an invoice and ask for its submission."""
    made = create(company, worker, **changes)
    request = RequestTransition(made.document_id, made.version, "submit")
    company.documents.mutate(company.caller("sam", "clerk"), request)
    drain(worker, [company.tenant_id])
    return made


def hold(
    company: Company, worker: Worker, condition: str = "entity.grand_total < 100", **changes: Any
) -> Applied:
    """Submit an invoice that its automatic gate blocks, and that is paused for it."""
    publish_with_transition(company, "approve", condition=condition)
    return submit(company, worker, **changes)


def publish_lanes(company: Company, ledger_entry: str = "AP-{entity.number}") -> None:
    """Publish lanes: small invoices of known vendors are posted at once, others after a call."""
    amount = {"id": "amount", "type": "condition", "label": "How much, and from whom"}
    check = {"id": "check", "type": "webhook_out", "config": {"endpoint": "credit_check"}}
    known = "entity.grand_total <= 50000 && entity.vendor_id in org.trusted_vendors"
    edges = [
        {"source": "amount", "target": "out", "condition": known, "label": "express"},
        {"source": "amount", "target": "check", "label": "everything else"},
    ]
    payload = {"ledger_entry": ledger_entry, "posted_on": {"$expr": "entity.invoice_date"}}
    post = {
        "id": "post",
        "type": "action",
        "label": "Post to the general ledger",
        "config": {"action": "post_to_ledger", "run_as": "system", "payload": payload},
    }
    slots = {
        "submitted_to_approved": {"exit": "join", "nodes": [amount, check], "edges": edges},
        "approved_to_active": {"nodes": [post]},
    }
    publish_patch(company, slots)


def break_rule(company: Company) -> None:
    """Publish an approval whose first step asks a rule that the tenant does not have."""
    rule = {"id": "checks", "type": "rule", "config": {"rules": ["credit"]}}
    publish_patch(company, {"submitted_to_approved": {"nodes": [rule], "edges": []}})


def bury(company: Company, worker: Worker, admin: Admin) -> tuple[Applied, UUID]:
    """Submit an invoice that is paused because its trigger became a dead letter; return both."""
    break_rule(company)
    admin.execute("ALTER TABLE workflow_events_outbox ALTER max_attempts SET DEFAULT 1")
    made = submit(company, worker)
    ((trigger_id,),) = read(admin, "SELECT id FROM workflow_events_outbox WHERE status = 'dead_letter'")
    return made, trigger_id


def instance_of(made: Applied) -> UUID:
    assert made.instance_id is not None
    return made.instance_id


def version_of(admin: Admin, instance_id: UUID) -> int:
    ((version,),) = read(admin, "SELECT version FROM workflow_instances WHERE id = %s", instance_id)
    return int(version)


def stand_of(admin: Admin, instance_id: UUID) -> tuple[Any, ...]:
    (found,) = read(
        admin, "SELECT status, current_nodes, reason FROM workflow_instances WHERE id = %s", instance_id
    )
    return found


def row_of(admin: Admin, instance_id: UUID) -> dict[str, Any]:
    """Return every column that a rebuild must restore."""
    query: LiteralString = "SELECT to_jsonb(i) - 'updated_at' FROM workflow_instances i WHERE id = %s"
    ((row,),) = read(admin, query, instance_id)
    return dict(row)


def operator(company: Company) -> Caller:
    return Caller(company.principal("olga"), "test", "00-operator")


def audited(admin: Admin) -> list[dict[str, Any]]:
    """Return the audit trail's rows about instances."""
    query: LiteralString = "SELECT content::jsonb FROM audit_log WHERE subject_type = 'instance' ORDER BY seq"
    return [content for (content,) in read(admin, query)]
