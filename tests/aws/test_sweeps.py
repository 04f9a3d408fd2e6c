"""Sweeps at known times: one a minute for all tenants with due work, and never a failure for the caller."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.aws.sweeps import MAX_AHEAD, ScheduledSweeps
from signet.aws.wake_ups import MAX_DELAY_SECONDS
from signet.aws_settings import SweepSettings
from signet.engine.dispatch.relay import AHEAD_SECONDS
from signet.store.wake_ups import WakeUp
from tests.support.services.aws_service import NOW, Speaker, speaking

A, B = UUID(int=1), UUID(int=2)
SETTINGS = SweepSettings(
    "signet-dev", "arn:aws:lambda:eu-central-1:0:function:relay", "arn:aws:iam::0:role/sweep"
)


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    with speaking() as made:
        yield made


class KeptCreates:
    def __init__(self) -> None:
        self.paths: list[str] = []

    def create(self, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        self.paths.append(path)
        return {}


def sweeps(speaker: Speaker) -> ScheduledSweeps:
    return ScheduledSweeps(speaker.calls("scheduler"), SETTINGS, lambda: NOW)


def test_a_minute_has_one_schedule_whoever_has_something_due_in_it(speaker: Speaker) -> None:
    made = sweeps(speaker)
    made([WakeUp(A, "events", 3_600), WakeUp(B, "effects", 3_610)])
    made([WakeUp(B, "events", 3_601)])
    (heard,) = speaker.heard
    # At 13:30:45 the first one is due: the relay comes before, and sends a message that waits for the second.
    assert heard.path == "/schedules/signet-sweep-20260301T1329"
    assert heard.body == {
        "GroupName": "signet-dev",
        "ScheduleExpression": "at(2026-03-01T13:29:00)",
        "ScheduleExpressionTimezone": "UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "ActionAfterCompletion": "DELETE",
        "Target": {"Arn": SETTINGS.relay_arn, "RoleArn": SETTINGS.role_arn},
    }
    assert "/scheduler/aws4_request" in heard.headers["authorization"]


@given(delay=st.integers(MAX_DELAY_SECONDS + 1, 100_000))
def test_the_relay_sees_what_a_sweep_is_for_also_where_it_starts_a_minute_late(delay: int) -> None:
    calls = KeptCreates()
    ScheduledSweeps(calls, SETTINGS, lambda: NOW)([WakeUp(A, "events", delay)])
    (path,) = calls.paths
    planned = datetime.strptime(path, "/schedules/signet-sweep-%Y%m%dT%H%M").replace(tzinfo=UTC)
    due = NOW + timedelta(seconds=delay)
    assert NOW < planned and planned + timedelta(minutes=1) <= due
    assert due <= planned + timedelta(seconds=AHEAD_SECONDS)


def test_what_a_message_can_wait_for_and_what_is_far_ahead_need_none(speaker: Speaker) -> None:
    far = int((MAX_AHEAD + timedelta(seconds=1)).total_seconds())
    sweeps(speaker)([WakeUp(A, "events"), WakeUp(A, "events", MAX_DELAY_SECONDS), WakeUp(A, "events", far)])
    assert speaker.heard == []


@pytest.mark.parametrize("reason", ["com.amazonaws.scheduler#ConflictException", None])
def test_one_that_is_there_already_is_as_good(speaker: Speaker, reason: str | None) -> None:
    speaker.say({"__type": reason} if reason else {"Message": "exists"}, status=409)
    made = sweeps(speaker)
    for _ in range(2):
        made([WakeUp(A, "events", 3_600)])
    assert len(speaker.heard) == 1


def test_a_failure_is_nobodys_trouble_and_is_tried_again(speaker: Speaker) -> None:
    speaker.say({"__type": "ThrottlingException"}, status=429)
    made = sweeps(speaker)
    for _ in range(2):
        made([WakeUp(A, "events", 3_600)])
    assert len(speaker.heard) == 2


def test_whoever_commits_waits_for_one_failure_and_not_for_one_a_minute(speaker: Speaker) -> None:
    speaker.say({"__type": "ThrottlingException"}, status=429)
    sweeps(speaker)([WakeUp(A, "events", 3_600 * hours) for hours in range(1, 51)])
    assert len(speaker.heard) == 1


def test_whatever_goes_wrong_is_nobodys_trouble() -> None:
    class BrokenCreate:
        def create(self, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
            raise RecursionError

    ScheduledSweeps(BrokenCreate(), SETTINGS, lambda: NOW)([WakeUp(A, "events", 3_600)])
