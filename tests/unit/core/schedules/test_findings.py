"""Findings about cron expressions and zones, where the author wrote them."""

from typing import Any

import pytest

from signet.core.compiler.compiler import compile_automation
from signet.core.compiler.finding_locations import FindingLocations
from signet.core.compiler.patch import Automation
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.small_workflows import AUTOMATION

WAIT = {"for": "PT1H"}


def parse(trigger: dict[str, Any], wait: dict[str, Any] = WAIT) -> Automation:
    document = {
        "automation": "nightly",
        "trigger": trigger,
        "variables": {"day": {"type": "date"}, "moment": {"type": "timestamp"}},
        "nodes": [{"id": "wait", "type": "wait_timer", "config": wait}],
    }
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    return automation


def find(trigger: dict[str, Any], wait: dict[str, Any] = WAIT) -> list[tuple[str, str]]:
    """Return the codes with their places in the author's document."""
    automation = parse(trigger, wait)
    locations = FindingLocations(automation)
    return [(found.code, locations.point(found)) for found in compile_automation(automation).findings]


CRON = {"on": "cron", "cron": "0 6 1 * *"}


@pytest.mark.parametrize(
    ("trigger", "found"),
    [
        (CRON, []),
        ({**CRON, "zone": "Europe/Berlin", "gap": "skip", "fold": "last"}, []),
        ({"on": "cron"}, [("CRON_ABSENT", "/trigger")]),
        ({"on": "cron", "cron": "0 0 30 2 *"}, [("CRON_INVALID", "/trigger/cron")]),
        ({**CRON, "zone": "Berlin"}, [("ZONE_UNKNOWN", "/trigger/zone")]),
    ],
)
def test_the_trigger_of_an_automation(trigger: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert find(trigger) == found


CONFIG = "/nodes/0/config"


@pytest.mark.parametrize(
    ("wait", "found"),
    [
        ({"for": "P1M", "zone": "Europe/Berlin"}, []),
        ({"next": "@monthly"}, []),
        ({"next": "0 6 32 * *"}, [("CRON_INVALID", f"{CONFIG}/next")]),
        ({"next": "@daily", "zone": "Berlin"}, [("ZONE_UNKNOWN", f"{CONFIG}/zone")]),
        ({"until": "2026-12-01"}, []),
        ({"until": "2026-12-01", "at": "09:00"}, []),
        ({"until": "2026-12-01T09:00:00+01:00"}, []),
        ({"until": "context.day", "at": "09:00"}, []),
        ({"until": "context.moment"}, []),
        ({"until": "2026-02-30"}, [("EXPRESSION_INVALID", f"{CONFIG}/until")]),
        ({"until": "2026-12-01T09:00:00Z", "at": "09:00"}, [("TIME_OF_DAY_WITHOUT_DATE", f"{CONFIG}/at")]),
        ({"until": "now", "at": "09:00"}, [("TIME_OF_DAY_WITHOUT_DATE", f"{CONFIG}/at")]),
        ({"until": "org.currency"}, [("EXPRESSION_WRONG_TYPE", f"{CONFIG}/until")]),
        ({}, [("NODE_CONFIG_INVALID", "/nodes/0")]),
        ({"for": "P1D", "next": "@daily"}, [("NODE_CONFIG_INVALID", "/nodes/0")]),
        ({"for": "P1D", "since": "restart"}, []),
        ({"next": "@daily", "since": "restart"}, [("NODE_CONFIG_INVALID", "/nodes/0")]),
        ({"next": "@daily", "at": "09:00"}, [("NODE_CONFIG_INVALID", "/nodes/0")]),
        ({"until": "2026-12-01", "at": "9:00"}, [("NODE_CONFIG_INVALID", f"{CONFIG}/at")]),
        ({"for": "soon"}, [("NODE_CONFIG_INVALID", f"{CONFIG}/for")]),
    ],
)
def test_a_wait(wait: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert find({"on": "manual"}, wait) == found


@pytest.mark.parametrize("what", [{"zone": "UTC"}, {"gap": "skip"}, {"fold": "twice"}])
def test_only_a_schedule_has_a_clock(what: dict[str, Any]) -> None:
    document = {**AUTOMATION, "trigger": {"on": "manual", **what}}
    _, findings = parse_strictly(Automation, document)
    assert [found.place for found in findings] == ["/trigger"]


def test_the_sentences_say_what_to_write() -> None:
    (found,) = compile_automation(parse({"on": "cron", "cron": "0 25 * * *", "zone": "UTC"})).findings
    assert found.sentence == "'0 25 * * *' is no cron expression: its hour cannot be '25'."
    assert found.remedy == "Write 0 to 23; a range 1-5, a list 1,3, or a step */2 or 1-5/2 of them."
    (unknown,) = compile_automation(parse({**CRON, "zone": "new york"})).findings
    assert (unknown.sentence, unknown.remedy) == (
        "There is no time zone 'new york'.",
        "Write America/New_York.",
    )


def test_what_is_absent_leaves_no_trace_in_the_artifact() -> None:
    plain = compile_automation(parse(CRON)).artifact
    zoned = compile_automation(
        parse({**CRON, "zone": "UTC"}, {"until": "2026-12-01", "zone": "UTC"})
    ).artifact
    assert plain is not None and zoned is not None
    assert set(plain.content["trigger"]) == {"on", "action", "from", "to", "key", "cron", "condition"}
    assert set(plain.content["nodes"]["usr:main:wait"]["config"]) == {"for", "until"}
    assert zoned.content["trigger"]["zone"] == "UTC"
