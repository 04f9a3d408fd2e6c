"""Outcomes in a bulk request; a refusal has the words of a problem document."""

from collections.abc import Sequence
from dataclasses import dataclass

from signet.api.http.problems import MAX_FIELD_ERRORS
from signet.core.errors import SignetError


@dataclass(frozen=True, slots=True)
class RefusalField:
    pointer: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Refusal:
    code: str
    detail: str
    remedy: str
    errors: Sequence[RefusalField]


def describe_refusal(error: SignetError) -> Refusal:
    fields = [
        RefusalField(field.pointer, field.code, field.message) for field in error.fields[:MAX_FIELD_ERRORS]
    ]
    return Refusal(error.code, error.message, error.remedy, fields)
