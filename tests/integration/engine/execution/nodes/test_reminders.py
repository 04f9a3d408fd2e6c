"""Reminders of those who have not decided, and deadlines of approvals in the time of a calendar."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.core.calendars.terms import WorkingTerm, find_due
from signet.core.compiler.node_configurations import Vote
from signet.core.errors import Rejected
from signet.engine.approvals.chains import ApprovalChains
from signet.engine.approvals.inbox import Approvals
from signet.engine.calendars.stored_calendars import find_stored_calendar
from signet.engine.execution.wave import _Wave as WaveOfOne
from tests.integration.engine.execution.nodes.test_approval_deadlines import (
    BOARD,
    FINANCE,
    ROLES,
    STEP,
    submitted,
)
from tests.integration.engine.execution.nodes.test_business_waits import (
    WEEK,
    YEAR,
    explained,
    save,
    set_default,
)
from tests.integration.engine.execution.nodes.test_wait_timer import codes
from tests.support.operated_instances import check, operating_on
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

TWICE = {"after": "P1D", "every": "P2D", "at_most": 2}
REQUEST: LiteralString = (
    "SELECT id, stage, created_at, escalate_at, expire_at, remind_at, reminders FROM approval_requests"
    " WHERE instance_id = %s ORDER BY id DESC LIMIT 1"
)
REMINDED: LiteralString = (
    "SELECT coalesce(n.user_id, n.role) FROM notifications n JOIN approval_requests r ON r.id = n.request_id"
    " WHERE n.kind = 'approval_reminder' AND r.instance_id = %s ORDER BY 1"
)
NAMES = ("id", "stage", "created_at", "escalate_at", "expire_at", "remind_at", "reminders")


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        tenant = made.tenant_id
        for user_id, role in ROLES.items():
            made.standing.run("INSERT INTO roles VALUES (%s, %s, '{*:approve}')", tenant, role)
            made.standing.run("INSERT INTO members VALUES (%s, %s, %s)", tenant, user_id, user_id)
            for held in (role, "voter"):
                made.standing.run("INSERT INTO member_roles VALUES (%s, %s, %s)", tenant, user_id, held)
        yield made


def request_of(stage: WorkflowStage, document: Made) -> dict[str, Any]:
    return dict(zip(NAMES, stage.standing.row(REQUEST, document.instance_id), strict=True))


def reminded(stage: WorkflowStage, document: Made) -> list[str]:
    return [row[0] for row in stage.standing.rows(REMINDED, document.instance_id)]


def come_due(stage: WorkflowStage, document: Made) -> None:
    """Let the next reminder be due, and its trigger with it."""
    for statement in (
        "UPDATE approval_requests SET remind_at = now() WHERE instance_id = %s AND remind_at IS NOT NULL",
        "UPDATE workflow_events_outbox SET due_at = now() WHERE instance_id = %s AND status = 'pending'",
    ):
        stage.standing.run_unguarded(statement, document.instance_id)
    stage.drain()


def vote(stage: WorkflowStage, document: Made, person: str, vote: Vote = "approved") -> None:
    company = stage.standing.company
    approvals, request = Approvals(company.database, stage.caches()), request_of(stage, document)
    approvals.decide(company.caller(person), UUID(str(request["id"])), vote, "seen")
    stage.drain()


def due_by_calendar(stage: WorkflowStage, begun: datetime, **term: int) -> datetime:
    with stage.database.transaction(stage.tenant_id) as connection:
        calendar = find_stored_calendar(connection, stage.tenant_id, "office")
    return find_due(calendar.working, begun, WorkingTerm(**term))


def test_it_reminds_as_often_as_it_says_and_no_more(stage: WorkflowStage) -> None:
    document = submitted(stage, approvers=[FINANCE], remind=TWICE)
    first = request_of(stage, document)
    assert first["remind_at"] - first["created_at"] == timedelta(days=1)
    # The step waits for people: what it reminds of moves nothing.
    assert stage.standing.row(STEP, document.instance_id) == (None,)
    stage.wake(document.instance_id)
    stage.drain()
    assert (reminded(stage, document), request_of(stage, document)["reminders"]) == ([], 0)
    come_due(stage, document)
    second = request_of(stage, document)
    assert (reminded(stage, document), second["reminders"]) == (["finance"], 1)
    assert timedelta(days=1) < second["remind_at"] - datetime.now(UTC) <= timedelta(days=2)
    assert "were reminded 1 time" in explained(stage, document)
    assert "Who has not decided is reminded at" in explained(stage, document)
    come_due(stage, document)
    last = request_of(stage, document)
    assert (reminded(stage, document), last["reminders"], last["remind_at"]) == (["finance"] * 2, 2, None)
    come_due(stage, document)
    stage.wake(document.instance_id)
    stage.drain()
    assert len(reminded(stage, document)) == 2
    check(stage, document)


def test_only_those_who_have_not_decided_are_reminded(stage: WorkflowStage) -> None:
    document = submitted(stage, approvers=[FINANCE, BOARD], quorum="all", remind=TWICE)
    vote(stage, document, "mona")
    come_due(stage, document)
    assert reminded(stage, document) == ["board"]


@pytest.mark.parametrize("voted", ["approved", "rejected"])
def test_nobody_is_reminded_after_the_decision(stage: WorkflowStage, voted: Vote) -> None:
    document = submitted(stage, approvers=[FINANCE], remind=TWICE)
    vote(stage, document, "mona", voted)
    come_due(stage, document)
    assert reminded(stage, document) == []
    check(stage, document)


def test_a_wave_that_is_run_again_reminds_once(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch) -> None:
    document = submitted(stage, approvers=[FINANCE], remind=TWICE)
    end, failed = WaveOfOne.end, list[int]()

    def fail_once(wave: Any) -> None:
        end(wave)
        if not failed:
            failed.append(1)
            raise RuntimeError("the process ends before its commit")

    monkeypatch.setattr(WaveOfOne, "end", fail_once)
    come_due(stage, document)
    stage.make_due()
    stage.drain()
    assert (failed, reminded(stage, document), request_of(stage, document)["reminders"]) == (
        [1],
        ["finance"],
        1,
    )


def test_each_stage_reminds_by_its_own_terms(stage: WorkflowStage) -> None:
    company = stage.standing.company
    chains, caller = ApprovalChains(company.database), company.caller()
    steps = [
        {"approvers": [FINANCE], "remind": TWICE},
        {"approvers": [BOARD], "remind": {**TWICE, "after": "P9D"}},
    ]
    chains.save(caller, {"name": "two", "steps": steps})
    chains.publish(caller, "two", 1)
    document = submitted(stage, chain="two")
    come_due(stage, document)
    vote(stage, document, "mona")
    second = request_of(stage, document)
    assert (second["stage"], second["reminders"]) == (2, 0)
    assert second["remind_at"] - datetime.now(UTC) > timedelta(days=8)
    come_due(stage, document)
    assert reminded(stage, document) == ["board", "finance"]


def test_deadlines_count_in_the_calendar(stage: WorkflowStage) -> None:
    noon = {**WEEK, "hours": {day: ["12:00-13:00"] for day in WEEK["hours"]}}
    save(stage, noon)
    set_default(stage, calendar="office")
    document = submitted(
        stage,
        approvers=[FINANCE],
        escalate={"after": {"days": 2, "calendar": "office"}, "to": BOARD},
        expire_after={"days": 5},
        remind={"after": {"hours": 1}, "every": {"days": 1}, "at_most": 3},
    )
    asked = request_of(stage, document)
    begun = asked["created_at"]
    assert asked["escalate_at"] == due_by_calendar(stage, begun, days=2)
    assert asked["expire_at"] == due_by_calendar(stage, begun, days=5)
    assert asked["remind_at"] == due_by_calendar(stage, begun, hours=1)
    come_due(stage, document)
    again = request_of(stage, document)
    assert (again["reminders"], again["remind_at"]) == (1, due_by_calendar(stage, datetime.now(UTC), days=1))
    assert "it goes to a wider circle at" in explained(stage, document)


def test_what_escalates_in_business_time_gives_a_vote(stage: WorkflowStage) -> None:
    save(stage)
    wider = {"after": {"days": 2, "calendar": "office"}, "to": BOARD}
    document = submitted(stage, approvers=[FINANCE], escalate=wider)
    stage.bring_escalation(document.id)
    stage.wake(document.instance_id)
    stage.drain()
    vote(stage, document, "anna")
    assert stage.status_of(document.id) == "active"


def test_a_stage_whose_calendar_ends_before_does_not_begin(stage: WorkflowStage) -> None:
    save(stage, {**WEEK, "years": {"first": YEAR, "last": YEAR}})
    document = submitted(stage, approvers=[FINANCE], expire_after={"days": 400, "calendar": "office"})
    assert codes(stage, document) == ["CALENDAR_YEARS_EXCEEDED"]
    save(stage)
    _, olga = operating_on(stage)
    stage.retry(document, olga)
    stage.drain()
    assert (codes(stage, document), request_of(stage, document)["stage"]) == ([], 1)
    check(stage, document)


def test_a_reminder_that_has_no_next_holds_and_votes_count(stage: WorkflowStage) -> None:
    save(stage, {**WEEK, "years": {"first": YEAR, "last": YEAR}})
    again = {"days": 400, "calendar": "office"}
    document = submitted(stage, approvers=[FINANCE], remind={"after": "P1D", "every": again, "at_most": 2})
    come_due(stage, document)
    assert (codes(stage, document), reminded(stage, document)) == (["CALENDAR_YEARS_EXCEEDED"], [])
    vote(stage, document, "mona")
    assert stage.status_of(document.id) == "active"
    check(stage, document)


WRONG: list[Mapping[str, Any]] = [
    {"expire_after": {"days": 1, "calendar": "nowhere"}},
    {"escalate": {"after": {"days": 1, "calendar": "nowhere"}, "to": BOARD}},
    {"remind": {"after": {"days": 1, "calendar": "nowhere"}, "at_most": 1}},
    {"remind": {"after": "P1D", "every": {"days": 1, "calendar": "nowhere"}, "at_most": 2}},
]


@pytest.mark.parametrize("terms", WRONG)
def test_a_stage_that_names_no_calendar_of_the_tenant_is_not_published(
    stage: WorkflowStage, terms: Mapping[str, Any]
) -> None:
    with pytest.raises(Rejected) as refused:
        submitted(stage, approvers=[FINANCE], **terms)
    assert [one.code for one in refused.value.fields] == ["CALENDAR_UNKNOWN"]
    company = stage.standing.company
    chains, caller = ApprovalChains(company.database), company.caller()
    chains.save(caller, {"name": "one", "steps": [{"approvers": [FINANCE], **terms}]})
    found = chains.publish(caller, "one", 1)
    assert isinstance(found, tuple)
    assert [(one.code, one.place) for one in found] == [("CALENDAR_UNKNOWN", "/steps/0")]
