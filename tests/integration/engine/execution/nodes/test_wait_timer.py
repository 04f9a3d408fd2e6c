"""Timers: the moment is computed as the token arrives, kept with its step, and waited for by a trigger."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import pytest

from signet.engine.documents.commands import RequestTransition
from signet.engine.instances.incidents import IncidentFilter, list_open
from signet.zones import TZDATA_VERSION
from tests.support.operated_instances import check, operating_on, submitted, version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

STEPS: LiteralString = (
    "SELECT status, input_json, resume_at, output_json FROM workflow_step_executions"
    " WHERE instance_id = %s AND node_type = 'wait_timer' ORDER BY seq"
)
# Nobody waits in a test: the moments go back, as if so much time had passed.
MOMENTS: tuple[LiteralString, ...] = (
    "UPDATE workflow_step_executions SET resume_at = resume_at - %s"
    " WHERE resume_at IS NOT NULL AND instance_id = %s",
    "UPDATE workflow_events_outbox SET due_at = due_at - %s WHERE instance_id = %s",
    "UPDATE workflow_instances SET timeout_at = timeout_at - %s WHERE id = %s",
)
DUE = {"type": "date"}
DATED: Mapping[str, Any] = {**CONTRACT, "fields": {**CONTRACT["fields"], "due": DUE}}
# In this state people edit while the slot of an automatic way waits.
EDITABLE: Mapping[str, Any] = {
    **CONTRACT,
    "states": {**CONTRACT["states"], "submitted": {"edit": "editable"}},
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def wait(**config: Any) -> dict[str, Any]:
    return {"nodes": [{"id": "wait", "type": "wait_timer", "config": config}]}


def pass_time(stage: WorkflowStage, document: Made, time: timedelta) -> None:
    for statement in MOMENTS:
        stage.standing.run_unguarded(statement, time, document.instance_id)
    stage.drain()


def set_zone(stage: WorkflowStage, name: str) -> None:
    own = "jsonb_build_object('time_zone', %s::text)"
    statement: Any = f"UPDATE tenants SET settings = settings || {own} WHERE tenant_id = %s"
    stage.standing.run(statement, name, stage.tenant_id)


def steps(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(STEPS, document.instance_id)


def codes(stage: WorkflowStage, document: Made) -> list[str]:
    wanted = IncidentFilter(instance_id=document.instance_id)
    return [row.code for row in list_open(stage.standing.company.database, stage.tenant_id, wanted, limit=9)]


def test_it_waits_until_its_moment_and_not_longer(stage: WorkflowStage) -> None:
    document = submitted(stage, approval=wait(**{"for": "PT36H"}))
    ((status, given, resume_at, _),) = steps(stage, document)
    arrived = datetime.fromisoformat(given["arrived_at"])
    assert (status, resume_at) == ("running", arrived + timedelta(hours=36))
    assert given == {
        "arrived_at": arrived.isoformat(),
        "due_at": resume_at.astimezone(UTC).isoformat(),
        "zone": "UTC",
        "tzdata": TZDATA_VERSION,
    }
    pending = "SELECT due_at FROM workflow_events_outbox WHERE instance_id = %s AND status = 'pending'"
    assert stage.standing.rows(pending, document.instance_id) == [(resume_at,)]
    pass_time(stage, document, timedelta(hours=35))
    stage.wake(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "submitted"
    pass_time(stage, document, timedelta(hours=1))
    assert stage.status_of(document.id) == "active"
    ((status, _, _, output),) = steps(stage, document)
    assert (status, output["outcome"], set(output["evidence"])) == ("completed", "elapsed", {"due_at"})
    check(stage, document)


def test_a_month_keeps_the_clock_of_the_zone(stage: WorkflowStage) -> None:
    document = submitted(stage, approval=wait(**{"for": "P6M"}, zone="Europe/Berlin"))
    ((_, given, resume_at, _),) = steps(stage, document)
    arrived = datetime.fromisoformat(given["arrived_at"])
    assert given["zone"] == "Europe/Berlin"
    assert timedelta(days=180) < resume_at - arrived < timedelta(days=186)


def test_what_is_past_is_due_at_once(stage: WorkflowStage) -> None:
    document = submitted(stage, DATED, approval=wait(until="2020-02-29", at="09:00"))
    assert stage.status_of(document.id) == "active"
    ((_, given, _, output),) = steps(stage, document)
    assert given["due_at"] == output["evidence"]["due_at"] == "2020-02-29T09:00:00+00:00"
    check(stage, document)


def test_an_until_without_a_date_is_held_until_it_has_one(stage: WorkflowStage) -> None:
    document = submitted(stage, {**DATED, "states": EDITABLE["states"]}, approval=wait(until="entity.due"))
    assert codes(stage, document) == ["TIMER_WITHOUT_MOMENT"]
    stage.edit(document.id, due="2020-01-01")
    stage.drain()
    assert stage.status_of(document.id) == "active" and codes(stage, document) == []
    check(stage, document)


def test_an_edit_moves_a_wait_until_a_field(stage: WorkflowStage) -> None:
    contract = {**DATED, "states": EDITABLE["states"]}
    document = stage.create(stage.publish(contract, approval=wait(until="entity.due")), due="2300-01-01")
    stage.mutate(RequestTransition(document.id, stage.version_of(document.id), "submit"))
    stage.drain()
    assert [row[0] for row in steps(stage, document)] == ["running"]
    stage.edit(document.id, due="2300-02-01")
    stage.drain()
    (first, second) = steps(stage, document)
    assert (first[0], second[0], second[1]["due_at"]) == ("cancelled", "running", "2300-02-01T00:00:00+00:00")
    check(stage, document)


@pytest.mark.parametrize("since", [None, "restart"])
def test_an_edit_counts_from_the_first_arrival_or_anew(stage: WorkflowStage, since: str | None) -> None:
    terms = {"for": "PT48H"} if since is None else {"for": "PT48H", "since": since}
    document = submitted(stage, EDITABLE, approval=wait(**terms))
    stage.edit(document.id, amount=5)
    stage.drain()
    stage.edit(document.id, amount=6)
    stage.drain()
    rows = steps(stage, document)
    assert [row[0] for row in rows] == ["cancelled", "cancelled", "running"]
    for row in rows[1:]:
        assert (row[1]["due_at"] == rows[0][1]["due_at"]) is (since is None)
    pass_time(stage, document, timedelta(hours=49))
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_the_clock_runs_on_while_it_is_paused(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, approval=wait(**{"for": "PT1H"}))
    instances.pause(olga, document.instance_id, version(stage, document), "the auditors are here")
    pass_time(stage, document, timedelta(hours=2))
    assert stage.status_of(document.id) == "submitted"
    instances.resume(olga, document.instance_id, version(stage, document))
    stage.drain()
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_what_fires_late_finds_the_wait_ended(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, approval=wait(**{"for": "PT1H"}))
    seen = version(stage, document)
    instances.advance(olga, document.instance_id, seen, "usr:approval:wait", "it need not wait")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    before = version(stage, document)
    pass_time(stage, document, timedelta(hours=2))
    pending = "SELECT count(*) FROM workflow_events_outbox WHERE instance_id = %s AND status <> 'completed'"
    assert (version(stage, document), stage.standing.row(pending, document.instance_id)) == (before, (0,))
    check(stage, document)


@pytest.mark.parametrize(("act", "slot"), [("cancel", "approval"), ("delete", "checks")])
def test_a_document_that_is_cancelled_or_deleted_waits_no_more(
    stage: WorkflowStage, act: str, slot: str
) -> None:
    document = submitted(stage, **{slot: wait(**{"for": "PT1H"})})
    if act == "cancel":
        stage.ask(document.id, "cancel")
    else:
        stage.delete(document.id)
    stage.drain()
    assert [row[0] for row in steps(stage, document)] == ["cancelled"]
    pass_time(stage, document, timedelta(hours=2))
    assert stage.instance(document.instance_id)["status"] in ("completed", "cancelled")
    check(stage, document)


def test_a_tenant_without_a_zone_that_exists_is_told(stage: WorkflowStage) -> None:
    set_zone(stage, "Mars")
    document = submitted(stage, approval=wait(**{"for": "P1D"}))
    assert codes(stage, document) == ["ZONE_UNKNOWN"]
    set_zone(stage, "Europe/Berlin")
    _, olga = operating_on(stage)
    stage.retry(document, olga)
    stage.drain()
    ((status, given, _, _),) = steps(stage, document)
    assert (status, given["zone"]) == ("running", "Europe/Berlin")
    set_zone(stage, "UTC")
    check(stage, document)
