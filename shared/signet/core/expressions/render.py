"""Closures of templates: compiled once, then rendered with their evidence for each environment.

What a template gives is bounded: it may read one large text many times. Each part is counted before it is
built, and nothing is built of what is too large.
"""

import json
from collections.abc import Callable
from typing import Any

from signet.core.errors import Rejected
from signet.core.expressions.byte_budget import BudgetSpent, ByteBudget, count_bytes, fits
from signet.core.expressions.evaluate import compile_expression, compile_name, compile_variables
from signet.core.expressions.fast_comparison import Environment
from signet.core.expressions.syntax_tree import Name, list_variables
from signet.core.expressions.template import (
    MAX_RENDERED_BYTES,
    Computed,
    Fixed,
    Template,
    TemplateItems,
    TemplateMembers,
    Text,
    list_template_parts,
)
from signet.core.expressions.template_json import copy_json

# The value and the variables that it read, by dotted name; or the refusal of a value that is too large.
Rendered = tuple[Any, dict[str, Any]] | Rejected
Render = Callable[[Environment], Rendered]
_RenderPart = Callable[[Environment, ByteBudget], Any]
_TOO_LARGE = (
    f"the template gives more than {MAX_RENDERED_BYTES} bytes of JSON",
    "Have it give less: shorten what it reads, or give an id in place of a long text. Where the document is"
    " right, publish the workflow with a smaller template.",
)


def compile_template(template: Template) -> Render:
    """Return a function that gives the value and the variables it read, or refuses. It never raises.

    >>> from signet.core.expressions.syntax_tree import Name
    >>> render = compile_template(Text(("Invoice ", Name(("entity", "number")))))
    >>> render({"entity": {"number": 7}})
    ('Invoice 7', {'entity.number': 7})
    """
    render = _compile(template)
    names = dict.fromkeys(name for part in list_template_parts(template) for name in list_variables(part))
    read_variables = compile_variables(tuple(names))

    def render_bounded(env: Environment) -> Rendered:
        try:
            value = render(env, ByteBudget(MAX_RENDERED_BYTES))
        except BudgetSpent:
            return refuse_too_large()
        return value, read_variables(env)

    return render_bounded


def refuse_too_large(where: str = "") -> Rejected:
    sentence, remedy = _TOO_LARGE
    return Rejected("TEMPLATE_TOO_LARGE", f"{where}{sentence}", remedy=remedy)


def _compile(template: Template) -> _RenderPart:
    match template:
        case Fixed():
            return _compile_fixed(template)
        case Computed():
            return _compile_computed(template)
        case Text():
            return _compile_text(template)
        case TemplateItems():
            items, around = tuple(_compile(item) for item in template.items), len(template.items) + 1

            def render_items(env: Environment, budget: ByteBudget) -> Any:
                budget.take(around)
                return [item(env, budget) for item in items]

            return render_items
        case _:
            return _compile_members(template)


def _compile_fixed(template: Fixed) -> _RenderPart:
    value, size = template.value, count_bytes(template.value)

    def render(env: Environment, budget: ByteBudget) -> Any:
        budget.take(size)
        # Copied, because the receiver may change it.
        return copy_json(value)

    return render


def _compile_computed(template: Computed) -> _RenderPart:
    read = compile_expression(template.expression).value

    def render(env: Environment, budget: ByteBudget) -> Any:
        value = read(env)
        budget.take_value(value)
        return value

    return render


def _compile_text(template: Text) -> _RenderPart:
    pieces = tuple(_compile_piece(part) for part in template.parts)

    def render(env: Environment, budget: ByteBudget) -> Any:
        budget.take(2)
        return "".join([piece(env, budget) for piece in pieces])

    return render


def _compile_members(template: TemplateMembers) -> _RenderPart:
    members = tuple((key, _compile(inner)) for key, inner in template.members)
    around = count_bytes(dict.fromkeys(key for key, _ in members)) - len(members) * len("null")

    def render(env: Environment, budget: ByteBudget) -> Any:
        budget.take(around)
        return {key: inner(env, budget) for key, inner in members}

    return render


def _compile_piece(part: str | Name) -> Callable[[Environment, ByteBudget], str]:
    if isinstance(part, str):
        return _compile_literal(part)
    read = compile_name(part)

    def render(env: Environment, budget: ByteBudget) -> str:
        text = _read_text(read(env), budget)
        budget.take_text(text)
        return text

    return render


def _compile_literal(text: str) -> Callable[[Environment, ByteBudget], str]:
    size = count_bytes(text) - 2

    def render(env: Environment, budget: ByteBudget) -> str:
        budget.take(size)
        return text

    return render


def _read_text(value: object, budget: ByteBudget) -> str:
    """Return the text of a value. Its JSON is not written before it is known to fit."""
    if isinstance(value, list | dict) and not fits(value, budget.left):
        raise BudgetSpent
    return text_of(value)


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
