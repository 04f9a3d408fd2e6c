"""Events of API Gateway and Lambda from HTTP requests, and HTTP answers from a handler's; no sockets.

Payload format 2.0:
https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

import base64
import binascii
import json
import re
import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from signet.core.errors import Defect

MAX_ANSWER_BYTES = 6 * 1_048_576
TIME_LIMIT_SECONDS = 29.0
FUNCTION_NAME = "signet-api"
ACCOUNT = "000000000000"
API = "local"
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Observed on AWS: these arrive as text, everything else in base64, a missing type and forms included.
_TEXT_TYPE = re.compile(r"text/.+|application/(json|xml|javascript)")
_BETWEEN_HOPS = {
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_LOWEST_STATUS, _HIGHEST_STATUS = 200, 599


@dataclass(frozen=True, slots=True)
class GatewayRequest:
    method: str
    path: str
    query: str
    protocol: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    source_ip: str
    port: int


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """The parts of Lambda's context object that a handler may read."""

    aws_request_id: str
    deadline: float
    function_name: str = FUNCTION_NAME
    function_version: str = "$LATEST"
    invoked_function_arn: str = f"arn:aws:lambda:local:{ACCOUNT}:function:{FUNCTION_NAME}"
    # A text, as in Lambda's own runtime.
    memory_limit_in_mb: str = "1024"
    log_group_name: str = f"/aws/lambda/{FUNCTION_NAME}"
    log_stream_name: str = "local"
    identity: None = None
    client_context: None = None

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.deadline - time.monotonic()) * 1000))


def make_context() -> LambdaContext:
    return LambdaContext(aws_request_id=str(uuid.uuid4()), deadline=time.monotonic() + TIME_LIMIT_SECONDS)


def make_event(request: GatewayRequest) -> dict[str, Any]:
    """Make an event; if a request has no cookies, query or body, the event lacks the field."""
    headers, cookies = _read_headers(request)
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": _make_request_context(request, headers),
        "isBase64Encoded": False,
    }
    if cookies:
        event["cookies"] = cookies
    if request.query:
        event["queryStringParameters"] = _join_doubles(parse_qsl(request.query, keep_blank_values=True))
    if request.body:
        event["body"], event["isBase64Encoded"] = _make_body(request.body, headers.get("content-type", ""))
    return event


def parse_answer(result: object) -> GatewayResponse:
    """Parse a handler's answer; one without `statusCode` is a body.

    An answer that API Gateway could not send is a defect.
    """
    if not isinstance(result, dict) or "statusCode" not in result:
        text = result if isinstance(result, str) else json.dumps(result)
        return GatewayResponse(200, [("content-type", "application/json")], text.encode())
    headers = _read_answer_headers(result.get("headers") or {}, result.get("cookies") or [])
    body = _read_answer_body(result.get("body"), encoded=result.get("isBase64Encoded") is True)
    if body and not any(name == "content-type" for name, _ in headers):
        headers.append(("content-type", "text/plain; charset=utf-8"))
    return GatewayResponse(_read_status(result["statusCode"]), headers, body)


def _read_headers(request: GatewayRequest) -> tuple[dict[str, str], list[str]]:
    pairs = [(name.lower(), value) for name, value in request.headers]
    cookies = [
        cookie.strip()
        for name, value in pairs
        if name == "cookie"
        for cookie in value.split(";")
        if cookie.strip()
    ]
    headers = _join_doubles((name, value) for name, value in pairs if name not in _BETWEEN_HOPS | {"cookie"})
    came_from = headers.get("x-forwarded-for")
    headers["x-forwarded-for"] = f"{came_from}, {request.source_ip}" if came_from else request.source_ip
    headers["x-forwarded-port"] = str(request.port)
    headers["x-forwarded-proto"] = "http"
    headers.setdefault("x-amzn-trace-id", f"Root=1-{int(time.time()):08x}-{uuid.uuid4().hex[:24]}")
    return headers, cookies


def _join_doubles(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _make_request_context(request: GatewayRequest, headers: dict[str, str]) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "accountId": ACCOUNT,
        "apiId": API,
        "domainName": "localhost",
        "domainPrefix": API,
        "http": {
            "method": request.method,
            "path": request.path,
            "protocol": request.protocol,
            "sourceIp": request.source_ip,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": str(uuid.uuid4()),
        "routeKey": "$default",
        "stage": "$default",
        "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(now.timestamp() * 1000),
    }


def _make_body(body: bytes, content_type: str) -> tuple[str, bool]:
    media_type = content_type.partition(";")[0].strip().lower()
    if _TEXT_TYPE.fullmatch(media_type):
        # A broken text passes as it is, for the handler to refuse.
        with suppress(UnicodeDecodeError):
            return body.decode(), False
    return base64.b64encode(body).decode("ascii"), True


def _read_status(status: object) -> int:
    if isinstance(status, str) and status.isascii() and status.isdigit():
        status = int(status)
    if not isinstance(status, int) or not _LOWEST_STATUS <= status <= _HIGHEST_STATUS:
        raise _malformed(f"the status {status!r}")
    return status


def _read_answer_headers(headers: object, cookies: object) -> list[tuple[str, str]]:
    if not isinstance(headers, dict) or not isinstance(cookies, list):
        raise _malformed("headers or cookies of a wrong type")
    pairs = [(str(name).lower(), value) for name, value in headers.items()]
    pairs += [("set-cookie", cookie) for cookie in cookies]
    for name, value in pairs:
        if not TOKEN.fullmatch(name) or not isinstance(value, str | int | float):
            raise _malformed(f"the header {name!r}")
        if CONTROL.search(str(value)) or not str(value).isascii():
            raise _malformed(f"the value of the header {name!r}")
    dropped = _BETWEEN_HOPS | {"content-length", "date"}
    return [
        (name, str(value).lower() if isinstance(value, bool) else str(value))
        for name, value in pairs
        if name not in dropped
    ]


def _read_answer_body(body: object, *, encoded: bool) -> bytes:
    if not isinstance(body, str | None):
        raise _malformed("a body that is not a text")
    try:
        content = base64.b64decode(body or "", validate=True) if encoded else (body or "").encode()
    except (binascii.Error, UnicodeError):
        raise _malformed("a body that cannot be decoded") from None
    if len(content) > MAX_ANSWER_BYTES:
        raise _malformed(f"a body of more than {MAX_ANSWER_BYTES} bytes")
    return content


def _malformed(what: str) -> Defect:
    return Defect("LAMBDA_ANSWER_MALFORMED", f"the handler answered {what}")
