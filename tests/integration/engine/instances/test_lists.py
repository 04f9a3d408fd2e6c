"""Instances that are stuck, those that only wait, and the remedies."""

from collections.abc import Callable
from typing import LiteralString
from uuid import UUID

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Create, RequestTransition, Update
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import Instances
from signet.engine.instances.lists import REMEDIES, REMEDIES_OF_A_WRONG_ROW, list_stuck
from signet.store.tenants.tenants import save_members
from tests.support.company import INVOICE, Company, make_company
from tests.support.drained_waves import drain
from tests.support.invoice_instances import (
    Admin,
    create,
    hold,
    instance_of,
    operator,
    publish_patch,
    read,
    stand_of,
    submit,
    version_of,
)

LOSE_TRIGGERS: LiteralString = "DELETE FROM workflow_events_outbox WHERE status <> 'completed'"
LET_IT_LIE: LiteralString = "UPDATE workflow_instances SET updated_at = now() - interval '1 hour'"


def found(company: Company, instances: Instances, admin: Admin) -> list[tuple[UUID, str]]:
    """Return the stuck instances after an hour without events."""
    admin.execute(LET_IT_LIE)
    return [(stuck.id, stuck.why) for stuck in list_stuck(company.database, company.tenant_id)]


# --- stuck ---


def lose_birth(company: Company, worker: Worker, admin: Admin) -> UUID:
    made = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    admin.execute(LOSE_TRIGGERS)
    return instance_of(made)


def lose_request(company: Company, worker: Worker, admin: Admin) -> UUID:
    made = create(company, worker)
    company.documents.mutate(company.caller(), RequestTransition(made.document_id, 1, "submit"))
    admin.execute(LOSE_TRIGGERS)
    return instance_of(made)


def lose_answer(company: Company, worker: Worker, admin: Admin) -> UUID:
    made = call_outside(company, worker)
    admin.execute(
        "UPDATE workflow_side_effects_outbox SET status = 'processing', claim_id = id, lease_until = now()"
    )
    admin.execute(
        "UPDATE workflow_side_effects_outbox SET status = 'completed', claim_id = NULL, lease_until = NULL"
    )
    return made


def spoil_row(company: Company, worker: Worker, admin: Admin) -> UUID:
    instance_id = lose_birth(company, worker, admin)
    admin.execute(
        "UPDATE workflow_instances SET active_tokens = jsonb_set(active_tokens, '{0,state}', '\"waiting\"')"
    )
    return instance_id


def call_outside(company: Company, worker: Worker) -> UUID:
    """Submit an invoice that waits for the answer of an endpoint."""
    call = {"id": "check", "type": "webhook_out", "config": {"endpoint": "credit_check"}}
    publish_patch(company, {"submitted_to_approved": {"nodes": [call], "edges": []}})
    return instance_of(submit(company, worker))


def lose_edit(company: Company, worker: Worker, admin: Admin) -> UUID:
    made = create(company, worker)
    company.documents.mutate(company.caller(), Update(made.document_id, made.version, {"grand_total": 7}))
    admin.execute("DELETE FROM workflow_events_outbox")
    return instance_of(made)


def lose_decision(company: Company, worker: Worker, admin: Admin) -> UUID:
    """Have an invoice approved whose workflow is never told."""
    look = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "anton"}]}}
    anton = Member(user_id="anton", display_name="Anton", roles=("admin",))
    with company.database.transaction(company.tenant_id) as connection:
        save_members(connection, company.tenant_id, (anton,), COMMAND_LINE)
    publish_patch(company, {"submitted_to_approved": {"nodes": [look], "edges": []}})
    made = submit(company, worker)
    approvals = Approvals(company.database, company.documents.caches)
    ((request_id,),) = read(admin, "SELECT id FROM approval_requests WHERE status = 'open'")
    approvals.decide(company.caller("anton"), request_id, "approved", "seen")
    admin.execute("DELETE FROM workflow_events_outbox")
    return instance_of(made)


STUCK: dict[str, Callable[[Company, Worker, Admin], UUID]] = {
    "ready": lose_birth,
    "asked": lose_request,
    "edited": lose_edit,
    "decided": lose_decision,
    "answered": lose_answer,
    "nothing_open": spoil_row,
}


@pytest.mark.parametrize("why", STUCK)
def test_what_nothing_wakes_is_found(
    company: Company, worker: Worker, instances: Instances, admin: Admin, why: str
) -> None:
    instance_id = STUCK[why](company, worker, admin)
    assert found(company, instances, admin) == [(instance_id, why)]


