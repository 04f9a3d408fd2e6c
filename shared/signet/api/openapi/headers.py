"""Headers of answers, as the OpenAPI document declares them: generated clients drop all others."""

from collections.abc import Mapping
from typing import Any

from signet.api.http.message import write_etag
from signet.api.http.problems import STATUSES
from signet.api.http.routing import Declared
from signet.core.errors import ErrorKind

_MADE = (201, 202)


def _header(description: str, *, is_required: bool = True, pattern: str | None = None) -> dict[str, Any]:
    schema = {"type": "string"} if pattern is None else {"type": "string", "pattern": pattern}
    return {"description": description, "required": is_required, "schema": schema}


HEADERS: Mapping[str, Any] = {
    "X-Request-Id": _header("The id of the request, as it is logged."),
    "X-Signet-Build": _header("The build that answers."),
    "RateLimit-Policy": _header(
        "The tenant's quota of such requests, and the caller's share of it.",
        is_required=False,
    ),
    "RateLimit": _header("What is left of the quota, and of the share.", is_required=False),
    "ETag": _header(f"The version, such as {write_etag(3)}.", pattern=r'^"[0-9]{1,10}(\.[0-9a-f]{32})?"$'),
    "Location": _header("The path of what was made, or of what says how it goes on."),
    "Preference-Applied": _header("The time that was waited for.", is_required=False),
    "Idempotency-Replayed": _header("`true` where an earlier answer is repeated.", is_required=False),
    "WWW-Authenticate": _header("The kind of token that is needed."),
    "Allow": _header("The methods of this path."),
    "Retry-After": _header("Seconds to wait before the next attempt."),
}
_ALWAYS = ("X-Request-Id", "X-Signet-Build", "RateLimit-Policy", "RateLimit")
_OF_PROBLEMS: Mapping[int, tuple[str, ...]] = {
    STATUSES[ErrorKind.UNAUTHENTICATED]: ("WWW-Authenticate",),
    STATUSES[ErrorKind.METHOD]: ("Allow",),
    STATUSES[ErrorKind.TOO_MANY]: ("Retry-After",),
    STATUSES[ErrorKind.UNAVAILABLE]: ("Retry-After",),
}


def list_headers(route: Declared, status: int) -> dict[str, Any]:
    """List the headers of one answer: the version with the record, and the place of what is made."""
    names = list(_ALWAYS)
    if route.is_versioned and status != 202:
        names.append("ETag")
    if status in _MADE and not route.is_signed:
        names.append("Location")
    if route.takes_idempotency_key:
        names.append("Idempotency-Replayed")
    if route.may_wait:
        names.append("Preference-Applied")
    return _refer(names)


def list_problem_headers(status: int) -> dict[str, Any]:
    return _refer([*_ALWAYS, *_OF_PROBLEMS.get(status, ())])


def _refer(names: list[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
