"""The page docs/calendars.md shows what there is: its calendar, its output, its bounds."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from signet.authoring.files import parse_text
from signet.cli.main import app
from signet.core.calendars import business_calendar, ics_events
from signet.core.calendars.calendar_reader import parse_calendar
from signet.core.calendars.ics_lines import MAX_ICS_BYTES
from signet.core.compiler.node_configurations import WaitTimerConfiguration
from signet.core.validation.strict_model import parse_strictly

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/calendars.md").read_text(encoding="utf-8")


def find_block(kind: str) -> str:
    """Return the first block of its kind."""
    return str(find_blocks(kind)[0])


def find_blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_waits_are_some() -> None:
    nodes, findings = parse_text(find_blocks("yaml")[1], "shown.yaml")
    assert not findings
    for node in nodes:
        assert parse_strictly(WaitTimerConfiguration, node["config"])[1] == ()


def test_the_calendar_is_one() -> None:
    document, findings = parse_text(find_block("yaml"), "shown.yaml")
    assert not findings
    calendar, found = parse_calendar(document)
    assert calendar is not None
    assert [finding.code for finding in found] == ["CALENDAR_YEAR_WITHOUT_HOLIDAYS"]


def test_the_output_is_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command = next(line for line in PAGE.splitlines() if line.startswith("signet calendar add"))
    assert CliRunner().invoke(app, shlex.split(command)[1:]).output == find_block("text")


def test_the_bounds_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE))
    assert rows["years"] == f"{business_calendar.MAX_YEARS} years"
    assert f"from {business_calendar.FIRST_YEAR} on" in PAGE
    assert rows["hours"] == f"{business_calendar.MAX_SPANS} spans a day"
    assert rows["holidays"] == f"{business_calendar.MAX_HOLIDAYS:,}"
    assert rows["half_days"] == f"{business_calendar.MAX_HALF_DAYS}"
    assert rows["worked_days"] == f"{business_calendar.MAX_WORKED_DAYS}"
    assert MAX_ICS_BYTES == 1 << 20
    assert f"1 MiB and {ics_events.MAX_EVENTS:,} events" in PAGE
    assert f"at most {ics_events.MAX_EVENT_DAYS} days" in PAGE
