"""Numbers that actions copy into a field of another scale: 12345 is 123.45 here, and 1.2345 there."""

from collections.abc import Iterator, Mapping
from typing import Any

from signet.core.contracts.contract import Contract, DeclaredAction
from signet.core.contracts.fields import AnyField, DecimalField, IntField, RefField
from signet.core.expressions import ExpressionError, parse_expression
from signet.core.expressions.syntax_tree import Name
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point


def find_scale_differences(contract: Contract, targets: Mapping[str, Contract]) -> Iterator[Finding]:
    """Yield a finding for each number that an action copies as it is into a field of another scale.

    `targets` are the contracts of the documents that its actions make, as far as they are known.
    """
    for name, action in contract.actions.items():
        made = contract if action.kind == "update" else targets.get(action.entity_type or "")
        for field, value in action.set.items():
            to = made.fields.get(field) if made is not None else None
            source = _find_source(contract, action, value)
            if source is None or to is None or _scale_of(to) in (None, _scale_of(source)):
                continue
            yield make_finding(
                "SCALE_DIFFERS",
                point(("actions", name, "set", field)),
                action=name,
                field=field,
                scale=_scale_of(source),
                other=_scale_of(to),
            )


def _find_source(contract: Contract, action: DeclaredAction, value: Any) -> AnyField | None:
    """Find the number that the value of a template takes as it is; arithmetic says itself what it does."""
    text = value.get("$expr") if isinstance(value, Mapping) else None
    parsed = parse_expression(text) if isinstance(text, str) else None
    if parsed is None or isinstance(parsed, ExpressionError) or not isinstance(parsed, Name):
        return None
    root, *path = parsed.path
    fields: Mapping[str, AnyField] = action.payload if root == "payload" else contract.fields
    found = fields.get(path[0]) if path and root in ("payload", "entity") else None
    if isinstance(found, RefField) and len(path) > 1:
        found = found.reads.get(path[1])
    return found if found is not None and _scale_of(found) is not None else None


def _scale_of(field: AnyField) -> int | None:
    if isinstance(field, DecimalField):
        return field.scale
    return 0 if isinstance(field, IntField) else None
