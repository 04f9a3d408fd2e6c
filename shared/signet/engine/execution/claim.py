"""The claim that a wave serves, and its result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from signet.core.errors import Superseded
from signet.engine.telemetry import WaveStats
from signet.store.instances.waves import OpenStepRow
from signet.store.outbox.queue import ClaimedTrigger

_Row = TypeVar("_Row", ClaimedTrigger, OpenStepRow)


class LostReceipt(Superseded):
    """A receipt that another step has already: the instance's row lags behind its steps (WF-02)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Triggers of one tenant that this worker holds."""

    id: UUID
    tenant_id: UUID
    triggers: Sequence[ClaimedTrigger]


@dataclass(slots=True)
class WaveResult:
    """The counts of a wave, and the instances that failed in it."""

    instances: int = 0
    steps: int = 0
    rounds: int = 0
    failed: dict[UUID, BaseException] = field(default_factory=dict)
    stats: WaveStats = field(default_factory=WaveStats)
    # It has written triggers that are due at once.
    has_left_work: bool = False
    # Triggers of documents of which another instance has moved: the next wave of the claim takes them.
    behind: list[ClaimedTrigger] = field(default_factory=list)

    def note_end(self, triggers: Sequence[Mapping[str, Any]], lapsed: int) -> None:
        """Note the triggers that the wave writes, and how many votes its gates could not use."""
        self.has_left_work = any(trigger.get("due_at") is None for trigger in triggers)
        self.stats.lapsed = lapsed


def group_by_instance(rows: Iterable[_Row]) -> dict[UUID, list[_Row]]:
    grouped: dict[UUID, list[_Row]] = {}
    for row in rows:
        grouped.setdefault(row.instance_id, []).append(row)
    return grouped
