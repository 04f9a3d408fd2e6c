"""Sweeps at known times: schedules for the relay, where it rarely comes by itself.

In environments that sleep, work due later than a message can wait would wait for the next hour. Each minute
with due work has one schedule, so there are never more than minutes. It starts the relay a minute or two
before, as exactly as schedules are kept. The relay then sends wake-ups that wait for the second. A schedule
deletes itself afterwards.
"""

import logging
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any

from signet.aws.calls import CallFailed, SignedCreate
from signet.aws.wake_ups import MAX_DELAY_SECONDS
from signet.aws_settings import SweepSettings
from signet.store.wake_ups import WakeUp

# The minute has its schedule already.
_TAKEN = frozenset({"ConflictException", "409"})
MAX_REMEMBERED = 1_000
# A schedule may start within the minute after its time; the relay must be there before the work is due.
EARLY = timedelta(minutes=1)
# Work due even later is found by the relay's own sweep, within an hour.
MAX_AHEAD = timedelta(days=366)
_LOG = logging.getLogger("signet.sweeps")


class ScheduledSweeps:
    """A best-effort sender, as for all wake-ups."""

    def __init__(self, calls: SignedCreate, settings: SweepSettings, clock: Callable[[], datetime]) -> None:
        self._calls = calls
        self._settings = settings
        self._clock = clock
        self._made: set[str] = set()

    def __call__(self, wake_ups: Collection[WakeUp]) -> None:
        now = self._clock()
        late = {
            timedelta(seconds=wake_up.delay_seconds)
            for wake_up in wake_ups
            if wake_up.delay_seconds > MAX_DELAY_SECONDS
        }
        for moment in sorted({_find_minute(now + delay - EARLY) for delay in late if delay <= MAX_AHEAD}):
            # The caller has just committed work, and waits for one failing call instead of fifty.
            if not self._make(f"signet-sweep-{moment:%Y%m%dT%H%M}", moment):
                return

    def _make(self, name: str, moment: datetime) -> bool:
        if name in self._made:
            return True
        try:
            self._calls.create(f"/schedules/{name}", self._describe(moment))
        except CallFailed as failure:
            if failure.reason not in _TAKEN:
                _LOG.warning("no sweep was scheduled: %s", failure)
                return False
        except Exception as error:
            # Any error at all: what was committed must be answered.
            _LOG.warning("no sweep was scheduled: %s", error)
            return False
        if len(self._made) >= MAX_REMEMBERED:
            self._made.clear()
        self._made.add(name)
        return True

    def _describe(self, moment: datetime) -> dict[str, Any]:
        return {
            "GroupName": self._settings.group,
            "ScheduleExpression": f"at({moment:%Y-%m-%dT%H:%M:%S})",
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
            "Target": {"Arn": self._settings.relay_arn, "RoleArn": self._settings.role_arn},
        }


def _find_minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)
