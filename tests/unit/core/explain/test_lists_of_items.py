"""A step for each item of a list, in English: all of them or none, or each by itself."""

import json

import pytest

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.explain.node_sentences import describe_step
from signet.core.explain.vocabulary import Vocabulary
from tests.support.core.valid_workflow import break_patch, node

LIST = {"action": "store.set", "for_each": "entity.lines"}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, "Where one fails, none of them is done."),
        ({"each": "keep"}, "What is done stays when another fails."),
    ],
)
def test_what_becomes_of_the_others(more: dict[str, str], sentence: str) -> None:
    read = NODE_TYPES["action"].configuration.model_validate_json(json.dumps({**LIST, **more}))
    config = read.model_dump(mode="json", by_alias=True)
    assert ("each" in config) is bool(more)
    assert sentence in " ".join(describe_step("action", config, Vocabulary("invoice")))


def test_only_a_list_keeps_each() -> None:
    (finding,) = break_patch(lambda patch: node(patch, "task")["config"].update(each="keep"))
    assert (finding.code, finding.place) == ("NODE_CONFIG_INVALID", "usr:posting:task")
