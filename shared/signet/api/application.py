"""The HTTP API: API Gateway events (payload format 2.0) in, answers out. Routing is Powertools'.

A request passes, in this order: a readable event, a body within its limit, a known route and method,
a valid token, a readable body, the route's own validation, the route. The first that fails answers.
"""

import binascii
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import orjson
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from signet.api.authentication import authenticate, check_development_secret
from signet.api.problems import make_problem
from signet.core.errors import FieldError, Rejected, SignetError
from signet.core.principal import Principal
from signet.engine.health import read_health
from signet.store.database import Database

Application = Callable[[dict[str, Any], object], dict[str, Any]]

MAX_BODY_BYTES = 1_048_576
UNKNOWN_REQUEST_ID = "unknown"
_FIRST_UNEXPECTED_STATUS = 500
_LOG = logging.getLogger("signet.api")


@dataclass(frozen=True, slots=True)
class Ports:
    """What the routes are given; `wiring` fills it."""

    database: Database
    development_secret: str | None


def make_application(*, database: Database, development_secret: str | None) -> Application:
    """A handler that any number of threads may call at once."""
    if development_secret is not None:
        check_development_secret(development_secret)
    ports = Ports(database, development_secret)
    # A resolver holds the request that it is working on, so that each serves one at a time.
    idle = deque([_make_resolver(ports)])

    def application(event: dict[str, Any], context: object) -> dict[str, Any]:
        try:
            resolver = idle.pop()
        except IndexError:
            resolver = _make_resolver(ports)
        try:
            return _answer(resolver, ports, event, context)
        finally:
            idle.append(resolver)

    return application


def _make_resolver(ports: Ports) -> APIGatewayHttpResolver:
    resolver = APIGatewayHttpResolver(enable_validation=True, debug=False, serializer=_to_json)
    # Without this an error would be answered by Powertools, in its own form.
    resolver.exception_handler(Exception)(lambda error: _problem_response(resolver, error))
    _add_health_route(resolver, ports)
    return resolver


def _add_health_route(resolver: APIGatewayHttpResolver, ports: Ports) -> None:
    @resolver.get("/v1/health", summary="Whether the service can work for the caller's tenant")
    def get_health() -> dict[str, object]:
        tenant_id = current_principal(resolver).tenant_id
        state = read_health(ports.database, tenant_id)
        return {
            "status": "ok",
            "tenant": {"id": str(tenant_id)},
            "database": {
                "version": state.server_version,
                "migrations": state.migrations,
                "latest_migration": state.latest_migration,
            },
        }


def current_principal(resolver: APIGatewayHttpResolver) -> Principal:
    """Whose request the resolver is working on."""
    return cast(Principal, resolver.context["principal"])


def _answer(
    resolver: APIGatewayHttpResolver, ports: Ports, event: dict[str, Any], context: object
) -> dict[str, Any]:
    request_id = _read_request_id(event)
    try:
        _check_form(event)
        # Powertools keeps the event on a class, one for the whole process: a second thread would answer
        # with the first one's. Set on the instance, they are found before the class's.
        resolver.current_event = APIGatewayProxyEventV2(event, orjson.loads)
        resolver.lambda_context = cast(LambdaContext, context)
        resolver.context = {"principal": _admit(resolver, ports)}
        answer = resolver.resolve(event, cast(LambdaContext, context))
    except Exception as error:
        answer = _problem_answer(error, request_id)
    answer["headers"] = {
        **{name.lower(): value for name, value in answer["headers"].items()},
        "cache-control": "no-store",
        "x-request-id": request_id,
    }
    return answer


def _admit(resolver: APIGatewayHttpResolver, ports: Ports) -> Principal:
    """Everything that is checked before Powertools, whose validation would come before the token."""
    event = resolver.current_event
    _check_size(event)
    _check_route(resolver, event.http_method.upper(), event.path)
    principal = authenticate(event.headers.get("authorization"), ports.development_secret)
    _check_body(event)
    return principal


