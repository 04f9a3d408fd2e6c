"""Causes on record: a trace on every row that follows, and the principal of each step with its evidence."""

from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.authoring.files import read_document
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import SYSTEM_SUBJECT
from signet.engine.documents.commands import Create, RequestTransition
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import Instances
from signet.ids import make_id
from tests.support.company import EXAMPLES, INVOICE, Company
from tests.support.drained_waves import drain
from tests.support.invoice_instances import Admin, publish_patch, read, stand_of
from tests.support.machines import add_account

BIRTH, REQUEST, OPERATOR = "00-birth", "00-request", "00-operator"
# Every table that keeps a trace, with a query of the rows made after an id.
TRACES: dict[str, LiteralString] = {
    "transition_requests": "SELECT trace_id FROM transition_requests WHERE id > %s",
    "workflow_instances": "SELECT trace_id FROM workflow_instances WHERE id > %s",
    "workflow_events_outbox": "SELECT trace_id FROM workflow_events_outbox WHERE id > %s",
    "workflow_step_executions": "SELECT trace_id FROM workflow_step_executions WHERE id > %s",
    "workflow_side_effects_outbox": "SELECT trace_id FROM workflow_side_effects_outbox WHERE id > %s",
    "workflow_event": "SELECT trace_id FROM workflow_event WHERE id > %s",
    "audit_log": "SELECT content::jsonb ->> 'trace_id' FROM audit_log"
    " WHERE id > %s AND subject_type = 'document'",
}
TABLES_WITH_TRACES: LiteralString = (
    "SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
    " WHERE a.attname = 'trace_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
)


def found(admin: Admin, after: UUID) -> dict[str, set[str | None]]:
    """Return the traces of the newer rows of each table."""
    return {table: {trace for (trace,) in read(admin, query, after)} for table, query in TRACES.items()}


def trace(company: Company, trace_id: str | None, user_id: str = "carl", *roles: str) -> Caller:
    return Caller(company.principal(user_id, *roles), "test", trace_id)


def publish_everything(company: Company) -> None:
    """Publish a gate, a call to the outside, an action that changes the document and one that creates one."""
    company.publish("project_task")
    task = {"title": "{entity.number}", "project": "finance"}
    actions = read_document(EXAMPLES / "invoice" / "contract.yaml")[0]["actions"]
    actions["remind"] = {"kind": "create", "entity_type": "project_task", "set": task}
    company.publish("invoice", version=2, actions=actions)
    payload = {"ledger_entry": "AP-1", "posted_on": {"$expr": "entity.invoice_date"}}
    post = {"action": "post_to_ledger", "run_as": "system", "payload": payload}
    told = {"channel": "email", "to": [{"by": "role", "role": "admin"}], "text": "posted"}
    nodes = [
        {"id": "post", "type": "action", "config": post},
        {"id": "remind", "type": "action", "config": {"action": "remind", "run_as": "system"}},
        {"id": "tell", "type": "notification", "config": told},
    ]
    edges = [{"source": "post", "target": "remind"}, {"source": "remind", "target": "tell"}]
    publish_patch(company, {"approved_to_active": {"nodes": nodes, "edges": edges}}, version=2)


def test_every_table_that_keeps_a_trace_is_looked_at(admin: Admin) -> None:
    tables = {table for (table,) in read(admin, TABLES_WITH_TRACES)}
    # `approvals` covers traces of approvals, and `documents/test_rejections.py` those of
    # rejections; no instance creates inbound events.
    elsewhere = {"approval_requests", "approval_decisions", "workflow_inbound_events", "rule_executions"}
    # `automations/test_overlap.py` covers starts that wait.
    elsewhere |= {"queued_starts"}
    assert tables - elsewhere | {"audit_log"} == TRACES.keys()


