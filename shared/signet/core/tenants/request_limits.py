"""Limits of what one person may take of what serves everybody: of a tenant's requests, and of waits.

A request that waits for its outcome keeps a place of the process or of the deployment.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits of a deployment."""

    # Of a tenant's quota of requests.
    person_percent: int = 50
    # Of all tenants at once: at most a quarter of the requests that the deployment serves at once.
    max_waits: int = 10


DEFAULT_LIMITS = RequestLimits()


@dataclass(frozen=True, slots=True)
class WaitLimits:
    """The numbers of requests that wait at once."""

    person: int
    tenant: int
    in_all: int


def share_waits(in_all: int) -> WaitLimits:
    """Give a tenant half of all waits, and a person a quarter, but at least one of what there is.

    >>> share_waits(16)
    WaitLimits(person=4, tenant=8, in_all=16)
    """
    least = min(in_all, 1)
    return WaitLimits(max(in_all // 4, least), max(in_all // 2, least), in_all)
