"""A Pratt parser from text to tree. It stops at the first error; the type check finds all of its own."""

from signet.core.expressions.errors import ExpressionError, suggest
from signet.core.expressions.syntax_tree import (
    COMPARISONS,
    Comparison,
    Expression,
    Junction,
    ListLiteral,
    Literal,
    Name,
    Not,
)
from signet.core.expressions.text import COMPARISON_POWER, MAX_DEPTH, MAX_LIST_ITEMS, POWERS, find_excess
from signet.core.expressions.tokens import ExpressionToken, Stop, TokenKind, make_stop, parse_tokens
from signet.core.expressions.types import COMMON_NAMESPACES, NAMESPACES

ALIASES = {"vars": "context"}
_WORDS = {"true": True, "false": False, "null": None}
_WORD_OPERATORS = ("in", "contains")
_WORDS_INSTEAD = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "is": "==",
    "eq": "==",
    "equals": "==",
    "has": "contains",
}
_WORDS_INSTEAD |= {"includes": "contains", "True": "true", "False": "false", "None": "null", "nil": "null"}
_PATTERN_WORDS = ("matches", "like", "match", "regex")
_LOOP_WORDS = ("for", "while", "each", "foreach", "map", "filter", "all", "any")
_CONDITIONAL_WORDS = ("if", "then", "else", "when", "case")


def parse_expression(text: str) -> Expression | ExpressionError:
    """Return the tree, or the first error of the text.

    >>> parse_expression("entity.total > 5").operator
    '>'
    >>> parse_expression("entity.total > ").code
    'OPERAND_MISSING'
    """
    try:
        expression = _Parser(parse_tokens(text)).parse_whole()
    except Stop as stopped:
        return stopped.error
    return find_excess(expression) or expression


class _Parser:
    def __init__(self, tokens: list[ExpressionToken]) -> None:
        self._tokens = tokens
        self._index = 0
        # Open parentheses and `!` are the only ways to recurse, so their number bounds the recursion.
        self._level = 0

    def _peek(self) -> ExpressionToken:
        return self._tokens[self._index]

    def _take(self) -> ExpressionToken:
        token = self._peek()
        self._index += 1
        return token

    def parse_whole(self) -> Expression:
        if self._peek().kind is TokenKind.END:
            raise make_stop("EMPTY", 0, 0)
        expression = self._parse(0)
        if self._peek().kind is not TokenKind.END:
            raise _explain_rest(self._peek())
        return expression

    def _parse(self, floor: int) -> Expression:
        left = self._parse_operand()
        compared = False
        while (power := _power_of(self._peek())) >= floor and power:
            operator = self._take()
            if power == COMPARISON_POWER and compared:
                raise make_stop("COMPARISON_CHAINED", operator.position, len(operator.text))
            compared = power == COMPARISON_POWER
            left = _join(operator.text, left, self._parse(power + 1))
        return left

    def _parse_operand(self) -> Expression:
        token = self._take()
        length = len(token.text)
        if token.kind in (TokenKind.INTEGER, TokenKind.STRING):
            return Literal(token.value, token.position, length)
        if token.kind is TokenKind.NAME and token.text not in _WORD_OPERATORS:
            return self._parse_name(token)
        if token.text == "[":
            return self._parse_list(token)
        if token.text not in ("!", "("):
            raise make_stop("OPERAND_MISSING", token.position, length, found=str(token))
        self._level += 1
        if self._level > MAX_DEPTH:
            raise make_stop("TOO_DEEP", token.position, length, limit=MAX_DEPTH)
        inner = self._parse_negation(token) if token.text == "!" else self._parse_group(token)
        self._level -= 1
        return inner

    def _parse_negation(self, token: ExpressionToken) -> Expression:
        operand = self._parse_operand()
        return Not(operand, token.position, operand.position + operand.length - token.position)

    def _parse_group(self, token: ExpressionToken) -> Expression:
        inner = self._parse(0)
        end = self._take()
        if end.kind is TokenKind.END:
            raise make_stop("PARENTHESIS_OPEN", token.position, 1)
        if end.text != ")":
            raise _explain_rest(end)
        return inner

    def _parse_name(self, token: ExpressionToken) -> Expression:
        length = len(token.text)
        root, *fields = token.text.split(".")
        if token.text in _WORDS:
            return Literal(_WORDS[token.text], token.position, length)
        if token.text in _LOOP_WORDS:
            raise make_stop("LOOP_ABSENT", token.position, length, operator=token.text)
        if self._peek().text == "(":
            raise make_stop("CALL_ABSENT", token.position, length + 1, name=token.text)
        root = ALIASES.get(root, root)
        if root not in NAMESPACES:
            raise _explain_word(token) or make_stop(
                "NAMESPACE_UNKNOWN",
                token.position,
                length,
                suggestion=suggest(root, COMMON_NAMESPACES),
                name=token.text,
                namespaces=" ".join(NAMESPACES),
            )
        return Name((root, *fields), token.position, length)

    def _parse_list(self, start: ExpressionToken) -> ListLiteral:
        items: list[Literal] = []
        while self._peek().text != "]" or items:
            item = self._take()
            if item.text not in _WORDS and item.kind not in (TokenKind.INTEGER, TokenKind.STRING):
                raise make_stop("LIST_ITEM", item.position, len(item.text), found=str(item))
            value = _WORDS[item.text] if item.kind is TokenKind.NAME else item.value
            items.append(Literal(value, item.position, len(item.text)))
            if len(items) > MAX_LIST_ITEMS:
                raise make_stop("LIST_TOO_LONG", item.position, len(item.text), limit=MAX_LIST_ITEMS)
            if self._peek().text == "]":
                break
            if self._peek().text != ",":
                raise make_stop("LIST_OPEN", start.position, 1, found=str(self._peek()))
            self._take()
        end = self._take()
        return ListLiteral(tuple(items), start.position, end.position + 1 - start.position)


