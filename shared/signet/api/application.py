"""HTTP API: events of API Gateway (payload format 2.0) in, answers out.

A request first needs a readable event, a body within its limit, and a known route and method. Then come
its token, its quotas, who may send a large body, the form of its body, and the route's parameters. The first
check that fails answers the request.
"""

import os
import re
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import orjson
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from signet.api.auth.authentication import check_metrics_token
from signet.api.http.bodies import LARGE_BODY_BYTES, check_large_body
from signet.api.http.call import MAX_WAIT_SECONDS, Call
from signet.api.http.message import (
    answer_preflight,
    check_body,
    check_content_type,
    check_form,
    check_size,
    deliver,
    is_merge_patch,
    list_accepted,
    read_bytes,
    read_origin,
    read_request_id,
    to_json,
    unwrap_pointer,
    wrap_merge_patch,
)
from signet.api.http.problems import INTERNAL_ERROR, make_problem, translate_error
from signet.api.http.routing import NO_WAIT, Resolver, Routes
from signet.api.routes.index import RouteEntry, make_index, read_index
from signet.api.routes.table import MatchedRoute, RouteTable, find_declared, load_all_groups, write_allowed
from signet.api.use_cases import UseCases
from signet.core.errors import SignetError
from signet.core.tenants.principal import Principal
from signet.core.tenants.quotas import READS, WRITES
from signet.engine.access.quotas import Left, RequestQuotas
from signet.engine.telemetry import RequestReport, Span
from signet.settings import SOURCES

# A heading in the reference, and the function that declares the routes below it.
MoreRoutes = Sequence[tuple[str, Callable[[Routes], None]]]


class Authenticate(Protocol):
    """The check of an `Authorization` header; a request that may write is checked more strictly."""

    def __call__(self, authorization: str | None, *, may_write: bool = False) -> Principal: ...


