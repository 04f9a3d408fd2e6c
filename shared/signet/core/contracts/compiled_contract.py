"""A published contract ready for mutate(): its expressions are closures, its fields know their columns."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from signet.core.contracts.contract import Contract
from signet.core.contracts.expression_scope import (
    make_scope,
    type_of_entity,
    type_of_fields,
    type_of_settings,
)
from signet.core.contracts.fields import RefField
from signet.core.contracts.indexed_columns import map_indexed_fields
from signet.core.expressions import (
    ANY,
    Compiled,
    Environment,
    Expression,
    ExpressionError,
    FollowedField,
    Scope,
    Template,
    Type,
    check_condition,
    compile_expression,
    compile_template,
    list_followed_fields,
    list_template_parts,
    parse_expression,
    parse_template,
)
from signet.core.expressions.actors import (
    PersonsBehind,
    find_person_against,
    name_person_behind,
    reads_roles,
)
from signet.core.expressions.render import Render
from signet.core.tenants.permissions import grants
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.validation.finding import Finding, make_finding

_ANYTHING = Scope(dict.fromkeys(("entity", "actor", "org", "context", "payload", "item"), ANY))


@dataclass(frozen=True, slots=True)
class Denial:
    """The reason why a person may not act, in the words of the rule that says so."""

    code: str
    sentence: str


@dataclass(frozen=True)
class CompiledContract:
    """A contract with its closures, each compiled when it is first needed."""

    contract: Contract
    hash: str
    # Puts the text of a condition into words, with the labels of the contract.
    describe_condition: Callable[[str], str] = str

    @cached_property
    def indexed_columns(self) -> Mapping[str, str]:
        return map_indexed_fields(self.contract)

    @cached_property
    def unique_fields(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, field in self.contract.fields.items() if field.unique))

    @cached_property
    def personal_fields(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, field in self.contract.fields.items() if field.personal))

    @cached_property
    def conditions(self) -> Mapping[str, Compiled]:
        return {permission: _compile(text) for permission, text in self.contract.conditions.items()}

    @cached_property
    def permissions_by_roles(self) -> frozenset[str]:
        """Return the permissions whose condition reads the roles of the actor."""
        return frozenset(name for name, condition in self.conditions.items() if reads_roles(condition))

    @cached_property
    def actions(self) -> Mapping[str, Render]:
        return {name: compile_template(template) for name, template in self._sets.items()}

    @cached_property
    def has_readable_refs(self) -> bool:
        """Return whether any field is a ref that expressions can follow."""
        return any(isinstance(field, RefField) and field.reads for field in self.contract.fields.values())

    @cached_property
    def readable_refs(self) -> frozenset[FollowedField]:
        """Return everything that an expression may read behind refs, whether one does or not."""
        fields = self.contract.fields.items()
        refs = ((name, field.reads) for name, field in fields if isinstance(field, RefField))
        return frozenset((name, read) for name, reads in refs for read in reads or ())

    @cached_property
    def refs_of_conditions(self) -> Mapping[str, frozenset[FollowedField]]:
        """Return, for each permission, what its condition reads behind refs."""
        return {
            name: self.find_followed([condition.expression]) for name, condition in self.conditions.items()
        }

    @cached_property
    def refs_of_actions(self) -> Mapping[str, frozenset[FollowedField]]:
        """Return, for each action, what its `set` reads behind refs."""
        return {name: self.find_followed(parts) for name, parts in self.parts_of_actions.items()}

    @cached_property
    def parts_of_actions(self) -> Mapping[str, Sequence[Expression]]:
        """Return, for each action, the expressions of its `set`."""
        return {name: tuple(list_template_parts(template)) for name, template in self._sets.items()}

    def list_conditions(self, permission: str, transition: str | None) -> list[Expression]:
        """List the conditions of a permission, and of a transition that is asked for by it."""
        texts = [self.conditions[permission].expression] if permission in self.conditions else []
        asked = self._transition_conditions.get(transition or "")
        return texts if asked is None else [*texts, asked.expression]

    @cached_property
    def _transition_conditions(self) -> Mapping[str, Compiled]:
        listed = self.contract.transitions.items()
        return {name: _compile(t.condition) for name, t in listed if t.condition is not None}

    def find_followed(self, expressions: Iterable[Expression]) -> frozenset[FollowedField]:
        """Return what the expressions read behind refs: an environment's `refs` holds it."""
        scope = self._entity_scope
        return frozenset(read for node in expressions for read in list_followed_fields(node, scope))

    @cached_property
    def _entity_scope(self) -> Scope:
        return Scope({"entity": type_of_entity(self.contract)})

    @cached_property
    def _sets(self) -> Mapping[str, Template]:
        return {name: _parse_set(action.set) for name, action in self.contract.actions.items()}

    def permission_of_transition(self, name: str) -> str:
        return self.contract.transitions[name].permission or f"{self.contract.contract}:{name}"

    def permission_of_action(self, name: str) -> str:
        return self.contract.actions[name].permission or f"{self.contract.contract}:{name}"

    def authorize(
        self,
        permission: str,
        permissions: Sequence[str],
        env: Environment,
        list_behind: PersonsBehind | None = None,
    ) -> Denial | None:
        """Return why the permission is not given: it is not held, or its condition does not hold.

        The condition must hold for the persons behind a key too.
        """
        if not grants(permissions, permission):
            return Denial("PERMISSION_DENIED", f"needs the permission '{permission}'")
        condition = self.conditions.get(permission)
        if condition is None:
            return None
        sentence = f"'{permission}' is given only where {self.describe_condition(condition.text)}"
        if condition.value(env) is not True:
            return Denial("PERMISSION_CONDITION", sentence)
        against = find_person_against(condition, env, list_behind) if list_behind is not None else None
        if against is not None:
            return Denial("PERMISSION_CONDITION", f"{sentence}: not for {name_person_behind(against)}")
        return None

    def find_conflict_of_duties(
        self,
        person: str,
        *,
        creator: Collection[str],
        editors: Collection[str],
        requesters: Collection[str],
    ) -> Denial | None:
        """Return why the person may not decide.

        Those responsible for its creation, its edits or the request may not, unless the contract names the
        part.
        """
        allowed = self.contract.separation_of_duties.may_decide
        for part, persons in (("creator", creator), ("editor", editors), ("requester", requesters)):
            if person in persons and part not in allowed:
                sentence = f"{person} is responsible as {part} of this document and may not decide about it"
                return Denial("SEPARATION_OF_DUTIES", sentence)
        return None


