"""Closures of templates: compiled once, then rendered with their evidence for each environment."""

import json
from collections.abc import Callable
from typing import Any

from signet.core.expressions.evaluate import compile_expression, compile_name, compile_variables
from signet.core.expressions.fast_comparison import Environment, Reader
from signet.core.expressions.syntax_tree import Name, list_variables
from signet.core.expressions.template import (
    Computed,
    Fixed,
    Template,
    TemplateItems,
    Text,
    list_template_parts,
)
from signet.core.expressions.template_json import copy_json

Render = Callable[[Environment], tuple[Any, dict[str, Any]]]


def compile_template(template: Template) -> Render:
    """Return a function that gives the value and the variables it read, by dotted name. It never raises.

    >>> from signet.core.expressions.syntax_tree import Name
    >>> render = compile_template(Text(("Invoice ", Name(("entity", "number")))))
    >>> render({"entity": {"number": 7}})
    ('Invoice 7', {'entity.number': 7})
    """
    render = _compile(template)
    names = dict.fromkeys(name for part in list_template_parts(template) for name in list_variables(part))
    read_variables = compile_variables(tuple(names))
    return lambda env: (render(env), read_variables(env))


def _compile(template: Template) -> Reader:
    match template:
        case Fixed(value=list() | dict() as value):
            # Copied, because the receiver may change it.
            return lambda env: copy_json(value)
        case Fixed(value=value):
            return lambda env: value
        case Computed():
            return compile_expression(template.expression).value
        case Text():
            pieces = tuple(_compile_piece(part) for part in template.parts)
            return lambda env: "".join([piece(env) for piece in pieces])
        case TemplateItems():
            items = tuple(_compile(item) for item in template.items)
            return lambda env: [item(env) for item in items]
        case _:
            members = tuple((key, _compile(inner)) for key, inner in template.members)
            return lambda env: {key: inner(env) for key, inner in members}


def _compile_piece(part: str | Name) -> Reader:
    if isinstance(part, str):
        return lambda env: part
    read = compile_name(part)
    return lambda env: text_of(read(env))


def text_of(value: object) -> str:
    """Return the value as it reads inside a text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError):
        # The value is nested deeper than Python's stack, or is no JSON: it has no text.
        return ""
