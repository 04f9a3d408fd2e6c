"""Templates: literal parts stay as they are, computed parts are found, checked, stored and rendered."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from signet.core.expressions import (
    ANY,
    BOOL,
    INT,
    STRING,
    MalformedTree,
    Scope,
    Template,
    compile_template,
    list_of,
    list_template_parts,
    object_of,
    parse_template,
    template_from_json,
    template_to_json,
    to_text,
)
from signet.core.expressions.template import (
    MAX_TEMPLATE_DEPTH,
    MAX_TEMPLATE_NODES,
    MAX_TEXT_CHARACTERS,
    Fixed,
)
from tests.support.generated.expressions import NAMES, QUICK, environments, values
from tests.support.rendering import render_whole

FIELDS = {"number": STRING, "total": INT, "urgent": BOOL, "tags": list_of(STRING), "blob": ANY}
SCOPE = Scope({"entity": object_of(FIELDS), "context": ANY})
OPEN_SCOPE = Scope(dict.fromkeys(("entity", "actor", "context", "payload"), ANY))
ENV: dict[str, Any] = {
    "entity": {
        "number": "R-1",
        "total": -5,
        "urgent": True,
        "tags": ["a", "é"],
        "blob": {"x": 1.5, "y": None},
    },
    "context": {"no": False},
}


def parse(value: object, scope: Scope = SCOPE) -> Template:
    template, errors = parse_template(value, scope)
    assert template is not None and errors == ()
    # The stored template is the one that runs.
    stored = json.loads(json.dumps(template_to_json(template)))
    assert template_to_json(template_from_json(stored)) == stored
    return template_from_json(stored)


def fail(value: object) -> list[tuple[str, str]]:
    template, errors = parse_template(value, SCOPE)
    assert template is None
    return [(error.pointer, error.code) for error in errors]


TABLE: list[tuple[Any, Any]] = [
    (None, None),
    (1.5, 1.5),
    (True, True),
    ({"a": [1, {}, []], "$expr": "not alone"}, {"a": [1, {}, []], "$expr": "not alone"}),
    ({"{entity.number}": 1}, {"{entity.number}": 1}),
    ({"$expr": "entity.total"}, -5),
    ({"$expr": "entity.tags"}, ["a", "é"]),
    ({"a": {"$expr": "entity.total < 0"}, "b": "x"}, {"a": True, "b": "x"}),
    ([1, {"$expr": "vars.none"}], [1, None]),
    ("{entity.number}", "R-1"),
    ("Invoice {entity.number}: {entity.total} ct", "Invoice R-1: -5 ct"),
    ("{entity.urgent} {vars.no} [{context.none}]", "true false []"),
    ("{entity.tags}{entity.blob}", '["a","é"]{"x":1.5,"y":null}'),
    ("{{entity.number}} {{{entity.number}}}", "{entity.number} {R-1}"),
    ("{{}}", "{}"),
    ({"a": ["{entity.number}", {"b": {"$expr": "now"}}]}, {"a": ["R-1", {"b": None}]}),
]


@pytest.mark.parametrize(("template", "expected"), TABLE)
def test_rendering(template: object, expected: object) -> None:
    value, _ = render_whole(compile_template(parse(template)), ENV)
    assert value == expected and type(value) is type(expected)


def test_variables() -> None:
    template = parse(
        {"a": "{entity.number} {vars.x.y}", "b": [{"$expr": "entity.total > 1 && entity.number == 'x'"}]}
    )
    assert render_whole(compile_template(template), ENV)[1] == {
        "entity.number": "R-1",
        "context.x.y": None,
        "entity.total": -5,
    }
    assert [to_text(part) for part in list_template_parts(template)][:2] == ["entity.number", "context.x.y"]
    assert compile_template(parse({"a": 1}))(ENV) == ({"a": 1}, {})


def test_the_stored_form() -> None:
    template = parse({"a": [1, "{entity.number}!"], "b": {"c": [2]}, "d": {"$expr": "true"}})
    assert template_to_json(template) == {
        "members": {
            "a": {"items": [{"fixed": 1}, {"text": [{"name": "entity.number"}, "!"]}]},
            "b": {"fixed": {"c": [2]}},
            "d": {"computed": {"literal": True}},
        }
    }


def test_what_is_given_out_is_new_each_time() -> None:
    source = {"a": [1]}
    template = parse_template(source, SCOPE)[0]
    assert isinstance(template, Fixed)
    render = compile_template(template)
    source["a"].append(2)
    render_whole(render, ENV)[0]["a"].append(3)
    assert render_whole(render, ENV)[0] == {"a": [1]}


def test_values_that_have_no_text() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    render = compile_template(parse("<{entity.blob}>"))
    for value in (deep, 10**5_000, {1, 2}):
        assert render_whole(render, {"entity": {"blob": value}})[0] == "<>"
    while deep:
        deep = deep.pop()


BAD: list[tuple[Any, list[tuple[str, str]]]] = [
    ({"$expr": 5}, [("/$expr", "EXPR_NOT_TEXT")]),
    ({"a/b": [0, {"$expr": "entity.a +"}]}, [("/a~1b/1/$expr", "ARITHMETIC_ABSENT")]),
    ({"~": {"$expr": "entity.totl > 'x'"}}, [("/~0/$expr", "UNKNOWN_FIELD")]),
    (["{entity.totl}", "{entity.number"], [("/0", "UNKNOWN_FIELD"), ("/1", "BRACE_OPEN")]),
    ("a } b", [("", "BRACE_CLOSED")]),
    ("{}", [("", "PLACEHOLDER_NOT_NAME")]),
    ("{ entity.number }", [("", "PLACEHOLDER_NOT_NAME")]),
    ("{entity.total > 5}", [("", "PLACEHOLDER_NOT_NAME")]),
    ("{true}", [("", "PLACEHOLDER_NOT_NAME")]),
    ("{other.x} {in}", [("", "NAMESPACE_UNKNOWN"), ("", "OPERAND_MISSING")]),
    (float("nan"), [("", "NUMBER_NOT_JSON")]),
    ({"a": 2**53, "b": -(10**5_000)}, [("/a", "NUMBER_NOT_JSON"), ("/b", "NUMBER_NOT_JSON")]),
    ([b"x", (1,)], [("/0", "NOT_JSON"), ("/1", "NOT_JSON")]),
    ({1: "x"}, [("", "NOT_JSON")]),
    ({"a\x00": 1, "b": "\ud800"}, [("", "TEXT_FORBIDDEN"), ("/b", "TEXT_FORBIDDEN")]),
    ("x" * (MAX_TEXT_CHARACTERS + 1), [("", "TEXT_TOO_LONG")]),
    ([1] * (MAX_TEMPLATE_NODES + 5), [("/1999", "TEMPLATE_TOO_LARGE")]),
]


@pytest.mark.parametrize(("template", "expected"), BAD)
def test_mistakes(template: object, expected: list[tuple[str, str]]) -> None:
    assert fail(template) == expected


def test_places_inside_a_text() -> None:
    text = "Hello {entity.numbr}, {othr.x} {1}"
    found = parse_template(text, SCOPE)[1]
    assert [text[m.position : m.position + m.length] for m in found] == ["numbr", "othr.x", "{1}"]
    assert found[0].suggestion == "number"


def nest(depth: int, leaf: object) -> object:
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def test_limits() -> None:
    assert fail(nest(MAX_TEMPLATE_DEPTH, 1)) == [("/0" * MAX_TEMPLATE_DEPTH, "TEMPLATE_TOO_DEEP")]
    assert fail(nest(5_000, 1))[0][1] == "TEMPLATE_TOO_DEEP"
    parse(nest(MAX_TEMPLATE_DEPTH - 1, "{entity.number}"))
    parse(nest(MAX_TEMPLATE_DEPTH - 1, 1))
    parse([1] * (MAX_TEMPLATE_NODES - 1))
    parse("x" * MAX_TEXT_CHARACTERS)


TEXT = {"text": [{"name": "now"}]}
JUNK: list[Any] = [
    None,
    {},
    {"fixed": 1, "text": []},
    {"other": 1},
    {"computed": 1},
    {"computed": {"name": "other"}},
    {"text": "x"},
    {"text": []},
    {"text": ["x"]},
    {"text": ["x", "y", {"name": "now"}]},
    {"text": ["", {"name": "now"}]},
    {"text": ["\x00", {"name": "now"}]},
    {"text": [{"!": {"name": "now"}}]},
    {"items": {}},
    {"items": [{"fixed": 1}]},
    {"items": []},
    {"members": []},
    {"members": {"a": {"fixed": 1}}},
    {"members": {"\x00": TEXT}},
    {"members": {1: TEXT}},
    {"fixed": {1: 1}},
    {"fixed": [float("inf")]},
    {"fixed": nest(MAX_TEMPLATE_DEPTH, 1)},
    {"fixed": nest(5_000, 1)},
    {"items": [TEXT] * MAX_TEMPLATE_NODES},
]


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_junk_is_refused(junk: object) -> None:
    with pytest.raises(MalformedTree):
        template_from_json(junk)


_texts = st.lists(
    st.sampled_from(["{" + name + "}" for name in NAMES] + ["{{", "}}", "a", "é"]), max_size=4
).map("".join)
_templates: st.SearchStrategy[Any] = st.recursive(
    st.one_of(_texts, st.sampled_from(NAMES).map(lambda name: {"$expr": name}), st.integers(0, 9), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@QUICK
@given(_templates, environments)
def test_rendering_never_raises(value: object, env: dict[str, Any]) -> None:
    template = parse(value, OPEN_SCOPE)
    rendered, variables = render_whole(compile_template(template), env)
    assert json.dumps(rendered) and json.dumps(variables)


@QUICK
@given(values)
def test_any_json_without_braces_is_itself(value: Any) -> None:
    template, _ = parse_template(value, SCOPE)
    assume(template is not None)
    assert template is not None and compile_template(template)({}) == (value, {})
