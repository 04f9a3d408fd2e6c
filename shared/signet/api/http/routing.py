"""Declarations of routes: path, answers, and a function of the call and its checked parameters.

This module alone adds to each function: unknown query parameters, preconditions, the idempotency of POST,
`Prefer: wait`, and where an error is in the request. `openapi/document.py` writes the declarations down.
"""

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast
from urllib.parse import parse_qsl

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import Route

from signet.api.http.bodies import bound_mistakes
from signet.api.http.call import Call, HttpAnswer
from signet.api.http.idempotency import answer_once
from signet.api.http.message import to_json, write_etag
from signet.api.http.preconditions import act_on_seen, check_read, parse_tags
from signet.api.http.problems import Places, place_error, reject_request
from signet.core.errors import FieldError, SignetError

JSON = "application/json"
NO_WAIT = "wait=0"
_FIRST_POLL_SECONDS, _LONGEST_POLL_SECONDS = 0.02, 0.25
Serve = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Declared:
    """Everything that is known of a route without calling it."""

    method: str
    path: str
    name: str
    tag: str
    summary: str
    # The shown type by status; None is no body.
    shows: Mapping[int, Any]
    is_public: bool = False
    # The sender is known by a signature over the body instead of a token.
    is_signed: bool = False
    # This wants the deployment's own token, and knows no tenant.
    wants_metrics_token: bool = False
    content_type: str = JSON
    # Whether the answer has an ETag, and a change wants it back.
    is_versioned: bool = False
    may_wait: bool = False
    # The model by which the use case parses the body; the route passes the body on as it came.
    body_model: Any = None
    # Fields of a POST's answer that are not kept, and so not shown when the request is repeated.
    once_shown: tuple[str, ...] = ()
    # For operators of the deployment, who use no tenant's quota.
    is_for_operators: bool = False
    query_names: frozenset[str] = field(default_factory=frozenset)
    # Whether a request without If-Match is refused, or one that makes what is not there yet.
    wants_version: bool = False
    makes: bool = False
    # Whether it knows If-Match at all.
    takes_version: bool = False
    # Where the request holds the document's data, or the payload of an action.
    places: Places = field(default_factory=dict)
    # By a code that says that a thing is not there: the member of the body that names the thing.
    names: Mapping[str, str] = field(default_factory=dict)
    takes_body: bool = False
    # Statuses of problems that do not follow from all this.
    also_answers: tuple[int, ...] = ()
    # Of POST: whether it only reads, so that no state is against it.
    writes_nothing: bool = False
    # Of PATCH: whether a merge patch alone is taken as its body, too.
    takes_merge_patch: bool = False
    # The permission without which a large body is not looked at, with a `*` for some type or act. None takes
    # no large body.
    large_bodies_want: str | None = None
    # Whether it always makes a heavy call, so that a large body is parsed in the tenant's turn alone.
    is_heavy: bool = False

    @property
    def takes_idempotency_key(self) -> bool:
        """Return whether a repetition gets the first answer, which is kept with what the request writes.

        The sender of a signed request is not known yet, and its messages have ids of their own. What an
        operator writes is of another tenant than the operator.
        """
        return self.method == "POST" and not self.is_signed and not self.is_for_operators


class Resolver(APIGatewayHttpResolver):
    """Powertools' resolver, but told which route it serves.

    Its own would try one route after the other, and some characters in a path match none of them.
    """

    found: tuple[str, str, dict[str, str]]
    # Only the description needs the models of the answers, each of which costs a validator.
    describes_answers = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # By the group that declares them.
        self.declared: dict[str, Sequence[Declared]] = {}
        self._by_place: Mapping[tuple[str, str], Route] = {}

    def add(self, group: str, tag: str, declare: "Callable[[Routes], None]") -> None:
        declared: list[Declared] = []
        declare(Routes(self, tag, declared))
        routes = self._static_routes + self._dynamic_routes
        self._by_place = {(route.method, route.path): route for route in routes}
        self.declared[group] = declared

    def build(self) -> None:
        """Build what Powertools would build of each route at its first request."""
        for route in self._by_place.values():
            _ = route.dependant, route.body_field

    def _resolve(self) -> Any:
        method, path, parts = self.found
        route = self._by_place[method, path]
        self.context |= {"_route": route, "_path": path}
        return self._call_route(route, parts)


