"""Sentences about timers and schedules."""

import copy
import json
from typing import Any

import pytest

from signet.core.compiler.node_configurations import ApprovalConfiguration, WaitTimerConfiguration
from signet.core.explain.definition import explain, write_explanation
from signet.core.explain.node_sentences import describe_step
from signet.core.explain.vocabulary import Vocabulary
from tests.support.core.small_workflows import AUTOMATION, compile_automatic


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"for": "PT72H"}, "waits for 72 hours (PT72H)."),
        (
            {"for": "P1Y2M3DT1S", "zone": "Asia/Tokyo"},
            "1 year, 2 months, 3 days and 1 second (P1Y2M3DT1S). Days and months are counted in the time",
        ),
        ({"next": "0 6 1 * *"}, '"0 6 1 * *", in the time zone of the organisation.'),
        (
            {"next": "@daily", "zone": "Asia/Tokyo"},
            'next time of the schedule "@daily", in the time zone Asia/Tokyo.',
        ),
        (
            {"until": "2026-12-01", "at": "09:00"},
            "(2026-12-01), at 09:00 in the time zone of the organisation.",
        ),
        (
            {"business": {"days": 3, "calendar": "office"}},
            'waits for 3 working days of the calendar "office".',
        ),
        (
            {"business": {"hours": 2, "minutes": 1}, "follow": True},
            "waits for 2 working hours and 1 working minute of the organisation's calendar. It is computed"
            " again when the document, the settings or the calendar change.",
        ),
        (
            {"until": "2026-12-01", "zone": "Asia/Tokyo"},
            "A date begins in the time zone Asia/Tokyo.",
        ),
    ],
)
def test_a_timer(config: dict[str, Any], sentence: str) -> None:
    complete = WaitTimerConfiguration.model_validate_json(json.dumps(config))
    described = describe_step("wait_timer", complete.model_dump(mode="json", by_alias=True), Vocabulary())
    assert sentence in " ".join(described)


@pytest.mark.parametrize(
    ("clock", "sentence"),
    [
        ({"zone": "Asia/Tokyo"}, "The schedule is read in the time zone Asia/Tokyo."),
        ({"gap": "skip"}, 'Where the clock leaves out its time, the rule is "skip".'),
        ({"fold": "twice"}, 'Where the clock shows its time twice, the rule is "twice".'),
    ],
)
def test_the_schedule_of_an_automation(clock: dict[str, Any], sentence: str) -> None:
    document = copy.deepcopy(AUTOMATION)
    document["trigger"] |= clock
    text = " ".join(" ".join(write_explanation(explain(compile_automatic(document)))).split())
    assert sentence in text


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"expire_after": {"days": 2, "calendar": "office"}},
            'It expires after 2 working days of the calendar "office".',
        ),
        (
            {"escalate": {"after": {"hours": 1}, "to": {"by": "user", "user": "bob"}}},
            "Undecided after 1 working hour of the organisation's calendar, it goes on to",
        ),
        (
            {"remind": {"after": "P1D", "at_most": 1}},
            "Those who have not decided are reminded after 1 day (P1D): at most 1 time.",
        ),
        (
            {"remind": {"after": "P1D", "every": {"days": 2}, "at_most": 3}},
            "reminded after 1 day (P1D), then every 2 working days of the organisation's calendar:"
            " at most 3 times.",
        ),
    ],
)
def test_the_times_of_an_approval(config: dict[str, Any], sentence: str) -> None:
    written = {"approvers": [{"by": "user", "user": "ada"}], **config}
    complete = ApprovalConfiguration.model_validate_json(json.dumps(written))
    described = describe_step("approval", complete.model_dump(mode="json", by_alias=True), Vocabulary())
    assert sentence in " ".join(described)
