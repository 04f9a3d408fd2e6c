"""Operators' acts on an instance: the permission, the version, and the record of it."""

from typing import LiteralString
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.explain.instance_record import InstanceStatus
from signet.engine.audit.verify import verify_tenant
from signet.engine.documents.commands import Create, RequestTransition
from signet.engine.execution.rebuild import rebuild_instance
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import MAX_REQUEUED, Instances, InstanceState, Requeued
from signet.ids import make_id
from signet.store.database import Database
from tests.support.company import INVOICE, Company
from tests.support.drained_waves import drain
from tests.support.invoice_instances import (
    HELD,
    Admin,
    audited,
    bury,
    create,
    hold,
    instance_of,
    operator,
    read,
    row_of,
    stand_of,
    version_of,
)

STEPS: LiteralString = (
    "SELECT node_id, seq, end_seq, status, run_as, actor_user_id, output_json, trace_id"
    " FROM workflow_step_executions WHERE instance_id = %s AND seq > %s ORDER BY seq"
)
HISTORY: LiteralString = (
    "SELECT entry, actor_id, data, trace_id FROM workflow_event WHERE subject_id = %s ORDER BY id"
)
TRIGGERS: LiteralString = (
    "SELECT event_type, status, trace_id FROM workflow_events_outbox WHERE instance_id = %s ORDER BY id"
)


def assert_rebuilds_alike(
    company: Company, instances: Instances, worker_database: Database, admin: Admin, instance_id: UUID
) -> None:
    """Rebuild from the steps and expect the same row (WF-15)."""
    before = row_of(admin, instance_id)
    cache = instances._compiled
    assert rebuild_instance(worker_database, cache, company.tenant_id, instance_id) is False
    assert row_of(admin, instance_id) == before
    assert verify_tenant(company.database, company.tenant_id).is_sound


# --- pause and resume ---


def test_a_paused_instance_rests_and_goes_on_when_resumed(
    company: Company, worker: Worker, worker_database: Database, instances: Instances, admin: Admin
) -> None:
    made = create(company, worker)
    instance_id = instance_of(made)
    state = instances.pause(operator(company), instance_id, 2, "the supplier is being checked")
    assert state == InstanceState(instance_id, "paused", 3, may_have_left=[])
    assert stand_of(admin, instance_id) == ("paused", ["sys:state:draft"], "the supplier is being checked")
    assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)
    request = RequestTransition(made.document_id, 1, "submit")
    with pytest.raises(Rejected) as caught:
        company.documents.mutate(company.caller(), request)
    assert caught.value.code == "INSTANCE_PAUSED"
    assert drain(worker, [company.tenant_id]).steps == 0
    assert stand_of(admin, instance_id)[0] == "paused"
    assert instances.resume(operator(company), instance_id, 3) == InstanceState(instance_id, "running", 4)
    assert stand_of(admin, instance_id) == ("running", ["sys:state:draft"], None)
    assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)
    company.documents.mutate(company.caller(), request)
    drain(worker, [company.tenant_id])
    assert stand_of(admin, instance_id)[0] == "completed"
    assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)


def test_each_act_is_on_record(company: Company, worker: Worker, instances: Instances, admin: Admin) -> None:
    instance_id = instance_of(create(company, worker))
    instances.pause(operator(company), instance_id, 2, "wait")
    instances.resume(operator(company), instance_id, 3)
    actor = {"actor": {"id": "olga", "roles": ["admin"], "responsible": ["olga"]}}
    own = ("completed", "actor", "olga")
    assert read(admin, STEPS, instance_id, 2) == [
        ("sys:control:paused", 3, 3, *own, {"reason": "wait", **actor}, "00-operator"),
        ("sys:control:resumed", 4, 4, *own, actor, "00-operator"),
    ]
    assert read(admin, HISTORY, instance_id)[1:] == [
        ("paused", "olga", {"reason": "wait"}, "00-operator"),
        ("resumed", "olga", {}, "00-operator"),
    ]
    assert read(admin, TRIGGERS, instance_id)[1:] == [("continue", "pending", "00-operator")]
    steps = dict(read(admin, "SELECT node_id, id::text FROM workflow_step_executions"))
    assert [
        (row["action"], row["actor_id"], row["via"], row["reason"], row["step_id"], row["trace_id"])
        for row in audited(admin)
    ] == [
        ("pause", "olga", "test", "wait", steps["sys:control:paused"], "00-operator"),
        ("resume", "olga", "test", None, steps["sys:control:resumed"], "00-operator"),
    ]
    receipts = read(admin, "SELECT count(*) FROM workflow_step_receipts WHERE instance_id = %s", instance_id)
    assert receipts == [(4,)]


