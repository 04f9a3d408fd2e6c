"""The retries that an author declares for what leaves the system: how often, how far apart, and until when.

What they leave out follows the backoff of all effects. The plan is kept with the effect, relative to its
beginning, so that a retried step asks for the same again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from signet.core.moments.durations import parse_duration_seconds

RETRY = "retry"


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """Attempts in all, seconds between two of them, and seconds after which none begins."""

    attempts: int | None = None
    every_seconds: int | None = None
    until_seconds: int | None = None

    def delay_seconds(self, otherwise: float) -> float:
        return otherwise if self.every_seconds is None else float(self.every_seconds)

    def is_over(self, began_at: datetime, now: datetime, delay_seconds: float) -> bool:
        """Return whether the next attempt would come too late."""
        if self.until_seconds is None:
            return False
        return now + timedelta(seconds=delay_seconds) > began_at + timedelta(seconds=self.until_seconds)


NO_PLAN = RetryPlan()


def describe_plan(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an effect keeps of its node's configuration: nothing, where that declares no retries."""
    retry = config.get(RETRY)
    if retry is None:
        return {}
    every, until = retry["every"], retry["until"]
    return {
        RETRY: {
            "attempts": retry["attempts"],
            "every_seconds": None if every is None else parse_duration_seconds(every),
            "until_seconds": None if until is None else parse_duration_seconds(until),
        }
    }


def parse_plan(payload: Any) -> RetryPlan:
    """Parse the plan that an effect's payload keeps."""
    kept = payload.get(RETRY) if isinstance(payload, Mapping) else None
    return RetryPlan(**kept) if isinstance(kept, Mapping) else NO_PLAN


def describe_timeout(timeout: str) -> str:
    return f"EFFECT_TIMEOUT: there was no answer within {timeout}"