def check_contract_expressions(
    contract: Contract, settings: TenantSettings | None = None
) -> Iterator[Finding]:
    """Check every expression and template of the contract itself, used by a workflow or not."""
    entity, org = type_of_entity(contract), type_of_settings(settings or TenantSettings())
    nothing = type_of_fields({})
    scope = make_scope(entity, org, nothing)
    for name, transition in contract.transitions.items():
        if transition.condition is not None:
            yield from _check_text(transition.condition, f"/transitions/{name}/condition", scope)
    for permission, text in contract.conditions.items():
        yield from _check_text(text, f"/conditions/{permission}", scope)
    for name, action in contract.actions.items():
        payload: Type = type_of_fields(action.payload)
        _, errors = parse_template(dict(action.set), make_scope(entity, org, nothing, payload))
        for error in errors:
            yield _as_finding(error, f"/actions/{name}/set{error.pointer}")


def _check_text(text: str, place: str, scope: Scope) -> Iterator[Finding]:
    parsed = parse_expression(text)
    errors = (parsed,) if isinstance(parsed, ExpressionError) else check_condition(parsed, scope)
    for error in errors:
        yield _as_finding(error, place)


def _as_finding(error: ExpressionError, place: str) -> Finding:
    return make_finding("FIELD_INVALID", place, problem=error.message)


def _compile(text: str) -> Compiled:
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        raise ValueError(f"a published contract holds an expression that does not parse: {text}")
    return compile_expression(parsed)


def _parse_set(body: Mapping[str, Any]) -> Template:
    # The types were checked at publication; here they are neither known nor needed.
    template, errors = parse_template(dict(body), _ANYTHING)
    if template is None:
        raise ValueError(f"a published contract holds a template that does not parse: {errors[0].message}")
    return template
