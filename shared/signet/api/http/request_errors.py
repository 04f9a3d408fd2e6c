"""Errors of requests, as they are told: each place is in what was sent, and each code is our own.

A mistake in the body has a JSON pointer (RFC 6901). One in a parameter has its name.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)

from signet.core.errors import FieldError, Parameter, Rejected, SignetError, Within
from signet.core.validation.model_errors import describe_mistake, describe_mistakes
from signet.core.validation.strict_model import point

Places = Mapping[Within, str]
Names = Mapping[str, str]
_PARAMETERS = get_args(Parameter)
_FORM = "The request does not have the form that this route needs."


def reject_request(fields: tuple[FieldError, ...]) -> Rejected:
    """Reject a request: as malformed for its parameters, as not valid for the content of its body."""
    is_malformed = any(field.within in _PARAMETERS for field in fields)
    return Rejected("REQUEST_MALFORMED" if is_malformed else "REQUEST_INVALID", _FORM, fields=fields)


def translate_error(error: Exception, body: Any = None) -> Exception:
    """Translate Powertools' own errors about a request into ours."""
    if isinstance(error, RequestUnsupportedContentType):
        return Rejected("CONTENT_TYPE_UNSUPPORTED", "Send the body as application/json.")
    if not isinstance(error, RequestValidationError):
        return error
    errors = error.errors()
    in_body = [{**each, "loc": each["loc"][1:]} for each in errors if each["loc"][:1] == ("body",)]
    of_body = [
        FieldError(point(mistake.path), mistake.code, mistake.sentence)
        for mistake in describe_mistakes(in_body, body)
    ]
    of_parameters = [_describe_parameter(each) for each in errors if each["loc"][:1] != ("body",)]
    return reject_request((*of_parameters, *of_body))


def _describe_parameter(error: Mapping[str, Any]) -> FieldError:
    within, name = str(error["loc"][0]), str(error["loc"][1])
    code, sentence = describe_mistake(error)
    return FieldError("", code, sentence, within=cast(Within, within), name=name)


def place_fields(fields: tuple[FieldError, ...], places: Places, prefix: str = "") -> tuple[FieldError, ...]:
    """Place errors about a document or a payload where the request holds these.

    What the request does not hold, such as a field that an action sets, is named in the sentence.
    """
    return tuple(_place(field, places, prefix) for field in fields)


def _place(field: FieldError, places: Places, prefix: str) -> FieldError:
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