def test_a_moment_that_nobody_noticed_is_found(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    instance_id = instance_of(create(company, worker))
    admin.execute("UPDATE workflow_instances SET timeout_at = now() - interval '1 minute'")
    assert found(company, instances, admin) == []
    admin.execute("UPDATE workflow_instances SET timeout_at = now() - interval '11 minutes'")
    assert found(company, instances, admin) == [(instance_id, "overdue")]


@pytest.mark.parametrize(
    ("why", "remedy"),
    [(why, remedy) for why in STUCK for remedy in REMEDIES],
)
def test_each_remedy_helps(
    company: Company, worker: Worker, instances: Instances, admin: Admin, why: str, remedy: str
) -> None:
    """Expect the instance to wait, to have ended or to be given up; it is no longer listed."""
    instance_id = STUCK[why](company, worker, admin)
    ((_, nodes, _), version) = (stand_of(admin, instance_id), version_of(admin, instance_id))
    match remedy:
        case "wake":
            instances.wake(operator(company), instance_id)
        case "rebuild":
            assert instances.rebuild(operator(company), instance_id).was_other == (why == "nothing_open")
        case _:
            instances.fail(operator(company), instance_id, version, "stuck", then="leave")
    drain(worker, [company.tenant_id])
    status, nodes_after, _ = stand_of(admin, instance_id)
    assert found(company, instances, admin) == []
    if remedy == "fail":
        assert status == "failed"
    elif why in ("ready", "edited", "nothing_open"):
        assert (status, nodes_after) == ("running", ["sys:state:draft"])
    else:
        assert (status, nodes_after) == ("completed", [])
    assert nodes != nodes_after or why == "edited"


def test_the_remedies_are_named_the_likeliest_first(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    instance_id = spoil_row(company, worker, admin)
    admin.execute(LET_IT_LIE)
    (stuck,) = list_stuck(company.database, company.tenant_id)
    assert (stuck.id, stuck.entity_type, stuck.version) == (instance_id, "invoice", 0)
    assert stuck.current_nodes == ["sys:start"]
    assert stuck.remedies == REMEDIES_OF_A_WRONG_ROW
    assert set(stuck.remedies) == set(REMEDIES)


@pytest.mark.parametrize(
    ("assignment", "is_found"),
    [
        ("due_at = now() + interval '1 minute'", True),
        ("status = 'processing', claim_id = id, lease_until = now() + interval '1 minute'", True),
        ("due_at = now() - interval '16 minutes'", False),
    ],
)
def test_what_is_given_back_is_found_though_it_only_waits(
    company: Company,
    worker: Worker,
    instances: Instances,
    admin: Admin,
    assignment: LiteralString,
    is_found: bool,
) -> None:
    """Leave out what nobody has tried for long: a worker that is away gives nothing back."""
    instance_id = instance_of(create(company, worker))
    instances.wake(operator(company), instance_id)
    assert found(company, instances, admin) == []
    admin.execute(
        "UPDATE workflow_events_outbox SET given_back = 3, given_back_since = now() - interval '1 hour',"
        " given_back_code = 'DATABASE_CONTENDED' WHERE status = 'pending'"
    )
    admin.execute(f"UPDATE workflow_events_outbox SET {assignment} WHERE status = 'pending'".encode())
    assert found(company, instances, admin) == ([(instance_id, "given_back")] if is_found else [])


# --- not stuck ---


def test_what_waits_is_paused_or_has_ended_is_not_stuck(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    create(company, worker, number="R-4")
    instances.pause(operator(company), instance_of(create(company, worker, number="R-2")), 2, "why")
    submit(company, worker, number="R-3")
    call_outside(company, worker)
    admin.execute("DELETE FROM workflow_events_outbox")
    assert found(company, instances, admin) == []
    statuses = read(admin, "SELECT status, count(*)::int FROM workflow_instances GROUP BY status ORDER BY 1")
    assert statuses == [("completed", 1), ("paused", 1), ("running", 2)]


def test_a_held_gate_is_paused_and_not_stuck(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    hold(company, worker)
    assert found(company, instances, admin) == []


@pytest.mark.parametrize(
    "assignment",
    [
        "due_at = now() + interval '1 day'",
        "status = 'processing', claim_id = id, lease_until = now() - interval '1 day'",
        "status = 'failed'",
    ],
)
def test_what_will_be_woken_is_not_stuck(
    company: Company, worker: Worker, instances: Instances, admin: Admin, assignment: LiteralString
) -> None:
    """Cover triggers that are due later, claimed, or due for another try."""
    company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    assert found(company, instances, admin) == []
    admin.execute("ALTER TABLE workflow_events_outbox DISABLE TRIGGER restrict_status_regression")
    admin.execute(f"UPDATE workflow_events_outbox SET {assignment}".encode())
    assert found(company, instances, admin) == []
    admin.execute(
        "UPDATE workflow_events_outbox SET status = 'dead_letter', claim_id = NULL, lease_until = NULL"
    )
    assert len(found(company, instances, admin)) == 1


def test_what_has_just_happened_is_given_time(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    lose_birth(company, worker, admin)
    assert list_stuck(company.database, company.tenant_id) == []
    admin.execute("UPDATE workflow_instances SET updated_at = now() - interval '30 seconds'")
    assert len(list_stuck(company.database, company.tenant_id, idle_seconds=20)) == 1
    assert list_stuck(company.database, company.tenant_id, idle_seconds=40) == []


def test_the_longest_first_and_no_more_than_asked_for(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    ids = [
        instance_of(company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": n})))
        for n in ("R-1", "R-2", "R-3")
    ]
    admin.execute(LOSE_TRIGGERS)
    for minutes, instance_id in zip((20, 40, 30), ids, strict=True):
        admin.execute(
            "UPDATE workflow_instances SET updated_at = now() - make_interval(mins => %s) WHERE id = %s",
            [minutes, instance_id],
        )
    listed = list_stuck(company.database, company.tenant_id)
    assert [stuck.id for stuck in listed] == [ids[1], ids[2], ids[0]]
    assert [stuck.id for stuck in list_stuck(company.database, company.tenant_id, limit=2)] == [
        ids[1],
        ids[2],
    ]
    assert len(list_stuck(company.database, company.tenant_id, limit=0)) == 1


def test_another_tenants_are_not_seen(
    company: Company, worker: Worker, instances: Instances, admin: Admin
) -> None:
    lose_birth(company, worker, admin)
    assert len(found(company, instances, admin)) == 1
    assert list_stuck(company.database, make_company(company.database).tenant_id) == []
