"""The OpenAPI 3.1 document: Powertools' description of the routes, and what all routes share.

`make openapi` writes it, and it is served as it is. A test finds a stale one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from pydantic import TypeAdapter

from signet.api.http.idempotency import KEY_PATTERN
from signet.api.http.problems import PROBLEM_CONTENT_TYPE, STATUSES
from signet.api.http.routing import JSON, Declared
from signet.api.openapi.headers import HEADERS, list_headers, list_problem_headers
from signet.api.openapi.schema_names import name_schemas, open_answers
from signet.core.errors import CODES, ErrorKind
from signet.core.integrations.webhook_signatures import ID, SIGNATURE, TIMESTAMP

VERSION = "1"
DESCRIPTION = (
    "Everything belongs to the tenant of the token. Errors are problem documents (RFC 9457) with stable"
    " codes. A versioned answer carries its version as ETag; a change sends the version that was seen as"
    " If-Match. A POST with an Idempotency-Key happens once. A list goes on with its page's cursor."
    " Answers may grow: pass over members that you do not know."
)
_COMMON = (400, 401, 403, 404, 405, 422, 429, 500, 503)
_OF_BODIES = (413, 415)
_BY_STATUS: Mapping[int, Sequence[str]] = {
    status: sorted(code for code, kind in CODES.items() if STATUSES[kind] == status)
    for status in set(STATUSES.values())
}


def make_openapi(resolver: APIGatewayHttpResolver, declared: Sequence[Declared]) -> dict[str, Any]:
    described = resolver.get_openapi_schema(
        title="Signet", version=VERSION, openapi_version="3.1.0", description=DESCRIPTION
    )
    document: dict[str, Any] = described.model_dump(by_alias=True, exclude_none=True, mode="json")
    document["servers"] = [{"url": "/"}]
    document["info"]["contact"] = {"name": "The maintainers of Signet"}
    document["info"]["license"] = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
    document["tags"] = [{"name": name} for name in dict.fromkeys(route.tag for route in declared)]
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError", "ResponseValidationError"):
        schemas.pop(unused, None)
    schemas |= {"Problem": _PROBLEM, "GatewayRefusal": _GATEWAY_REFUSAL}
    components["securitySchemes"] = {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "A JWT of the tenant's issuer, or an API key.",
        },
        "signature": {
            "type": "apiKey",
            "in": "header",
            "name": SIGNATURE,
            "description": f"Standard Webhooks 1.0.0, with the headers {ID} and {TIMESTAMP}.",
        },
        "metrics": {
            "type": "http",
            "scheme": "bearer",
            "description": "The deployment's token for its metrics, not a token of a tenant.",
        },
    }
    components["responses"] = {f"Problem{status}": _describe_problem(status) for status in _BY_STATUS}
    components["responses"]["TooLong"] = _TOO_LONG
    components["headers"] = HEADERS
    for route in declared:
        operation = document["paths"][_write_path(route.path)][route.method.lower()]
        _complete(operation, route)
        if route.body_model is not None:
            schema = TypeAdapter(route.body_model).json_schema(ref_template="#/components/schemas/{model}")
            schemas |= schema.pop("$defs", {})
            operation["requestBody"]["content"] = {JSON: {"schema": schema}}
        if "requestBody" in operation:
            _leave_out_null(operation["requestBody"])
    name_schemas(document)
    open_answers(document)
    return document


def _write_path(path: str) -> str:
    return path.replace("<", "{").replace(">", "}")


def _complete(operation: dict[str, Any], route: Declared) -> None:
    operation.pop("deprecated", None)
    operation["security"] = [] if route.is_public else [{_security_scheme_of(route): []}]
    responses = operation["responses"]
    responses.pop("422", None)
    for status in _list_problems(operation, route):
        responses[str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    responses["431"] = {"$ref": "#/components/responses/TooLong"}
    for status, model in route.shows.items():
        if model is None:
            responses[str(status)].pop("content", None)
    if route.content_type != JSON:
        responses["200"]["content"] = {route.content_type: {"schema": {"type": "string"}}}
    parameters = operation.setdefault("parameters", [])
    _describe_if_match(parameters, route)
    if route.takes_idempotency_key:
        parameters.append(_IDEMPOTENCY_KEY)
    if route.may_wait:
        parameters.append(_PREFER)
    if route.is_versioned and route.method == "GET":
        parameters.append(_IF_NONE_MATCH)
        responses["304"] = {
            "description": "It is still at the version that was sent.",
            "headers": list_headers(route, 304),
        }
    for status in route.shows:
        responses[str(status)]["headers"] = list_headers(route, status)


def _leave_out_null(body: dict[str, Any]) -> None:
    """Describe a body that may be left out as its model alone: generated clients would send null, or fail."""
    if body.get("required"):
        return
    for content in body["content"].values():
        (model,) = (one for one in content["schema"]["anyOf"] if one != {"type": "null"})
        content["schema"] = model


def _describe_if_match(parameters: Sequence[dict[str, Any]], route: Declared) -> None:
    """Describe If-Match as required where the route refuses to go on without it."""
    for parameter in parameters:
        if parameter["name"].lower() == "if-match":
            parameter |= {"name": "If-Match", "required": route.wants_version, "schema": {"type": "string"}}


def _list_problems(operation: Mapping[str, Any], route: Declared) -> list[int]:
    statuses = [status for status in _COMMON if status not in _list_impossible(route)]
    if "requestBody" in operation:
        statuses += _OF_BODIES
    if route.method != "GET" and not route.writes_nothing:
        statuses.append(STATUSES[ErrorKind.CONFLICT])
    if route.method != "GET" and route.path.startswith("/v1/documents"):
        statuses.append(STATUSES[ErrorKind.LOCKED])
    if route.wants_version or route.makes:
        statuses.append(STATUSES[ErrorKind.PRECONDITION_MISSING])
    if route.takes_version or (route.method == "GET" and route.is_versioned):
        statuses.append(STATUSES[ErrorKind.PRECONDITION])
    return sorted({*statuses, *route.also_answers})


def _list_impossible(route: Declared) -> Sequence[int]:
    if route.is_public:
        return (401, 403, 429)
    return (403, 429) if route.wants_metrics_token else ()


def _describe_problem(status: int) -> dict[str, Any]:
    codes = _BY_STATUS[status]
    description = f"One of the codes {', '.join(codes)}." if codes else "The code says which error it is."
    described: dict[str, Any] = {
        "description": description,
        "content": {PROBLEM_CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    described["headers"] = list_problem_headers(status)
    return described


# The gateway in front of the API has none of our codes, and its own form.
_TOO_LONG: Mapping[str, Any] = {
    "description": "Path, query and headers are longer than a request may be (10,240 bytes).",
    "content": {JSON: {"schema": {"$ref": "#/components/schemas/GatewayRefusal"}}},
}
_GATEWAY_REFUSAL: Mapping[str, Any] = {
    "type": "object",
    "description": "A request that the gateway refused before the API saw it.",
    "required": ["message"],
    "properties": {"message": {"type": "string"}},
}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request under the same key happens once, and gets the first answer.",
    "schema": {"type": "string", "pattern": f"^{KEY_PATTERN}$"},
}
_PREFER = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`wait=N` waits up to N seconds, at most 10, for the workflow to perform or refuse it.",
    "schema": {"type": "string"},
}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The version that is known already.",
    "schema": {"type": "string"},
}
_PROBLEM: Mapping[str, Any] = {
    "type": "object",
    "description": "A problem (RFC 9457). Act on `code`, which never changes its meaning.",
    "required": ["type", "title", "status", "detail", "instance", "code"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {
            "type": "string",
            "format": "uri",
            "description": "The id of this request, as it is logged.",
        },
        "code": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$"},
        "remedy": {"type": "string"},
        "current_version": {"type": "integer", "description": "The present version, where it is another."},
        "index": {"type": "integer", "description": "Of what is `NOT_DONE`: which one was at fault."},
        "outcome": {"type": "string", "description": "What became of the request that was refused."},
        "request_id": {"type": "string", "format": "uuid", "description": "The request that was refused."},
        "report": {"$ref": "#/components/schemas/MoveReport"},
        "limit_of": {
            "type": "string",
            "enum": ["person", "tenant"],
            "description": "Of `QUOTA_EXCEEDED`: whose limit it is, the caller's own share or all of it.",
        },
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["code", "detail"],
                "properties": {
                    "pointer": {
                        "type": "string",
                        "description": "The place in the body, as a JSON pointer (RFC 6901).",
                    },
                    "in": {"type": "string", "description": "Where the parameter is, which has no pointer."},
                    "name": {"type": "string", "description": "The name of the parameter."},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                    "remedy": {"type": "string"},
                },
            },
        },
    },
}


def openapi_text(document: Mapping[str, Any]) -> str:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() + "\n"


def _security_scheme_of(route: Declared) -> str:
    if route.is_signed:
        return "signature"
    return "metrics" if route.wants_metrics_token else "bearer"
