"""Tokens of an expression's text. Parsing them stops at the first error."""

import re
from dataclasses import dataclass
from enum import StrEnum

from signet.core.expressions.errors import ExpressionError, make_error
from signet.core.expressions.syntax_tree import FORBIDDEN_CHARACTER, MAX_INTEGER, NAME
from signet.core.expressions.text import ESCAPES, MAX_EXPRESSION_CHARACTERS


class TokenKind(StrEnum):
    NAME = "name"
    INTEGER = "integer"
    STRING = "string"
    SYMBOL = "symbol"
    END = "end"


@dataclass(frozen=True, slots=True)
class ExpressionToken:
    kind: TokenKind
    text: str
    position: int
    value: str | int | None = None

    def __str__(self) -> str:
        return "the end" if self.kind is TokenKind.END else f"`{self.text}`"


class Stop(Exception):
    """The first error of an expression, which ends its parsing; never leaves this package."""

    def __init__(self, error: ExpressionError) -> None:
        super().__init__(error.message)
        self.error = error


def make_stop(
    code: str, position: int, length: int, *, suggestion: str | None = None, **parameters: str | int
) -> Stop:
    return Stop(make_error(code, position, length, suggestion=suggestion, **parameters))


_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\n]+)
    |(?P<name>{NAME.pattern})
    |(?P<number>-?[0-9][0-9A-Za-z_.]*)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<wrong>===|!==|=~|!~|<>|=>|\*\*)
    |(?P<symbol>==|!=|>=|<=|&&|\|\||[!<>()\[\],])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]*(?:\.[0-9]+)?(?:[eE][0-9]*)?", re.ASCII)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = re.compile("[\t\n\r]")

_INSTEAD = {"===": "==", "!==": "!=", "<>": "!=", "=>": ">=", "=": "==", "&": "&&", "|": "||"}
_PATTERNS = ("=~", "!~", "~")
_ARITHMETIC = ("**", "+", "-", "*", "/", "%", "^")
_CONDITIONALS = ("?", ":")
_CURLY_QUOTES = "‘’“”„«»"


def parse_tokens(text: str) -> list[ExpressionToken]:
    """Return the tokens of the text, the last of them the end.

    >>> [str(token) for token in parse_tokens("entity.total >= 5")]
    ['`entity.total`', '`>=`', '`5`', 'the end']
    """
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        limit = MAX_EXPRESSION_CHARACTERS
        raise make_stop("EXPRESSION_TOO_LONG", limit, len(text) - limit, limit=limit, count=len(text))
    forbidden = FORBIDDEN_CHARACTER.search(text.replace("\r", "\n"))
    if forbidden:
        raise make_stop("CHARACTER_FORBIDDEN", forbidden.start(), 1, character=forbidden.group())
    tokens: list[ExpressionToken] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _explain(text, position)
        token = _make_token(match)
        if token is not None:
            tokens.append(token)
        position = match.end()
    tokens.append(ExpressionToken(TokenKind.END, "", len(text)))
    return tokens


def _make_token(match: re.Match[str]) -> ExpressionToken | None:
    text, position = match.group(), match.start()
    match match.lastgroup:
        case "space":
            return None
        case "name":
            return ExpressionToken(TokenKind.NAME, text, position)
        case "number":
            return ExpressionToken(TokenKind.INTEGER, text, position, _parse_integer(text, position))
        case "string":
            return ExpressionToken(TokenKind.STRING, text, position, _parse_string(text, position))
        case "symbol":
            return ExpressionToken(TokenKind.SYMBOL, text, position)
        case _:
            raise _explain_operator(text, position)


def _parse_integer(text: str, position: int) -> int:
    if not _INTEGER.fullmatch(text):
        code = (
            "DECIMAL" if _DECIMAL.fullmatch(text) and not text.lstrip("-").isdigit() else "NUMBER_MALFORMED"
        )
        raise make_stop(code, position, len(text), text=text)
    value = int(text)
    if abs(value) > MAX_INTEGER:
        raise make_stop("INTEGER_TOO_LARGE", position, len(text), text=text, limit=MAX_INTEGER)
    return value


def _parse_string(text: str, position: int) -> str:
    control = _CONTROL.search(text)
    if control:
        raise make_stop("CHARACTER_FORBIDDEN", position + control.start(), 1, character=control.group())

    def unescape(match: re.Match[str]) -> str:
        if match.group(1) not in ESCAPES:
            # The match counts from the first character after the quote.
            raise make_stop("ESCAPE_UNKNOWN", position + 1 + match.start(), 2, text=match.group())
        return ESCAPES[match.group(1)]

    return _ESCAPE.sub(unescape, text[1:-1])


def _explain(text: str, position: int) -> Stop:
    """Return the error for a position at which no token starts."""
    character = text[position]
    if character in "'\"":
        return make_stop("STRING_UNTERMINATED", position, len(text) - position)
    if character in _CURLY_QUOTES:
        return make_stop("QUOTE_CURLY", position, 1, character=character)
    if character == ".":
        if text[position + 1 : position + 2].isdigit():
            return make_stop("DECIMAL", position, 2, text=text[position : position + 2])
        return make_stop("NAME_BROKEN", position, 1)
    return _explain_operator(character, position)


def _explain_operator(operator: str, position: int) -> Stop:
    length = len(operator)
    if operator in _INSTEAD:
        return make_stop(
            "OPERATOR_UNKNOWN", position, length, suggestion=_INSTEAD[operator], operator=operator
        )
    if operator in _PATTERNS:
        return make_stop("REGEX_ABSENT", position, length, operator=operator)
    if operator in _ARITHMETIC:
        return make_stop("ARITHMETIC_ABSENT", position, length, operator=operator)
    if operator in _CONDITIONALS:
        return make_stop("CONDITIONAL_ABSENT", position, length, operator=operator)
    return make_stop("CHARACTER_UNKNOWN", position, length, character=operator)
