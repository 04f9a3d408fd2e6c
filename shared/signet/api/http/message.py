"""Body and headers of requests and answers: limits on the way in, form on the way out."""

import base64
import binascii
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Protocol

import orjson
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from signet.core.errors import Rejected

MAX_BODY_BYTES = 1_048_576
MAX_DEPTH = 64
_TEXTS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_OPENING = ord("[")
MAX_ADDRESS_CHARACTERS = 64
MAX_AGENT_CHARACTERS = 200
MIN_GZIP_BYTES = 1_024
_GZIP_LEVEL = 5
PREFLIGHT_SECONDS = 600
JSON, MERGE_PATCH = "application/json", "application/merge-patch+json"
_PATCHES = (MERGE_PATCH, "application/json-patch+json")
_MEMBER = "/patch"
_SENDABLE = "authorization, content-type, idempotency-key, if-match, if-none-match, prefer, traceparent"
_READABLE = (
    "accept-patch, accept-post, allow, etag, idempotency-replayed, location, preference-applied, ratelimit,"
    " ratelimit-policy, retry-after, www-authenticate, x-request-id, x-signet-build"
)


class TypedRoute(Protocol):
    """A route, as it declares the bodies that it takes."""

    @property
    def method(self) -> str: ...
    @property
    def takes_body(self) -> bool: ...
    @property
    def takes_merge_patch(self) -> bool: ...


def check_form(event: object) -> None:
    """Require an event of API Gateway, so that any other caller gets a sentence instead of a KeyError."""
    event = event if isinstance(event, dict) else {}
    context = event.get("requestContext")
    context = context if isinstance(context, dict) else {}
    http = context.get("http")
    http = http if isinstance(http, dict) else {}
    texts = (context.get("stage"), http.get("method"), event.get("rawPath"), event.get("body") or "")
    readable = all(isinstance(text, str) for text in texts) and isinstance(event.get("headers") or {}, dict)
    if event.get("version") != "2.0" or not readable:
        raise Rejected(
            "EVENT_MALFORMED", "The event does not come from an API Gateway HTTP API with payload format 2.0."
        )


def check_size(event: APIGatewayProxyEventV2) -> int:
    """Return the bytes of the body, which are no more than any route takes."""
    body = event.body or ""
    if event.is_base64_encoded:
        # Four characters are three bytes, less the padding.
        size = len(body) // 4 * 3 - body.count("=", -2)
    else:
        size = len(body.encode(errors="surrogatepass"))
    if size > MAX_BODY_BYTES:
        raise Rejected("BODY_TOO_LARGE", f"A request body has at most {MAX_BODY_BYTES} bytes.")
    return size


def check_body(event: APIGatewayProxyEventV2) -> None:
    if not event.body or not _is_json(event.headers.get("content-type", "")):
        return
    try:
        _check_depth(event.decoded_body or "")
        # Parsed once: the event keeps it for the route.
        _ = event.json_body
        _refuse_members_twice(event.decoded_body or "")
    except (binascii.Error, UnicodeError, orjson.JSONDecodeError) as error:
        raise Rejected("BODY_MALFORMED", "The request body is not JSON in UTF-8.") from error


def _refuse_members_twice(text: str) -> None:
    """Refuse a body in which an object has a member twice: its readers would not agree on which one counts.

    The first parser keeps the last one and says nothing.
    """
    json.loads(text, object_pairs_hook=_refuse_twice)


def _check_depth(text: str) -> None:
    """Refuse what is nested too deep before any parser sees it, for some of them fail on it."""
    brackets = _TEXTS.sub("", text).encode(errors="surrogatepass").translate(_ONE_KIND, _NO_BRACKETS)
    left = brackets
    for _ in range(MAX_DEPTH):
        left = left.replace(b"[]", b"")
    # Each round took one level. What is left is deeper, or its brackets do not fit.
    if left and max(accumulate(1 if bracket == _OPENING else -1 for bracket in brackets)) > MAX_DEPTH:
        raise Rejected(
            "BODY_TOO_DEEP",
            f"The request body is nested deeper than {MAX_DEPTH} levels.",
            remedy="Send what is so deep as a text, or as rows of its own.",
        )


def _refuse_twice(members: Sequence[tuple[str, Any]]) -> None:
    names = [name for name, _ in members]
    if len(set(names)) < len(names):
        raise Rejected("BODY_MALFORMED", "An object of the request body has a member twice.")


def read_bytes(event: APIGatewayProxyEventV2) -> bytes:
    """Return the body as it was sent, after it was checked."""
    body = event.body or ""
    return base64.b64decode(body) if event.is_base64_encoded else body.encode(errors="surrogatepass")


def read_request_id(event: Any, unknown: str) -> str:
    try:
        return str(event["requestContext"]["requestId"])
    except (KeyError, TypeError):
        return unknown


def read_origin(event: Any, headers: Mapping[str, str]) -> tuple[str, str | None] | None:
    """Return the address that the gateway saw, and the program that the request says it is."""
    try:
        address = _cut(str(event["requestContext"]["http"]["sourceIp"]), MAX_ADDRESS_CHARACTERS)
    except (KeyError, TypeError):
        return None
    return (address, _cut(headers.get("user-agent", ""), MAX_AGENT_CHARACTERS) or None) if address else None


