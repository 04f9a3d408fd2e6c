"""Rows that pruning deletes and rows that it keeps: as the janitor, tenant by tenant, batch by batch."""

from typing import LiteralString
from uuid import UUID, uuid4

import pytest

from signet.engine.audit.verify import verify_tenant
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Create, Delete, RequestTransition
from signet.engine.execution.rebuild import rebuild_instance
from signet.engine.execution.worker import Worker
from signet.engine.housekeeping.task_run import TaskLimits
from tests.support.company import INVOICE, make_company
from tests.support.database.queue_rows import put
from tests.support.drained_waves import drain
from tests.support.housekeeping import House

SMALL = TaskLimits(rows=4, batch_rows=2)
CLOSED_INCIDENT: LiteralString = """
    INSERT INTO incidents (tenant_id, id, instance_id, seq, code, kind, message, attempts, opened_at,
                           closed_at, closing, closed_by)
    VALUES (%s, gen_random_uuid(), %s, %s, 'STEP_FAILED', 'business', 'no', 1, now() - interval '2 years',
            now() - make_interval(days => %s), CASE WHEN %s::integer IS NOT NULL THEN 'retried' END,
            CASE WHEN %s::integer IS NOT NULL THEN 'olga' END)"""
OUTBOX: dict[str, LiteralString] = {
    "events": "workflow_events_outbox",
    "effects": "workflow_side_effects_outbox",
}
OLD: dict[str, LiteralString] = {
    "events": "UPDATE workflow_events_outbox SET completed_at = now() - interval '91 days'"
    " WHERE status = 'completed'",
    "effects": "UPDATE workflow_side_effects_outbox SET completed_at = now() - interval '91 days'"
    " WHERE status = 'completed'",
}


@pytest.mark.parametrize("queue", OUTBOX)
def test_done_rows_go_and_nothing_else(house: House, queue: str) -> None:
    for status in ("pending", "processing", "failed", "dead_letter", "completed"):
        put(house.admin, queue, house.tenant_id, "200 days", status=status, count=3)
    house.run(OLD[queue])
    put(house.admin, queue, house.tenant_id, status="completed")
    house.run(
        "UPDATE workflow_events_outbox SET completed_at = now() - interval '89 days'"
        " WHERE status = 'completed' AND completed_at IS NULL"
    )
    house.run(
        "UPDATE workflow_side_effects_outbox SET completed_at = now() - interval '89 days'"
        " WHERE status = 'completed' AND completed_at IS NULL"
    )
    assert house.keep(f"prune_{queue}").rows == 3
    left = house.rows(
        "SELECT status, count(*) FROM (SELECT status FROM workflow_events_outbox WHERE trace_id = '00-test'"
        " AND payload_json = '{\"a\": 1}' UNION ALL SELECT status FROM workflow_side_effects_outbox) AS q"
        " GROUP BY status ORDER BY status"
    )
    assert left == [("completed", 1), ("dead_letter", 3), ("failed", 3), ("pending", 3), ("processing", 3)]


def test_a_run_is_bounded_and_goes_on_where_it_was_cut(house: House) -> None:
    tenants = sorted([house.tenant_id, make_company(house.company.database).tenant_id])
    for tenant_id in tenants:
        put(house.admin, "effects", tenant_id, status="completed", count=5)
    house.run(OLD["effects"])
    first = house.keep("prune_effects", limits=SMALL)
    assert (first.rows, first.outcome) == (4, "more")
    left = "SELECT count(*) FROM workflow_side_effects_outbox WHERE tenant_id = %s"
    assert [house.rows(left, each) for each in tenants] == [[(1,)], [(5,)]]
    second = house.keep("prune_effects", limits=SMALL)
    assert (second.rows, second.outcome) == (5, "more")
    assert house.rows("SELECT cursor ->> 'after' FROM housekeeping_tasks") == [(str(tenants[0]),)]
    third = house.keep("prune_effects", limits=SMALL)
    assert (third.rows, third.outcome) == (1, "done")
    assert house.rows("SELECT cursor, total_rows, run_count FROM housekeeping_tasks") == [(None, 10, 3)]


def test_time_that_is_up_cuts_too(house: House) -> None:
    put(house.admin, "effects", house.tenant_id, status="completed", count=5)
    house.run(OLD["effects"])
    now = iter(float(second) for second in range(1_000))
    cut = house.keep("prune_effects", limits=TaskLimits(seconds=5.0, batch_rows=1), clock=lambda: next(now))
    assert cut.outcome == "more" and 0 < cut.rows < 5


