"""Text to tree: precedence, literals, limits, and a clear error for everything that expressions lack."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.expressions import ExpressionError, expression_to_json, parse_expression, to_text
from signet.core.expressions.errors import MAX_SHOWN_CHARACTERS, MESSAGES, make_error
from signet.core.expressions.syntax_tree import Comparison, ListLiteral, Literal, Name
from tests.support.generated.expressions import QUICK, fail, parse

CANONICAL = [
    ("entity.a||entity.b&&now==null", "entity.a || entity.b && now == null"),
    ("(entity.a || entity.b) && item", "(entity.a || entity.b) && item"),
    ("entity.a && (entity.b && item)", "entity.a && entity.b && item"),
    ("(entity.a||entity.b)||item", "entity.a || entity.b || item"),
    ("!entity.a == entity.b", "!entity.a == entity.b"),
    ("!(entity.a == entity.b)", "!(entity.a == entity.b)"),
    ("!!entity.a", "!!entity.a"),
    ("(entity.a == 1) == true", "(entity.a == 1) == true"),
    ("true == (entity.a == 1)", "true == (entity.a == 1)"),
    ("((entity.a)) in ( ['x',\t\"y\"\r\n] )", "entity.a in ['x', 'y']"),
    ("'a' in entity.tags", "'a' in entity.tags"),
    ("actor.roles contains\n'x'", "actor.roles contains 'x'"),
    ("vars.count >= -0", "context.count >= 0"),
    ("vars", "context"),
    ("entity.a>=-5", "entity.a >= -5"),
    ("[]", "[]"),
    ("[1, -2, true, false, null, 'x']", "[1, -2, true, false, null, 'x']"),
    (r""""it's" == '\"\'\\\n\t' """, r"""'it\'s' == '"\'\\\n\t'"""),
    ("entity.in.contains.null == 'é😀'", "entity.in.contains.null == 'é😀'"),
    ("entity._a1 < 9007199254740991", "entity._a1 < 9007199254740991"),
]


@pytest.mark.parametrize(("text", "canonical"), CANONICAL)
def test_canonical_text(text: str, canonical: str) -> None:
    assert to_text(parse(text)) == canonical
    assert parse(canonical) == parse(text)


def test_whitespace_and_grouping_are_no_part_of_the_tree() -> None:
    spellings = ["entity.a&&entity.b", " entity.a  &&\tentity.b ", "(entity.a) && ((entity.b))"]
    assert len({str(expression_to_json(parse(text))) for text in spellings}) == 1


def test_positions_are_those_of_the_text() -> None:
    whole = parse("  entity.a  == [1, 'x']")
    assert isinstance(whole, Comparison) and isinstance(whole.right, ListLiteral)
    assert [(n.position, n.length) for n in (whole, whole.left, whole.right)] == [(2, 21), (2, 8), (15, 8)]
    assert [(n.position, n.length) for n in whole.right.items] == [(16, 1), (19, 3)]
    negated = parse(" !entity.a")
    assert (negated.position, negated.length) == (1, 9)


def test_python_bools_are_not_numbers() -> None:
    assert Literal(1) != Literal(True) and Literal(0) != Literal(False)
    assert len({Literal(1), Literal(True)}) == 2
    assert Name(("now",), 1, 3) == Name(("now",), 9, 9)


MISTAKES = [
    # The columns are text, code, position, length, suggestion.
    ("", "EMPTY", 0, 0, None),
    (" \n", "EMPTY", 0, 0, None),
    ("x" * 501, "EXPRESSION_TOO_LONG", 500, 1, None),
    ("entity.a == '\x00'", "CHARACTER_FORBIDDEN", 13, 1, None),
    ("entity.a == '\ud800'", "CHARACTER_FORBIDDEN", 13, 1, None),
    ("'a\nb'", "CHARACTER_FORBIDDEN", 2, 1, None),
    ("'a\rb'", "CHARACTER_FORBIDDEN", 2, 1, None),
    ("entity.a == ‘x’", "QUOTE_CURLY", 12, 1, None),
    ("entity.größe", "CHARACTER_UNKNOWN", 9, 1, None),
    ("entity.a @ 1", "CHARACTER_UNKNOWN", 9, 1, None),
    ("entity. a", "NAME_BROKEN", 6, 1, None),
    ("entity..a", "NAME_BROKEN", 6, 1, None),
    ("entity.a > 10.5", "DECIMAL", 11, 4, None),
    ("entity.a > .5", "DECIMAL", 11, 2, None),
    ("1e5", "DECIMAL", 0, 3, None),
    ("007", "NUMBER_MALFORMED", 0, 3, None),
    ("1_000", "NUMBER_MALFORMED", 0, 5, None),
    ("1.2.3", "NUMBER_MALFORMED", 0, 5, None),
    ("entity.a < 2026-01-31", "NUMBER_MALFORMED", 15, 3, None),
    ("9007199254740992", "INTEGER_TOO_LARGE", 0, 16, None),
    ("-9007199254740992", "INTEGER_TOO_LARGE", 0, 17, None),
    ("entity.a == 'x", "STRING_UNTERMINATED", 12, 2, None),
    (r"entity.a == 'x\q'", "ESCAPE_UNKNOWN", 14, 2, None),
    ("entity.a = 1", "OPERATOR_UNKNOWN", 9, 1, "=="),
    ("entity.a === 1", "OPERATOR_UNKNOWN", 9, 3, "=="),
    ("entity.a <> 1", "OPERATOR_UNKNOWN", 9, 2, "!="),
    ("entity.a & entity.b", "OPERATOR_UNKNOWN", 9, 1, "&&"),
    ("entity.a and entity.b", "OPERATOR_UNKNOWN", 9, 3, "&&"),
    ("not entity.a", "OPERATOR_UNKNOWN", 0, 3, "!"),
    ("entity.a == True", "OPERATOR_UNKNOWN", 12, 4, "true"),
    ("entity.a + 1 > 2", "ARITHMETIC_ABSENT", 9, 1, None),
    ("entity.a - 1 > 2", "ARITHMETIC_ABSENT", 9, 1, None),
    ("entity.a -1 > 2", "ARITHMETIC_ABSENT", 9, 1, None),
    ("entity.a ** 2", "ARITHMETIC_ABSENT", 9, 2, None),
    ("entity.a =~ 'x'", "REGEX_ABSENT", 9, 2, None),
    ("entity.a ~ 'x'", "REGEX_ABSENT", 9, 1, None),
    ("entity.a matches 'x'", "REGEX_ABSENT", 9, 7, None),
    ("entity.a ? 1 : 2", "CONDITIONAL_ABSENT", 9, 1, None),
    ("if entity.a", "CONDITIONAL_ABSENT", 0, 2, None),
    ("for x in entity.lines", "LOOP_ABSENT", 0, 3, None),
    ("any(entity.lines)", "LOOP_ABSENT", 0, 3, None),
    ("entity.a for", "LOOP_ABSENT", 9, 3, None),
    ("len(entity.a) > 1", "CALL_ABSENT", 0, 4, None),
    ("entity.a.startswith('x')", "CALL_ABSENT", 0, 20, None),
    ("entity.lines[0]", "INDEX_ABSENT", 12, 1, None),
    ("entitty.a == 1", "NAMESPACE_UNKNOWN", 0, 9, "entity"),
    ("entity.a == draft", "NAMESPACE_UNKNOWN", 12, 5, None),
    ("1 < entity.a < 5", "COMPARISON_CHAINED", 13, 1, None),
    ("entity.a == 1 == true", "COMPARISON_CHAINED", 14, 2, None),
    ("entity.a ==", "OPERAND_MISSING", 11, 0, None),
    ("&& entity.a", "OPERAND_MISSING", 0, 2, None),
    ("contains 'x'", "OPERAND_MISSING", 0, 8, None),
    ("()", "OPERAND_MISSING", 1, 1, None),
    ("entity.a entity.b", "OPERATOR_MISSING", 9, 8, None),
    ("entity.a 1", "OPERATOR_MISSING", 9, 1, None),
    ("entity.a 'in' entity.b", "OPERATOR_MISSING", 9, 4, None),
    ("(entity.a, entity.b)", "OPERATOR_MISSING", 9, 1, None),
    ("entity.a !entity.b", "OPERATOR_MISSING", 9, 1, None),
    ("(entity.a", "PARENTHESIS_OPEN", 0, 1, None),
    ("(entity.a]", "CLOSES_NOTHING", 9, 1, None),
    ("entity.a)", "CLOSES_NOTHING", 8, 1, None),
    ("[1, 2", "LIST_OPEN", 0, 1, None),
    ("[1 2]", "LIST_OPEN", 0, 1, None),
    ("[1,]", "LIST_ITEM", 3, 1, None),
    ("[entity.a]", "LIST_ITEM", 1, 8, None),
    ("[[1]]", "LIST_ITEM", 1, 1, None),
    ("[", "LIST_ITEM", 1, 0, None),
    ("(" * 11 + "now" + ")" * 11, "TOO_DEEP", 10, 1, None),
    ("!" * 400 + "now", "TOO_DEEP", 10, 1, None),
    ("(" * 499, "TOO_DEEP", 10, 1, None),
    ("!" * 10 + "entity.a", "TOO_DEEP", 10, 8, None),
    ("!(" * 5 + "now == 1" + ")" * 5, None, 0, 0, None),
    ("!(" * 5 + "now == 1 && now == 2 || item" + ")" * 5, None, 0, 0, None),
    ("entity.a.b.c.d.e.f.g.h.i.j == entity.a.b.c.d.e.f.g.h.i.j", None, 0, 0, None),
    ("entity.a.b.c.d.e.f.g.h.i.j == entity.a.b.c.d.e.f.g.h.i.j.k", "TOO_MANY_DEREFERENCES", 30, 28, None),
    (f"now in [{','.join('1' * 100)}]", None, 0, 0, None),
    (f"now in [{','.join('1' * 101)}]", "LIST_TOO_LONG", 208, 1, None),
    (f"now{'&&now' * 90}", "CANONICAL_TOO_LONG", 0, 453, None),
]


@pytest.mark.parametrize(
    ("text", "code", "position", "length", "suggestion"),
    MISTAKES,
    ids=[f"{n}-{m[1]}" for n, m in enumerate(MISTAKES)],
)
def test_mistakes(text: str, code: str | None, position: int, length: int, suggestion: str | None) -> None:
    if code is None:
        parse(text)
        return
    found = fail(text)
    assert (found.code, found.position, found.length, found.suggestion) == (
        code,
        position,
        length,
        suggestion,
    )
    assert found.message.isprintable()


def test_every_message_is_short_and_printable() -> None:
    long = fail(f"entity.a == {'y' * 100}")
    assert f"`{'y' * (MAX_SHOWN_CHARACTERS - 1)}…`" in long.message
    assert fail("'\ud800'").parameters == {"character": "U+D800"}
    assert fail("entitty.a").message.endswith("; did you mean `entity`?")
    assert hash(long) != hash(fail("1 +"))


def test_what_is_absent_is_named() -> None:
    assert fail("entity.a + 1").message.startswith(
        "`+` is not an operator of expressions; there is no arithmetic"
    )
    assert "money is in minor units" in fail("entity.a > 10.5").message


def test_messages_are_made_from_their_parameters() -> None:
    for code, message in MESSAGES.items():
        parameters: dict[str, Any] = {}
        while True:
            try:
                assert make_error(code, 0, 0, **parameters).message == message.format(**parameters)
                break
            except KeyError as missing:
                parameters[str(missing.args[0])] = "x"


def test_a_quoted_word_is_a_string_and_nothing_else() -> None:
    for word in ["true", "in", "]", ")", "(", "!", ",", "&&"]:
        assert parse(f"'{word}' == [ '{word}' ]") == Comparison(
            "==", Literal(word), ListLiteral((Literal(word),))
        )


PIECES = [
    "entity.a",
    "&&",
    "||",
    "!",
    "(",
    ")",
    "[",
    "]",
    ",",
    "'x'",
    "1",
    "-",
    "in",
    "==",
    "<",
    ".",
    "'",
    "\\",
    " ",
]


@QUICK
@given(st.one_of(st.text(max_size=600), st.lists(st.sampled_from(PIECES), max_size=60).map("".join)))
def test_any_text_gives_a_tree_or_a_mistake(text: str) -> None:
    found = parse_expression(text)
    if isinstance(found, ExpressionError):
        assert found.message.isprintable() and found.message.encode()
        assert 0 <= found.position <= len(text) and found.position + found.length <= len(text)
    else:
        assert parse(to_text(found)) == found
