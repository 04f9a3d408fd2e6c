"""A template gives at most so many bytes, and nothing is built of what is too large."""

import json
from typing import Any

import pytest
from hypothesis import given

from signet.core.errors import Rejected
from signet.core.expressions import ANY, Scope, compile_template, parse_template
from signet.core.expressions import render as rendering
from signet.core.expressions.byte_budget import ByteBudget
from signet.core.expressions.template import MAX_RENDERED_BYTES
from tests.support.generated.expressions import QUICK, environments
from tests.support.rendering import render_whole
from tests.unit.core.expressions.test_template import OPEN_SCOPE, _templates

SCOPE = Scope({"entity": ANY})
# The whole takes this much beside the text that is read.
SHAPES: list[tuple[Any, int]] = [
    ("{entity.a}", 2),
    ("<{entity.a}>", 4),
    ({"$expr": "entity.a"}, 2),
    (["{entity.a}"], 4),
    ([{"$expr": "entity.a"}, 1, "é"], 11),
    ({"key": "{entity.a}", "other": [None]}, len('{"key":"","other":[null]}')),
    ({"é": {"$expr": "entity.a"}}, len('{"é":""}'.encode())),
    ("{entity.list}", len('"[\\"\\"]"')),
    ({"$expr": "entity.object"}, len('{"x":[""]}')),
]


def read(template: Any) -> rendering.Render:
    parsed, errors = parse_template(template, SCOPE)
    assert parsed is not None, errors
    return compile_template(parsed)


def make_env(text: str) -> dict[str, Any]:
    return {"entity": {"a": text, "list": [text], "object": {"x": [text]}}}


@pytest.mark.parametrize(("template", "around"), SHAPES, ids=[json.dumps(shape) for shape, _ in SHAPES])
@pytest.mark.parametrize("character", ["x", "é"])
def test_the_last_byte_that_fits(template: Any, around: int, character: str) -> None:
    width = len(character.encode())
    count = (MAX_RENDERED_BYTES - around) // width
    value, _ = render_whole(read(template), make_env(character * count))
    assert MAX_RENDERED_BYTES - width < len(dump(value)) <= MAX_RENDERED_BYTES
    refused = read(template)(make_env(character * (count + 1)))
    assert isinstance(refused, Rejected) and refused.code == "TEMPLATE_TOO_LARGE"
    assert f"more than {MAX_RENDERED_BYTES} bytes" in refused.message and "smaller template" in refused.remedy


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("leaf", ["{entity.a}", {"$expr": "entity.a"}, "{entity.list}"])
@pytest.mark.parametrize("as_object", [True, False])
def test_one_text_that_is_named_often(leaf: Any, as_object: bool) -> None:
    many: Any = {str(n): leaf for n in range(833)} if as_object else [leaf] * 833
    refused = read(many)(make_env("x" * 30_000))
    assert isinstance(refused, Rejected) and refused.code == "TEMPLATE_TOO_LARGE"
    assert not isinstance(read(many)(make_env("x" * 200)), Rejected)


def test_one_text_with_many_placeholders() -> None:
    refused = read("{entity.a}" * 900)(make_env("x" * 30_000))
    assert isinstance(refused, Rejected) and refused.code == "TEMPLATE_TOO_LARGE"


def test_no_json_is_written_of_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(value: object) -> str:
        raise AssertionError("it was written")

    monkeypatch.setattr(rendering, "text_of", write)
    assert isinstance(read("{entity.list}")(make_env("x" * MAX_RENDERED_BYTES)), Rejected)


def test_a_template_that_is_too_large_whatever_it_reads_is_a_mistake_of_its_author() -> None:
    for template in (
        ["x" * 10_000] * 27,
        {"a": {"b": ["x" * 10_000] * 26, "c": "{entity.a}" + "x" * 9_980}},
        [*(["x" * 10_000] * 26), {"$expr": "entity.a"}, *[1] * 1_100],
    ):
        parsed, (error,) = parse_template(template, SCOPE)
        assert parsed is None and (error.code, error.pointer) == ("RESULT_TOO_LARGE", "")
        assert str(MAX_RENDERED_BYTES) in error.message
    assert parse_template(["x" * 10_000] * 26, SCOPE)[1] == ()


@QUICK
@given(_templates, environments)
def test_what_is_counted_is_what_it_gives(value: object, env: dict[str, Any]) -> None:
    """Hold the count while rendering to the bytes of the result, for any template."""
    parsed, _ = parse_template(value, OPEN_SCOPE)
    assert parsed is not None
    given_value, _ = render_whole(compile_template(parsed), env)
    budget = ByteBudget(MAX_RENDERED_BYTES)
    rendering._compile(parsed)(env, budget)
    assert MAX_RENDERED_BYTES - budget.left == len(dump(given_value))
