"""Explanations of what starts an automation, and of what keeps it from starting."""

from typing import Any

import pytest

from signet.core.compiler.compiler import compile_automation
from signet.core.compiler.patch import Automation
from signet.core.explain.definition import explain, write_explanation
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.small_workflows import AUTOMATION, SETTINGS, make_contract


def read(trigger: dict[str, Any], **more: Any) -> str:
    document = {**AUTOMATION, "entity_type": "invoice", "trigger": trigger, **more}
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    contract = make_contract()
    artifact = compile_automation(automation, contract, SETTINGS).artifact
    assert artifact is not None
    return " ".join(" ".join(write_explanation(explain(artifact, contract))).split())


def test_fields_and_both_sides_of_a_change() -> None:
    condition = "after.grand_total > before.grand_total"
    text = read({"on": "mutation", "fields": ["grand_total", "due"], "condition": condition})
    assert 'only where "grand total" [grand_total] or "due" [due] has changed' in text
    assert condition in text


@pytest.mark.parametrize(
    ("overlap", "said"),
    [
        ({"mode": "allow"}, "It starts beside its instances that are open."),
        ({"mode": "skip"}, "It does not start while an instance of it is open."),
        (
            {"mode": "queue", "per": "document", "at_most": 3},
            "It waits while an instance of it for the same document is open. At most 3 starts wait",
        ),
        ({"mode": "replace"}, "It has an instance of it cancelled that is open"),
    ],
)
def test_overlap(overlap: dict[str, Any], said: str) -> None:
    assert said in read({"on": "create"}, overlap=overlap)


def test_repeats_and_limits() -> None:
    assert "left out without a note" in read({"on": "create", "repeat": "ignore"})
    assert "up to a chain of 16" in read({"on": "create", "repeat": "allow"})
    limits = {"starts_per_minute": 5, "open_instances": 1}
    text = read({"on": "create", "repeat": "stop"}, limits=limits)
    assert "at most 5 times in a minute, and has at most 1 instance open" in text
