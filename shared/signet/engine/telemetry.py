"""What is told of the engine's work to those who watch it: a port. Who listens is wired; nobody need.

Told are names, codes, counts and times: nothing that somebody has sent, and no token.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal, Protocol
from uuid import UUID

# Decided in memory, many together: what each of them took is not known.
PURE = "pure"


@dataclass(frozen=True, slots=True)
class RequestReport:
    """A request that has been answered. `route` is as it is declared: no id of anything is in it."""

    request_id: str
    trace_id: str
    method: str
    route: str
    status: int
    seconds: float
    code: str | None = None
    tenant_id: UUID | None = None
    # Of Lambda's own call, where there is one.
    function_request_id: str | None = None
    # What we did not foresee.
    error: Exception | None = None


@dataclass(slots=True)
class NodeWork:
    """What nodes of one type took in a wave, by the wave's clock."""

    steps: int = 0
    seconds: float = 0.0
    began: float = 0.0
    ended: float = 0.0


@dataclass(slots=True)
class WaveReport:
    """What a wave came to. Of triggers: how long those that are done had been due, in seconds."""

    tenant_id: UUID
    trace_id: str
    triggers: int = 0
    instances: int = 0
    rounds: int = 0
    seconds: float = 0.0
    # By node type: all steps that were begun; and what took time.
    steps: Mapping[str, int] = field(default_factory=dict)
    work: Mapping[str, NodeWork] = field(default_factory=dict)
    # By type: calls to the outside that were enqueued.
    effects: Mapping[str, int] = field(default_factory=dict)
    waits: Sequence[float] = ()
    released: int = 0
    retried: int = 0
    dead: int = 0


@dataclass(frozen=True, slots=True)
class EffectReport:
    """One attempt to deliver an effect; `answered` is what the other side said, as a number."""

    tenant_id: UUID
    trace_id: str
    effect_type: str
    outcome: Literal["delivered", "failed", "dead"]
    seconds: float
    answered: int | None = None


@dataclass(frozen=True, slots=True)
class HousekeepingReport:
    """One run of a housekeeping task; `lag_seconds` is how late it began."""

    task: str
    outcome: Literal["done", "more", "failed"]
    rows: int
    seconds: float
    lag_seconds: float
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class StuckInstance:
    id: UUID
    # What it does not see, and what helps most likely: a command of `signet instance`.
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class SweptQueue:
    """How many tenants had something due in a queue, and for how long the oldest of it had been."""

    tenants: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of this process. A sample is what follows the name, its labels and its value."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    samples: Sequence[tuple[str, Mapping[str, str], float]]


class Span(Protocol):
    """A piece of work under way, as traces show it."""

    # W3C; None where no trace is written.
    traceparent: str | None

    def describe(self, name: str, attributes: Mapping[str, str | int]) -> None: ...

    def fail(self, code: str) -> None: ...


class Telemetry(Protocol):
    def span(
        self, name: str, causes: Sequence[str], attributes: Mapping[str, str | int]
    ) -> AbstractContextManager[Span]:
        """`causes` are traceparents: of one it is a child, to more it is linked."""
        ...

    def request_ended(self, report: RequestReport) -> None: ...

    def wave_ended(self, report: WaveReport) -> None:
        """Called within the wave's span."""
        ...

    def effect_ended(self, report: EffectReport) -> None: ...

    def leases_expired(self, tenant_id: UUID, again: int, dead: int) -> None: ...

    def housekeeping_ended(self, report: HousekeepingReport) -> None: ...

    def stuck_found(self, tenant_id: UUID, count: int, named: Sequence[StuckInstance]) -> None:
        """How many of a tenant's instances are stuck; some of them by name."""
        ...

    def swept(self, queues: Mapping[str, SweptQueue]) -> None:
        """What the relay found due."""
        ...

    def failed(self, error: BaseException, about: Mapping[str, str]) -> None:
        """What went wrong with one instance."""
        ...

    def list_figures(self) -> Sequence[Figure]: ...


class SilentSpan:
    """Where nobody traces."""

    traceparent: str | None = None

    def describe(self, name: str, attributes: Mapping[str, str | int]) -> None: ...

    def fail(self, code: str) -> None: ...


SILENT_SPAN: AbstractContextManager[Span] = nullcontext(SilentSpan())


class Silent:
    """Where nobody watches."""

    def span(
        self, name: str, causes: Sequence[str], attributes: Mapping[str, str | int]
    ) -> AbstractContextManager[Span]:
        return SILENT_SPAN

    def request_ended(self, report: RequestReport) -> None: ...

    def wave_ended(self, report: WaveReport) -> None: ...

    def effect_ended(self, report: EffectReport) -> None: ...

    def leases_expired(self, tenant_id: UUID, again: int, dead: int) -> None: ...

    def housekeeping_ended(self, report: HousekeepingReport) -> None: ...

    def stuck_found(self, tenant_id: UUID, count: int, named: Sequence[StuckInstance]) -> None: ...

    def swept(self, queues: Mapping[str, SweptQueue]) -> None: ...

    def failed(self, error: BaseException, about: Mapping[str, str]) -> None: ...

    def list_figures(self) -> Sequence[Figure]:
        return ()


SILENT: Telemetry = Silent()
