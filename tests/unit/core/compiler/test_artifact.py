"""Artifacts as they are stored: the text that was hashed, by a compiler that this release runs."""

import pytest

from signet.core.compiler.artifact import COMPILER_VERSION, make_artifact, parse_artifact
from signet.core.errors import Rejected


def test_an_artifact_is_read_as_it_was_made() -> None:
    made = make_artifact({"compiler_version": COMPILER_VERSION, "nodes": ["ü"]})
    assert parse_artifact(made.text, made.hash) == made


def test_another_text_than_the_hashed_one_is_refused() -> None:
    made = make_artifact({"compiler_version": COMPILER_VERSION})
    with pytest.raises(Rejected) as refused:
        parse_artifact(f"{made.text} ", made.hash)
    assert refused.value.code == "WORKFLOW_HASH_MISMATCH"


@pytest.mark.parametrize("version", [None, "0.0.0"])
def test_the_artifact_of_a_compiler_that_is_not_run_any_more_is_refused(version: str | None) -> None:
    made = make_artifact({} if version is None else {"compiler_version": version})
    with pytest.raises(Rejected) as refused:
        parse_artifact(made.text, made.hash)
    assert refused.value.code == "WORKFLOW_COMPILER_STALE"
    assert refused.value.remedy is not None
