"""Problem documents (RFC 9457) with stable codes, and where an error is in what was sent.

A mistake in the body has a JSON pointer (RFC 6901). One in a parameter has its name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast, get_args

from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from signet.core.errors import Defect, ErrorKind, FieldError, Parameter, Rejected, SignetError, Within

PROBLEM_CONTENT_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
MAX_FIELD_ERRORS = 200
INTERNAL_ERROR = "INTERNAL_ERROR"

STATUSES: Mapping[ErrorKind, int] = MappingProxyType(
    {
        ErrorKind.MALFORMED: 400,
        ErrorKind.INVALID: 422,
        ErrorKind.UNAUTHENTICATED: 401,
        ErrorKind.FORBIDDEN: 403,
        ErrorKind.NOT_FOUND: 404,
        ErrorKind.METHOD: 405,
        ErrorKind.CONFLICT: 409,
        ErrorKind.PRECONDITION: 412,
        ErrorKind.PRECONDITION_MISSING: 428,
        ErrorKind.LOCKED: 423,
        ErrorKind.TOO_LARGE: 413,
        ErrorKind.TOO_MANY: 429,
        ErrorKind.MEDIA_TYPE: 415,
        ErrorKind.SUPERSEDED: 409,
        ErrorKind.UNAVAILABLE: 503,
        ErrorKind.FAILED: 422,
        ErrorKind.DEFECT: 500,
    }
)

Places = Mapping[Within, str]
Names = Mapping[str, str]
_PARAMETERS = get_args(Parameter)
_FORM = "The request does not have the form that this route needs."
# Details that the caller needs in order to go on.
_EXTENSIONS = ("current_version", "outcome", "request_id", "index", "report", "limit_of")


@dataclass(frozen=True, slots=True)
class Problem:
    status: int
    headers: Mapping[str, str]
    document: Mapping[str, object]


def make_problem(error: Exception, request_id: str) -> Problem:
    """Make the problem document that the caller may see: only the code of defects and unforeseen errors."""
    if not isinstance(error, SignetError) or isinstance(error, Defect):
        code = error.code if isinstance(error, Defect) else INTERNAL_ERROR
        error = Defect(code, "Something broke on our side; it is logged under this instance.")
    status = _find_status(error)
    document: dict[str, object] = {
        "type": f"urn:signet:problem:{error.code.lower().replace('_', '-')}",
        "title": error.code.replace("_", " ").capitalize(),
        "status": status,
        "detail": error.message,
        "instance": f"urn:signet:request:{request_id}",
        "code": error.code,
    }
    document |= {name: error.details[name] for name in _EXTENSIONS if name in error.details}
    if error.remedy:
        document["remedy"] = error.remedy
    if error.fields:
        document["errors"] = [show_field(field) for field in error.fields[:MAX_FIELD_ERRORS]]
    return Problem(status, _headers_of(error), document)


def _find_status(error: SignetError) -> int:
    """Return 404 for what the path names, and 422 for what the body names and is not there."""
    is_named_by_body = error.kind is ErrorKind.NOT_FOUND and bool(error.fields)
    return STATUSES[ErrorKind.INVALID if is_named_by_body else error.kind]


def show_field(field: FieldError) -> Mapping[str, str]:
    """Show where an error is: a pointer into the body, or the parameter."""
    place = {"in": field.within, "name": field.name} if field.name else {"pointer": field.pointer}
    shown = {**place, "code": field.code, "detail": field.message}
    return {**shown, "remedy": field.remedy} if field.remedy else shown


def _headers_of(error: SignetError) -> Mapping[str, str]:
    headers = {"content-type": PROBLEM_CONTENT_TYPE}
    match error.kind:
        case ErrorKind.PRECONDITION if isinstance(version := error.details.get("current_version"), int):
            headers["etag"] = f'"{version}"'
        case ErrorKind.UNAUTHENTICATED:
            # RFC 6750: a request without a bearer token learns only the scheme.
            missing = error.code == "TOKEN_MISSING"
            headers["www-authenticate"] = "Bearer" if missing else 'Bearer error="invalid_token"'
        case ErrorKind.METHOD:
            headers["allow"] = str(error.details.get("allow", ""))
        case ErrorKind.MEDIA_TYPE:
            headers |= cast(Mapping[str, str], error.details.get("accept", {}))
        case ErrorKind.UNAVAILABLE | ErrorKind.TOO_MANY:
            headers["retry-after"] = str(error.details.get("retry_after_seconds", RETRY_AFTER_SECONDS))
    return headers


def reject_request(fields: tuple[FieldError, ...]) -> Rejected:
    """Reject a request: as malformed for its parameters, as not valid for the content of its body."""
    is_malformed = any(field.within in _PARAMETERS for field in fields)
    return Rejected("REQUEST_MALFORMED" if is_malformed else "REQUEST_INVALID", _FORM, fields=fields)


def translate_error(error: Exception, body: Any = None) -> Exception:
    """Translate Powertools' own errors about a request into ours."""
    if not isinstance(error, RequestValidationError):
        return error
    # Pydantic, which the first route has loaded.
    from signet.core.validation.model_errors import describe_mistakes
    from signet.core.validation.strict_model import point

    errors = error.errors()
    in_body = [{**each, "loc": each["loc"][1:]} for each in errors if each["loc"][:1] == ("body",)]
    of_body = [
        FieldError(point(mistake.path), mistake.code, mistake.sentence)
        for mistake in describe_mistakes(in_body, body)
    ]
    of_parameters = [_describe_parameter(each) for each in errors if each["loc"][:1] != ("body",)]
    return reject_request((*of_parameters, *of_body))


def _describe_parameter(error: Mapping[str, Any]) -> FieldError:
    from signet.core.validation.model_errors import describe_mistake

    within, name = str(error["loc"][0]), str(error["loc"][1])
    code, sentence = describe_mistake(error)
    return FieldError("", code, sentence, within=cast(Within, within), name=name)


def place_fields(fields: tuple[FieldError, ...], places: Places, prefix: str = "") -> tuple[FieldError, ...]:
    """Place errors about a document or a payload where the request holds these.

    What the request does not hold, such as a field that an action sets, is named in the sentence.
    """
    return tuple(_point_at(field, places, prefix) for field in fields)


def _point_at(field: FieldError, places: Places, prefix: str) -> FieldError:
    if field.within in _PARAMETERS:
        return field
    if field.within == "body":
        return replace(field, pointer=prefix + field.pointer)
    place = places.get(field.within)
    if place is None:
        sentence = f"{field.pointer.removeprefix('/')} {field.message}".strip()
        return replace(field, pointer=prefix, message=sentence, within="body")
    return replace(field, pointer=prefix + place + field.pointer, within="body")


def place_error(error: SignetError, places: Places, names: Names, prefix: str = "") -> None:
    """Place an error in the request, and a thing that is not there where the request names it."""
    error.fields = place_fields(error.fields, places, prefix)
    pointer = names.get(error.code)
    if pointer is not None and not error.fields:
        error.fields = (FieldError(prefix + pointer, error.code, error.message, error.remedy),)
