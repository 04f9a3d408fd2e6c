"""How much a tenant may ask for in a time, where an operator has not granted it something else.

Each name is a bucket of its own: `capacity` at once, and full again after `refill_seconds`.
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
# What people do to instances from outside of their graphs, each with a measure of its own: who empties one
# by mistake can still stop what runs.
_ACTS = (
    "pause",
    "resume",
    "retry",
    "advance",
    "cancel",
    "cancel_token",
    "fail",
    "wake",
    "rebuild",
    "requeue",
    "move",
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
