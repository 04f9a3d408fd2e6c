"""Rules of the tenant: a JSON condition and actions, before or after a mutation (the source's V1 engine).

A condition is `{"all": […]}`, `{"any": […]}`, `{"not": …}`, `{"field": "entity.x", "op": ">", "value": 1}` or
`{"expression": "…"}`. It becomes an expression, so that there is one evaluator and one form of evidence.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field as Constraint
from pydantic import JsonValue

from signet.core.contracts.contract import Contract
from signet.core.documents.personal_data import list_own_fields
from signet.core.expressions import (
    Compiled,
    Expression,
    ExpressionError,
    FollowedField,
    Scope,
    check_condition,
    compile_expression,
    compile_template,
    list_followed_fields,
    list_template_parts,
    parse_expression,
    parse_template,
)
from signet.core.expressions.render import Render
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import ExpressionText, Name, Strict

MAX_RULE_ACTIONS = 20
MAX_CONDITION_DEPTH = 8
Operation = Literal["create", "update", "transition", "action", "delete"]
Operator = Literal["==", "!=", ">", ">=", "<", "<=", "in", "contains"]


class FieldCondition(Strict):
    field: Annotated[str, Constraint(max_length=200)]
    op: Operator
    value: JsonValue


class ExpressionCondition(Strict):
    expression: ExpressionText


class AllOf(Strict):
    all: Annotated[tuple["Condition", ...], Constraint(min_length=1, max_length=50)]


class AnyOf(Strict):
    any: Annotated[tuple["Condition", ...], Constraint(min_length=1, max_length=50)]


class NotOf(Strict):
    negated: Annotated["Condition", Constraint(alias="not")]


Condition = FieldCondition | ExpressionCondition | AllOf | AnyOf | NotOf


class RejectAction(Strict):
    kind: Literal["reject"]
    message: Annotated[str, Constraint(min_length=1, max_length=500)]
    field: Name | None = None


class SetAction(Strict):
    kind: Literal["set"]
    values: Annotated[Mapping[Name, JsonValue], Constraint(min_length=1, max_length=50)]


class EmitAction(Strict):
    kind: Literal["emit"]
    event_type: Annotated[str, Constraint(pattern=r"^[a-z][a-z0-9_.]{0,99}$")]
    payload: Mapping[Name, JsonValue] = {}


RuleAction = Annotated[RejectAction | SetAction | EmitAction, Constraint(discriminator="kind")]


class RuleBody(Strict):
    """The content of a rule, without its name and its entity type."""

    phase: Literal["before", "after"]
    operations: tuple[Operation, ...] = ()
    priority: Annotated[int, Constraint(ge=0, le=10_000)] = 100
    condition: Condition
    actions: Annotated[tuple[RuleAction, ...], Constraint(min_length=1, max_length=MAX_RULE_ACTIONS)]


class Rule(RuleBody):
    name: Name
    entity_type: Name


@dataclass(frozen=True)
class CompiledRule:
    rule: Rule
    version: int
    condition: Compiled
    # The templates of `set` and `emit`, by index among the rule's actions.
    templates: Mapping[int, Render]
    # The ref fields that its condition and templates follow.
    followed: frozenset[FollowedField] = frozenset()
    # Everyone who has saved the rule.
    responsible: ResponsiblePersons = NOBODY

    @property
    def writes_on_the_way(self) -> bool:
        """Return whether it sets or emits values in what steps of a workflow do."""
        operations = self.rule.operations
        return bool(self.templates) and (not operations or not {"create", "delete"}.issuperset(operations))

    @property
    def own_fields(self) -> frozenset[str]:
        """Return the fields of its document that the condition reads."""
        return list_own_fields([self.condition.expression])

    def concerns(self, operation: str, phase: str) -> bool:
        rule = self.rule
        return rule.phase == phase and (not rule.operations or operation in rule.operations)


_ALLOWED = {"before": ("reject", "set"), "after": ("reject", "emit")}


def compile_rule(rule: Rule, scope: Scope) -> tuple[CompiledRule | None, tuple[Finding, ...]]:
    findings: list[Finding] = []
    text = to_expression_text(rule.condition)
    parsed = parse_expression(text)
    errors: Sequence[ExpressionError] = (
        (parsed,) if isinstance(parsed, ExpressionError) else check_condition(parsed, scope)
    )
    findings += [make_finding("RULE_CONDITION_INVALID", "/condition", problem=m.message) for m in errors]
    templates: dict[int, Render] = {}
    parts: list[Expression] = []
    for index, action in enumerate(rule.actions):
        if action.kind not in _ALLOWED[rule.phase]:
            allowed = " and ".join(_ALLOWED[rule.phase])
            findings.append(
                make_finding(
                    "RULE_ACTION_IN_PHASE",
                    f"/actions/{index}",
                    kind=action.kind,
                    phase=rule.phase,
                    allowed=allowed,
                )
            )
        if not isinstance(action, RejectAction):
            body = action.values if isinstance(action, SetAction) else action.payload
            template, wrong = parse_template(dict(body), scope)
            findings += [
                make_finding("RULE_TEMPLATE_INVALID", f"/actions/{index}{m.pointer}", problem=m.message)
                for m in wrong
            ]
            if template is not None:
                templates[index] = compile_template(template)
                parts += list_template_parts(template)
    if findings or isinstance(parsed, ExpressionError):
        return None, tuple(findings)
    followed = frozenset(read for part in (parsed, *parts) for read in list_followed_fields(part, scope))
    return CompiledRule(rule, 1, compile_expression(parsed), templates, followed), ()


def check_rule_fields(rule: Rule, contract: Contract) -> Iterator[Finding]:
    """Check that a rule sets and names only fields of the contract."""
    for index, action in enumerate(rule.actions):
        named: Mapping[str, str] = {}
        if isinstance(action, SetAction):
            named = {name: f"/actions/{index}/values/{name}" for name in action.values}
        elif isinstance(action, RejectAction) and action.field is not None:
            named = {action.field: f"/actions/{index}/field"}
        for name, place in named.items():
            if name not in contract.fields:
                known = ", ".join(contract.fields)
                yield make_finding("RULE_FIELD_UNKNOWN", place, field=name, fields=known)


def to_expression_text(condition: Condition, depth: int = 0) -> str:
    """Write the condition in the expression language.

    A condition that is too deep becomes a text that does not parse.
    """
    if depth > MAX_CONDITION_DEPTH:
        return "(((((((((("
    match condition:
        case ExpressionCondition():
            return f"({condition.expression})"
        case FieldCondition():
            return f"{condition.field} {condition.op} {_literal(condition.value)}"
        case NotOf():
            return f"!({to_expression_text(condition.negated, depth + 1)})"
        case AllOf():
            return " && ".join(f"({to_expression_text(part, depth + 1)})" for part in condition.all)
        case _:
            return " || ".join(f"({to_expression_text(part, depth + 1)})" for part in condition.any)


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    if isinstance(value, str):
        # The language has these four escapes, and refuses all others in its own words.
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
        return f"'{escaped}'"
    return json.dumps(value)
