"""What a route is given and what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from signet.api.use_cases import UseCases
from signet.core.tenants.principal import Principal

if TYPE_CHECKING:
    from signet.core.tenants.caller import Caller

# Longer than this no request is held open for an outcome: API Gateway gives up at 30.
MAX_WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Call:
    """One request of one principal."""

    use: UseCases
    principal: Principal
    trace_id: str
    headers: Mapping[str, str] = field(default_factory=dict)
    # Of `Prefer: wait=N`; 0 is not to wait.
    wait_seconds: float = 0.0
    # As it was sent, for what is signed; else nothing.
    body: bytes = b""

    @property
    def caller(self) -> "Caller":
        # Whoever only reads is none.
        from signet.core.tenants.caller import Caller

        return Caller(self.principal, via="api", trace_id=self.trace_id)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a route answers. `body` is a dataclass, or JSON as it stands; None is no body at all."""

    body: Any = None
    status: int = 200
    # Of what is shown, for ETag and the next If-Match.
    version: int | None = None
    location: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    # When the caller prefers to wait: asked again and again until it has an answer, after the commit.
    follow: "Callable[[], HttpAnswer | None] | None" = None
    # The body is what is sent, and not yet to be made JSON.
    is_text: bool = False


class VersionedRecord(Protocol):
    """A record that changes want back at the version that was seen."""

    @property
    def version(self) -> int | None: ...


def show_record(record: VersionedRecord, status: int = 200, location: str | None = None) -> HttpAnswer:
    """Answer a record, with its version as the ETag."""
    return HttpAnswer(record, status, record.version, location)
