"""Terms of working days or working time: one kind at a time, each in its bound."""

from typing import Any

import pytest

from signet.core.calendars.terms import MAX_DAYS, MAX_HOURS, MAX_MINUTES, WorkingTerm, describe_term, find_due
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.calendars import at, make_calendar


@pytest.mark.parametrize(
    ("written", "due", "described"),
    [
        ({"days": 3}, "2026-12-28 17:00", "3 working days"),
        ({"days": 1}, "2026-12-24 12:00", "1 working day"),
        ({"hours": 8}, "2026-12-24 10:00", "8 working hours"),
        ({"minutes": 1}, "2026-12-23 10:01", "1 working minute"),
        ({"hours": 1, "minutes": 30}, "2026-12-23 11:30", "1 working hour and 30 working minutes"),
    ],
)
def test_a_term_has_an_end(written: dict[str, int], due: str, described: str) -> None:
    term, findings = parse_strictly(WorkingTerm, written)
    assert term is not None, findings
    assert find_due(make_calendar(), at("2026-12-23 10:00"), term) == at(due)
    assert describe_term(term) == described


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"days": 1, "hours": 1},
        {"days": 1, "minutes": 1},
        {"days": 0},
        {"days": -1},
        {"days": 1.5},
        {"days": MAX_DAYS + 1},
        {"hours": MAX_HOURS + 1},
        {"minutes": MAX_MINUTES + 1},
        {"weeks": 1},
    ],
)
def test_other_terms_are_refused(written: dict[str, Any]) -> None:
    term, findings = parse_strictly(WorkingTerm, written)
    assert term is None
    assert {finding.code for finding in findings} == {"FIELD_INVALID"}