def test_a_trace_is_on_every_row_that_follows(company: Company, worker: Worker, admin: Admin) -> None:
    publish_everything(company)
    before = make_id()
    made = company.documents.mutate(trace(company, BIRTH), Create("invoice", INVOICE))
    drain(worker, [company.tenant_id])
    born = found(admin, before)
    assert born.pop("transition_requests") == born.pop("workflow_side_effects_outbox") == set()
    assert set.union(*born.values()) == {BIRTH}
    assert all(born.values()), born

    before = make_id()
    request = RequestTransition(made.document_id, 1, "submit")
    company.documents.mutate(trace(company, REQUEST, "sam", "clerk"), request)
    drain(worker, [company.tenant_id])
    assert stand_of(admin, UUID(str(made.instance_id)))[0] == "completed"
    assert found(admin, before) == {table: {REQUEST} for table in TRACES}
    tasks = read(admin, "SELECT count(*)::int FROM workflow_instances WHERE entity_type = 'project_task'")
    assert tasks == [(1,)]


def test_without_a_trace_of_its_own_an_act_belongs_to_what_began(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    made = company.documents.mutate(trace(company, BIRTH), Create("invoice", INVOICE))
    drain(worker, [company.tenant_id])
    before = make_id()
    assert made.instance_id is not None
    instances.pause(trace(company, None), made.instance_id, 2, "wait")
    instances.resume(trace(company, OPERATOR), made.instance_id, 3)
    drain(worker, [company.tenant_id])
    acts = read(
        admin,
        "SELECT content::jsonb ->> 'trace_id' FROM audit_log WHERE subject_type = 'instance' ORDER BY seq",
    )
    assert acts == [(BIRTH,), (OPERATOR,)]
    assert found(admin, before)["workflow_event"] == {BIRTH, OPERATOR}
    assert found(admin, before)["workflow_events_outbox"] == {OPERATOR}


# --- the principal of a step ---


def post_as(company: Company, run_as: str) -> None:
    payload = {"ledger_entry": "AP-1", "posted_on": {"$expr": "entity.invoice_date"}}
    config = {"action": "post_to_ledger", "run_as": run_as, "payload": payload}
    if run_as == "service_account":
        config["service_account"] = "posting"
    publish_patch(
        company, {"approved_to_active": {"nodes": [{"id": "p", "type": "action", "config": config}]}}
    )


def give(company: Company, role: str, *permissions: str) -> None:
    with company.database.transaction(company.tenant_id) as connection:
        connection.execute(
            "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, %s, %s)",
            [company.tenant_id, role, list(permissions)],
        )


def run(company: Company, worker: Worker) -> UUID:
    """Submit a document as sam, a poster, and run the worker."""
    made = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    request = RequestTransition(made.document_id, 1, "submit")
    company.documents.mutate(company.caller("sam", "poster"), request)
    drain(worker, [company.tenant_id])
    return UUID(str(made.instance_id))


RUNS: dict[str, str] = {"actor": "sam", "system": SYSTEM_SUBJECT, "service_account": "service:posting"}


@pytest.mark.parametrize("run_as", RUNS)
def test_a_step_runs_as_its_node_says_and_leaves_evidence(
    company: Company, worker: Worker, admin: Admin, run_as: str
) -> None:
    give(company, "poster", "invoice:submit", "invoice:post")
    give(company, "machine", "invoice:post")
    add_account(company, "posting", "machine")
    post_as(company, run_as)
    instance_id = run(company, worker)
    assert stand_of(admin, instance_id) == ("completed", [], None)
    own: LiteralString = (
        "SELECT node_type, run_as, actor_user_id, output_json -> 'outcome', output_json -> 'evidence'"
        " FROM workflow_step_executions WHERE node_id LIKE '%%:p' ORDER BY seq"
    )
    policy, action = read(admin, own)
    evidence = {"permission": "invoice:post", "run_as": run_as}
    assert policy == ("policy_gate", run_as, RUNS[run_as], "allowed", evidence)
    assert action[:4] == ("action", run_as, RUNS[run_as], "done")
    audited: LiteralString = (
        "SELECT actor_id, content::jsonb ->> 'via', content::jsonb ->> 'instance_id',"
        " content::jsonb ->> 'step_id' FROM audit_log WHERE action = 'action:post_to_ledger'"
    )
    ((step_id,),) = read(admin, "SELECT id::text FROM workflow_step_executions WHERE node_type = 'action'")
    assert read(admin, audited) == [(RUNS[run_as], "workflow", str(instance_id), step_id)]


@pytest.mark.parametrize("run_as", ["actor", "service_account"])
def test_who_may_not_is_denied_with_the_permission_named(
    company: Company, worker: Worker, admin: Admin, run_as: str
) -> None:
    """Permit the system everything, a person and the service account only what their roles grant."""
    give(company, "poster", "invoice:submit")
    add_account(company, "posting", "reader")
    post_as(company, run_as)
    instance_id = run(company, worker)
    reason, policy = "needs the permission 'invoice:post'", "sys:policy:usr:approved_to_active:p"
    assert stand_of(admin, instance_id) == ("paused", [policy], f"PERMISSION_DENIED: {reason}")
    denied: LiteralString = (
        "SELECT run_as, actor_user_id, status, error, output_json -> 'evidence'"
        " FROM workflow_step_executions WHERE node_type = 'policy_gate'"
    )
    evidence = {"permission": "invoice:post", "run_as": run_as}
    said = (run_as, RUNS[run_as], "failed", f"PERMISSION_DENIED: {reason}", evidence)
    assert read(admin, denied) == [said]
    assert read(admin, "SELECT data ->> 'ledger_entry' FROM documents") == [(None,)]


def test_gates_run_as_who_asked_and_as_the_system_where_nobody_did(
    company: Company, worker: Worker, admin: Admin
) -> None:
    give(company, "poster", "invoice:submit")
    run(company, worker)
    gates: LiteralString = (
        "SELECT node_id, run_as, actor_user_id FROM workflow_step_executions"
        " WHERE node_type = 'lifecycle_gate' ORDER BY seq"
    )
    assert read(admin, gates) == [
        ("sys:gate:submit", "actor", "sam"),
        ("sys:gate:approve", "system", SYSTEM_SUBJECT),
    ]
    audited = read(
        admin, "SELECT action, actor_id FROM audit_log WHERE action LIKE 'transition:%%' ORDER BY seq"
    )
    assert audited == [("transition:submit", "sam"), ("transition:approve", SYSTEM_SUBJECT)]


def test_a_permission_that_holds_only_sometimes_is_evaluated_for_whom_the_step_runs_as(
    company: Company, worker: Worker, admin: Admin
) -> None:
    give(company, "poster", "invoice:submit", "invoice:post")
    company.publish("invoice", version=2, conditions={"invoice:post": "actor.user_id == entity.creator"})
    payload = {"ledger_entry": "AP-1", "posted_on": {"$expr": "entity.invoice_date"}}
    config: dict[str, Any] = {"action": "post_to_ledger", "payload": payload}
    slot = {"nodes": [{"id": "p", "type": "action", "config": config}]}
    publish_patch(company, {"approved_to_active": slot}, version=2)
    instance_id = run(company, worker)
    status, _, reason = stand_of(admin, instance_id)
    assert (status, reason) == (
        "paused",
        "PERMISSION_CONDITION: 'invoice:post' is given only where actor.user_id == entity.creator",
    )
    evidence: LiteralString = (
        "SELECT output_json #> '{evidence,condition}' FROM workflow_step_executions"
        " WHERE node_type = 'policy_gate'"
    )
    assert read(admin, evidence) == [
        (
            {
                "expression": "actor.user_id == entity.creator",
                "variables": {"actor.user_id": "sam", "entity.creator": "carl"},
                "result": False,
            },
        )
    ]
