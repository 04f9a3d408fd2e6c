"""The last touch to every answer: headers, CORS, what HEAD leaves out, gzip."""

import base64
import gzip
from collections.abc import Mapping, Sequence
from typing import Any

MIN_GZIP_BYTES = 1_024
_GZIP_LEVEL = 5
PREFLIGHT_SECONDS = 600
_SENDABLE = "authorization, content-type, idempotency-key, if-match, if-none-match, prefer, traceparent"
_READABLE = "etag, location, ratelimit, ratelimit-policy, retry-after, x-request-id"


def deliver(
    answer: dict[str, Any],
    *,
    method: str,
    headers: Mapping[str, str],
    request_id: str,
    origins: Sequence[str],
) -> dict[str, Any]:
    own = {name.lower(): value for name, value in answer["headers"].items()}
    own.setdefault("cache-control", "no-store")
    own["x-request-id"] = request_id
    own["x-content-type-options"] = "nosniff"
    own |= _allow_origin(headers.get("origin"), origins)
    answer["headers"] = own
    if method == "HEAD" or answer.get("body") is None:
        answer["body"] = ""
    elif "gzip" in headers.get("accept-encoding", ""):
        _compress(answer)
    return answer


def answer_preflight(headers: Mapping[str, str], origins: Sequence[str], allowed: str) -> dict[str, Any]:
    """OPTIONS: which methods there are, and for a browser of an origin that may, what it may send."""
    own = {"allow": allowed}
    if headers.get("origin") in origins:
        own |= {
            "access-control-allow-methods": allowed,
            "access-control-allow-headers": _SENDABLE,
            "access-control-max-age": str(PREFLIGHT_SECONDS),
        }
    return {"statusCode": 204, "headers": own, "cookies": [], "body": "", "isBase64Encoded": False}


def _allow_origin(origin: str | None, origins: Sequence[str]) -> dict[str, str]:
    """Closed unless settings name the origin; and then for it alone, and without cookies."""
    if origin is None or origin not in origins:
        return {"vary": "origin"} if origins else {}
    return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": _READABLE,
        "vary": "origin",
    }


def _compress(answer: dict[str, Any]) -> None:
    if answer["isBase64Encoded"] or len(answer["body"]) < MIN_GZIP_BYTES:
        return
    # Without a moment in it, so that the same answer is the same bytes.
    small = gzip.compress(answer["body"].encode(), _GZIP_LEVEL, mtime=0)
    answer["body"], answer["isBase64Encoded"] = base64.b64encode(small).decode(), True
    headers = answer["headers"]
    headers["content-encoding"] = "gzip"
    headers["vary"] = ", ".join(filter(None, [headers.get("vary"), "accept-encoding"]))
