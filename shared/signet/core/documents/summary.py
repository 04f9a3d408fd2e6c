"""A document in a line, for lists of people's work: title and amount, as its contract declares them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.fields import DecimalField

MAX_TITLE_CHARACTERS = 200
_BETWEEN = " · "


@dataclass(frozen=True, slots=True)
class ShownAmount:
    """An amount, as the document keeps it: `value` counts the smallest units, `scale` its decimals."""

    field: str
    label: str
    value: int
    scale: int


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """A title and an amount; null where nothing is declared, or the document has no value."""

    title: str | None
    amount: ShownAmount | None


def list_summary_fields(contract: CompiledContract) -> tuple[str, ...]:
    """List the fields that a summary reads. Without a declared title the business keys are one."""
    declared = contract.contract.summary
    if declared is None:
        return contract.unique_fields
    amount = () if declared.amount is None else (declared.amount,)
    return (*(declared.title or contract.unique_fields), *amount)


def summarize(contract: CompiledContract, data: Mapping[str, Any]) -> DocumentSummary:
    declared = contract.contract.summary
    named = declared.title if declared is not None and declared.title else contract.unique_fields
    values = [str(data[name]) for name in named if data.get(name) is not None]
    title = _BETWEEN.join(values)[:MAX_TITLE_CHARACTERS] or None
    return DocumentSummary(title, _find_amount(contract, data))


def _find_amount(contract: CompiledContract, data: Mapping[str, Any]) -> ShownAmount | None:
    declared = contract.contract.summary
    if declared is None or declared.amount is None:
        return None
    value, field = data.get(declared.amount), contract.contract.fields[declared.amount]
    if value is None:
        return None
    scale = field.scale if isinstance(field, DecimalField) else 0
    return ShownAmount(declared.amount, field.label, value, scale)