def _explain_rest(token: ExpressionToken) -> Stop:
    """Return the error for a token that cannot follow a complete operand."""
    length = len(token.text)
    if token.text in (")", "]"):
        return make_stop("CLOSES_NOTHING", token.position, length, found=token.text)
    if token.text == "[":
        return make_stop("INDEX_ABSENT", token.position, length)
    if token.kind is TokenKind.INTEGER and token.text.startswith("-"):
        return make_stop("ARITHMETIC_ABSENT", token.position, 1, operator="-")
    missing = make_stop("OPERATOR_MISSING", token.position, length, found=str(token))
    return _explain_word(token) or missing


def _power_of(token: ExpressionToken) -> int:
    """Return how tightly the token binds as an operator, 0 when it is none."""
    is_operator = token.kind is TokenKind.SYMBOL or token.text in _WORD_OPERATORS
    return POWERS.get(token.text, 0) if is_operator else 0


def _join(operator: str, left: Expression, right: Expression) -> Expression:
    position = left.position
    length = right.position + right.length - position
    if operator in COMPARISONS:
        return Comparison(operator, left, right, position, length)
    # `&&` and `||` are associative: one tree for all groupings.
    terms = tuple(
        term
        for side in (left, right)
        for term in (side.terms if isinstance(side, Junction) and side.operator == operator else (side,))
    )
    return Junction(operator, terms, position, length)


def _explain_word(token: ExpressionToken) -> Stop | None:
    """Return the error for a word of other languages, with the word that expressions use for it."""
    position, length = token.position, len(token.text)
    if token.text in _WORDS_INSTEAD:
        instead = _WORDS_INSTEAD[token.text]
        return make_stop("OPERATOR_UNKNOWN", position, length, suggestion=instead, operator=token.text)
    for code, words in (
        ("REGEX_ABSENT", _PATTERN_WORDS),
        ("LOOP_ABSENT", _LOOP_WORDS),
        ("CONDITIONAL_ABSENT", _CONDITIONAL_WORDS),
    ):
        if token.text in words:
            return make_stop(code, position, length, operator=token.text)
    return None