def test_the_answer_that_an_open_step_waits_for_stays(house: House) -> None:
    (effect_id,) = put(house.admin, "effects", house.tenant_id, status="completed")
    house.run(OLD["effects"])
    step = (
        "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, node_id,"
        " node_type, token_id, entity_version, version_after, status, idempotency_key, started_at,"
        " actor_user_id)"
        " VALUES (%s, now(), %s, %s, 1, 'a', 'webhook_out', 'T', 1, 1, 'running', sha256('a'), now(), 'x')"
    )
    house.run(step, house.tenant_id, effect_id, effect_id)
    assert house.keep("prune_effects").rows == 0
    house.run(
        "UPDATE workflow_step_executions SET status = 'completed', end_seq = 2 WHERE id = %s", effect_id
    )
    assert house.keep("prune_effects").rows == 1


@pytest.mark.parametrize("queue", OUTBOX)
def test_what_was_discarded_goes_as_what_was_done(house: House, queue: str) -> None:
    """Discard a dead letter: its month can go when it is old. One that nobody discarded stays."""
    for _ in range(2):
        put(house.admin, queue, house.tenant_id, "200 days", status="dead_letter")
    table = OUTBOX[queue]
    house.run(
        f"UPDATE {table} SET status = 'discarded', discard_reason = 'of no use'"
        f" WHERE id = (SELECT id FROM {table} LIMIT 1)"
    )
    assert house.keep(f"prune_{queue}").rows == 0
    house.run(f"UPDATE {table} SET completed_at = now() - interval '91 days' WHERE status = 'discarded'")
    assert house.keep(f"prune_{queue}").rows == 1
    assert house.rows(f"SELECT status FROM {table} WHERE status <> 'pending'") == [("dead_letter",)]


def test_what_was_withdrawn_stays_while_its_step_waits(house: House) -> None:
    (effect_id,) = put(house.admin, "effects", house.tenant_id, status="withdrawn")
    house.run("UPDATE workflow_side_effects_outbox SET completed_at = now() - interval '91 days'")
    house.run(
        "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, node_id,"
        " node_type, token_id, entity_version, version_after, status, idempotency_key, started_at,"
        " actor_user_id)"
        " VALUES (%s, now(), %s, %s, 1, 'a', 'webhook_out', 'T', 1, 1, 'running', sha256('a'), now(), 'x')",
        *(house.tenant_id, effect_id, effect_id),
    )
    assert house.keep("prune_effects").rows == 0
    house.run("UPDATE workflow_step_executions SET status = 'failed', end_seq = 2 WHERE id = %s", effect_id)
    assert house.keep("prune_effects").rows == 1


def finish_one(house: House, moving: Worker) -> UUID:
    """Create an invoice and cancel it, so that its instance ends."""
    number = f"R-{uuid4()}"
    made = house.company.documents.mutate(
        house.company.caller(), Create("invoice", {**INVOICE, "number": number})
    )
    drain(moving, [house.tenant_id])
    cancel = RequestTransition(made.document_id, 1, "cancel", "ordered twice")
    house.company.documents.mutate(house.company.caller(), cancel)
    drain(moving, [house.tenant_id])
    assert made.instance_id is not None
    return made.instance_id


def test_receipts_of_what_ended_long_ago_go_and_the_instance_stays_the_sum_of_its_steps(
    house: House, moving: Worker
) -> None:
    ended, recent, early = (finish_one(house, moving) for _ in range(3))
    alive = house.company.documents.mutate(
        house.company.caller(), Create("invoice", {**INVOICE, "number": "R-live"})
    ).instance_id
    drain(moving, [house.tenant_id])
    statuses = dict(house.rows("SELECT id, status FROM workflow_instances"))
    assert {statuses[each] for each in (ended, recent, early)} == {"completed"}
    house.run(
        "UPDATE workflow_instances SET completed_at = now() - interval '91 days' WHERE id IN (%s, %s)",
        ended,
        early,
    )
    orphan = (
        "INSERT INTO workflow_outbox_receipts VALUES (%s, %s, 'events', sha256('a'), now() - %s::interval)"
    )
    old_orphan, new_orphan = uuid4(), uuid4()
    house.run(orphan, house.tenant_id, old_orphan, "91 days")
    house.run(orphan, house.tenant_id, new_orphan, "1 day")
    before = house.rows(
        "SELECT to_jsonb(i) - '{updated_at,completed_at}'::text[] FROM workflow_instances i ORDER BY id"
    )

    rows, runs = 0, 0
    while True:
        ran = house.keep("prune_receipts", limits=TaskLimits(rows=1, batch_rows=1))
        rows, runs = rows + ran.rows, runs + 1
        if ran.outcome == "done":
            break
        assert runs < 20
    assert runs > 2, "cut, and resumed within the tenant"
    kept = house.rows(
        "SELECT instance_id FROM workflow_outbox_receipts UNION"
        " SELECT instance_id FROM workflow_step_receipts"
    )
    assert {instance_id for (instance_id,) in kept} == {recent, alive, new_orphan}
    for instance_id in (ended, recent, alive):
        assert instance_id is not None
        rebuild_instance(house.company.database, CompiledCache(), house.tenant_id, instance_id)
    assert (
        house.rows(
            "SELECT to_jsonb(i) - '{updated_at,completed_at}'::text[] FROM workflow_instances i ORDER BY id"
        )
        == before
    )
    house.run(OLD["events"])
    assert house.keep("prune_events").rows > 0
    assert drain(moving, [house.tenant_id]).steps == 0, "nothing begins anew"
    assert verify_tenant(house.company.database, house.tenant_id).is_sound


