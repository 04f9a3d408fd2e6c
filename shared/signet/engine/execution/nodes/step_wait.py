"""The moment and the event that an open step waits for, as its row says."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from signet.store.instances.waves import OpenStepRow


@dataclass(frozen=True, slots=True)
class StepWait:
    """The moment and the event of one open step."""

    resume_at: datetime | None = None
    waiting_for_event_key: str | None = None


def make_waits(open_steps: Sequence[OpenStepRow]) -> dict[str, StepWait]:
    """Return what each step waits for, by its token."""
    return {step.token_id: StepWait(step.resume_at, step.waiting_for_event_key) for step in open_steps}