UNKNOWN_REQUEST_ID = "unknown"
UNKNOWN_ROUTE = "unknown"
_FIRST_UNEXPECTED_STATUS = 500
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_WAIT = re.compile(r"(?:^|[,;])\s*wait\s*=\s*\"?([0-9]{1,4})\"?\s*(?:$|[,;])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The parts that `wiring` gives the API."""

    use: UseCases
    authenticate: Authenticate
    quotas: RequestQuotas
    # Origins of browsers that may call; none by default.
    origins: Sequence[str] = ()
    # For the operators of the deployment; it belongs to no tenant.
    metrics_token: str | None = None
    # What runs here: each answer names it, so that anybody can see whether a deployment has arrived.
    build: str = SOURCES


class Application:
    """A handler that any number of threads may call at once.

    The modules of a group of routes are loaded with the first request for one of them.
    """

    def __init__(self, dependencies: Dependencies, more: MoreRoutes = ()) -> None:
        """Make the handler; the routes of `more` come before the listed ones."""
        self._dependencies = dependencies
        self._more = more
        first = self._make_resolver()
        self._table = RouteTable([*read_index(), *make_index(first.declared)])
        # A resolver holds the request that it is working on, so each serves one at a time.
        self._idle = deque([first])

    def __call__(self, event: dict[str, Any], context: object) -> dict[str, Any]:
        resolver = self._take_resolver()
        try:
            return _ServedRequest(resolver, self._dependencies, self._table, event, context).answer()
        finally:
            self._idle.append(resolver)

    def prepare(self) -> None:
        """Load and make everything that requests need, so that none has to; raise if something is broken."""
        resolver = self._take_resolver()
        try:
            load_all_groups(resolver)
            resolver.build()
            self._dependencies.use.make_all()
            # One request without a token and without the database; telemetry does not see it.
            unwatched = replace(self._dependencies, use=self._dependencies.use.unwatched())
            _ServedRequest(resolver, unwatched, self._table, _make_own_event(), None).serve()
        finally:
            self._idle.append(resolver)

    def _take_resolver(self) -> Resolver:
        try:
            return self._idle.pop()
        except IndexError:
            return self._make_resolver()

    def _make_resolver(self) -> Resolver:
        resolver = make_resolver()
        for tag, declare in self._more:
            resolver.add(tag, tag, declare)
        return resolver


def make_resolver() -> Resolver:
    """Make a resolver without routes."""
    resolver = Resolver(enable_validation=True, debug=False, serializer=to_json)
    # Otherwise Powertools would answer an error in its own form.
    resolver.exception_handler(Exception)(lambda error: _problem_response(resolver, error))
    return resolver


class _ServedRequest:
    """One event, and everything that is found out about it."""

    def __init__(
        self,
        resolver: Resolver,
        dependencies: Dependencies,
        table: RouteTable,
        event: dict[str, Any],
        context: object,
    ) -> None:
        self._resolver = resolver
        self._dependencies = dependencies
        self._table = table
        self._event = event
        self._context = cast(LambdaContext, context)
        self._headers: Mapping[str, str] = {}
        self._method = ""
        self._size = 0
        self._left: Sequence[Left] = ()
        self._entry: RouteEntry | None = None
        self._principal: Principal | None = None
        self._trace_id = ""
        # Errors that were answered with a problem document.
        self._errors: list[Exception] = []

    def answer(self) -> dict[str, Any]:
        began = time.perf_counter()
        request_id = read_request_id(self._event, UNKNOWN_REQUEST_ID)
        try:
            answer = self.serve()
        except Exception as error:
            answer = _problem_answer(error, request_id)
            self._errors.append(error)
        if self._left:
            answer["headers"] = {**answer["headers"], **_make_quota_headers(self._left)}
        delivered = deliver(
            answer,
            headers=self._headers,
            request_id=request_id,
            origins=self._dependencies.origins,
            build=self._dependencies.build,
        )
        applied = delivered["headers"].get("preference-applied")
        self._report(delivered["statusCode"], request_id, time.perf_counter() - began, applied)
        return delivered

    def serve(self) -> dict[str, Any]:
        """Serve the request; raise the errors that no route has answered."""
        check_form(self._event)
        event = APIGatewayProxyEventV2(self._event, orjson.loads)
        self._headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
        self._method = event.http_method.upper()
        self._size = check_size(event)
        if self._method == "OPTIONS":
            methods = self._table.find_methods(event.path)
            accepted = list_accepted({name: entry.takes_merge_patch for name, entry in methods.items()})
            origins = self._dependencies.origins
            return answer_preflight(self._headers, origins, write_allowed(methods), accepted)
        event = self._read_as_get(event)
        route = self._table.find(event.http_method.upper(), event.path)
        self._entry = route.entry
        cause = self._headers.get("traceparent", "")
        causes = [cause] if _TRACEPARENT.fullmatch(cause) is not None else []
        with self._dependencies.use.telemetry.span("request", causes, {}) as span:
            self._trace_id = span.traceparent or (cause if causes else _make_trace_id())
            answer = self._serve_found(route, event)
            if span.traceparent is not None:
                self._describe(span, route.entry, answer["statusCode"])
            return answer

    def _report(self, status: int, request_id: str, seconds: float, applied: str | None) -> None:
        entry, error = self._entry, self._errors[0] if self._errors else None
        report = RequestReport(
            request_id,
            self._trace_id,
            # Only names of the closed set of routes: anything may have been sent instead.
            self._method if entry else UNKNOWN_ROUTE,
            entry.path if entry else UNKNOWN_ROUTE,
            status,
            seconds,
            code_of(error) if error else None,
            self._principal.tenant_id if self._principal else None,
            getattr(self._context, "aws_request_id", None),
            error if status >= _FIRST_UNEXPECTED_STATUS else None,
            _find_limit(error),
            None if applied is None else applied != NO_WAIT,
        )
        self._dependencies.use.telemetry.request_ended(report)

    def _describe(self, span: Span, entry: RouteEntry, status: int) -> None:
        """Describe the span in the names of OpenTelemetry's conventions."""
        about = {"http.request.method": self._method, "http.route": entry.path}
        span.describe(f"{entry.method} {entry.path}", {**about, "http.response.status_code": status})
        if status >= _FIRST_UNEXPECTED_STATUS:
            span.fail(code_of(self._errors[0]) if self._errors else str(status))

    def _serve_found(self, route: MatchedRoute, event: APIGatewayProxyEventV2) -> dict[str, Any]:
        principal = self._principal = self._admit(route.entry)
        declared = find_declared(self._resolver, route.entry)
        if self._size > LARGE_BODY_BYTES:
            check_large_body(declared, principal, self._dependencies.use.database)
        check_body(event)
        check_content_type(event, declared)
        unwraps = is_merge_patch(event, declared)
        event = wrap_merge_patch(event) if unwraps else event
        # Powertools keeps the event on a class, one for the whole process: a second thread would answer with
        # the first one's. Values set on the instance are found before those of the class.
        self._resolver.current_event = event
        self._resolver.lambda_context = self._context
        body = read_bytes(event) if route.entry.is_signed else b""
        call = self._make_call(principal, body)
        self._resolver.context = {"call": call, "errors": self._errors, "unwraps": unwraps}
        self._resolver.found = (route.entry.method, route.entry.path, route.parts)
        return self._resolver.resolve(event.raw_event, self._context)

    def _read_as_get(self, event: APIGatewayProxyEventV2) -> APIGatewayProxyEventV2:
        """Return the event with HEAD as GET: only the headers of the answer are sent."""
        if self._method != "HEAD":
            return event
        context = self._event["requestContext"]
        as_get = {**context, "http": {**context["http"], "method": "GET"}}
        return APIGatewayProxyEventV2({**self._event, "requestContext": as_get}, orjson.loads)

    def _admit(self, entry: RouteEntry) -> Principal | None:
        if entry.is_public or entry.is_signed:
            return None
        if entry.wants_metrics_token:
            check_metrics_token(self._headers.get("authorization"), self._dependencies.metrics_token)
            return None
        principal = self._dependencies.authenticate(
            self._headers.get("authorization"), may_write=entry.method != "GET"
        )
        if entry.is_for_operators and principal.is_operator:
            return principal
        name = READS if entry.method == "GET" else WRITES
        self._left = self._dependencies.quotas.take(principal.tenant_id, principal.counted_as, name)
        return principal

    def _make_call(self, principal: Principal | None, body: bytes) -> Call:
        # A public route has no principal, and does not use it.
        asking = cast(Principal, principal)
        wait_seconds = _parse_wait(self._headers.get("prefer"))
        return Call(
            self._dependencies.use,
            asking,
            self._trace_id,
            self._headers,
            wait_seconds,
            body,
            read_origin(self._event, self._headers),
            read_request_id(self._event, UNKNOWN_REQUEST_ID),
            self._dependencies.build,
        )


def code_of(error: Exception) -> str:
    """Return the code that the problem document has."""
    ours = translate_error(error)
    return ours.code if isinstance(ours, SignetError) else INTERNAL_ERROR


def _find_limit(error: Exception | None) -> str | None:
    """Find whose limit it is, of a request that a quota refused."""
    found = error.details.get("limit_of") if isinstance(error, SignetError) else None
    return str(found) if found else None


def _make_own_event() -> dict[str, Any]:
    """Make an event as API Gateway would send it, for the reference."""
    http = {"method": "GET", "path": "/openapi.json"}
    context = {"http": http, "requestId": UNKNOWN_REQUEST_ID, "stage": "$default"}
    return {"version": "2.0", "rawPath": "/openapi.json", "headers": {}, "requestContext": context}


def _make_trace_id() -> str:
    return f"00-{os.urandom(16).hex()}-{os.urandom(8).hex()}-01"


def _parse_wait(prefer: str | None) -> float:
    """Parse `Prefer`; a preference that cannot be parsed or met is none (RFC 7240)."""
    match = _WAIT.search(prefer) if prefer else None
    return min(float(match[1]), MAX_WAIT_SECONDS) if match else 0.0


def _make_quota_headers(lefts: Sequence[Left]) -> dict[str, str]:
    policies = [f'"{one.quota.name}";q={one.quota.capacity};w={one.quota.refill_seconds}' for one in lefts]
    rests = [f'"{one.quota.name}";r={one.count};t={max(round(one.full_seconds), 0)}' for one in lefts]
    return {"ratelimit-policy": ", ".join(policies), "ratelimit": ", ".join(rests)}


def _problem_response(resolver: Resolver, error: Exception) -> Response[str]:
    event = resolver.current_event
    body = event.json_body if isinstance(error, RequestValidationError) and event.body else None
    request_id = read_request_id(event.raw_event, UNKNOWN_REQUEST_ID)
    ours = translate_error(error, body)
    if isinstance(ours, SignetError) and resolver.context["unwraps"]:
        ours.fields = tuple(replace(field, pointer=unwrap_pointer(field.pointer)) for field in ours.fields)
    answer = _problem_answer(ours, request_id)
    resolver.context["errors"].append(error)
    return Response(status_code=answer["statusCode"], headers=answer["headers"], body=answer["body"])


def _problem_answer(error: Exception, request_id: str) -> dict[str, Any]:
    problem = make_problem(error, request_id)
    return {
        "statusCode": problem.status,
        "headers": dict(problem.headers),
        "cookies": [],
        "body": to_json(problem.document),
        "isBase64Encoded": False,
    }