def test_keys_events_notifications_and_meters(house: House) -> None:
    tenant = house.tenant_id
    house.run("DELETE FROM quota_meters")
    for days in (6, 8):
        house.run(
            "INSERT INTO idempotency_keys VALUES (%s, %s, %s, '[]', now() - make_interval(days => %s))",
            tenant, str(days), "0" * 64, days,
        )  # fmt: skip
        house.run(
            "INSERT INTO workflow_inbound_events VALUES (%s, gen_random_uuid(), 'k', '{}', 's', %s, NULL,"
            " now() - interval '30 days', now() + make_interval(days => %s))",
            tenant, str(days), -days,
        )  # fmt: skip
        house.run(
            "INSERT INTO quota_meters VALUES (%s, %s, now() + make_interval(days => %s))",
            tenant, str(days), 6 - days,
        )  # fmt: skip
    for read_days in (None, 89, 91):
        house.run(
            "INSERT INTO notifications VALUES (%s, gen_random_uuid(), 'carl', NULL, 'a', NULL, '{}',"
            " now() - interval '1 year', now() - make_interval(days => %s))",
            tenant, read_days,
        )  # fmt: skip
    names = ("prune_keys", "prune_inbound", "prune_meters", "prune_notifications")
    assert {name: house.keep(name).rows for name in names} == dict.fromkeys(names, 1)
    assert house.rows("SELECT key FROM idempotency_keys") == [("6",)]
    assert house.rows("SELECT message_id FROM workflow_inbound_events") == [("6",)]
    assert house.rows("SELECT name FROM quota_meters") == [("6",)]
    assert house.rows("SELECT count(*), count(read_at) FROM notifications") == [(2, 1)]


def test_closed_incidents_go_once_their_instance_has_ended(house: House, moving: Worker) -> None:
    made = house.company.documents.mutate(house.company.caller(), Create("invoice", INVOICE))
    drain(moving, [house.tenant_id])
    for seq, days in ((1, None), (2, 364), (3, 366)):
        house.run(CLOSED_INCIDENT, house.tenant_id, made.instance_id, seq, days, days, days)
    assert house.keep("prune_incidents").rows == 0, "the instance runs, and counts its attempts by them"
    house.run("UPDATE workflow_instances SET status = 'cancelled', completed_at = now()")
    assert house.keep("prune_incidents").rows == 1
    assert house.rows("SELECT seq FROM incidents ORDER BY seq") == [(1,), (2,)]


def test_a_deleted_document_is_emptied_and_stays_provable(house: House, moving: Worker) -> None:
    data = {**INVOICE, "number": "R-gone", "vendor_contact": "Erna Example"}
    made = house.company.documents.mutate(house.company.caller(), Create("invoice", data))
    drain(moving, [house.tenant_id])
    house.company.documents.mutate(house.company.caller(), Delete(made.document_id, 1))
    drain(moving, [house.tenant_id])
    assert house.keep("purge_documents").rows == 0, "not yet"
    house.run("UPDATE documents SET deleted_at = now() - interval '366 days'")
    assert house.keep("purge_documents").rows == 1
    assert house.keep("purge_documents").rows == 0, "once"
    document = "SELECT data, t1, n1, purged_at IS NOT NULL, version FROM documents WHERE id = %s"
    assert house.rows(document, made.document_id) == [({}, None, None, True, 2)]
    assert house.rows("SELECT count(*), count(value), count(salt) FROM personal_values")[0][1:] == (0, 0)
    assert house.count("document_keys") == 0
    assert house.count("document_versions") == 2
    said = house.rows("SELECT actor_id, content::json #>> '{detail,erased,0,field}' FROM audit_log"
                      " WHERE action = 'purge'")  # fmt: skip
    assert said == [("signet:system", "vendor_contact")]
    house.seal()
    found = verify_tenant(house.company.database, house.tenant_id)
    assert found.is_sound and found.tail_count == 0


