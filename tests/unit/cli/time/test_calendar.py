"""`signet calendar`: its output and its exit codes."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from signet.cli.main import app
from signet.core.errors import Rejected

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
CALENDAR, HOLIDAYS = EXAMPLES / "calendar.yaml", EXAMPLES / "holidays.ics"
START = "2026-12-23T10:00:00+01:00"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["calendar", *map(str, arguments)])


def write(folder: Path, **changes: object) -> Path:
    file = folder / "calendar.json"
    document = {
        "calendar": "office",
        "zone": "Europe/Berlin",
        "years": {"first": 2026, "last": 2026},
        "hours": {"monday": ["09:00-17:00"]},
    }
    file.write_text(json.dumps({**document, **changes}), encoding="utf-8")
    return file


def test_the_example_is_in_order() -> None:
    result = run("check", CALENDAR)
    assert (result.exit_code, result.output) == (0, f"{CALENDAR}: no findings\n")


@pytest.mark.parametrize(
    ("changes", "code", "place"),
    [
        ({"zone": "Europe/Colonia"}, "ZONE_UNKNOWN", "/zone"),
        ({"zone": "Europe"}, "ZONE_UNKNOWN", "/zone"),
        ({"hours": {}}, "CALENDAR_WITHOUT_HOURS", "/hours"),
    ],
)
def test_a_mistake_is_told_with_its_place(
    tmp_path: Path, changes: dict[str, object], code: str, place: str
) -> None:
    file = write(tmp_path, **changes)
    result = run("check", file)
    assert result.exit_code == 1
    assert f"error {file} {place}: " in result.output and f"({code})" in result.output
    (finding,) = json.loads(run("check", "--json", file).output)["findings"]
    assert (finding["code"], finding["place"]) == (code, place)
    added = run("add", file, "--from", START, "--days", 1)
    assert (added.exit_code, added.stdout) == (1, "") and code in added.stderr


def test_a_file_that_cannot_be_read_is_wrong_use(tmp_path: Path) -> None:
    missing = tmp_path / "none.yaml"
    assert run("check", missing).exit_code == 2
    assert run("add", missing, "--from", START, "--days", 1).exit_code == 2
    assert run("import-ics", missing, "--years", "2026").exit_code == 2


def test_days_are_added_and_holidays_between_are_named() -> None:
    result = run("add", CALENDAR, "--from", START, "--days", 3)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "from  Wed 2026-12-23 10:00:00+01:00 Europe/Berlin",
        "term  3 working days of 'office'",
        "due   Tue 2026-12-29 17:30:00+01:00 Europe/Berlin",
        "      passes over Fri 2026-12-25 Christmas Day",
    ]


def test_hours_are_added_as_json() -> None:
    result = run("add", CALENDAR, "--from", START, "--hours", 12, "--minutes", 30, "--json")
    assert json.loads(result.output) == {
        "calendar": "office",
        "from": "2026-12-23T10:00:00+01:00",
        "due": "2026-12-28T12:00:00+01:00",
        "passes_over": [{"date": "2026-12-25", "name": "Christmas Day"}],
    }


def test_of_many_holidays_the_first_are_named() -> None:
    lines = run("add", CALENDAR, "--from", "2026-01-02T10:00:00Z", "--days", 480).output.splitlines()
    assert len(lines) == 3 + 10 + 1
    assert lines[-1] == "      and 4 further holidays"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--from", "2026-12-23 10:00", "--days", 1], "--from wants a moment"),
        (["--from", START], "Name --days, or --hours and --minutes."),
        (["--from", START, "--days", 1, "--hours", 1], "Name --days, or --hours and --minutes."),
    ],
)
def test_what_cannot_be_added_is_wrong_use(arguments: list[object], told: str) -> None:
    result = run("add", CALENDAR, *arguments)
    assert result.exit_code == 2
    assert told in result.stderr


def test_what_leaves_the_years_is_refused_with_its_code() -> None:
    result = run("add", CALENDAR, "--from", "2028-12-29T10:00:00+01:00", "--days", 3)
    assert result.exit_code == 1
    assert getattr(result.exception, "code", None) == "CALENDAR_YEARS_EXCEEDED"


def test_the_example_has_the_holidays_of_the_example() -> None:
    result = run("import-ics", HOLIDAYS, "--years", "2026-2028")
    assert result.exit_code == 0
    assert CALENDAR.read_text(encoding="utf-8").endswith(result.output)


def test_what_is_imported_is_yaml_whatever_the_names_are(tmp_path: Path) -> None:
    file = tmp_path / "holidays.ics"
    name = 'a: "b" # c\\\\ {d} ä \u2028'
    file.write_text(
        f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\nSUMMARY:{name}\nEND:VEVENT\nEND:VCALENDAR\n",
        encoding="utf-8",
    )
    printed = run("import-ics", file, "--years", "2026").stdout
    (entry,) = yaml.safe_load(printed)["holidays"]
    assert (str(entry["date"]), entry["name"]) == ("2026-12-25", 'a: "b" # c\\ {d} ä')


def test_holidays_are_imported_as_json() -> None:
    imported = json.loads(run("import-ics", HOLIDAYS, "--years", "2027", "--json").output)
    assert imported["findings"] == []
    assert imported["holidays"][0] == {"date": "2027-01-01", "name": "New Year's Day"}
    none = run("import-ics", HOLIDAYS, "--years", "2027", "--opaque-only")
    assert (none.exit_code, none.output) == (0, "")


def test_a_file_that_is_no_calendar_is_told_with_its_line() -> None:
    result = run("import-ics", CALENDAR, "--years", "2026")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "line 1: Line 1 " in result.stderr and "(ICS_SYNTAX)" in result.stderr


@pytest.mark.parametrize("years", ["26", "2026-", "2028-2026", "2026-2046", "2011", "x"])
def test_other_years_are_wrong_use(years: str) -> None:
    result = run("import-ics", HOLIDAYS, "--years", years)
    assert result.exit_code == 2 and "--years wants" in result.stderr


@pytest.mark.parametrize("zone", ["Europe/Colonia", "../../etc/passwd", "", "/etc/localtime"])
def test_another_zone_is_wrong_use(zone: str) -> None:
    result = run("import-ics", HOLIDAYS, "--years", "2026", "--zone", zone)
    assert isinstance(result.exception, Rejected) and result.exception.code == "ZONE_UNKNOWN"
