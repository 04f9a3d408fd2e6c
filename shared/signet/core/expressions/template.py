"""Templates: JSON in which some values are computed.

Any JSON is literal, except two things. An object with exactly the key `$expr` is that expression's value. In
a text, `{entity.number}` is replaced by the text of that value, and `{{` and `}}` are literal braces. Such a
text stays a text even when it is one placeholder and nothing else; `$expr` gives the value itself. Keys are
never replaced. null becomes the empty text, a bool `true` or `false`, a list or object compact JSON.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite

from signet.core.expressions.byte_budget import count_bytes
from signet.core.expressions.errors import ExpressionError, make_error
from signet.core.expressions.syntax import parse_expression
from signet.core.expressions.syntax_tree import MAX_INTEGER, NAME, Expression, Name
from signet.core.expressions.type_check import check
from signet.core.expressions.types import Scope

MAX_TEMPLATE_DEPTH = 20
MAX_TEMPLATE_NODES = 2_000
MAX_TEXT_CHARACTERS = 10_000
# Of the value that a template gives, as compact JSON.
MAX_RENDERED_BYTES = 262_144
EXPRESSION_KEY = "$expr"

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# It matches a doubled brace, a placeholder, or a brace that is neither.
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Fixed:
    """JSON in which nothing is computed."""

    value: object = field(hash=False)


@dataclass(frozen=True, slots=True)
class Computed:
    expression: Expression


@dataclass(frozen=True, slots=True)
class Text:
    """Literal pieces and placeholders: at least one placeholder, and no two literal pieces side by side."""

    parts: tuple[str | Name, ...]


@dataclass(frozen=True, slots=True)
class TemplateItems:
    """A list in which something is computed."""

    items: tuple["Template", ...]


@dataclass(frozen=True, slots=True)
class TemplateMembers:
    """An object in which something is computed."""

    members: tuple[tuple[str, "Template"], ...]


Template = Fixed | Computed | Text | TemplateItems | TemplateMembers


def parse_template(value: object, scope: Scope) -> tuple[Template | None, tuple[ExpressionError, ...]]:
    """Return the template, or None with all errors, each with its JSON pointer into the template.

    >>> from signet.core.expressions.types import ANY
    >>> parse_template({"title": "Invoice {entity.number}"}, Scope({"entity": ANY}))[1]
    ()
    >>> [error.code for error in parse_template("{entity", Scope({"entity": ANY}))[1]]
    ['BRACE_OPEN']
    """
    reader = _TemplateParser(scope)
    template = reader.parse(value, "", 1)
    least = 0 if reader.errors else _count_least(template)
    if least > MAX_RENDERED_BYTES:
        reader.errors.append(make_error("RESULT_TOO_LARGE", 0, 0, limit=MAX_RENDERED_BYTES, count=least))
    return (None if reader.errors else template), tuple(reader.errors)


def find_template_value_problem(value: object) -> ExpressionError | None:
    """Return why an author's literal cannot stand in a template; values inside it are not looked at."""
    if isinstance(value, str):
        if len(value) > MAX_TEXT_CHARACTERS:
            limit = MAX_TEXT_CHARACTERS
            return make_error("TEXT_TOO_LONG", limit, len(value) - limit, limit=limit, count=len(value))
        forbidden = _UNSTORABLE.search(value)
        if forbidden:
            return make_error("TEXT_FORBIDDEN", forbidden.start(), 1, character=forbidden.group())
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            return make_error("NUMBER_NOT_JSON", 0, 0, text="a number", limit=MAX_INTEGER)
    elif isinstance(value, float):
        if not isfinite(value):
            return make_error("NUMBER_NOT_JSON", 0, 0, text=str(value), limit=MAX_INTEGER)
    elif value is not None and not isinstance(value, list | dict):
        return make_error("NOT_JSON", 0, 0, type=type(value).__name__)
    return None