class Routes:
    """The routes of one concept; `tag` is its heading in the reference."""

    def __init__(self, resolver: Resolver, tag: str, declared: list[Declared]) -> None:
        self._resolver = resolver
        self._tag = tag
        self._declared = declared

    def get(self, path: str, summary: str, shows: Any, **more: Any) -> Callable[[Serve], Serve]:
        return self._add("GET", path, summary, {200: shows}, more)

    def post(
        self,
        path: str,
        summary: str,
        shows: Any,
        *,
        status: int = 200,
        also: Mapping[int, Any] | None = None,
        **more: Any,
    ) -> Callable[[Serve], Serve]:
        return self._add("POST", path, summary, {status: shows, **(also or {})}, more)

    def patch(
        self, path: str, summary: str, shows: Any, *, also: Mapping[int, Any] | None = None, **more: Any
    ) -> Callable[[Serve], Serve]:
        return self._add("PATCH", path, summary, {200: shows, **(also or {})}, more)

    def put(
        self, path: str, summary: str, shows: Any, *, also: Mapping[int, Any] | None = None, **more: Any
    ) -> Callable[[Serve], Serve]:
        return self._add("PUT", path, summary, {200: shows, **(also or {})}, more)

    def delete(
        self,
        path: str,
        summary: str,
        shows: Any = None,
        *,
        also: Mapping[int, Any] | None = None,
        **more: Any,
    ) -> Callable[[Serve], Serve]:
        answers = {204 if shows is None else 200: shows, **(also or {})}
        return self._add("DELETE", path, summary, answers, more)

    def _add(
        self, method: str, path: str, summary: str, shows: Mapping[int, Any], more: Mapping[str, Any]
    ) -> Callable[[Serve], Serve]:
        def declare(serve: Serve) -> Serve:
            signed = list(inspect.signature(serve).parameters.values())[1:]
            parameters = [bound_mistakes(one) if _is_body(one) else one for one in signed]
            declared = Declared(
                method,
                path,
                serve.__name__,
                self._tag,
                summary,
                shows,
                query_names=frozenset(_list_query_names(parameters)),
                **_describe_parameters(parameters),
                **more,
            )
            self._declared.append(declared)
            described = self._resolver.describes_answers
            wrapped = _wrap(self._resolver, declared, serve, parameters)
            self._resolver.route(
                path,
                method=method,
                summary=summary,
                description=inspect.getdoc(serve),
                tags=[self._tag],
                operation_id=serve.__name__,
                responses=cast(Any, _describe_answers(declared)) if described else None,
            )(wrapped)
            return serve

        return declare


def _list_query_names(parameters: Sequence[inspect.Parameter]) -> list[str]:
    from aws_lambda_powertools.event_handler.openapi.params import Query  # pydantic, for the first route

    names = []
    for parameter in parameters:
        for mark in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(mark, Query):
                names.append(mark.alias or parameter.name)
    return names


def _is_body(parameter: inspect.Parameter) -> bool:
    from aws_lambda_powertools.event_handler.openapi.params import Body  # pydantic, for the first route

    return any(isinstance(mark, Body) for mark in getattr(parameter.annotation, "__metadata__", ()))


def _describe_parameters(parameters: Sequence[inspect.Parameter]) -> dict[str, Any]:
    from signet.api.http.parameters import IfMatch, IfMatchAtWill, IfMatchOfKnown

    kinds = [parameter.annotation for parameter in parameters]
    return {
        "wants_version": IfMatch in kinds,
        "makes": IfMatchOfKnown in kinds,
        "takes_version": any(kind in (IfMatch, IfMatchOfKnown, IfMatchAtWill) for kind in kinds),
        "takes_body": any(_is_body(parameter) for parameter in parameters),
    }


def _describe_answers(declared: Declared) -> dict[int, Any]:
    described: dict[int, Any] = {}
    for status, model in declared.shows.items():
        described[status] = {"description": _SENTENCES[status]}
        if model is not None and declared.content_type == JSON:
            described[status]["content"] = {JSON: {"model": model}}
    return described


