"""The counts and times of a wave, for telemetry."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.engine.telemetry import NodeWork
from signet.store.outbox.queue import ClaimedRow


@dataclass(slots=True)
class WaveStats:
    """The counts of one wave while it runs; steps and work are by node type."""

    steps: dict[str, int] = field(default_factory=dict)
    work: dict[str, NodeWork] = field(default_factory=dict)
    effects: dict[str, int] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    released: int = 0
    retried: int = 0
    dead: int = 0

    def count_steps(self, rows: Iterable[Mapping[str, Any]]) -> None:
        steps = self.steps
        for row in rows:
            node_type = row["node_type"]
            steps[node_type] = steps.get(node_type, 0) + 1

    def count_other_than(self, node_types: Container[str]) -> int:
        return sum(count for node_type, count in self.steps.items() if node_type not in node_types)

    def count_effect(self, effect_type: str) -> None:
        self.effects[effect_type] = self.effects.get(effect_type, 0) + 1

    def count_done(self, done: Iterable[ClaimedRow], now: datetime) -> None:
        self.waits.extend(max((now - trigger.due_at).total_seconds(), 0.0) for trigger in done)

    def time(self, node_type: str, began: float, ended: float, steps: int = 1) -> None:
        work = self.work.get(node_type)
        if work is None:
            work = self.work[node_type] = NodeWork(began=began)
        work.steps += steps
        work.seconds += ended - began
        work.ended = ended


@dataclass(slots=True)
class WaveResult:
    """The counts of a wave, and the instances that failed in it."""

    instances: int = 0
    steps: int = 0
    rounds: int = 0
    failed: dict[UUID, BaseException] = field(default_factory=dict)
    stats: WaveStats = field(default_factory=WaveStats)
