"""The call that a route receives, and the answer that it returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from signet.api.use_cases import UseCases
from signet.core.tenants.principal import Principal
from signet.settings import SOURCES

if TYPE_CHECKING:
    from signet.core.tenants.caller import Caller

# No request is held open for longer: API Gateway gives up at 30.
MAX_WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Call:
    """One request of one principal."""

    use: UseCases
    principal: Principal
    trace_id: str
    headers: Mapping[str, str] = field(default_factory=dict)
    # From `Prefer: wait=N`; 0 does not wait.
    wait_seconds: float = 0.0
    # The bytes as they were sent, for signed requests only.
    body: bytes = b""
    # The address and the program that the request came from.
    came_from: tuple[str, str | None] | None = None
    request_id: str = ""
    # The build that answers.
    build: str = SOURCES

    @property
    def caller(self) -> "Caller":
        # Reading needs no caller, so this import waits for the first write.
        from signet.core.tenants.caller import Caller, CallOrigin

        origin = CallOrigin(*self.came_from) if self.came_from is not None else None
        return Caller(self.principal, via="api", trace_id=self.trace_id, origin=origin)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The answer of a route: `body` is a dataclass or JSON, and None is no body at all."""

    body: Any = None
    status: int = 200
    # The version of the body's record, for ETag and the next If-Match.
    version: int | None = None
    location: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    # For a caller who prefers to wait: called after the commit until it returns an answer.
    follow: "Callable[[], HttpAnswer | None] | None" = None
    # The body is sent as it is.
    is_text: bool = False
    # Whether a caller who prefers to wait could: there are few places for it.
    could_wait: bool = False
    # The digest of what the body shows of other documents, which the ETag names too.
    seen: str | None = None


class VersionedRecord(Protocol):
    """A record that a change must name at the version that was seen."""

    @property
    def version(self) -> int | None: ...


def show_record(record: VersionedRecord, status: int = 200, location: str | None = None) -> HttpAnswer:
    """Answer a record, with its version as the ETag."""
    return HttpAnswer(record, status, record.version, location)


def show_put(record: VersionedRecord, location: str, *, is_new: bool) -> HttpAnswer:
    """Answer what PUT has made with its place, or what it has changed."""
    return show_record(record, 201, location) if is_new else show_record(record)
