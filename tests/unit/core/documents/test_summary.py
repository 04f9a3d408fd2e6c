"""The title and the amount that lists show of a document."""

import copy
from typing import Any

import pytest

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.reader import parse_contract
from signet.core.documents.summary import (
    MAX_TITLE_CHARACTERS,
    DocumentSummary,
    ShownAmount,
    list_summary_fields,
    summarize,
)
from tests.support.core.broken_contracts import VALID

DATA = {"number": "R-1", "vendor": "V-1", "total": 260005, "count": 3}


def compile_with(summary: dict[str, Any] | None) -> CompiledContract:
    document = copy.deepcopy(VALID)
    document["fields"]["count"] = {"type": "int", "label": "Pieces"}
    document["fields"]["total"]["scale"] = 2
    contract, findings = parse_contract(document if summary is None else {**document, "summary": summary})
    assert contract is not None, findings
    return CompiledContract(contract, "hash")


@pytest.mark.parametrize("summary", [None, {}, {"amount": "total"}])
def test_without_a_declared_title_the_business_keys_are_one(summary: dict[str, Any] | None) -> None:
    assert summarize(compile_with(summary), DATA).title == "R-1"


def test_a_title_has_its_fields_in_their_order_and_leaves_out_what_is_empty() -> None:
    contract = compile_with({"title": ["vendor", "currency", "number"]})
    assert summarize(contract, DATA).title == "V-1 · R-1"
    assert summarize(contract, {"currency": None}) == DocumentSummary(None, None)
    assert len(summarize(contract, {"vendor": "x" * 900}).title or "") == MAX_TITLE_CHARACTERS


def test_an_amount_has_the_scale_of_its_field() -> None:
    total, count = compile_with({"amount": "total"}), compile_with({"amount": "count"})
    assert summarize(total, DATA).amount == ShownAmount("total", "", 260005, 2)
    assert summarize(count, DATA).amount == ShownAmount("count", "Pieces", 3, 0)
    assert summarize(count, {"number": "R-1"}).amount is None
    assert summarize(compile_with({"title": ["number"]}), DATA).amount is None


@pytest.mark.parametrize(
    ("summary", "fields"),
    [
        (None, ("number",)),
        ({"amount": "total"}, ("number", "total")),
        ({"title": ["vendor"]}, ("vendor",)),
        ({"title": ["vendor"], "amount": "total"}, ("vendor", "total")),
    ],
)
def test_only_the_declared_fields_are_read(summary: dict[str, Any] | None, fields: tuple[str, ...]) -> None:
    assert list_summary_fields(compile_with(summary)) == fields
