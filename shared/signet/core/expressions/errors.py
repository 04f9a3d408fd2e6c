"""Errors of an expression or a template: a stable code, a position, and a sentence with its remedy.

The sentence is made from the code and the parameters alone, so that it can be made in another language.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType

MAX_SHOWN_CHARACTERS = 60

MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        # Limits
        "EXPRESSION_TOO_LONG": "the expression has {count} characters, at most {limit}",
        "CANONICAL_TOO_LONG": "in its canonical form the expression has {count} characters, at most {limit}",
        "TOO_DEEP": "the expression is nested more than {limit} deep; split it",
        "TOO_MANY_DEREFERENCES": "the expression reads {count} fields, at most {limit}; split it",
        "LIST_TOO_LONG": "the list has more than {limit} items",
        # Text
        "EMPTY": "the expression is empty",
        "CHARACTER_FORBIDDEN": "the character {character} may not stand here; in a string write \\n or \\t",
        "CHARACTER_UNKNOWN": "`{character}` has no meaning in expressions",
        "QUOTE_CURLY": "`{character}` is a typographic quote; write ' or \"",
        "NAME_BROKEN": "a `.` stands between two names, as in `entity.status`",
        "DECIMAL": "`{text}` is not a whole number; money is in minor units: write 1050 for 10.50",
        "NUMBER_MALFORMED": "`{text}` is not a whole number; digits only, no leading zeros or separators "
        "(dates are in quotes)",
        "INTEGER_TOO_LARGE": "`{text}` is beyond ±{limit}",
        "STRING_UNTERMINATED": "the string that starts here has no end",
        "ESCAPE_UNKNOWN": "`{text}` is not an escape; there are \\\\ \\' \\\" \\n \\t",
        # Grammar
        "OPERATOR_UNKNOWN": "`{operator}` is not an operator of expressions",
        "ARITHMETIC_ABSENT": "`{operator}` is not an operator of expressions; there is no arithmetic: "
        "compute the value in a step before",
        "REGEX_ABSENT": "`{operator}` is not an operator of expressions; no patterns: use `contains`",
        "CONDITIONAL_ABSENT": "`{operator}` is not part of expressions; there is no if: use two branches",
        "LOOP_ABSENT": "`{operator}` is not part of expressions; there are no loops: use `in` or `contains`",
        "CALL_ABSENT": "`{name}(` is not part of expressions; there are no calls",
        "INDEX_ABSENT": "`[` is not an operator of expressions; lists have no index: use `contains`",
        "NAMESPACE_UNKNOWN": "unknown name `{name}`; names start with one of {namespaces}; text is in quotes",
        "COMPARISON_CHAINED": "comparisons do not chain; join two of them with `&&`",
        "OPERAND_MISSING": "a value is missing before {found}",
        "OPERATOR_MISSING": "an operator is missing before {found}",
        "PARENTHESIS_OPEN": "this `(` is not closed",
        "CLOSES_NOTHING": "this `{found}` closes nothing",
        "LIST_OPEN": "the list that starts here needs `,` or `]` before {found}",
        "LIST_ITEM": "a list holds only literals, not {found}",
        # Types
        "NAMESPACE_ABSENT": "there is no `{name}` here; there are {namespaces}",
        "UNKNOWN_FIELD": "unknown field `{field}` of `{owner}`{known}",
        "NO_FIELDS": "`{owner}` is of type {type} and has no field `{field}`",
        "REF_TWO_HOPS": "`{owner}` is a second reference; only one can be followed",
        "REF_NOT_FOLLOWED": "`{owner}` is a reference; only those directly in `entity` can be followed",
        "TYPES_DIFFER": "`{left}` is of type {left_type} and `{right}` of type {right_type}",
        "NEVER_A_MEMBER": "`{item}` is of type {item_type}, never in `{container}` of type {container_type}",
        "DATE_EQUALS_TIMESTAMP": "a date never equals a timestamp; use `<` or `>=`",
        "ENUMS_DISJOINT": "`{left}` and `{right}` have no value in common",
        "NOT_ORDERED": "`{operand}` is of type {type}, which has no order; use `==` or `!=`",
        "NULL_ORDERED": "`{operator}` with null is always false; use `==` or `!=`",
        "NOT_BOOL": "`{operator}` needs a bool; `{operand}` is of type {type}: compare it",
        "LIST_EXPECTED": "`in` needs a list on its right and `{operand}` is of type {type}",
        "CONTAINER_EXPECTED": "`contains` needs a list or string on its left; `{operand}` is of type {type}",
        "NOT_ENUM_VALUE": "`{value}` is not a value of `{operand}`; there are {values}",
        "NOT_A_DATE": "`{value}` is not a date or timestamp; write '2026-01-31' or '2026-01-31T12:00:00Z'",
        "CONDITION_NOT_BOOL": "a condition is a bool; `{operand}` is of type {type}: compare it",
        # Templates
        "TEMPLATE_TOO_DEEP": "the template is nested more than {limit} deep",
        "TEMPLATE_TOO_LARGE": "the template has more than {limit} values",
        "RESULT_TOO_LARGE": "the template gives {count} bytes before it reads anything, at most {limit}",
        "TEXT_TOO_LONG": "the text has {count} characters, at most {limit}",
        "TEXT_FORBIDDEN": "the character {character} may not stand in a template",
        "NOT_JSON": "a value of type {type} is not JSON",
        "NUMBER_NOT_JSON": "{text} cannot be kept exactly; whole numbers are within ±{limit}",
        "EXPR_NOT_TEXT": "`$expr` holds an expression as text",
        "BRACE_OPEN": "`{{` starts a placeholder such as {{entity.status}}; write {{{{ for a brace",
        "BRACE_CLOSED": "`}}` closes no placeholder; write }}}} for a brace",
        "PLACEHOLDER_NOT_NAME": "`{text}` is not a dotted name; expressions stand in `$expr`",
    }
)


@dataclass(frozen=True, slots=True)
class ExpressionError:
    code: str
    message: str
    position: int
    length: int
    suggestion: str | None = None
    parameters: Mapping[str, str | int] = field(default_factory=dict, hash=False)
    # The place in a template (RFC 6901); "" is the whole, or the expression alone.
    pointer: str = ""


def make_error(
    code: str, position: int, length: int, *, suggestion: str | None = None, **parameters: str | int
) -> ExpressionError:
    shown = {key: shorten(value) if isinstance(value, str) else value for key, value in parameters.items()}
    message = MESSAGES[code].format(**shown)
    if suggestion is not None:
        message = f"{message}; did you mean `{suggestion}`?"
    return ExpressionError(code, message, position, length, suggestion, MappingProxyType(shown))


def shorten(text: str) -> str:
    """Return the text as a message can hold it: short, and every character printable."""
    short = text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[: MAX_SHOWN_CHARACTERS - 1]}…"
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in short)


def suggest(word: str, known: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(word, list(known), n=1)), None)
