"""The caller of a use case."""

from dataclasses import dataclass
from uuid import UUID

from signet.core.tenants.principal import Principal


@dataclass(frozen=True, slots=True)
class CallOrigin:
    """The place that a request came from, and the program that it says it is; the latter proves nothing."""

    address: str
    agent: str | None = None

    def to_json(self) -> dict[str, str]:
        return {"address": self.address, **({"agent": self.agent} if self.agent else {})}


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal, the channel of the call, and the workflow step that makes it if one does.

    `claimed` is the person that a command line names. It is noted with each act, and proves nothing.
    """

    principal: Principal
    via: str = "api"
    trace_id: str | None = None
    instance_id: UUID | None = None
    step_id: UUID | None = None
    claimed: str | None = None
    origin: CallOrigin | None = None
    # The automations that have acted before a step acts, each with its document; of a person's act none.
    chain: tuple[tuple[str, str | None], ...] = ()
