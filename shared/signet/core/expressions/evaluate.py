"""Closures of expressions: compiled once, then evaluated for each environment.

The environment is a mapping of namespaces to JSON: `{"entity": {…}, "actor": {…}, "now": "…"}`. `env["refs"]`
holds the records of followed refs by field. When `entity.customer` is an id, `entity.customer.name` reads
`env["refs"]["customer"]["name"]`. A missing value is null. Only `true` is true: `!x`, `&&` and `||` take
every other value as not true, stop as soon as they know, and return a bool. Evaluation never raises for an
environment of JSON.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from signet.core.expressions.byte_budget import fits
from signet.core.expressions.fast_comparison import UNREADABLE, Environment, Reader, fuse_comparison
from signet.core.expressions.syntax_tree import (
    Comparison,
    Expression,
    Junction,
    ListLiteral,
    Literal,
    Name,
    Not,
    list_variables,
)
from signet.core.expressions.text import to_text
from signet.core.expressions.types import FOLLOWED_NAMESPACE
from signet.core.expressions.values import OPERATIONS

REFS = "refs"


# Of one value that evidence shows.
MAX_SHOWN_BYTES = 4_096
_SHORT_CHARACTERS = MAX_SHOWN_BYTES // 6 - 1
_SMALL = frozenset((bool, int, float, type(None)))
_new_tuple = tuple.__new__


class Evaluation(NamedTuple):
    value: Any
    # {"expression": canonical text, "variables": {name: value}, "result": value}; values are not copied.
    # Of a value that is too large it says only that: the version of the document has it.
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Compiled:
    expression: Expression
    text: str
    variables: tuple[str, ...]
    value: Callable[[Environment], Any]
    evaluate: Callable[[Environment], Evaluation]


def compile_expression(expression: Expression) -> Compiled:
    """Return the closures of the expression: `value` gives its value, `evaluate` also the evidence of it.

    >>> from signet.core.expressions.syntax import parse_expression
    >>> compiled = compile_expression(parse_expression("entity.total > 5"))
    >>> compiled.evaluate({"entity": {"total": 7}}).evidence
    {'expression': 'entity.total > 5', 'variables': {'entity.total': 7}, 'result': True}
    """
    text = to_text(expression)
    variables = list_variables(expression)
    read_variables = compile_variables(variables)
    read_value = _compile_value(expression)

    def evaluate(env: Environment) -> Evaluation:
        value = read_value(env)
        shown = value if type(value) in _SMALL else _show(value)
        evidence = {"expression": text, "variables": read_variables(env), "result": shown}
        # The named tuple's own constructor costs as much as a comparison, so it is not called.
        return _new_tuple(Evaluation, (value, evidence))

    return Compiled(expression, text, tuple(name.text for name in variables), read_value, evaluate)


def compile_variables(names: Sequence[Name]) -> Callable[[Environment], dict[str, Any]]:
    """Return a function that shows the names' values, by dotted name. A missing value is null."""
    readers = tuple((name.text, compile_name(name)) for name in names)
    steps = tuple((name.text, *name.path) for name in names if len(name.path) == 2)

    def read_one_by_one(env: Environment) -> dict[str, Any]:
        return {name: _show(read(env)) for name, read in readers}

    def read_fields(env: Environment) -> dict[str, Any]:
        variables = {}
        try:
            for name, root, field in steps:
                value = env[root].get(field)
                variables[name] = value if type(value) in _SMALL else _show(value)
        except UNREADABLE:
            return read_one_by_one(env)
        return variables

    return read_fields if len(steps) == len(readers) else read_one_by_one


def _show(value: Any) -> Any:
    """Return the value as evidence shows it: nothing of it but its size, where it is too large."""
    # Most texts are short, and a character takes at most six bytes.
    if type(value) is str and len(value) <= _SHORT_CHARACTERS:
        return value
    return value if fits(value, MAX_SHOWN_BYTES) else {"omitted": f"more than {MAX_SHOWN_BYTES} bytes"}


def compile_name(name: Name) -> Reader:
    root, *fields = name.path
    if not fields:
        return lambda env: env.get(root)
    if len(fields) == 1:
        return _read_field(root, fields[0])
    if root == FOLLOWED_NAMESPACE:
        return _read_followed(fields[0], tuple(fields[1:]))
    return _read_path(root, tuple(fields))


def _read_field(root: str, field: str) -> Reader:
    def read(env: Environment) -> Any:
        try:
            return env[root].get(field)
        except UNREADABLE:
            return None

    return read


def _read_path(root: str, fields: tuple[str, ...]) -> Reader:
    def read(env: Environment) -> Any:
        try:
            value = env[root]
            for field in fields:
                value = value.get(field)
            return value
        except UNREADABLE:
            return None

    return read


def _read_followed(first: str, fields: tuple[str, ...]) -> Reader:
    def read(env: Environment) -> Any:
        try:
            value = env[FOLLOWED_NAMESPACE].get(first)
            if isinstance(value, str):
                value = env[REFS].get(first)
            for field in fields:
                value = value.get(field)
            return value
        except UNREADABLE:
            return None

    return read


def _compile_value(node: Expression) -> Reader:
    match node:
        case Literal(value=value):
            return lambda env: value
        case ListLiteral(items=items):
            # Every call returns a new list, because the list leaves this package.
            return lambda env: [item.value for item in items]
        case Name():
            return compile_name(node)
        case _:
            return _compile_test(node)


def _compile_test(node: Expression) -> Reader:
    """Return a closure like that of `_compile_value`, but one that always returns a bool."""
    match node:
        case Comparison():
            return _compile_comparison(node)
        case Junction():
            tests = tuple(_compile_test(term) for term in node.terms)
            return _all_of(tests) if node.operator == "&&" else _any_of(tests)
        case Not():
            test = _compile_test(node.operand)
            return lambda env: not test(env)
        case _:
            read = _compile_value(node)
            return lambda env: read(env) is True


def _compile_comparison(node: Comparison) -> Reader:
    fused = fuse_comparison(node)
    if fused is not None:
        return fused
    operation, left, right = OPERATIONS[node.operator], _compile_value(node.left), _compile_value(node.right)
    return lambda env: operation(left(env), right(env))


def _all_of(tests: tuple[Reader, ...]) -> Reader:
    if len(tests) == 2:
        first, second = tests
        return lambda env: first(env) and second(env)
    if len(tests) == 3:
        first, second, third = tests
        return lambda env: first(env) and second(env) and third(env)

    def all_hold(env: Environment) -> bool:
        for test in tests:
            if not test(env):
                return False
        return True

    return all_hold


def _any_of(tests: tuple[Reader, ...]) -> Reader:
    if len(tests) == 2:
        first, second = tests
        return lambda env: first(env) or second(env)

    def any_holds(env: Environment) -> bool:
        for test in tests:
            if test(env):
                return True
        return False

    return any_holds
