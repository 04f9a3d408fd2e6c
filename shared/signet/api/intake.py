"""Whether an event can be worked on at all: its form, its size, its body. Before the token is looked at."""

import base64
import binascii
from typing import Any

import orjson
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from signet.core.errors import Rejected

MAX_BODY_BYTES = 1_048_576


def check_form(event: object) -> None:
    """Whatever invokes the function without API Gateway in between gets a sentence, not a KeyError."""
    event = event if isinstance(event, dict) else {}
    context = event.get("requestContext")
    context = context if isinstance(context, dict) else {}
    http = context.get("http")
    http = http if isinstance(http, dict) else {}
    texts = (context.get("stage"), http.get("method"), event.get("rawPath"), event.get("body") or "")
    readable = all(isinstance(text, str) for text in texts) and isinstance(event.get("headers") or {}, dict)
    if event.get("version") != "2.0" or not readable:
        raise Rejected(
            "EVENT_MALFORMED", "The event is not one of an API Gateway HTTP API, payload format 2.0."
        )


def check_size(event: APIGatewayProxyEventV2) -> None:
    body = event.body or ""
    if event.is_base64_encoded:
        # Four characters stand for three bytes, less the padding.
        size = len(body) // 4 * 3 - body.count("=", -2)
    else:
        size = len(body.encode(errors="surrogatepass"))
    if size > MAX_BODY_BYTES:
        raise Rejected("BODY_TOO_LARGE", f"A request body has at most {MAX_BODY_BYTES} bytes.")


def check_body(event: APIGatewayProxyEventV2) -> None:
    if not event.body or not _is_json(event.headers.get("content-type", "")):
        return
    try:
        # Parsed once: the event remembers it for the route.
        _ = event.json_body
    except (binascii.Error, UnicodeError, orjson.JSONDecodeError) as error:
        raise Rejected("BODY_MALFORMED", "The request body is not JSON in UTF-8.") from error


def read_bytes(event: APIGatewayProxyEventV2) -> bytes:
    """The body as it was sent, after it was found readable."""
    body = event.body or ""
    return base64.b64decode(body) if event.is_base64_encoded else body.encode(errors="surrogatepass")


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    # Powertools reads a body without a type as JSON, too.
    return media_type in ("", "application/json") or media_type.endswith("+json")


def read_request_id(event: Any, unknown: str) -> str:
    try:
        return str(event["requestContext"]["requestId"])
    except (KeyError, TypeError):
        return unknown