def test_what_is_held_pauses_again_while_the_cause_is_there(
    company: Company, worker: Worker, worker_database: Database, instances: Instances, admin: Admin
) -> None:
    instance_id = instance_of(hold(company, worker))
    assert stand_of(admin, instance_id) == ("paused", ["sys:gate:approve"], HELD)
    with pytest.raises(Rejected) as caught:
        instances.resume(operator(company), instance_id, version_of(admin, instance_id))
    assert (caught.value.code, caught.value.remedy) == ("INSTANCE_NOT_PAUSED", "Retry it, and say why.")
    for _ in range(2):
        instances.retry(operator(company), instance_id, version_of(admin, instance_id), "once more")
        drain(worker, [company.tenant_id])
        assert stand_of(admin, instance_id) == ("paused", ["sys:gate:approve"], HELD)
        assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)
    entries = [entry for entry, *_ in read(admin, HISTORY, instance_id)]
    assert entries == ["started", "paused", "retried", "paused", "retried", "paused"]


def test_one_that_never_moved_can_rest_too(
    company: Company, worker: Worker, worker_database: Database, instances: Instances, admin: Admin
) -> None:
    made = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    instance_id = instance_of(made)
    instances.pause(operator(company), instance_id, 0, "not yet")
    assert drain(worker, [company.tenant_id]).steps == 0
    assert [row[:2] for row in read(admin, HISTORY, instance_id)] == [("started", "carl"), ("paused", "olga")]
    instances.resume(operator(company), instance_id, 1)
    drain(worker, [company.tenant_id])
    assert stand_of(admin, instance_id) == ("running", ["sys:state:draft"], None)
    assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)


# --- fail and cancel ---


@pytest.mark.parametrize("is_paused", [False, True])
@pytest.mark.parametrize(("act", "status"), [("fail", "failed"), ("cancel", "cancelled")])
def test_an_instance_that_is_ended_is_over_and_what_waited_is_cancelled(
    company: Company,
    worker: Worker,
    worker_database: Database,
    instances: Instances,
    admin: Admin,
    is_paused: bool,
    act: str,
    status: InstanceStatus,
) -> None:
    made = create(company, worker)
    instance_id = instance_of(made)
    if is_paused:
        instances.pause(operator(company), instance_id, 2, "wait")
    version = version_of(admin, instance_id)
    state = getattr(instances, act)(operator(company), instance_id, version, "entered twice")
    assert state == InstanceState(
        instance_id, status, version + 1, may_have_left=[], undone=[], follows="request"
    )
    assert stand_of(admin, instance_id) == (status, [], "entered twice")
    waiting = "SELECT status, end_seq FROM workflow_step_executions WHERE node_id = 'sys:state:draft'"
    assert read(admin, waiting) == [("cancelled", version + 1)]
    assert read(admin, HISTORY, instance_id)[-1][:3] == (status, "olga", {"reason": "entered twice"})
    assert [row["action"] for row in audited(admin)][-1] == act
    assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)
    # The document is unchanged, and a new request starts a new instance at its status.
    again = company.documents.mutate(company.caller(), RequestTransition(made.document_id, 1, "submit"))
    assert again.instance_id not in (None, instance_id)
    drain(worker, [company.tenant_id])
    assert read(admin, "SELECT status FROM documents") == [("active",)]


def test_a_token_that_was_ready_is_cancelled_with_the_instance(
    company: Company, worker: Worker, worker_database: Database, instances: Instances, admin: Admin
) -> None:
    instance_id = instance_of(hold(company, worker))
    instances.fail(operator(company), instance_id, 6, "no", "leave")
    assert [row[:4] for row in read(admin, STEPS, instance_id, 6)] == [
        ("sys:control:failed", 7, 7, "completed"),
        ("sys:gate:approve", 8, 8, "cancelled"),
    ]
    assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)