def test_a_purge_forgets_the_keys_that_a_document_has_left(house: House, moving: Worker) -> None:
    """A document with the same number is looked up by them before. Those of others stay."""
    made = []
    for number in ("R-gone", "R-young"):
        data = {**INVOICE, "number": number}
        made.append(house.company.documents.mutate(house.company.caller(), Create("invoice", data)))
        drain(moving, [house.tenant_id])
        house.company.documents.mutate(house.company.caller(), Delete(made[-1].document_id, 1))
        drain(moving, [house.tenant_id])
    gone, young = (document.document_id for document in made)
    left: LiteralString = "SELECT document_id FROM left_document_keys ORDER BY document_id"
    assert house.rows(left) == [(gone,), (young,)]
    house.run("UPDATE documents SET deleted_at = now() - interval '366 days' WHERE id = %s", gone)
    assert house.keep("purge_documents").rows == 1
    assert house.rows(left) == [(young,)]


def make_old_request(house: House, node_type: str, step_age: str) -> UUID:
    """Make an instance that began 450 days ago, with an open request and a step that waits at this node."""
    house.company.documents.mutate(house.company.caller(), Create("invoice", {**INVOICE, "number": "R-old"}))
    ((version_id, instance_id),) = house.rows(
        "SELECT v.id, i.id FROM document_versions v JOIN workflow_instances i ON i.entity_id = v.document_id"
        " ORDER BY v.created_at DESC LIMIT 1"
    )
    house.run("ALTER TABLE workflow_instances DISABLE TRIGGER USER")
    house.run(
        "UPDATE workflow_instances SET started_at = now() - interval '450 days' WHERE id = %s", instance_id
    )
    house.run("ALTER TABLE workflow_instances ENABLE TRIGGER USER")
    house.run(
        "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, node_id,"
        " node_type, token_id, entity_version, version_after, status, idempotency_key, started_at,"
        " actor_user_id)"
        " VALUES (%s, now() - %s::interval, %s, %s, 1, 'a', %s, 'T', 1, 1, 'running', sha256('a'),"
        " now(), 'x')",
        *(house.tenant_id, step_age, uuid4(), instance_id, node_type),
    )
    house.run(
        "INSERT INTO approval_requests (tenant_id, id, instance_id, step_execution_id, node_id, document_id,"
        " document_version, snapshot_version_id, snapshot_hash, definition_hash, policy, policy_hash,"
        " requester_id, created_at)"
        " SELECT tenant_id, id, %s, id, 'a', document_id, 1, id, hash, hash, '{}', hash, 'carl',"
        " now() - interval '450 days' FROM document_versions WHERE id = %s",
        instance_id,
        version_id,
    )
    return UUID(str(version_id))


@pytest.mark.parametrize(("node_type", "step_age"), [("approval", "450 days"), ("lifecycle_gate", "1 hour")])
def test_records_of_eligibility_go_unless_an_open_approval_is_older(
    house: House, node_type: str, step_age: str
) -> None:
    """Keep what a vote may rest on, however old, also where a gate asks a seat again."""
    age = "INSERT INTO eligibility_changes SELECT tenant_id, gen_random_uuid(), now() - %s::interval,"
    for days in ("500 days", "400 days", "366 days", "364 days"):
        house.run(f"{age} 'role_given', 'mona', 'clerk', NULL, '{{carl}}', 'carl' FROM tenants", days)
    request_id = make_old_request(house, node_type, step_age)
    old = "SELECT count(*) FROM eligibility_changes WHERE changed_at < now() - interval '1 day'"
    assert (house.keep("prune_eligibility").rows, house.rows(old)) == (1, [(3,)])
    house.run("UPDATE approval_requests SET status = 'voided', ended_at = now() WHERE id = %s", request_id)
    assert (house.keep("prune_eligibility").rows, house.rows(old)) == (2, [(1,)])
    assert house.keep("prune_eligibility").rows == 0
