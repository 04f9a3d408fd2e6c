"""Deciding roles: those that a published policy names, so that their holders decide or are asked.

A policy names a role as an approver, as the wider circle, or as a filter of people that an expression gives.
A contract names one in what a slot requires, or in a condition that reads the roles of the acting person.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from signet.core.expressions import ExpressionError, list_variables, parse_expression
from signet.core.expressions.syntax_tree import Expression, ListLiteral, walk
from signet.core.expressions.syntax_tree import Literal as LiteralValue
from signet.core.tenants.tenant_names import NamedKind, list_people

ROLES_OF_ACTOR = "actor.roles"


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A published version that names a role: a definition, a chain of approvals, or a contract."""

    kind: Literal["definition", "chain", "contract"]
    name: str
    version: int
    # Of a definition and of a contract; '' for an automation that belongs to none.
    entity_type: str | None


def list_roles_of_approval(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the roles that an approval node, or a stage of a chain, names."""
    escalate = config.get("escalate")
    for approver in (*config.get("approvers", ()), *([escalate["to"]] if escalate else ())):
        for mention in list_people(approver, ""):
            if mention.kind is NamedKind.ROLE:
                yield mention.name


def list_roles_of_contract(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the roles that a contract's slots require, and those that its conditions compare."""
    for slot in body.get("slots", {}).values():
        role = (slot.get("requires") or {}).get("role")
        if isinstance(role, str):
            yield role
    texts = [*body.get("conditions", {}).values()]
    texts += [transition.get("condition") for transition in body.get("transitions", {}).values()]
    for text in texts:
        if text is not None:
            yield from list_roles_of_condition(text)


def list_roles_of_condition(text: str) -> Iterator[str]:
    """Yield the texts in a condition on the actor's roles: those of them that are roles decide.

    >>> list(list_roles_of_condition("actor.roles contains 'finance' || entity.owner == actor.user_id"))
    ['finance']
    >>> list(list_roles_of_condition("entity.status == 'finance'"))
    []
    """
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        return
    if any(name.text == ROLES_OF_ACTOR for name in list_variables(parsed)):
        yield from (value for node, _ in walk(parsed) for value in _list_texts(node))


def _list_texts(node: Expression) -> Iterator[str]:
    literals = node.items if isinstance(node, ListLiteral) else (node,)
    for literal in literals:
        if isinstance(literal, LiteralValue) and isinstance(literal.value, str):
            yield literal.value
