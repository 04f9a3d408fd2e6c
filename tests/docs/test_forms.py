"""The forms that docs/authoring.md shows: each is one that Signet takes."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from signet.core.approvals.policy import Chain
from signet.core.compiler.node_configurations import Approver, ByExpression, ByManager, ByRole, ByUser
from signet.core.documents.rules import Rule
from signet.core.validation.strict_model import parse_strictly

PAGE = (Path(__file__).resolve().parents[2] / "docs/authoring.md").read_text(encoding="utf-8")
FORMS = re.findall(r"^```yaml (approvers|chain|rule)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def read(text: str) -> Any:
    return yaml.safe_load(text)


def test_each_kind_has_a_form() -> None:
    assert {kind for kind, _ in FORMS} == {"approvers", "chain", "rule"}


def test_each_kind_of_approver_is_shown() -> None:
    (text,) = [text for kind, text in FORMS if kind == "approvers"]
    shown = TypeAdapter(list[Approver]).validate_python(read(text))
    assert {type(approver) for approver in shown} == {ByUser, ByRole, ByManager, ByExpression}


@pytest.mark.parametrize("text", [text for kind, text in FORMS if kind == "chain"])
def test_the_chain_is_one(text: str) -> None:
    chain, findings = parse_strictly(Chain, read(text))
    assert chain is not None, findings


@pytest.mark.parametrize("text", [text for kind, text in FORMS if kind == "rule"])
def test_each_rule_is_one(text: str) -> None:
    rule, findings = parse_strictly(Rule, {**read(text), "name": "own", "entity_type": "invoice"})
    assert rule is not None, findings