_SENTENCES = {
    200: "The result.",
    201: "Made.",
    202: "Accepted; the workflow goes on with it, or it waits for another person.",
    204: "Done; the answer has no body.",
}


def _wrap(
    resolver: APIGatewayHttpResolver,
    declared: Declared,
    serve: Serve,
    parameters: Sequence[inspect.Parameter],
) -> Callable[..., Response[Any]]:
    def answer(**arguments: Any) -> Response[Any]:
        call = cast(Call, resolver.context["call"])
        return _to_response(declared, call, _serve(declared, call, resolver, serve, arguments))

    answer.__name__ = declared.name
    answer.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return answer


def _serve(
    declared: Declared,
    call: Call,
    resolver: APIGatewayHttpResolver,
    serve: Serve,
    arguments: Mapping[str, Any],
) -> HttpAnswer:
    _check_query(declared, resolver.current_event.raw_event.get("rawQueryString") or "")

    def act() -> HttpAnswer:
        try:
            return _act(declared, call, serve, arguments)
        except SignetError as error:
            place_error(error, declared.places, declared.names)
            raise

    if declared.takes_idempotency_key and (key := call.headers.get("idempotency-key")) is not None:
        event = resolver.current_event
        request = [declared.method, event.path, event.decoded_body or ""]
        served = answer_once(call, key, request, act, declared.once_shown)
    else:
        served = act()
    if declared.method == "GET" and served.version is not None:
        check_read(call.headers, served.version)
    if served.follow is not None and call.wait_seconds > 0:
        with call.use.waits.holding_place(call.principal, call.wait_seconds) as has_place:
            return replace(_follow(served, call.wait_seconds), could_wait=True) if has_place else served
    return served


def _act(declared: Declared, call: Call, serve: Serve, arguments: Mapping[str, Any]) -> HttpAnswer:
    def act(if_match: str | None) -> HttpAnswer:
        seen = {"if_match": if_match} if declared.takes_version else {}
        served = serve(call, **{**arguments, **seen})
        return served if isinstance(served, HttpAnswer) else HttpAnswer(served, next(iter(declared.shows)))

    return act_on_seen(call.headers, act, makes=declared.makes) if declared.takes_version else act(None)


def _check_query(declared: Declared, query: str) -> None:
    """Refuse unknown parameters, because the sender expected one to do something."""
    if not query:
        return
    unknown = {name for name, _ in parse_qsl(query, keep_blank_values=True)} - declared.query_names
    if unknown:
        raise reject_request(
            tuple(
                FieldError("", "FIELD_UNKNOWN", "is no parameter here", within="query", name=name[:100])
                for name in sorted(unknown)
            )
        )


def _follow(served: HttpAnswer, wait_seconds: float) -> HttpAnswer:
    """Poll less and less often until there is an outcome; in the end keep the first answer."""
    follow = cast("Callable[[], HttpAnswer | None]", served.follow)
    end, pause = time.monotonic() + wait_seconds, _FIRST_POLL_SECONDS
    while True:
        outcome = follow()
        if outcome is not None:
            return outcome
        left = end - time.monotonic()
        if left <= 0:
            return served
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_POLL_SECONDS)


def _to_response(declared: Declared, call: Call, served: HttpAnswer) -> Response[Any]:
    headers = dict(served.headers)
    if served.version is not None:
        headers["etag"] = write_etag(served.version, served.seen)
    if served.location is not None:
        headers["location"] = served.location
    if declared.may_wait and call.wait_seconds > 0:
        headers["preference-applied"] = f"wait={round(call.wait_seconds)}" if served.could_wait else NO_WAIT
    if declared.method == "GET" and _is_known(call, headers.get("etag")):
        return Response(status_code=304, headers=headers)
    if served.body is None:
        return Response(status_code=served.status, headers=headers)
    # A text, so that Powertools sends it as it is.
    text = served.body if served.is_text else to_json(served.body)
    return Response(served.status, declared.content_type, text, headers=headers)


def _is_known(call: Call, etag: str | None) -> bool:
    known = parse_tags(call.headers, "If-None-Match")
    return known is not None and (known.is_any or (etag is not None and known.has_weakly(etag)))