class _TemplateParser:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._nodes = 0
        self.errors: list[ExpressionError] = []

    def _add(self, pointer: str, *errors: ExpressionError) -> Fixed:
        self.errors.extend(replace(error, pointer=pointer) for error in errors)
        return Fixed(None)

    def parse(self, value: object, pointer: str, depth: int) -> Template:
        self._nodes += 1
        if self._nodes > MAX_TEMPLATE_NODES:
            # The error is reported once, not for each value that is left.
            is_reported = self._nodes > MAX_TEMPLATE_NODES + 1
            error = make_error("TEMPLATE_TOO_LARGE", 0, 0, limit=MAX_TEMPLATE_NODES)
            return Fixed(None) if is_reported else self._add(pointer, error)
        if depth > MAX_TEMPLATE_DEPTH:
            return self._add(pointer, make_error("TEMPLATE_TOO_DEEP", 0, 0, limit=MAX_TEMPLATE_DEPTH))
        unstorable = find_template_value_problem(value)
        if unstorable is not None:
            return self._add(pointer, unstorable)
        if isinstance(value, str):
            return self._parse_text(value, pointer)
        if isinstance(value, list):
            return _join_items(
                [self.parse(item, f"{pointer}/{at}", depth + 1) for at, item in enumerate(value)]
            )
        if isinstance(value, dict):
            if value.keys() == {EXPRESSION_KEY}:
                return self._parse_expression(value[EXPRESSION_KEY], f"{pointer}/{EXPRESSION_KEY}")
            return self._parse_members(value, pointer, depth)
        return Fixed(value)

    def _parse_members(self, value: Mapping[object, object], pointer: str, depth: int) -> Template:
        members: list[tuple[str, Template]] = []
        for key, inner in value.items():
            if not isinstance(key, str):
                self._add(pointer, make_error("NOT_JSON", 0, 0, type=f"{type(key).__name__} (a key)"))
                continue
            unstorable = find_template_value_problem(key)
            if unstorable is not None:
                self._add(pointer, unstorable)
                continue
            inside = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            members.append((key, self.parse(inner, inside, depth + 1)))
        return _join_members(members)

    def _parse_expression(self, text: object, pointer: str) -> Template:
        if not isinstance(text, str):
            return self._add(pointer, make_error("EXPR_NOT_TEXT", 0, 0))
        expression = parse_expression(text)
        if isinstance(expression, ExpressionError):
            return self._add(pointer, expression)
        self._add(pointer, *check(expression, self._scope)[1])
        return Computed(expression)

    def _parse_text(self, text: str, pointer: str) -> Template:
        parts: list[str | Name] = []
        end = 0
        for match in _BRACES.finditer(text):
            _append(parts, text[end : match.start()])
            end = match.end()
            if match.group() in ("{{", "}}"):
                _append(parts, match.group()[0])
            elif match.group() in ("{", "}"):
                code = "BRACE_OPEN" if match.group() == "{" else "BRACE_CLOSED"
                self._add(pointer, make_error(code, match.start(), 1))
            else:
                self._parse_placeholder(match, pointer, parts)
        _append(parts, text[end:])
        if any(isinstance(part, Name) for part in parts):
            return Text(tuple(parts))
        return Fixed("".join(part for part in parts if isinstance(part, str)))

    def _parse_placeholder(self, match: re.Match[str], pointer: str, parts: list[str | Name]) -> None:
        text, start = match.group(1), match.start(1)
        name = parse_expression(text) if NAME.fullmatch(text) else None
        if isinstance(name, ExpressionError):
            self._add(pointer, replace(name, position=name.position + start))
        elif isinstance(name, Name):
            parts.append(name)
            errors = check(name, self._scope)[1]
            self._add(pointer, *(replace(error, position=error.position + start) for error in errors))
        else:
            self._add(
                pointer, make_error("PLACEHOLDER_NOT_NAME", match.start(), len(match.group()), text=text)
            )


def _append(parts: list[str | Name], text: str) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += text
    elif text:
        parts.append(text)


def _join_items(items: list[Template]) -> Template:
    if all(isinstance(item, Fixed) for item in items):
        return Fixed([item.value for item in items if isinstance(item, Fixed)])
    return TemplateItems(tuple(items))


def _join_members(members: list[tuple[str, Template]]) -> Template:
    if all(isinstance(inner, Fixed) for _, inner in members):
        return Fixed({key: inner.value for key, inner in members if isinstance(inner, Fixed)})
    return TemplateMembers(tuple(members))


def _count_least(template: Template) -> int:
    """Count the bytes that the template gives even where all that it reads is empty."""
    match template:
        case Fixed():
            return count_bytes(template.value)
        case Computed():
            return 1
        case Text():
            return count_bytes("".join(part for part in template.parts if isinstance(part, str)))
        case TemplateItems():
            return len(template.items) + 1 + sum(map(_count_least, template.items))
        case _:
            around = 2 * len(template.members) + 1 + sum(count_bytes(key) for key, _ in template.members)
            return around + sum(_count_least(inner) for _, inner in template.members)


def list_template_parts(template: Template) -> list[Expression]:
    """Return every expression and placeholder, in order, for `list_followed_fields` and `list_variables`."""
    match template:
        case Fixed():
            return []
        case Computed():
            return [template.expression]
        case Text():
            return [part for part in template.parts if isinstance(part, Name)]
        case TemplateItems():
            return [part for item in template.items for part in list_template_parts(item)]
        case _:
            return [part for _, inner in template.members for part in list_template_parts(inner)]
