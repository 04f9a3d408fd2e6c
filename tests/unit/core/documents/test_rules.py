"""Rules become expressions, and an impossible rule is found when it is saved."""

from typing import Any

import pytest

from signet.core.contracts.contract import Contract
from signet.core.documents.rules import (
    CompiledRule,
    Rule,
    check_rule_fields,
    compile_rule,
    to_expression_text,
)
from signet.core.expressions import INT, STRING, Scope, list_of, object_of
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.broken_contracts import VALID
from tests.support.rendering import render_whole

SCOPE = Scope({"entity": object_of({"total": INT, "vendor": STRING, "tags": list_of(STRING)})})
REJECT = {"kind": "reject", "message": "no"}


def read(condition: Any, phase: str = "before", actions: Any = None, **more: Any) -> Rule:
    document = {"name": "r", "entity_type": "invoice", "phase": phase, "condition": condition}
    rule, findings = parse_strictly(Rule, {**document, "actions": actions or [REJECT], **more})
    assert findings == () and rule is not None
    return rule


def compiled(rule: Rule) -> CompiledRule:
    result, findings = compile_rule(rule, SCOPE)
    assert findings == () and result is not None
    return result


@pytest.mark.parametrize(
    ("condition", "entity", "expected"),
    [
        ({"field": "entity.total", "op": ">", "value": 5}, {"total": 6}, True),
        ({"field": "entity.total", "op": ">", "value": 5}, {"total": None}, False),
        ({"field": "entity.vendor", "op": "in", "value": ["a", "b'\\\n\t"]}, {"vendor": "b'\\\n\t"}, True),
        ({"field": "entity.tags", "op": "contains", "value": "x"}, {"tags": ["x"]}, True),
        ({"field": "entity.vendor", "op": "==", "value": None}, {}, True),
        ({"not": {"field": "entity.total", "op": "==", "value": 1}}, {"total": 2}, True),
        ({"expression": "entity.total == 1 || entity.total == 2"}, {"total": 2}, True),
        (
            {"all": [{"field": "entity.total", "op": ">=", "value": 1}, {"expression": "entity.total < 3"}]},
            {"total": 3},
            False,
        ),
        (
            {"any": [{"field": "entity.total", "op": "==", "value": 1}, {"expression": "entity.total == 3"}]},
            {"total": 3},
            True,
        ),
    ],
)
def test_a_condition_is_an_expression(condition: Any, entity: dict[str, Any], expected: bool) -> None:
    assert compiled(read(condition)).condition.value({"entity": entity}) is expected


def test_which_rules_concern_an_operation() -> None:
    condition = {"expression": "entity.total > 1"}
    everything, creating = compiled(read(condition)), compiled(read(condition, operations=["create"]))
    assert everything.concerns("update", "before") and not everything.concerns("update", "after")
    assert creating.concerns("create", "before") and not creating.concerns("update", "before")


def test_a_rule_reads_what_its_condition_names() -> None:
    rule = compiled(read({"expression": "entity.total > 5 && entity.vendor == 'x'"}))
    assert rule.own_fields == {"total", "vendor"}


def test_set_and_emit_have_templates() -> None:
    condition = {"expression": "entity.total > 1"}
    rule = compiled(
        read(condition, actions=[REJECT, {"kind": "set", "values": {"vendor": "V-{entity.total}"}}])
    )
    assert render_whole(rule.templates[1], {"entity": {"total": 7}})[0] == {"vendor": "V-7"}
    emit = {"kind": "emit", "event_type": "big", "payload": {"total": {"$expr": "entity.total"}}}
    emits = compiled(read(condition, "after", [emit])).templates[0]
    assert render_whole(emits, {"entity": {"total": 7}})[0] == {"total": 7}


@pytest.mark.parametrize(
    ("rule", "code", "place"),
    [
        (read({"expression": "entity.totl > 1"}), "RULE_CONDITION_INVALID", "/condition"),
        (read({"expression": "entity.total >"}), "RULE_CONDITION_INVALID", "/condition"),
        (read({"expression": "entity.total"}), "RULE_CONDITION_INVALID", "/condition"),
        (
            read({"expression": "entity.total > 1"}, "after", [{"kind": "set", "values": {"vendor": "x"}}]),
            "RULE_ACTION_IN_PHASE",
            "/actions/0",
        ),
        (
            read(
                {"expression": "entity.total > 1"},
                "before",
                [{"kind": "set", "values": {"vendor": "{no.no}"}}],
            ),
            "RULE_TEMPLATE_INVALID",
            "/actions/0/vendor",
        ),
    ],
)
def test_what_is_wrong_with_a_rule(rule: Rule, code: str, place: str) -> None:
    result, findings = compile_rule(rule, SCOPE)
    assert result is None
    assert (code, place) in [(finding.code, finding.place) for finding in findings]


def test_a_condition_nested_too_deep_does_not_parse() -> None:
    condition: Any = {"expression": "entity.total > 1"}
    for _ in range(12):
        condition = {"not": condition}
    rule = read(condition)
    assert "((((((((((" in to_expression_text(rule.condition)
    assert compile_rule(rule, SCOPE)[0] is None


def test_a_rule_names_only_fields_that_there_are() -> None:
    contract, _ = parse_strictly(Contract, VALID)
    assert contract is not None
    known = next(iter(contract.fields))
    actions = [
        {"kind": "reject", "message": "no", "field": known},
        {"kind": "reject", "message": "no"},
        {"kind": "set", "values": {known: 1, "ghost": 1}},
        {"kind": "emit", "event_type": "a"},
        {"kind": "reject", "message": "no", "field": "spook"},
    ]
    found = list(check_rule_fields(read({"expression": "true"}, actions=actions), contract))
    assert [(one.code, one.place) for one in found] == [
        ("RULE_FIELD_UNKNOWN", "/actions/2/values/ghost"),
        ("RULE_FIELD_UNKNOWN", "/actions/4/field"),
    ]
    assert known in found[0].remedy


@pytest.mark.parametrize(
    ("operations", "action", "writes"),
    [
        ([], {"kind": "set", "values": {"vendor": "x"}}, True),
        (["create", "update"], {"kind": "set", "values": {"vendor": "x"}}, True),
        (["create", "delete"], {"kind": "set", "values": {"vendor": "x"}}, False),
        ([], REJECT, False),
    ],
)
def test_a_rule_writes_on_the_way_where_it_sets_values_in_updates(
    operations: list[str], action: dict[str, Any], writes: bool
) -> None:
    rule = read({"expression": "entity.total > 1"}, actions=[action], operations=operations)
    assert compiled(rule).writes_on_the_way is writes
