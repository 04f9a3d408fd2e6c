"""Compiled workflows in plain English: names, durations, lists, and expressions with the contract's labels.

Labels are tenants' text: every text that is put into a line goes through `escape` first.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from signet.core.contracts.contract import Contract
from signet.core.contracts.fields import DecimalField, ListField, ObjectField, RefField
from signet.core.expressions import Expression, ExpressionError, parse_expression, to_text
from signet.core.expressions.syntax_tree import Comparison, Junction, ListLiteral, Literal, Name, Not
from signet.core.moments.durations import parse_duration, parse_duration_seconds
from signet.core.tenants.machine_label import MachineLabel
from signet.core.tenants.principal import SERVICE_PREFIX

MAX_SHOWN_JSON = 300
MAX_PLAIN_CHARACTERS = 2_000
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
_COMPARISONS = {
    "==": "is",
    "!=": "is not",
    ">": "is more than",
    ">=": "is at least",
    "<": "is less than",
    "<=": "is at most",
    "in": "is one of",
    "contains": "contains",
}
_OWNERS = {
    "org": "the organisation's",
    "context": "the workflow's",
    "payload": "the trigger's",
    "item": "the item's",
    "event": "the event's",
    "actor": "the acting person's",
    "before": "the earlier document's",
    "after": "the changed document's",
}
_LITERALS = {True: "yes", False: "no", None: "empty"}


def escape(text: object) -> str:
    """Return one line without control characters.

    So no label moves a cursor, breaks a line or hides the text after it.
    """
    shown = "".join(c if c.isprintable() else " " if c in "\n\r\t" else _escape(c) for c in str(text))
    return shown if len(shown) <= MAX_PLAIN_CHARACTERS else f"{shown[: MAX_PLAIN_CHARACTERS - 1]}…"


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}"


def describe_list(items: Iterable[str], word: str = "and") -> str:
    """Join items in a sentence: `a, b and c`."""
    listed = list(items)
    return (
        listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {word} {listed[-1]}" if listed else ""
    )


def describe_count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def describe_duration(text: str) -> str:
    """Describe an ISO 8601 duration: `PT72H` is 3 days."""
    seconds, parts = parse_duration_seconds(text), []
    for unit, size in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(describe_count(count, unit))
    return describe_list(parts)


def describe_calendar_duration(text: str) -> str:
    """Describe a duration on the wall clock: `P1M` is 1 month, and `PT72H` is 72 hours."""
    duration = parse_duration(text)
    minutes, seconds = divmod(duration.seconds, 60)
    counts = [*divmod(duration.months, 12), duration.days, *divmod(minutes, 60), seconds]
    nouns = ("year", "month", "day", "hour", "minute", "second")
    return describe_list(
        describe_count(count, noun) for count, noun in zip(counts, nouns, strict=True) if count
    )


def describe_name(name: str) -> str:
    """Return a name in words: `budget_owner` is budget owner."""
    return escape(name).replace("_", " ")


def describe_json(value: Any) -> str:
    text = escape(json.dumps(value, ensure_ascii=False, sort_keys=True))
    return text if len(text) <= MAX_SHOWN_JSON else f"{text[: MAX_SHOWN_JSON - 1]}…"


def short_id(node_id: str) -> str:
    """Shorten an id: `usr:slot:finance` is finance, `sys:gate:approve` gate approve.

    A policy gate is named by its action: `sys:policy:usr:slot:post` is policy of post.
    """
    parts = node_id.split(":")
    if parts[0] == "usr":
        return escape(parts[-1])
    if parts[1:2] == ["policy"]:
        return f"policy of {short_id(':'.join(parts[2:]))}"
    return escape(parts[-1] if parts[1:2] == ["slot"] else " ".join(parts[1:]))


@dataclass(frozen=True)
class Vocabulary:
    """The names of the document and its fields, from the contract's labels and units if it is there.

    Keys and service accounts have the names that people gave them, where their labels are known.
    """

    entity_type: str | None = None
    contract: Contract | None = None
    # By subject.
    machines: Mapping[str, MachineLabel] = field(default_factory=dict)
    _fields: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_fields", self.contract.fields if self.contract else {})

    @property
    def document(self) -> str:
        """The document in the middle of a sentence: `the invoice`."""
        label = self.contract.label if self.contract else ""
        return f"the {escape(label).lower() or describe_name(self.entity_type or 'document')}"

    def describe_subject(self, subject: str) -> str:
        """Name a person by their id, and a machine by its label."""
        label = self.machines.get(subject)
        return escape(subject if label is None else label.describe())

    def describe_account(self, account_id: str | None) -> str:
        """Name the service account that a node runs as; older definitions name none."""
        if account_id is None:
            return "the service account"
        subject = f"{SERVICE_PREFIX}{account_id}"
        if subject not in self.machines:
            return f'the service account "{describe_name(account_id)}" [{escape(account_id)}]'
        return self.describe_subject(subject)

    def describe_condition(self, text: str) -> str:
        """Describe a condition in words, with the expression itself after them."""
        parsed = parse_expression(text)
        return (
            escape(text)
            if isinstance(parsed, ExpressionError)
            else f"{self._describe_truth(parsed)} ({escape(text)})"
        )

    def describe_expression(self, text: str) -> str:
        parsed = parse_expression(text)
        if isinstance(parsed, ExpressionError):
            return escape(text)
        whether = "whether " if isinstance(parsed, Not | Comparison | Junction) else ""
        return f"{whether}{self._describe(parsed)}"

    def describe_value(self, name: str, value: Any) -> str:
        """Describe the value of a variable in the unit of its field."""
        parsed = parse_expression(name)
        unit = self._unit_of(parsed) if isinstance(parsed, Name) else None
        if unit is not None and unit.scale and isinstance(value, int) and not isinstance(value, bool):
            return _describe_decimal(value, unit.scale)
        return describe_json(value)

    def _describe(self, node: Expression, unit: DecimalField | None = None) -> str:
        match node:
            case Literal():
                return _describe_literal(node, unit)
            case ListLiteral():
                return (
                    describe_list((_describe_literal(item, unit) for item in node.items), "or") or "nothing"
                )
            case Name():
                return self._describe_variable(node.path)
            case Not(operand=Name() as name):
                return f"{self._describe(name)} is no"
            case Not():
                return f"it is not so that {self._describe_truth(node.operand)}"
            case Comparison():
                return self._describe_comparison(node)
            case _:
                word = " and " if node.operator == "&&" else " or "
                return word.join(self._describe_term(term) for term in node.terms)

    def _describe_truth(self, node: Expression) -> str:
        return f"{self._describe(node)} is yes" if isinstance(node, Name) else self._describe(node)

    def _describe_term(self, node: Expression) -> str:
        """Describe one term of a junction; an inner junction gets a word that marks its beginning."""
        begins = {"&&": "both ", "||": "either "}[node.operator] if isinstance(node, Junction) else ""
        return f"{begins}{self._describe_truth(node)}"

    def _describe_comparison(self, node: Comparison) -> str:
        unit = self._unit_of(node.left) or self._unit_of(node.right)
        right = node.right
        verb = _COMPARISONS[node.operator]
        if node.operator == "in" and not isinstance(right, ListLiteral):
            verb = "is among"
        return f"{self._describe(node.left, unit)} {verb} {self._describe(right, unit)}"

    def _unit_of(self, node: Expression) -> DecimalField | None:
        declared = self._find_fields(node.path)[-1] if isinstance(node, Name) else None
        return declared if isinstance(declared, DecimalField) else None

    def _find_fields(self, path: tuple[str, ...]) -> list[Any]:
        """Return the declared field at each step of `entity.…`, or None where none is declared."""
        fields: list[Any] = []
        here: Mapping[str, Any] = self._fields if path[0] == "entity" else {}
        for name in path[1:]:
            declared = here.get(name)
            fields.append(declared)
            here = _inner_fields(declared)
        return fields or [None]

    def _describe_variable(self, path: tuple[str, ...]) -> str:
        root, names = path[0], path[1:]
        if path == ("actor", "user_id"):
            return "the acting person"
        if not names:
            return {"now": "the current time", "entity": self.document}.get(root, f"the {root}")
        owner = f"{self.document}'s" if root == "entity" else _OWNERS.get(root, root)
        declared = self._find_fields(path) if root == "entity" else [None] * len(names)
        labels = [
            escape(named.label) if named is not None and named.label else describe_name(name)
            for name, named in zip(names, declared, strict=True)
        ]
        # entity.customer.is_blocked: "is blocked" of the order's "customer"
        inner = "".join(f'"{label}" of ' for label in reversed(labels[1:]))
        return f'{inner}{owner} "{labels[0]}"'


def _inner_fields(declared: Any) -> Mapping[str, Any]:
    match declared:
        case RefField():
            return declared.reads
        case ObjectField():
            return declared.fields
        case ListField(of=ObjectField() as item):
            return item.fields
        case _:
            return {}


def _describe_literal(literal: Literal, unit: DecimalField | None) -> str:
    value = literal.value
    if isinstance(value, bool) or value is None:
        return _LITERALS[value]
    if isinstance(value, int):
        return _describe_decimal(value, unit.scale) if unit is not None and unit.scale else str(value)
    return escape(to_text(literal))


def _describe_decimal(value: int, scale: int) -> str:
    """Describe a scaled number: 1234567 in hundredths is 12,345.67."""
    digits = str(abs(value)).rjust(scale + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{int(digits[:-scale]):,}.{digits[-scale:]}"
