"""Default quotas of a tenant; an operator may grant others.

Each name is a bucket of its own, with `capacity` at once, and full again after `refill_seconds`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Quota:
    name: str
    capacity: int
    refill_seconds: int


_HOUR = 3_600
MAX_CAPACITY, MAX_REFILL_SECONDS = 10_000_000, 86_400
READS, WRITES = "api:read", "api:write"
# Acts of operators on instances have a quota each, so that a person who uses one up by mistake can still stop
# instances.
_ACTS = (
    "pause",
    "resume",
    "retry",
    "skip",
    "go_to",
    "advance",
    "cancel",
    "cancel_token",
    "fail",
    "wake",
    "rebuild",
    "requeue",
    "discard",
    "try_now",
    "withdraw",
    "move",
    "restart",
    "correct",
    "ask_again",
)

QUOTAS: Mapping[str, Quota] = MappingProxyType(
    {
        READS: Quota(READS, capacity=3_000, refill_seconds=60),
        WRITES: Quota(WRITES, capacity=1_200, refill_seconds=60),
        **{
            f"workflow:{act}": Quota(f"workflow:{act}", capacity=1_000, refill_seconds=_HOUR) for act in _ACTS
        },
    }
)