def _check_form(event: object) -> None:
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


def _check_size(event: APIGatewayProxyEventV2) -> None:
    body = event.body or ""
    if event.is_base64_encoded:
        # Four characters stand for three bytes, less the padding.
        size = len(body) // 4 * 3 - body.count("=", -2)
    else:
        size = len(body.encode(errors="surrogatepass"))
    if size > MAX_BODY_BYTES:
        raise Rejected("BODY_TOO_LARGE", f"A request body has at most {MAX_BODY_BYTES} bytes.")


def _check_route(resolver: APIGatewayHttpResolver, method: str, path: str) -> None:
    """Powertools answers a wrong method as an unknown route, and does not say which would be right."""
    routes = resolver._static_routes + resolver._dynamic_routes
    allowed = sorted({route.method for route in routes if route.rule.match(path)})
    if not allowed:
        raise Rejected("ROUTE_NOT_FOUND", "There is nothing at this path.")
    if method not in allowed:
        raise Rejected(
            "METHOD_NOT_ALLOWED",
            "This path does not know this method.",
            remedy=f"Use {' or '.join(allowed)}.",
            details={"allow": ", ".join(allowed)},
        )


def _check_body(event: APIGatewayProxyEventV2) -> None:
    if not event.body or not _is_json(event.headers.get("content-type", "")):
        return
    try:
        event.json_body  # noqa: B018  parsed once: the event remembers it for the route
    except (binascii.Error, UnicodeError, orjson.JSONDecodeError) as error:
        raise Rejected("BODY_MALFORMED", "The request body is not JSON in UTF-8.") from error


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    # Powertools reads a body without a type as JSON, too.
    return media_type in ("", "application/json") or media_type.endswith("+json")


def _as_signet_error(error: Exception) -> Exception:
    """Powertools' own errors about a request, in our taxonomy."""
    if isinstance(error, RequestUnsupportedContentType):
        return Rejected("CONTENT_TYPE_UNSUPPORTED", "Send the body as application/json.")
    if isinstance(error, RequestValidationError):
        fields = tuple(_as_field_error(mistake) for mistake in error.errors())
        return Rejected("REQUEST_INVALID", "The request has not the form that is asked for.", fields=fields)
    return error


def _as_field_error(mistake: Mapping[str, Any]) -> FieldError:
    """Pointers are into the body; those of parameters begin with /query, /path, /header or /cookie."""
    steps = [str(step).replace("~", "~0").replace("/", "~1") for step in mistake["loc"]]
    if steps and steps[0] == "body":
        steps = steps[1:]
    pointer = "".join(f"/{step}" for step in steps)
    return FieldError(pointer, str(mistake["type"]).upper(), str(mistake.get("msg", "is not valid")))


def _problem_response(resolver: APIGatewayHttpResolver, error: Exception) -> Response[str]:
    answer = _problem_answer(error, _read_request_id(resolver.current_event.raw_event))
    return Response(status_code=answer["statusCode"], headers=answer["headers"], body=answer["body"])


def _problem_answer(error: Exception, request_id: str) -> dict[str, Any]:
    problem = make_problem(_as_signet_error(error), request_id)
    if problem.status >= _FIRST_UNEXPECTED_STATUS:
        _LOG.error("request %s: %s", request_id, problem.document["code"], exc_info=error)
    elif isinstance(error, SignetError):
        _LOG.info("request %s: %s", request_id, error.code)
    return {
        "statusCode": problem.status,
        "headers": dict(problem.headers),
        "cookies": [],
        "body": _to_json(problem.document),
        "isBase64Encoded": False,
    }


def _read_request_id(event: Mapping[str, Any]) -> str:
    try:
        return str(event["requestContext"]["requestId"])
    except (KeyError, TypeError):
        return UNKNOWN_REQUEST_ID


def _to_json(value: object) -> str:
    return orjson.dumps(value).decode()
