"""Expressions while an author writes them: the names in scope, and the mistakes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.core.compiler.compiler import make_automation_source, make_effective_source, make_scopes
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.patch import Automation, Patch
from signet.core.compiler.variable_scopes import Scopes
from signet.core.contracts.contract import Contract
from signet.core.contracts.expression_scope import (
    make_scope,
    type_of_entity,
    type_of_fields,
    type_of_settings,
)
from signet.core.errors import Rejected
from signet.core.expressions import (
    ExpressionError,
    Scope,
    check,
    check_condition,
    list_followed_fields,
    list_names,
    list_variables,
    parse_expression,
    to_text,
)
from signet.core.previews.placed_findings import parse_body
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import TenantSettings
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.definitions.compilation import (
    contract_not_found,
    find_newest_contract,
    read_settings,
    require_contract,
    require_definition,
)
from signet.engine.definitions.definitions import READ
from signet.store.database import Connection, Database
from signet.store.definitions.write import DefinitionRow


@dataclass(frozen=True, slots=True)
class NodeLocation:
    """A node of a definition: its configuration or, with `is_after`, the conditions on its edges."""

    definition_id: UUID
    node_id: str
    is_after: bool = False


@dataclass(frozen=True, slots=True)
class OfContract:
    """The documents of a type, or of none.

    The version is the newest published one if none is named.
    """

    entity_type: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class ExpressionFinding:
    """A mistake; `position` and `length` count characters, `suggestion` is a replacement."""

    code: str
    sentence: str
    position: int
    length: int
    suggestion: str | None


@dataclass(frozen=True, slots=True)
class CheckedExpression:
    """A checked expression; `text` is its one canonical form.

    `references` are the names that it reads, `refs` the ref fields that it follows.
    """

    is_valid: bool
    type: str | None
    text: str | None
    references: Sequence[str]
    refs: Sequence[str]
    findings: Sequence[ExpressionFinding]


@dataclass(frozen=True, slots=True)
class NamesInScope:
    """The names in scope at a node: each dotted name with its type in words."""

    node_id: str
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Expressions:
    database: Database

    def list_names(self, principal: Principal, place: NodeLocation) -> NamesInScope:
        with reading(self.database, principal) as read:
            read.require(READ)
            return NamesInScope(place.node_id, list_names(_read_scope_at_node(read, place)))

    def check(
        self, principal: Principal, text: str, where: NodeLocation | OfContract, *, is_condition: bool
    ) -> CheckedExpression:
        with reading(self.database, principal) as read:
            read.require(READ)
            scope = (
                _read_scope_at_node(read, where)
                if isinstance(where, NodeLocation)
                else _scope_of(read, where)
            )
        return check_text(text, scope, is_condition=is_condition)


def check_text(text: str, scope: Scope, *, is_condition: bool) -> CheckedExpression:
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        return CheckedExpression(False, None, None, (), (), (_show(parsed),))
    value_type, errors = check(parsed, scope)
    if is_condition:
        errors = check_condition(parsed, scope)
    return CheckedExpression(
        is_valid=not errors,
        type=None if errors else str(value_type),
        text=to_text(parsed),
        references=[name.text for name in list_variables(parsed)],
        refs=sorted({ref for ref, _ in list_followed_fields(parsed, scope)}),
        findings=[_show(error) for error in errors],
    )


def _show(error: ExpressionError) -> ExpressionFinding:
    return ExpressionFinding(error.code, error.message, error.position, error.length, error.suggestion)


def _scope_of(read: ReadTransaction, where: OfContract) -> Scope:
    """Make the scope of the contract's own conditions."""
    connection, tenant_id = read.connection, read.principal.tenant_id
    contract: Contract | None = None
    if where.entity_type is not None and where.version is not None:
        contract = require_contract(connection, tenant_id, where.entity_type, where.version)
    elif where.entity_type is not None:
        contract = find_newest_contract(connection, tenant_id, where.entity_type)
        if contract is None:
            raise contract_not_found(where.entity_type)
    org = type_of_settings(read_settings(connection, tenant_id))
    return make_scope(type_of_entity(contract), org, type_of_fields({}))


def _read_scope_at_node(read: ReadTransaction, place: NodeLocation) -> Scope:
    """Read the definition with its contract, and return the names in scope at the node."""
    tenant_id = read.principal.tenant_id
    definition = require_definition(read.connection, tenant_id, place.definition_id)
    scopes = _find_scopes(read.connection, tenant_id, definition)
    if place.node_id not in scopes.node_ids:
        raise Rejected("NODE_NOT_FOUND", f"the definition has no node '{place.node_id}'")
    return scopes.at(place.node_id, is_after=place.is_after)


def _find_scopes(connection: Connection, tenant_id: UUID, definition: DefinitionRow) -> Scopes:
    """Find scopes under the contract that a definition was compiled for, or under the newest for a draft."""
    settings = read_settings(connection, tenant_id)
    if definition.definition_kind == "automation":
        automation = parse_body(Automation, definition.parse_document())
        contract = find_newest_contract(connection, tenant_id, automation.entity_type)
        return make_scopes(make_automation_source(automation, contract, settings))
    return _find_scopes_of_documents(connection, tenant_id, definition, settings)


def _find_scopes_of_documents(
    connection: Connection, tenant_id: UUID, definition: DefinitionRow, settings: TenantSettings
) -> Scopes:
    source = definition
    if definition.definition_kind == "effective" and definition.source_id is not None:
        source = require_definition(connection, tenant_id, definition.source_id)
    document = source.parse_document()
    patch = parse_body(Patch, document) if document is not None else None
    if definition.contract_version is not None:
        contract = require_contract(
            connection, tenant_id, definition.entity_type, definition.contract_version
        )
    else:
        newest = find_newest_contract(connection, tenant_id, definition.entity_type)
        if newest is None:
            raise contract_not_found(definition.entity_type)
        contract = newest
    return make_scopes(make_effective_source(make_envelope(contract), patch, settings))
