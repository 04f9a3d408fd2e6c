"""The expressions and templates inside a node's configuration: found, checked, parsed once.

The artifact keeps each parsed tree under its JSON pointer into the configuration, so that the hot path parses
nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from signet.core.compiler.graph import Graph, Node
from signet.core.contracts.contract import Contract
from signet.core.contracts.expression_scope import type_of_fields
from signet.core.contracts.fields import ListField
from signet.core.expressions import (
    ANY,
    DATE,
    INT,
    STRING,
    TIMESTAMP,
    Expression,
    ExpressionError,
    Scope,
    Type,
    TypeKind,
    check,
    expression_to_json,
    list_of,
    object_of,
    parse_expression,
    parse_template,
    template_to_json,
)
from signet.core.expressions.syntax_tree import Literal
from signet.core.integrations.payload_schema import find_schema_problem
from signet.core.moments.due import is_until_text
from signet.core.schedules.findings import check_cron, check_zone
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.text import is_calendar_date

_USER = (TypeKind.STRING, TypeKind.REF, TypeKind.ANY)
# The output of an action that creates a document.
CREATED = object_of({"document_id": STRING, "version": INT})
# The answer to a call. Its body is what the receiver says.
ANSWERED = object_of({"status": INT, "body": ANY, "duration_ms": ANY})
_MOMENT = (TypeKind.DATE, TypeKind.TIMESTAMP, TypeKind.ANY)


@dataclass
class NodeLogic:
    """The parsed trees and the findings of one node."""

    trees: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    # The variables that the node sets when it ends.
    writes: dict[str, Type] = field(default_factory=dict)


ScopeWith = Callable[[Type | None], Scope]  # Gives the node's scope with an item of this type.


def parse_condition(text: str, place: str, scope: Scope) -> tuple[Expression | None, tuple[Finding, ...]]:
    expression, value_type, findings = _parse_expression(text, place, scope)
    if expression is not None and not findings and value_type.kind not in (TypeKind.BOOL, TypeKind.ANY):
        findings = (make_finding("EXPRESSION_NOT_BOOL", place, text=text, type=str(value_type)),)
    return (None if findings else expression), findings


def parse_node_logic(node: Node, contract: Contract | None, scope_with: ScopeWith) -> NodeLogic:
    logic = NodeLogic()
    reader = _PARSERS.get(node.type)
    if reader is not None:
        reader(node, contract, scope_with, logic)
    return logic


def _parse_expression(
    text: str, place: str, scope: Scope
) -> tuple[Expression | None, Type, tuple[Finding, ...]]:
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        return None, ANY, (_to_finding(parsed, place, text),)
    value_type, errors = check(parsed, scope)
    return parsed, value_type, tuple(_to_finding(error, place, text) for error in errors)


def _to_finding(error: ExpressionError, place: str, text: str) -> Finding:
    suggestion = f"Write `{error.suggestion}`." if error.suggestion else "Correct it there."
    return make_finding(
        "EXPRESSION_INVALID",
        place,
        text=text,
        position=error.position + 1,
        problem=_sentence(error.message),
        suggestion=suggestion,
        mistake=error.code,
        mistake_parameters=dict(error.parameters),
    )


def _template_finding(error: ExpressionError, place: str) -> Finding:
    return make_finding(
        "TEMPLATE_INVALID",
        f"{place}{error.pointer}",
        pointer=error.pointer or "/",
        problem=_sentence(error.message),
        suggestion=f"Write `{error.suggestion}`." if error.suggestion else "Correct it there.",
        mistake=error.code,
        mistake_parameters=dict(error.parameters),
    )


def _sentence(text: str) -> str:
    return text if text.endswith(("?", ".")) else f"{text}."


def _parse_typed(
    logic: NodeLogic,
    node: Node,
    pointer: str,
    text: str,
    scope: Scope,
    kinds: tuple[TypeKind, ...],
    what: str,
) -> Type:
    expression, value_type, findings = _parse_expression(text, f"{node.id}{pointer}", scope)
    logic.findings.extend(findings)
    if expression is None or findings:
        return ANY
    if kinds and value_type.kind not in kinds:
        logic.findings.append(
            make_finding(
                "EXPRESSION_WRONG_TYPE", f"{node.id}{pointer}", text=text, type=str(value_type), wanted=what
            )
        )
        return ANY
    logic.trees[pointer] = {"expression": expression_to_json(expression)}
    return value_type


def _parse_template(logic: NodeLogic, node: Node, pointer: str, value: Any, scope: Scope) -> None:
    template, errors = parse_template(value, scope)
    logic.findings.extend(_template_finding(error, f"{node.id}{pointer}") for error in errors)
    if template is not None and not errors:
        logic.trees[pointer] = {"template": template_to_json(template)}


def _parse_gate(node: Node, contract: Contract | None, scope_with: ScopeWith, logic: NodeLogic) -> None:
    for key in ("condition", "permission_condition"):
        text = node.config.get(key)
        if text is not None:
            _parse_typed(
                logic, node, f"/{key}", text, scope_with(None), (TypeKind.BOOL, TypeKind.ANY), "a yes or no"
            )


def _parse_action(node: Node, contract: Contract | None, scope_with: ScopeWith, logic: NodeLogic) -> None:
    config, item = node.config, None
    if config["for_each"] is not None:
        value_type = _parse_typed(
            logic,
            node,
            "/for_each",
            config["for_each"],
            scope_with(None),
            (TypeKind.LIST, TypeKind.ANY),
            "a list",
        )
        item = value_type.item if value_type.kind is TypeKind.LIST and value_type.item is not None else ANY
        _check_length(node, contract, logic)
    _parse_template(logic, node, "/payload", dict(config["payload"]), scope_with(item))
    name, output = str(config["action"]), ANY
    if "." not in name:
        known = contract.actions if contract is not None else {}
        declared = known.get(name)
        if declared is None:
            allowed = ", ".join(known) or "(none)"
            logic.findings.append(make_finding("ACTION_UNKNOWN", node.id, action=name, allowed=allowed))
        else:
            _check_payload(node, name, declared.payload, logic)
            output = CREATED if declared.kind == "create" else type_of_fields(declared.output)
    if config["save_as"] is not None:
        logic.writes[config["save_as"]] = list_of(output) if item is not None else output


def _check_length(node: Node, contract: Contract | None, logic: NodeLogic) -> None:
    """Warn of a field of the document that may hold more items than the node takes."""
    text, limit = str(node.config["for_each"]), int(node.config["max_items"])
    fields = contract.fields if contract is not None else {}
    field = fields.get(text.strip().removeprefix("entity."))
    if isinstance(field, ListField) and field.max_items > limit:
        finding = make_finding(
            "LIST_MAY_BE_TOO_LONG", node.id, text=text, most=str(field.max_items), limit=str(limit)
        )
        logic.findings.append(finding)


def _check_payload(node: Node, action: str, payload: Mapping[str, Any], logic: NodeLogic) -> None:
    given = node.config["payload"]
    for name in given:
        if name not in payload:
            allowed = ", ".join(payload) or "(nothing)"
            logic.findings.append(
                make_finding("ACTION_PAYLOAD_UNKNOWN", node.id, field=name, action=action, allowed=allowed)
            )
    for name, declared in payload.items():
        if declared.required and declared.default is None and name not in given:
            logic.findings.append(make_finding("ACTION_PAYLOAD_MISSING", node.id, field=name, action=action))


def _parse_approval(node: Node, contract: Contract | None, scope_with: ScopeWith, logic: NodeLogic) -> None:
    _parse_people(node, "/approvers", node.config["approvers"], scope_with(None), logic)
    if node.config["escalate"] is not None:
        _parse_person(node, "/escalate/to", node.config["escalate"]["to"], scope_with(None), logic)


def _parse_people(node: Node, pointer: str, people: Any, scope: Scope, logic: NodeLogic) -> None:
    for index, person in enumerate(people):
        _parse_person(node, f"{pointer}/{index}", person, scope, logic)


def _parse_person(
    node: Node, pointer: str, person: Mapping[str, Any], scope: Scope, logic: NodeLogic
) -> None:
    if person["by"] == "manager":
        _parse_typed(logic, node, f"{pointer}/of", person["of"], scope, _USER, "a user's id")
    elif person["by"] == "expression":
        kinds = (*_USER, TypeKind.LIST)
        _parse_typed(
            logic,
            node,
            f"{pointer}/expression",
            person["expression"],
            scope,
            kinds,
            "a user's id or a list of them",
        )


def _parse_timer(node: Node, contract: Contract | None, scope_with: ScopeWith, logic: NodeLogic) -> None:
    config = node.config
    logic.findings.extend(check_zone(config.get("zone"), f"{node.id}/zone"))
    if config.get("next") is not None:
        logic.findings.extend(check_cron(config["next"], f"{node.id}/next"))
    if config["until"] is not None:
        _parse_until(node, config["until"], scope_with(None), logic)


def _parse_until(node: Node, text: str, scope: Scope, logic: NodeLogic) -> None:
    """Parse a date or moment as it stands, or an expression of one."""
    if is_until_text(text):
        logic.trees["/until"] = {"expression": expression_to_json(Literal(text))}
        value_type = DATE if is_calendar_date(text) else TIMESTAMP
    else:
        value_type = _parse_typed(logic, node, "/until", text, scope, _MOMENT, "a date or timestamp")
    if node.config.get("at") is not None and value_type.kind is TypeKind.TIMESTAMP:
        logic.findings.append(make_finding("TIME_OF_DAY_WITHOUT_DATE", f"{node.id}/at", text=text))


def _parse_event(node: Node, contract: Contract | None, scope_with: ScopeWith, logic: NodeLogic) -> None:
    config, scope = node.config, scope_with(None)
    keys = {"/key": config["key"]} if "key" in config else {}
    keys |= {f"/any_of/{index}": key for index, key in enumerate(config.get("any_of") or ())}
    for pointer, key in keys.items():
        _parse_template(logic, node, pointer, key, scope)
    if config.get("schema") is not None:
        problem = find_schema_problem(config["schema"])
        if problem is not None:
            pointer, sentence = problem
            place = f"{node.id}/schema{pointer}"
            logic.findings.append(make_finding("EVENT_SCHEMA_INVALID", place, problem=sentence))
    if config.get("condition") is not None:
        of_event = Scope({**scope.names, "event": ANY})
        kinds = (TypeKind.BOOL, TypeKind.ANY)
        _parse_typed(logic, node, "/condition", config["condition"], of_event, kinds, "a yes or no")
    if config["save_as"] is not None:
        logic.writes[config["save_as"]] = ANY


def _parse_webhook(node: Node, contract: Contract | None, scope_with: ScopeWith, logic: NodeLogic) -> None:
    _parse_template(logic, node, "/payload", dict(node.config["payload"]), scope_with(None))
    if node.config["save_as"] is not None:
        logic.writes[node.config["save_as"]] = ANSWERED


def _parse_notification(
    node: Node, contract: Contract | None, scope_with: ScopeWith, logic: NodeLogic
) -> None:
    scope = scope_with(None)
    _parse_people(node, "/to", node.config["to"], scope, logic)
    _parse_template(logic, node, "/subject", node.config["subject"], scope)
    _parse_template(logic, node, "/text", node.config["text"], scope)


def _parse_script(node: Node, contract: Contract | None, scope_with: ScopeWith, logic: NodeLogic) -> None:
    for name, text in node.config["set"].items():
        logic.writes[name] = _parse_typed(logic, node, f"/set/{name}", text, scope_with(None), (), "")


def parse_actions(
    contract: Contract | None, graph: Graph, scope_for: Callable[[Type], Scope]
) -> tuple[dict[str, Any], list[Finding]]:
    """Return the contract's actions that the workflow uses, their templates parsed, for the artifact."""
    described: dict[str, Any] = {}
    logic = NodeLogic()
    used = {str(node.config["action"]) for node in graph.nodes.values() if node.type == "action"}
    for name in sorted(used):
        action = contract.actions.get(name) if contract else None
        if action is None:
            continue
        template, errors = parse_template(dict(action.set), scope_for(type_of_fields(action.payload)))
        logic.findings.extend(_template_finding(m, f"/actions/{name}/set") for m in errors)
        if template is not None:
            set_tree = template_to_json(template)
            described[name] = {"kind": action.kind, "entity_type": action.entity_type, "set": set_tree}
    return described, logic.findings


_PARSERS: Mapping[str, Callable[[Node, Contract | None, ScopeWith, NodeLogic], None]] = {
    "lifecycle_gate": _parse_gate,
    "policy_gate": _parse_gate,
    "action": _parse_action,
    "approval": _parse_approval,
    "wait_timer": _parse_timer,
    "wait_event": _parse_event,
    "webhook_out": _parse_webhook,
    "notification": _parse_notification,
    "script": _parse_script,
}
