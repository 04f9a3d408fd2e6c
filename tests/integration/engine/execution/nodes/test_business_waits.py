"""Timers in the time of a calendar, and timers that follow what they were computed from."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import pytest

from signet.core.calendars.terms import WorkingTerm, find_due
from signet.core.errors import Rejected
from signet.core.explain.instance import write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import TenantFile, TenantSettings
from signet.engine.cache import ContractCache
from signet.engine.calendars import followers, previews
from signet.engine.calendars.calendars import Calendars
from signet.engine.calendars.previews import CalendarPreview, CalendarPreviews
from signet.engine.calendars.stored_calendars import make_stored_calendar
from signet.engine.documents.commands import RequestTransition
from signet.engine.instances.explain import explain
from signet.engine.tenants.install import install_tenant
from signet.engine.tenants.settings import TenantAdmin, TenantChange
from signet.zones import TZDATA_VERSION
from tests.integration.engine.execution.nodes.test_wait_timer import (
    DATED,
    EDITABLE,
    codes,
    pass_time,
    set_zone,
    steps,
    wait,
)
from tests.support.operated_instances import check, operating_on, submitted
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

YEAR = datetime.now(UTC).year
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Open all the time: a working day ends at midnight.
WEEK: Mapping[str, Any] = {
    "zone": "UTC",
    "years": {"first": YEAR, "last": YEAR + 3},
    "hours": {day: ["00:00-24:00"] for day in DAYS},
}
TOKYO = {**WEEK, "zone": "Asia/Tokyo"}
MOVES: LiteralString = (
    "SELECT output_json FROM workflow_step_executions"
    " WHERE instance_id = %s AND node_id = 'sys:control:rescheduled' ORDER BY seq"
)


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def save(stage: WorkflowStage, body: Mapping[str, Any] = WEEK, name: str = "office") -> None:
    company = stage.standing.company
    calendars, caller = Calendars(company.database), company.caller("carl", "admin")
    listed = calendars.list(caller.principal, "", 100)
    seen = next((one.version for one in listed if one.name == name), None)
    calendars.save(caller, name, body, seen)


def set_default(stage: WorkflowStage, **change: Any) -> None:
    company = stage.standing.company
    admin, caller = TenantAdmin(company.database), company.caller("carl", "admin")
    admin.change(caller, admin.read(caller.principal).version, TenantChange(**change))


def moves(stage: WorkflowStage, document: Made) -> list[Any]:
    return [row[0] for row in stage.standing.rows(MOVES, document.instance_id)]


def days(count: int, **more: Any) -> dict[str, Any]:
    return {"business": {"days": count, "calendar": "office"}, **more}


def explained(stage: WorkflowStage, document: Made) -> str:
    database = stage.standing.company.database
    return "\n".join(
        write_instance(explain(database, ContractCache(), stage.tenant_id, document.instance_id))
    )


def due_after(given: Mapping[str, Any], body: Mapping[str, Any], **term: int) -> datetime:
    calendar = make_stored_calendar("office", json.dumps(body))
    return find_due(calendar, datetime.fromisoformat(given["arrived_at"]), WorkingTerm(**term))


def test_it_waits_for_working_days_and_says_by_which_calendar(stage: WorkflowStage) -> None:
    save(stage)
    document = submitted(stage, approval=wait(**days(3)))
    ((status, given, resume_at, _),) = steps(stage, document)
    due = due_after(given, WEEK, days=3)
    assert (status, resume_at) == ("running", due)
    assert given == {
        "arrived_at": given["arrived_at"],
        "due_at": due.isoformat(),
        "zone": "UTC",
        "tzdata": TZDATA_VERSION,
        "calendar": "office",
        "calendar_version": 1,
        "term": {"days": 3},
    }
    text = explained(stage, document)
    assert '3 working days of the calendar "office"' in text
    assert 'by version 1 of the calendar "office", in UTC' in text
    pass_time(stage, document, timedelta(days=4))
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_working_time_counts_while_the_calendar_is_open(stage: WorkflowStage) -> None:
    noon = {**WEEK, "hours": {day: ["12:00-13:00"] for day in DAYS}}
    save(stage, noon)
    config = {"business": {"hours": 2, "minutes": 30, "calendar": "office"}}
    document = submitted(stage, approval=wait(**config))
    ((_, given, resume_at, _),) = steps(stage, document)
    assert resume_at == due_after(given, noon, hours=2, minutes=30)
    assert given["term"] == {"hours": 2, "minutes": 30}


def test_what_does_not_follow_keeps_its_moment(stage: WorkflowStage) -> None:
    save(stage)
    document = submitted(stage, approval=wait(**days(3)))
    ((_, _, before, _),) = steps(stage, document)
    save(stage, TOKYO)
    set_default(stage, time_zone="Asia/Tokyo")
    stage.wake(document.instance_id)
    stage.drain()
    ((_, given, after, _),) = steps(stage, document)
    assert (after, given["calendar_version"], moves(stage, document)) == (before, 1, [])


def test_without_a_name_it_is_the_tenants_calendar(stage: WorkflowStage) -> None:
    save(stage)
    save(stage, TOKYO, "other")
    set_default(stage, calendar="other")
    document = submitted(stage, approval=wait(business={"days": 1}))
    ((_, given, _, _),) = steps(stage, document)
    assert (given["calendar"], given["zone"]) == ("other", "Asia/Tokyo")


def test_a_calendar_that_ends_before_holds_until_its_years_are_wider(stage: WorkflowStage) -> None:
    save(stage, {**WEEK, "years": {"first": YEAR, "last": YEAR}})
    document = submitted(stage, approval=wait(**days(400)))
    assert codes(stage, document) == ["CALENDAR_YEARS_EXCEEDED"]
    save(stage)
    _, olga = operating_on(stage)
    stage.retry(document, olga)
    stage.drain()
    ((status, given, _, _),) = steps(stage, document)
    assert (status, given["calendar_version"], codes(stage, document)) == ("running", 2, [])
    check(stage, document)


def test_a_setting_that_names_no_calendar_any_more_holds(stage: WorkflowStage) -> None:
    save(stage)
    set_default(stage, calendar="office")
    config = wait(business={"hours": 1})
    name = stage.publish(None, approval=config)
    stage.standing.run("UPDATE tenants SET settings = settings - 'calendar'")
    document = stage.create(name)
    stage.mutate(RequestTransition(document.id, 1, "submit"))
    stage.drain()
    assert codes(stage, document) == ["CALENDAR_UNNAMED"]


def test_what_names_no_calendar_is_not_published(stage: WorkflowStage) -> None:
    unnamed = {"business": {"days": 1}}
    for config, code in ((days(1), "CALENDAR_UNKNOWN"), (unnamed, "CALENDAR_UNNAMED")):
        with pytest.raises(Rejected) as refused:
            stage.publish(None, approval=wait(**config))
        assert [one.code for one in refused.value.fields] == [code]
    save(stage)
    set_default(stage, calendar="office")
    for config in (days(1), unnamed):
        assert stage.publish(None, approval=wait(**config))


@pytest.mark.parametrize("since", [None, "restart"])
def test_an_edit_counts_from_the_first_arrival_or_anew(stage: WorkflowStage, since: str | None) -> None:
    save(stage)
    more = {} if since is None else {"since": since}
    config = {"business": {"hours": 48, "calendar": "office"}, **more}
    document = submitted(stage, EDITABLE, approval=wait(**config))
    stage.edit(document.id, amount=5)
    stage.drain()
    first, second = steps(stage, document)
    assert (first[1]["due_at"] == second[1]["due_at"]) is (since is None)


def test_a_new_calendar_moves_what_follows_it(stage: WorkflowStage) -> None:
    save(stage)
    save(stage, WEEK, "other")
    document = submitted(stage, approval=wait(**days(3, follow=True)))
    ((_, given, before, _),) = steps(stage, document)
    save(stage, TOKYO, "other")
    stage.drain()
    assert moves(stage, document) == []
    save(stage, TOKYO)
    stage.drain()
    ((_, kept, after, _),) = steps(stage, document)
    due = due_after(given, TOKYO, days=3)
    assert (kept, after) == (given, due)
    (move,) = moves(stage, document)
    assert (move["from"], move["because"]) == (before.astimezone(UTC).isoformat(), "calendar")
    assert (move["given"]["due_at"], move["given"]["calendar_version"]) == (due.isoformat(), 2)
    assert move["given"]["arrived_at"] == given["arrived_at"]
    text = explained(stage, document)
    assert 'because the calendar "office" counts, at version 2' in text
    assert 'by version 2 of the calendar "office", in Asia/Tokyo' in text
    stage.wake(document.instance_id)
    stage.drain()
    assert len(moves(stage, document)) == 1
    check(stage, document)
    pass_time(stage, document, timedelta(days=4))
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_a_moment_that_is_past_by_the_new_calendar_ends_the_wait(stage: WorkflowStage) -> None:
    noon = {**WEEK, "hours": {day: ["12:00-12:01"] for day in DAYS}}
    save(stage, noon)
    document = submitted(stage, approval=wait(business={"minutes": 5, "calendar": "office"}, follow=True))
    back: LiteralString = (
        "UPDATE workflow_step_executions SET input_json = input_json || jsonb_build_object('arrived_at',"
        " ((input_json ->> 'arrived_at')::timestamptz - interval '1 hour')::text) WHERE instance_id = %s"
        " AND node_type = 'wait_timer'"
    )
    stage.standing.run_unguarded(back, document.instance_id)
    save(stage)
    stage.drain()
    assert stage.status_of(document.id) == "active"
    (move,) = moves(stage, document)
    ((_, _, _, output),) = steps(stage, document)
    assert output["evidence"] == {"due_at": move["given"]["due_at"]}
    check(stage, document)


def test_a_calendar_that_gives_no_moment_holds_what_follows_it(stage: WorkflowStage) -> None:
    save(stage)
    document = submitted(stage, approval=wait(**days(400, follow=True)))
    save(stage, {**WEEK, "years": {"first": YEAR, "last": YEAR}})
    stage.drain()
    assert codes(stage, document) == ["CALENDAR_YEARS_EXCEEDED"]
    save(stage)
    stage.drain()
    assert (codes(stage, document), moves(stage, document)) == ([], [])
    check(stage, document)


def test_another_default_calendar_moves_what_follows(stage: WorkflowStage) -> None:
    save(stage)
    save(stage, TOKYO, "other")
    set_default(stage, calendar="office")
    document = submitted(stage, approval=wait(business={"days": 2}, follow=True))
    set_default(stage, calendar="other")
    stage.drain()
    (move,) = moves(stage, document)
    assert (move["because"], move["given"]["calendar"]) == ("calendar", "other")
    # From now on it follows the other one.
    save(stage, {**WEEK, "zone": "America/New_York"}, "other")
    stage.drain()
    assert [one["given"]["calendar_version"] for one in moves(stage, document)] == [1, 2]
    check(stage, document)


def test_another_zone_of_the_tenant_moves_what_follows(stage: WorkflowStage) -> None:
    document = submitted(stage, approval=wait(next="0 6 1 1 *", follow=True))
    still = submitted(stage, approval=wait(next="0 6 1 1 *"))
    set_default(stage, time_zone="Asia/Tokyo")
    stage.drain()
    (move,) = moves(stage, document)
    assert (move["because"], move["given"]["zone"], moves(stage, still)) == ("zone", "Asia/Tokyo", [])
    assert "because the time zone is Asia/Tokyo" in explained(stage, document)
    set_zone(stage, "UTC")
    check(stage, document)


def test_a_tenants_file_with_another_zone_moves_what_follows(stage: WorkflowStage) -> None:
    document = submitted(stage, approval=wait(next="0 6 1 1 *", follow=True))
    settings = TenantSettings(time_zone="Asia/Tokyo")
    file = TenantFile(tenant_id=stage.tenant_id, name="Acme", settings=settings)
    install_tenant(stage.standing.company.database, file, COMMAND_LINE)
    stage.drain()
    assert [one["because"] for one in moves(stage, document)] == ["zone"]


def test_a_step_beside_it_moves_a_wait_that_follows_the_document(stage: WorkflowStage) -> None:
    contract = {**DATED, "actions": {"delay": {"kind": "update", "set": {"due": "2300-02-01"}}}}
    nodes = [
        {"id": "fork", "type": "parallel_split"},
        {"id": "wait", "type": "wait_timer", "config": {"until": "entity.due", "follow": True}},
        {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}},
        {"id": "delay", "type": "action", "config": {"action": "delay"}},
        {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
    ]
    edges = [
        {"source": "fork", "target": "wait"},
        {"source": "fork", "target": "call"},
        {"source": "call", "target": "delay"},
        {"source": "wait", "target": "both"},
        {"source": "delay", "target": "both"},
    ]
    name = stage.publish(contract, posting={"nodes": nodes, "edges": edges})
    document = stage.create(name, due="2300-01-01")
    stage.mutate(RequestTransition(document.id, stage.version_of(document.id), "submit"))
    stage.drain()
    stage.answer(document.instance_id)
    stage.drain()
    (move,) = moves(stage, document)
    assert (move["because"], move["given"]["due_at"]) == ("values", "2300-02-01T00:00:00+00:00")
    assert "because what it reads has changed" in explained(stage, document)
    check(stage, document)


def test_a_change_that_the_wave_of_the_arrival_does_not_see_is_found_a_minute_later(
    stage: WorkflowStage,
) -> None:
    save(stage)
    document = submitted(stage, approval=wait(**days(3, follow=True)))
    ((_, given, due, _),) = steps(stage, document)
    pending: LiteralString = (
        "SELECT due_at FROM workflow_events_outbox WHERE instance_id = %s AND status = 'pending' ORDER BY 1"
    )
    looks = [row[0] for row in stage.standing.rows(pending, document.instance_id)]
    assert looks == [datetime.fromisoformat(given["arrived_at"]) + timedelta(minutes=1), due]


def test_a_change_that_too_many_follow_is_refused(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(stage)
    document = submitted(stage, approval=wait(**days(3, follow=True)))
    monkeypatch.setattr(followers, "MAX_REPORTED_WAITS", 0)
    with pytest.raises(Rejected) as refused:
        save(stage, TOKYO)
    assert (refused.value.code, moves(stage, document)) == ("CALENDAR_WAITS_TOO_MANY", [])


def preview(stage: WorkflowStage, body: Mapping[str, Any], name: str = "office") -> CalendarPreview:
    company = stage.standing.company
    return CalendarPreviews(company.database).run(company.caller("carl", "admin").principal, name, body)


def test_a_preview_names_what_would_move(stage: WorkflowStage) -> None:
    save(stage)
    document = submitted(stage, approval=wait(**days(3, follow=True)))
    submitted(stage, approval=wait(**days(3)))
    ((_, given, before, _),) = steps(stage, document)
    third = datetime.fromisoformat(given["arrived_at"]) + timedelta(days=3)
    closed = {**WEEK, "holidays": [{"date": str(third.date()), "name": "closed"}]}
    shown = preview(stage, closed)
    (move,) = shown.moves
    assert (shown.kept, shown.is_whole, move.instance_id) == (0, True, document.instance_id)
    assert (move.due_at, move.new_due_at) == (before, before + timedelta(days=1))
    assert (list(move.changed_days), move.code, move.is_past) == ([third.date()], None, False)
    assert {one.code for one in shown.findings} == {"CALENDAR_YEAR_WITHOUT_HOLIDAYS"}
    unchanged = preview(stage, WEEK)
    assert (unchanged.kept, unchanged.moves) == (1, [])
    assert steps(stage, document)[0][2] == before
    with pytest.raises(Rejected) as refused:
        preview(stage, closed, "nowhere")
    assert refused.value.code == "CALENDAR_NOT_FOUND"


def test_a_preview_names_what_would_be_held(stage: WorkflowStage) -> None:
    save(stage)
    submitted(stage, approval=wait(**days(400, follow=True)))
    (move,) = preview(stage, {**WEEK, "years": {"first": YEAR, "last": YEAR}}).moves
    assert (move.new_due_at, move.code) == (None, "CALENDAR_YEARS_EXCEEDED")


@pytest.mark.parametrize("bound", ["MAX_WAITS", "MAX_DAYS"])
def test_a_preview_is_bounded(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    save(stage)
    submitted(stage, approval=wait(**days(3, follow=True)))
    monkeypatch.setattr(previews, bound, 0)
    shown = preview(stage, TOKYO)
    assert (shown.moves, shown.is_whole) == ([], False)
