"""The port through which the engine reports its work to observers.

Reports hold names, codes, counts and times. They hold no content of a request and no token.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from signet.store.outbox.queue import ClaimedTrigger

# The type of nodes that are decided in memory, many together, so that their times cannot be told apart.
PURE = "pure"
# The codes of holds and pauses. The votes on record do not prove an approval: they were written past the API.
UNPROVEN_CODES = frozenset({"APPROVAL_UNPROVEN", "APPROVAL_SAME_PERSON"})
# The instance wants people: nobody may decide (the deadlocks of a stage), or an actor or owner has left.
PEOPLE_CODES = frozenset(
    {
        "APPROVAL_NOBODY_FOUND",
        "APPROVAL_APPROVER_MISSING",
        "APPROVAL_TOO_MANY_SEATS",
        "APPROVAL_QUORUM_UNREACHABLE",
        "APPROVAL_ALL_ABSTAINED",
        "APPROVAL_NOBODY_ELIGIBLE",
        "ACTOR_NOT_ACTIVE",
        "SERVICE_ACCOUNT_UNUSABLE",
    }
)
OTHER_PAUSE = "OTHER"


@dataclass(frozen=True, slots=True)
class RequestReport:
    """An answered request. `route` is the declared pattern, so that it holds no id."""

    request_id: str
    trace_id: str
    method: str
    route: str
    status: int
    seconds: float
    code: str | None = None
    tenant_id: UUID | None = None
    # The id of Lambda's own call, where there is one.
    function_request_id: str | None = None
    # An error that no code of ours stands for.
    error: Exception | None = None
    # Of a request that a quota refused: whose limit it was, `person` or `tenant`.
    limit_of: str | None = None
    # Of a request that prefers to wait for its outcome: whether there was a place for it.
    could_wait: bool | None = None


@dataclass(slots=True)
class NodeWork:
    """The work of the nodes of one type in a wave, by the clock of the wave."""

    steps: int = 0
    seconds: float = 0.0
    began: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True, slots=True)
class PausedInstance:
    """An instance in which a wave has held a token, or which it has paused; `code` is of a closed set."""

    id: UUID
    code: str


@dataclass(slots=True)
class WaveStats:
    """The counts of one wave while it runs; steps and work are by node type."""

    steps: dict[str, int] = field(default_factory=dict)
    work: dict[str, NodeWork] = field(default_factory=dict)
    effects: dict[str, int] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    # Of those that were written for a later moment: by how much the engine came late.
    due_lags: list[float] = field(default_factory=list)
    paused: list[PausedInstance] = field(default_factory=list)
    # Votes that gates could not use any more.
    lapsed: int = 0
    released: int = 0
    retried: int = 0
    dead: int = 0

    def count_pause(self, instance_id: UUID, code: str) -> None:
        """Count a hold, or a pause of the whole, by the code of its incident."""
        known = code in UNPROVEN_CODES or code in PEOPLE_CODES
        self.paused.append(PausedInstance(instance_id, code if known else OTHER_PAUSE))

    def count_steps(self, rows: Iterable[Mapping[str, Any]]) -> None:
        steps = self.steps
        for row in rows:
            node_type = row["node_type"]
            steps[node_type] = steps.get(node_type, 0) + 1

    def count_other_than(self, node_types: Container[str]) -> int:
        return sum(count for node_type, count in self.steps.items() if node_type not in node_types)

    def count_effect(self, effect_type: str) -> None:
        self.effects[effect_type] = self.effects.get(effect_type, 0) + 1

    def count_done(self, done: "Iterable[ClaimedTrigger]", now: datetime) -> None:
        for trigger in done:
            wait = max((now - trigger.due_at).total_seconds(), 0.0)
            self.waits.append(wait)
            if trigger.is_for_a_moment:
                self.due_lags.append(wait)

    def time(self, node_type: str, began: float, ended: float, steps: int = 1) -> None:
        work = self.work.get(node_type)
        if work is None:
            work = self.work[node_type] = NodeWork(began=began)
        work.steps += steps
        work.seconds += ended - began
        work.ended = ended


@dataclass(slots=True)
class WaveReport:
    """The result of a wave. `waits` are the seconds for which each completed trigger had been due."""

    tenant_id: UUID
    trace_id: str
    triggers: int = 0
    instances: int = 0
    rounds: int = 0
    seconds: float = 0.0
    # By node type: the steps that began, and the work that took time.
    steps: Mapping[str, int] = field(default_factory=dict)
    work: Mapping[str, NodeWork] = field(default_factory=dict)
    # By type: the effects that were enqueued.
    effects: Mapping[str, int] = field(default_factory=dict)
    waits: Sequence[float] = ()
    due_lags: Sequence[float] = ()
    paused: Sequence[PausedInstance] = ()
    lapsed: int = 0
    released: int = 0
    retried: int = 0
    dead: int = 0

    def count_paused(self, codes: Container[str]) -> int:
        return sum(instance.code in codes for instance in self.paused)


@dataclass(frozen=True, slots=True)
class EffectReport:
    """An attempt to deliver an effect. `answered` is the status that the receiver answered with."""

    tenant_id: UUID
    trace_id: str
    effect_type: str
    outcome: Literal["delivered", "failed", "dead"]
    seconds: float
    answered: int | None = None


# Of an event from outside: its message was known, a workflow has waited for it, or nobody has.
EventFate = Literal["known", "offered", "unmatched"]


@dataclass(frozen=True, slots=True)
class HousekeepingReport:
    """A run of a housekeeping task, which began `lag_seconds` late."""

    task: str
    outcome: Literal["done", "more", "failed"]
    rows: int
    seconds: float
    lag_seconds: float
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class StuckInstance:
    id: UUID
    # The reason, and the command of `signet instance` that is most likely to help.
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class SweptQueue:
    """The tenants with due rows in a queue, and the seconds for which the oldest row had been due."""

    tenants: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric of this process. Each sample is a suffix of the name, labels and a value."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    samples: Sequence[tuple[str, Mapping[str, str], float]]


class Span(Protocol):
    """A piece of work in progress, as traces show it."""

    # In W3C form; None where no trace is written.
    traceparent: str | None

    def describe(self, name: str, attributes: Mapping[str, str | int]) -> None: ...

    def fail(self, code: str) -> None: ...


class Telemetry(Protocol):
    def span(
        self, name: str, traceparents: Sequence[str], attributes: Mapping[str, str | int]
    ) -> AbstractContextManager[Span]:
        """Open a span. One traceparent in `traceparents` is its parent; several are linked to it."""
        ...

    def request_ended(self, report: RequestReport) -> None: ...

    def wave_ended(self, report: WaveReport) -> None:
        """Report a wave, within its span."""
        ...

    def effect_ended(self, report: EffectReport) -> None: ...

    def leases_expired(self, tenant_id: UUID, again: int, dead: int) -> None: ...

    def given_back(self, tenant_id: UUID, queue: str, count: int, code: str) -> None:
        """Report rows that went back without an attempt, and the outage that was the reason."""
        ...

    def heavy_call_ended(self, outcome: str, seconds: float) -> None:
        """Report a call about a large definition that had a process of its own."""
        ...

    def event_came(self, fate: EventFate) -> None:
        """Report an event from outside, and if any workflow has waited for it."""
        ...

    def stranded(self, tenant_id: UUID, instance_id: UUID, code: str) -> None:
        """Report a trigger that was given back for too long: it is a dead letter now."""
        ...

    def looked(self, thread: str) -> None:
        """Note that a thread of this process has looked for work."""
        ...

    def thread_failed(self, thread: str, error: BaseException) -> None:
        """Report a thread of this process that failed, and goes on."""
        ...

    def list_looks(self) -> Mapping[str, datetime]:
        """Return when each thread of this process last looked for work."""
        ...

    def housekeeping_ended(self, report: HousekeepingReport) -> None: ...

    def stuck_found(self, tenant_id: UUID, count: int, named: Sequence[StuckInstance]) -> None:
        """Report how many instances of a tenant are stuck, and some of them by id."""
        ...

    def incidents_counted(self, open_by_code: Mapping[str, int], unattended: int) -> None:
        """Report the open incidents of all tenants, and how many of them nobody has acknowledged for long."""
        ...

    def swept(self, queues: Mapping[str, SweptQueue]) -> None:
        """Report the rows that the relay found due."""
        ...

    def failed(self, error: BaseException, about: Mapping[str, str]) -> None:
        """Report the error of one instance."""
        ...

    def list_figures(self) -> Sequence[Figure]: ...


class SilentSpan:
    """A span of which no trace is written."""

    traceparent: str | None = None

    def describe(self, name: str, attributes: Mapping[str, str | int]) -> None: ...

    def fail(self, code: str) -> None: ...


SILENT_SPAN: AbstractContextManager[Span] = nullcontext(SilentSpan())


class Silent:
    """Telemetry without an observer."""

    def span(
        self, name: str, traceparents: Sequence[str], attributes: Mapping[str, str | int]
    ) -> AbstractContextManager[Span]:
        return SILENT_SPAN

    def request_ended(self, report: RequestReport) -> None: ...

    def wave_ended(self, report: WaveReport) -> None: ...

    def effect_ended(self, report: EffectReport) -> None: ...

    def leases_expired(self, tenant_id: UUID, again: int, dead: int) -> None: ...

    def given_back(self, tenant_id: UUID, queue: str, count: int, code: str) -> None: ...

    def heavy_call_ended(self, outcome: str, seconds: float) -> None: ...

    def event_came(self, fate: EventFate) -> None: ...

    def stranded(self, tenant_id: UUID, instance_id: UUID, code: str) -> None: ...

    def looked(self, thread: str) -> None: ...

    def thread_failed(self, thread: str, error: BaseException) -> None: ...

    def list_looks(self) -> Mapping[str, datetime]:
        return {}

    def housekeeping_ended(self, report: HousekeepingReport) -> None: ...

    def stuck_found(self, tenant_id: UUID, count: int, named: Sequence[StuckInstance]) -> None: ...

    def incidents_counted(self, open_by_code: Mapping[str, int], unattended: int) -> None: ...

    def swept(self, queues: Mapping[str, SweptQueue]) -> None: ...

    def failed(self, error: BaseException, about: Mapping[str, str]) -> None: ...

    def list_figures(self) -> Sequence[Figure]:
        return ()


SILENT: Telemetry = Silent()
