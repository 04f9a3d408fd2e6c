"""Bodies with many mistakes: they are told as one, and a few are told each by itself."""

import inspect
from typing import Annotated, Any, get_args

import pytest
from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import TypeAdapter, ValidationError

from signet.api.http.bodies import bound_mistakes
from signet.core.validation.model_errors import MAX_LISTED_MISTAKES
from signet.core.validation.strict_model import Strict


class Thing(Strict):
    name: str


def count_mistakes(sent: Any) -> list[str]:
    kind = Annotated[Thing, Body()]
    parameter = inspect.Parameter("thing", inspect.Parameter.KEYWORD_ONLY, annotation=kind)
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(bound_mistakes(parameter).annotation).validate_python(sent)
    return [error["type"] for error in caught.value.errors()]


def make_unknown(count: int) -> dict[str, Any]:
    return {"name": "a", **{f"m{number}": 1 for number in range(count)}}


def test_some_mistakes_are_each_told() -> None:
    assert count_mistakes(make_unknown(MAX_LISTED_MISTAKES)) == ["extra_forbidden"] * MAX_LISTED_MISTAKES


def test_more_are_told_as_one() -> None:
    assert count_mistakes(make_unknown(MAX_LISTED_MISTAKES + 1)) == ["value_error"]


def test_the_mark_of_a_body_stays() -> None:
    kind = Annotated[Thing, Body()]
    parameter = inspect.Parameter("thing", inspect.Parameter.KEYWORD_ONLY, annotation=kind)
    assert get_args(bound_mistakes(parameter).annotation)[:2] == get_args(kind)
