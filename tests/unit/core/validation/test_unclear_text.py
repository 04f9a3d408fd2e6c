"""Texts that do not say what a reader sees: hidden characters, and letters of two scripts in a word."""

from typing import Any

import pytest

from signet.core.validation.unclear_text import list_unclear


@pytest.mark.parametrize(
    ("text", "is_unclear"),
    [
        ("DE-1", False),
        ("Müller & Söhne, Straße 1", False),
        ("Мария Петрова", False),
        ("GmbH Мария", False),
        ("DE\u200b-1", True),
        ("\u202eDE-1", True),
        ("DE\u3164", True),
        ("D\u0415-1", True),
        ("b\u0430nk", True),
    ],
)
def test_a_text_is_named_where_it_reads_otherwise(text: str, is_unclear: bool) -> None:
    assert list_unclear({"account": text}) == (["account"] if is_unclear else [])


def test_texts_are_named_by_their_paths() -> None:
    data: dict[str, Any] = {
        "amount": 1,
        "vendor": {"iban": "D\u0415"},
        "lines": [{"text": "ok"}, {"text": "x\u200b"}],
        "tags": ["\u200b"],
        "nothing": None,
    }
    assert list_unclear(data) == ["vendor.iban", "lines.1.text", "tags.0"]
