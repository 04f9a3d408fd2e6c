"""Random expressions and environments over the same few names, so that they often meet."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from signet.core.expressions import Expression, ExpressionError, parse_expression
from signet.core.expressions.syntax_tree import (
    COMPARISONS,
    Comparison,
    Junction,
    ListLiteral,
    Literal,
    Name,
    Not,
)
from signet.core.expressions.text import find_excess

QUICK = settings(max_examples=100, deadline=None)

NAMES = (
    "entity.a",
    "entity.b",
    "entity.ref.x",
    "entity.ref.x.y",
    "actor.roles",
    "context.a.b.c",
    "payload",
    "now",
)
WORDS = ("", "a", "b", "ab", "it's", 'say "hi"\n\t\\', "2026-01-31", "2026-01-31T12:00:00Z", "é€😀")
NUMBERS = (0, 1, 2, -1, 2**53 - 1, 1 - 2**53)

scalars = st.sampled_from([None, True, False, *NUMBERS, *WORDS])
literals = st.builds(Literal, scalars)
names = st.sampled_from(NAMES).map(lambda text: Name(tuple(text.split("."))))
lists = st.lists(literals, max_size=4).map(lambda items: ListLiteral(tuple(items)))


def join(operator: str, terms: list[Expression]) -> Junction:
    """Join terms as the parser does: no junction holds one of its own operator."""
    flat: list[Expression] = []
    for term in terms:
        flat.extend(term.terms if isinstance(term, Junction) and term.operator == operator else (term,))
    return Junction(operator, tuple(flat))


def _extend(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(Not, inner),
        st.builds(Comparison, st.sampled_from(COMPARISONS), inner, inner),
        st.builds(join, st.sampled_from(["&&", "||"]), st.lists(inner, min_size=2, max_size=4)),
    )


_leaves: st.SearchStrategy[Expression] = st.one_of(names, literals, lists)
expressions = st.recursive(_leaves, _extend, max_leaves=8).filter(lambda node: find_excess(node) is None)

values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(scalars, st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["a", "b", "c", "x", "y", "ref"]), inner, max_size=4),
    ),
    max_leaves=6,
)
_objects = st.fixed_dictionaries({}, optional=dict.fromkeys(("a", "b", "ref", "roles", "x"), values))
environments = st.fixed_dictionaries(
    {},
    optional={
        root: st.one_of(_objects, values) for root in ("entity", "actor", "context", "payload", "now", "refs")
    },
)


def parse(text: str) -> Expression:
    expression = parse_expression(text)
    assert not isinstance(expression, ExpressionError), expression
    return expression


def fail(text: str) -> ExpressionError:
    error = parse_expression(text)
    assert isinstance(error, ExpressionError), error
    return error
