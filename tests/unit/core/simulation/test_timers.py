"""Timers in a simulation, in the time zone of the node or of the tenant."""

from datetime import UTC, datetime
from typing import Any

import pytest

from signet.core.calendars.business_calendar import BusinessCalendar
from signet.core.calendars.calendar_reader import parse_calendar
from signet.core.compiler.compiler import compile_automation
from signet.core.compiler.patch import Automation
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import Simulation, WorldScript, simulate
from signet.core.tenants.tenant_names import DEFAULT_CALENDAR
from signet.core.validation.strict_model import parse_strictly
from signet.zones import find_zone
from tests.unit.core.simulation.test_run import approval, chain
from tests.unit.core.simulation.test_run import run as run_document

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("config", "due"),
    [
        ({"for": "P3M"}, "2026-03-31T23:00:00+00:00"),
        ({"for": "P3M", "zone": "UTC"}, "2026-04-01T00:00:00+00:00"),
        ({"until": "2026-07-01"}, "2026-06-30T22:00:00+00:00"),
        ({"until": "2026-07-01", "at": "09:00", "zone": "Asia/Tokyo"}, "2026-07-01T00:00:00+00:00"),
        ({"until": "2026-07-01T09:00:00+09:00"}, "2026-07-01T00:00:00+00:00"),
        ({"next": "0 6 1 * *"}, "2026-01-01T05:00:00+00:00"),
    ],
)
def test_timers_know_the_zone(config: dict[str, Any], due: str) -> None:
    done = run(config)
    assert [step.shown for step in done.steps if step.outcome == "elapsed"] == [f"until {due}"]


def run(config: dict[str, Any], **calendars: BusinessCalendar) -> Simulation:
    document = {
        "automation": "later",
        "trigger": {"on": "manual"},
        "nodes": [{"id": "wait", "type": "wait_timer", "config": config}],
    }
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    artifact = compile_automation(automation).artifact
    assert artifact is not None
    script = WorldScript(org={"time_zone": "Europe/Berlin"}, find_zone=find_zone, calendars=calendars)
    return simulate(Workflow(artifact), {}, script, NOW)


def make(name: str, **changes: Any) -> BusinessCalendar:
    hours = {day: ["09:00-17:00"] for day in ("thursday", "friday", "monday")}
    written = {"calendar": name, "zone": "Asia/Tokyo", "years": {"first": 2026, "last": 2026}, "hours": hours}
    calendar, findings = parse_calendar({**written, **changes})
    assert calendar is not None, findings
    return calendar


def test_terms_are_counted_in_the_calendar() -> None:
    # The first of January is a Thursday, and the next working day after it is the Friday.
    office, own = make("office"), make("own", zone="UTC")
    config = {"business": {"days": 1, "calendar": "office"}}
    (named,) = [step.shown for step in run(config, office=office).steps if step.outcome == "elapsed"]
    assert named == "until 2026-01-02T08:00:00+00:00, after 1 working day of 'office'"
    unnamed = run({"business": {"hours": 2}}, **{DEFAULT_CALENDAR: own})
    (shown,) = [step.shown for step in unnamed.steps if step.outcome == "elapsed"]
    assert shown == "until 2026-01-01T11:00:00+00:00, after 2 working hours of 'own'"


@pytest.mark.parametrize(
    ("term", "refused"),
    [
        ({"days": 1, "calendar": "nowhere"}, "there is no calendar 'nowhere'"),
        ({"days": 1}, "no calendar is named"),
        ({"days": 400, "calendar": "office"}, "goes from 2026-01-01 to 2026-12-31"),
    ],
)
def test_a_term_without_an_end_is_held(term: dict[str, Any], refused: str) -> None:
    done = run({"business": term}, office=make("office"))
    assert done.status == "paused"
    assert refused in str(done.reason)


def test_an_approval_expires_in_business_time() -> None:
    office, findings = parse_calendar(
        {
            "calendar": "office",
            "zone": "UTC",
            "years": {"first": 2026, "last": 2026},
            "hours": {"friday": ["09:00-17:00"], "monday": ["09:00-17:00"]},
        }
    )
    assert office is not None, findings
    expiring = chain(approval(expire_after={"days": 2, "calendar": "office"}))
    late = run_document(expiring, calendars={"office": office})
    assert "2026-01-05T17:00" in str([step.evidence for step in late.steps if step.outcome == "expired"])
    assert "there is no calendar 'office'" in str(run_document(expiring).reason)
