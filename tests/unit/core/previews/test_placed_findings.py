"""Findings of an author's document: what cannot be read is refused with each place."""

import pytest

from signet.core.compiler.patch import Patch
from signet.core.errors import Rejected
from signet.core.previews.placed_findings import parse_body


def test_a_document_that_is_no_patch_is_refused_by_its_places() -> None:
    with pytest.raises(Rejected) as refused:
        parse_body(Patch, {"patch": "p", "slots": 1})
    assert refused.value.code == "DEFINITION_INVALID"
    assert "/slots" in [field.pointer for field in refused.value.fields]
