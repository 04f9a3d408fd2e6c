"""The fields that a contract may declare as the title and the amount of its documents."""

import copy
from typing import Any

import pytest

from signet.core.contracts.reader import parse_contract
from tests.support.core.broken_contracts import VALID


def read(summary: dict[str, Any]) -> list[tuple[str, str]]:
    _, findings = parse_contract({**copy.deepcopy(VALID), "summary": summary})
    return [(finding.code, finding.place) for finding in findings if finding.severity == "error"]


@pytest.mark.parametrize(
    "summary",
    [{}, {"title": ["number", "currency"]}, {"amount": "total"}, {"title": ["vendor"], "amount": "total"}],
)
def test_fields_that_a_line_can_hold(summary: dict[str, Any]) -> None:
    assert read(summary) == []


@pytest.mark.parametrize(
    ("summary", "code", "place"),
    [
        ({"title": ["number", "nothing"]}, "SUMMARY_FIELD_UNKNOWN", "/summary/title/1"),
        ({"title": ["lines"]}, "SUMMARY_FIELD_TYPE", "/summary/title/0"),
        ({"title": ["customer"]}, "SUMMARY_FIELD_TYPE", "/summary/title/0"),
        ({"title": ["contact"]}, "SUMMARY_FIELD_PERSONAL", "/summary/title/0"),
        ({"title": ["number", "number"]}, "ENTRY_TWICE", "/summary/title/1"),
        ({"amount": "nothing"}, "SUMMARY_FIELD_UNKNOWN", "/summary/amount"),
        ({"amount": "number"}, "SUMMARY_FIELD_TYPE", "/summary/amount"),
    ],
)
def test_fields_that_it_cannot_hold(summary: dict[str, Any], code: str, place: str) -> None:
    assert read(summary) == [(code, place)]


def test_a_contract_without_a_summary_keeps_its_hash() -> None:
    contract, _ = parse_contract(copy.deepcopy(VALID))
    assert contract is not None and "summary" not in contract.to_json()
