"""Checks of triggers, as an author meets them when they compile."""

from typing import Any

import pytest

from signet.core.compiler.compiler import Compilation, compile_automation
from signet.core.compiler.patch import Automation
from signet.core.runtime.workflow import Workflow
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.small_workflows import AUTOMATION, SETTINGS, make_contract


def compile_trigger(trigger: dict[str, Any], **more: Any) -> Compilation:
    document = {**AUTOMATION, "entity_type": "invoice", **more, "trigger": trigger}
    automation, findings = parse_strictly(Automation, document)
    assert automation is not None, findings
    contract = make_contract() if automation.entity_type is not None else None
    return compile_automation(automation, contract, SETTINGS)


@pytest.mark.parametrize(
    ("trigger", "codes"),
    [
        ({"on": "create"}, []),
        ({"on": "mutation", "fields": ["grand_total"], "repeat": "allow"}, []),
        ({"on": "mutation", "fields": ["nothing"]}, ["TRIGGER_NAMES_NOTHING"]),
        ({"on": "mutation", "action": "delete"}, []),
        ({"on": "mutation", "action": "nothing"}, ["TRIGGER_NAMES_NOTHING"]),
        ({"on": "transition", "from": "draft", "to": "submitted"}, []),
        ({"on": "transition", "to": "nowhere"}, ["TRIGGER_NAMES_NOTHING"]),
        ({"on": "create", "to": "draft"}, ["TRIGGER_TAKES_NO"]),
        ({"on": "transition", "fields": ["number"]}, ["TRIGGER_TAKES_NO"]),
        ({"on": "manual", "condition": "entity.grand_total > 5"}, []),
        ({"on": "create", "condition": "before.grand_total == null"}, []),
        ({"on": "create", "condition": "entity.vendor.rating > 5"}, ["TRIGGER_FOLLOWS_REF"]),
        ({"on": "cron", "cron": "0 6 * * *"}, []),
        ({"on": "cron"}, ["CRON_ABSENT"]),
    ],
)
def test_a_trigger_names_what_there_is(trigger: dict[str, Any], codes: list[str]) -> None:
    compilation = compile_trigger(trigger)
    assert [one.code for one in compilation.findings if one.severity == "error"] == codes
    assert (compilation.artifact is None) == bool(codes)


@pytest.mark.parametrize("on", ["create", "mutation", "transition"])
def test_a_change_is_of_documents_of_a_type(on: str) -> None:
    compilation = compile_trigger({"on": on}, entity_type=None)
    assert [one.code for one in compilation.findings] == ["TRIGGER_WITHOUT_TYPE"]


def test_bounds_are_part_of_the_artifact_where_they_are_said() -> None:
    plain = compile_trigger({"on": "create"}).artifact
    bounded = compile_trigger(
        {"on": "create"}, overlap={"mode": "skip"}, limits={"open_instances": 3}
    ).artifact
    assert plain is not None and not {"overlap", "limits"} & plain.content.keys()
    assert bounded is not None
    assert bounded.content["overlap"] == {"mode": "skip", "per": "automation", "at_most": 10}
    assert bounded.content["limits"] == {"starts_per_minute": 100, "open_instances": 3}


def test_the_condition_of_a_trigger_is_ready_to_be_asked() -> None:
    plain = compile_trigger({"on": "create"}).artifact
    asking = compile_trigger({"on": "create", "condition": "after.grand_total > 5"}).artifact
    assert plain is not None and Workflow(plain).start_condition is None
    assert asking is not None
    condition = Workflow(asking).start_condition
    assert condition is not None
    assert [condition.value({"after": {"grand_total": total}}) for total in (5, 6)] == [False, True]
