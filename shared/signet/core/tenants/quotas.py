"""Default quotas of a tenant; an operator may grant others.

Each name is a bucket of its own, with `capacity` at once, and full again after `refill_seconds`. Within the
buckets of requests each person and each key has one, too: a share, so that nobody takes all of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True)
class Quota:
    name: str
    capacity: int
    refill_seconds: int


LimitOf = Literal["person", "tenant"]


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket within a quota: its meter, and its percentage of what the tenant may."""

    quota: Quota
    limit_of: LimitOf
    meter: str
    percent: int = 100

    @property
    def default_capacity(self) -> int:
        return max(self.quota.capacity * self.percent // 100, 1)


def bucket_of_tenant(quota: Quota) -> Bucket:
    return Bucket(quota, "tenant", quota.name)


def bucket_of_person(quota: Quota, subject: str, percent: int) -> Bucket:
    """Return the bucket of a person or a sender; its meter does not tell their name."""
    return Bucket(quota, "person", f"{quota.name}/{digest_subject(subject)}", percent)


def digest_subject(subject: str) -> str:
    return sha256(subject.encode(errors="surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]


_DIGEST_CHARACTERS = 32
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
