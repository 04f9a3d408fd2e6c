"""Checks of what lists show of a document: fields that a line can hold, and nothing personal."""

from collections.abc import Collection, Iterator

from signet.core.contracts.contract import Contract
from signet.core.contracts.field_checks import check_distinct
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point

_TITLES = frozenset({"string", "enum", "int", "date", "timestamp"})
_AMOUNTS = frozenset({"int", "decimal"})


def check_summary(contract: Contract) -> Iterator[Finding]:
    if contract.summary is None:
        return
    yield from check_distinct(contract.summary.title, ("summary", "title"))
    for index, name in enumerate(contract.summary.title):
        yield from _check_field(contract, name, point(("summary", "title", index)), _TITLES)
    if contract.summary.amount is not None:
        yield from _check_field(contract, contract.summary.amount, "/summary/amount", _AMOUNTS)


def _check_field(contract: Contract, name: str, place: str, allowed: Collection[str]) -> Iterator[Finding]:
    field = contract.fields.get(name)
    if field is None:
        yield make_finding("SUMMARY_FIELD_UNKNOWN", place, field=name)
        return
    if field.type not in allowed:
        kinds = ", ".join(sorted(allowed))
        yield make_finding("SUMMARY_FIELD_TYPE", place, field=name, type=field.type, allowed=kinds)
    if field.personal:
        yield make_finding("SUMMARY_FIELD_PERSONAL", place, field=name)
