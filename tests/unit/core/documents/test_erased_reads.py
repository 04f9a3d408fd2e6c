"""Gaps of personal fields: which of them a condition would read."""

import pytest

from signet.core.documents.personal_data import describe_erased, list_gaps, list_own_fields
from signet.core.expressions import ExpressionError, parse_expression


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("entity.name == 'x' && entity.vendor.iban != null", {"name", "vendor"}),
        ("actor.roles contains 'clerk' || context.name == org.name", set()),
        ("now > entity.due", {"due"}),
        ("entity == context.before", {"*"}),
    ],
)
def test_the_fields_of_the_own_document_are_read(text: str, fields: set[str]) -> None:
    parsed = parse_expression(text)
    assert not isinstance(parsed, ExpressionError)
    assert list_own_fields([parsed]) == fields


def test_a_gap_is_a_personal_field_without_a_value() -> None:
    read, personal = {"name", "flag", "amount"}, ("flag", "name", "other")
    assert list_gaps(read, personal, {"name": "x", "flag": None}) == {"flag"}
    assert list_gaps(read, personal, {"name": False}) == {"flag"}
    assert list_gaps(set(), personal, {}) == set()
    # Who reads the whole document reads each field of it.
    assert list_gaps({"*"}, personal, {"name": "x", "flag": None}) == {"flag", "other"}


def test_the_sentence_names_the_fields() -> None:
    sentence = describe_erased("usr:paying:choice", {"b", "a"})
    assert sentence == (
        "usr:paying:choice reads a, b, which was erased after people were asked or decided about the document"
    )