def test_an_open_request_is_refused_with_the_instance_that_would_have_served_it(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    made = create(company, worker)
    company.documents.mutate(company.caller(), RequestTransition(made.document_id, 1, "submit"))
    instances.fail(operator(company), instance_of(made), 2, "no more invoices")
    requests = read(admin, "SELECT status, outcome FROM transition_requests")
    assert requests == [("refused", "no more invoices")]
    drain(worker, [company.tenant_id])
    assert read(admin, "SELECT status FROM documents") == [("draft",)]
    assert verify_tenant(company.database, company.tenant_id).is_sound


# --- wake and rebuild ---


def test_a_lost_trigger_is_made_good(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    made = create(company, worker)
    company.documents.mutate(company.caller(), RequestTransition(made.document_id, 1, "submit"))
    admin.execute("DELETE FROM workflow_events_outbox WHERE status = 'pending'")
    assert drain(worker, [company.tenant_id]).waves == 0
    state = instances.wake(operator(company), instance_of(made))
    assert state == InstanceState(instance_of(made), "running", 2)
    drain(worker, [company.tenant_id])
    assert stand_of(admin, instance_of(made))[0] == "completed"
    assert ("woken", "olga", {}, "00-operator") in read(admin, HISTORY, instance_of(made))
    assert [row["action"] for row in audited(admin)] == ["wake"]


def test_a_row_that_lags_is_made_anew_from_its_steps(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    instance_id = instance_of(create(company, worker))
    right = row_of(admin, instance_id)
    assert instances.rebuild(operator(company), instance_id).was_other is False
    admin.execute("UPDATE workflow_instances SET version = 1, active_tokens = '[]', edit_window = 'locked'")
    assert instances.rebuild(operator(company), instance_id).was_other is True
    assert row_of(admin, instance_id) == right
    rebuilt = [row[2] for row in read(admin, HISTORY, instance_id) if row[0] == "rebuilt"]
    assert rebuilt == [{"was_other": False}, {"was_other": True}]
    assert [row["detail"] for row in audited(admin)] == rebuilt
    drain(worker, [company.tenant_id])
    assert row_of(admin, instance_id) == right


def test_any_difference_of_the_row_is_found(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    instance_id = instance_of(create(company, worker))
    right = row_of(admin, instance_id)
    for assignment in (
        "reason = 'x'",
        "entity_version = 7",
        "current_nodes = '{}'",
        "edit_window_node = NULL",
        "context_json = '{\"a\": 1}'",
        "timeout_at = now()",
        "last_step_execution_id = NULL",
        "actor_roles = '{}'",
        "request_id = gen_random_uuid()",
    ):
        admin.execute(f"UPDATE workflow_instances SET {assignment}".encode())
        assert instances.rebuild(operator(company), instance_id).was_other is True, assignment
        assert row_of(admin, instance_id) == right, assignment


def test_a_row_that_lags_is_put_right_before_its_next_step(
    company: Company, worker: Worker, worker_database: Database, instances: Instances, admin: Admin
) -> None:
    """Rebuild the row first, or the next step would repeat a number."""
    instance_id = instance_of(create(company, worker))
    admin.execute("UPDATE workflow_instances SET version = 1")
    with pytest.raises(Rejected) as caught:
        instances.pause(operator(company), instance_id, 1, "wait")
    assert (caught.value.code, caught.value.details) == ("INSTANCE_VERSION_CONFLICT", {"current_version": 2})
    assert instances.pause(operator(company), instance_id, 2, "wait").version == 3
    assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)


# --- requeue ---


def test_a_dead_letter_goes_back_and_what_it_had_paused_goes_on(
    company: Company, worker: Worker, worker_database: Database, instances: Instances, admin: Admin
) -> None:
    made, trigger_id = bury(company, worker, admin)
    instance_id = instance_of(made)
    reason = "RULE_UNKNOWN: the tenant has no rule 'credit'"
    assert stand_of(admin, instance_id) == ("paused", ["sys:state:draft"], reason)
    company.add_rule("credit", "before", "entity.grand_total < 0", {"kind": "reject", "message": "no"})
    company.documents.caches.rules._books.clear()
    done = instances.requeue(operator(company), [trigger_id])
    assert done == Requeued(frozenset([trigger_id]), [instance_id])
    trigger = read(admin, "SELECT status, attempts FROM workflow_events_outbox WHERE id = %s", trigger_id)
    assert trigger == [("pending", 0)]
    assert stand_of(admin, instance_id) == ("running", ["sys:state:draft"], None)
    assert_rebuilds_alike(company, instances, worker_database, admin, instance_id)
    history = [(entry, data) for entry, _, data, _ in read(admin, HISTORY, instance_id)]
    assert history[-2:] == [("requeued", {"triggers": [str(trigger_id)]}), ("resumed", {})]
    assert [row["action"] for row in audited(admin)] == ["requeue", "resume"]
    assert instances.requeue(operator(company), [trigger_id]) == Requeued(frozenset(), [])


def test_what_somebody_paused_stays_so_when_a_dead_letter_goes_back(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    made, trigger_id = bury(company, worker, admin)
    instance_id = instance_of(made)
    instances.resume(operator(company), instance_id, 3)
    instances.pause(operator(company), instance_id, 4, "not before the audit")
    done = instances.requeue(operator(company), [trigger_id])
    assert done == Requeued(frozenset([trigger_id]), [])
    assert stand_of(admin, instance_id)[0] == "paused"
    # What was asked for before the pause is refused, and nothing else happens.
    assert drain(worker, [company.tenant_id]).steps == 1
    assert read(admin, "SELECT status FROM transition_requests") == [("refused",)]
    assert stand_of(admin, instance_id)[0] == "paused"


def test_an_event_of_no_instance_goes_back_too(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    made = create(company, worker)
    emitted = make_id()
    admin.execute(
        "INSERT INTO workflow_events_outbox (tenant_id, created_at, id, instance_id, entity_version,"
        " event_type, event_idempotency_key, status, due_at)"
        " SELECT tenant_id, to_timestamp(%s), %s, %s, 1, 'emitted', sha256('a'), 'dead_letter', now()"
        " FROM tenants",
        [(emitted.int >> 80) / 1000, emitted, made.document_id],
    )
    assert instances.requeue(operator(company), [emitted, make_id()]) == Requeued(frozenset([emitted]), [])
    row = f"SELECT action, actor_id FROM audit_log WHERE subject_id = '{emitted}'"
    assert read(admin, row) == [("requeue", operator(company).principal.subject)]


def test_only_so_many_at_a_time(company: Company, instances: Instances) -> None:
    with pytest.raises(Rejected) as caught:
        instances.requeue(operator(company), [make_id() for _ in range(MAX_REQUEUED + 1)])
    assert caught.value.code == "BATCH_TOO_LARGE"