def _cut(text: str, most: int) -> str:
    """Return what can be printed of a text that anybody may have written, up to a length."""
    return "".join(sign for sign in text[:most] if sign.isascii() and sign.isprintable())


def deliver(
    answer: dict[str, Any],
    *,
    headers: Mapping[str, str],
    request_id: str,
    origins: Sequence[str],
    build: str,
) -> dict[str, Any]:
    """Complete an answer. HEAD keeps the body, whose length is sent; the gateway leaves the rest out."""
    own = {name.lower(): value for name, value in answer["headers"].items()}
    own.setdefault("cache-control", "no-store")
    own["x-request-id"] = request_id
    own["x-signet-build"] = build
    own["x-content-type-options"] = "nosniff"
    own |= _allow_origin(headers.get("origin"), origins)
    answer["headers"] = own
    if answer.get("body") is None:
        answer["body"] = ""
    elif "gzip" in headers.get("accept-encoding", ""):
        _compress(answer)
    return answer


def answer_preflight(
    headers: Mapping[str, str], origins: Sequence[str], allowed: str, accepted: Mapping[str, str]
) -> dict[str, Any]:
    """Answer OPTIONS with methods and types and, to browsers of allowed origins, the allowed headers."""
    own = {"allow": allowed, **accepted}
    if headers.get("origin") in origins:
        own |= {
            "access-control-allow-methods": allowed,
            "access-control-allow-headers": _SENDABLE,
            "access-control-max-age": str(PREFLIGHT_SECONDS),
        }
    return {"statusCode": 204, "headers": own, "cookies": [], "body": "", "isBase64Encoded": False}


def to_json(value: object) -> str:
    return orjson.dumps(value, default=_to_plain).decode()


def write_etag(version: int, seen: str | None = None) -> str:
    """Write the ETag of a version, with the digest of what was shown of other documents."""
    return f'"{version}"' if seen is None else f'"{version}.{seen}"'


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    # Powertools parses a body without a type as JSON, too.
    return media_type in ("", "application/json") or media_type.endswith("+json")


def _allow_origin(origin: str | None, origins: Sequence[str]) -> dict[str, str]:
    """Allow an origin that settings name, without cookies; all others are refused."""
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
    # Without the time, so that the same answer has the same bytes.
    small = gzip.compress(answer["body"].encode(), _GZIP_LEVEL, mtime=0)
    answer["body"], answer["isBase64Encoded"] = base64.b64encode(small).decode(), True
    headers = answer["headers"]
    headers["content-encoding"] = "gzip"
    headers["vary"] = ", ".join(filter(None, [headers.get("vary"), "accept-encoding"]))


def _to_plain(value: Any) -> Any:
    """Convert values that orjson does not know."""
    from pydantic import BaseModel  # loaded with the first route, and not before

    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def list_accepted(methods: Mapping[str, bool]) -> dict[str, str]:
    """List the headers that say what each method takes; true is a method that takes a merge patch, too."""
    headers = {}
    if "POST" in methods:
        headers["accept-post"] = JSON
    if "PATCH" in methods:
        headers["accept-patch"] = f"{MERGE_PATCH}, {JSON}" if methods["PATCH"] else JSON
    return headers


def check_content_type(event: APIGatewayProxyEventV2, route: TypedRoute) -> None:
    """Require a type that the route takes, of a request that has a body."""
    if not route.takes_body or not event.body:
        return
    media_type, charset = _parse_type(event.headers.get("content-type") or "")
    is_patch = media_type == MERGE_PATCH and route.takes_merge_patch
    is_json = media_type == JSON or (media_type.endswith("+json") and media_type not in _PATCHES)
    if (is_json or is_patch) and charset in ("", "utf-8"):
        return
    accepted = list_accepted({route.method: route.takes_merge_patch}) or {"accept": JSON}
    raise Rejected(
        "CONTENT_TYPE_UNSUPPORTED",
        "The body is not of a type that this route takes.",
        remedy=f"Send it in UTF-8 as {' or '.join(accepted.values())}.",
        details={"accept": accepted},
    )


def is_merge_patch(event: APIGatewayProxyEventV2, route: TypedRoute) -> bool:
    return route.takes_merge_patch and _parse_type(event.headers.get("content-type") or "")[0] == MERGE_PATCH


def wrap_merge_patch(event: APIGatewayProxyEventV2) -> APIGatewayProxyEventV2:
    """Return the event with the patch as a member of its body, as the route takes it."""
    body = f'{{"patch": {event.decoded_body}}}'
    headers = {**event.headers, "content-type": JSON}
    wrapped = {**event.raw_event, "body": body, "isBase64Encoded": False, "headers": headers}
    return APIGatewayProxyEventV2(wrapped, event._json_deserializer)


def unwrap_pointer(pointer: str) -> str:
    return pointer.removeprefix(_MEMBER)


def _parse_type(header: str) -> tuple[str, str]:
    media_type, *parameters = header.lower().split(";")
    pairs = (parameter.partition("=") for parameter in parameters)
    charsets = [value.strip(' "') for name, _, value in pairs if name.strip() == "charset"]
    return media_type.strip(), charsets[0] if charsets else ""
