"""Contracts and definitions as people read them.

People who may read documents of a type may read its published contracts, to make forms and lists of them.
Drafts need the permission to read contracts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.contracts.weaker_terms import find_weakened
from signet.core.control.change import ControlDifference, list_differences
from signet.core.previews.placed_findings import PlacedFinding, place_findings
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.cache import load_contract
from signet.engine.definitions.canvas import make_canvas_version
from signet.engine.definitions.compilation import contract_not_found, definition_not_found
from signet.engine.definitions.definitions import READ
from signet.store.database import Database
from signet.store.definitions import read as store
from signet.store.definitions.read import ContractSummary as ContractSummary
from signet.store.definitions.read import DefinitionFilters as DefinitionFilters
from signet.store.definitions.read import DefinitionKind as DefinitionKind
from signet.store.definitions.read import DefinitionRecord as DefinitionRecord
from signet.store.definitions.read import DefinitionSummary as DefinitionSummary
from signet.store.definitions.read import Status as Status
from signet.store.definitions.write import ContractRow, read_contract_row, read_newest_contract

READ_CONTRACT = "contract:read"


@dataclass(frozen=True, slots=True)
class ContractRecord:
    """A contract; `document` is all of it, as it is hashed."""

    entity_type: str
    version: int
    status: Status
    hash: str
    revision: int
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ContractDiff:
    """The changes that a version of a contract makes; `findings` say what it holds people to less.

    `against` is the other version, or null where there is none to compare with.
    """

    entity_type: str
    version: int
    against: int | None
    differences: Sequence[ControlDifference]
    findings: Sequence[PlacedFinding]


@dataclass(frozen=True, slots=True)
class DefinitionsRead:
    database: Database

    def list_contracts(
        self, principal: Principal, *, status: str, after: str | None, limit: int
    ) -> Sequence[ContractSummary]:
        with reading(self.database, principal) as read:
            if status == "draft":
                read.require(READ_CONTRACT)
            types = None if read.may(READ_CONTRACT) or read.may("*:read") else _list_readable(read)
            return store.list_contracts(
                read.connection,
                principal.tenant_id,
                status=status,
                entity_types=types,
                after=after,
                limit=limit,
            )

    def read_newest_contract(self, principal: Principal, entity_type: str) -> ContractRecord:
        with reading(self.database, principal) as read:
            row = read_newest_contract(read.connection, principal.tenant_id, entity_type)
            if row is None or not _may_read(read, row):
                raise contract_not_found(entity_type)
            return _show(row)

    def read_contract(self, principal: Principal, entity_type: str, version: int) -> ContractRecord:
        with reading(self.database, principal) as read:
            row = read_contract_row(read.connection, principal.tenant_id, entity_type, version)
            if row is None or not _may_read(read, row):
                raise contract_not_found(entity_type, version)
            return _show(row)

    def diff_contract(
        self, principal: Principal, entity_type: str, version: int, against: int | None
    ) -> ContractDiff:
        """Compare a version with another one, or else with the newest published version."""
        with reading(self.database, principal) as read:
            tenant_id = principal.tenant_id
            row = read_contract_row(read.connection, tenant_id, entity_type, version)
            if row is None or not _may_read(read, row):
                raise contract_not_found(entity_type, version)
            if against is None:
                other = read_newest_contract(read.connection, tenant_id, entity_type)
            else:
                other = read_contract_row(read.connection, tenant_id, entity_type, against)
                if other is None or not _may_read(read, other):
                    raise contract_not_found(entity_type, against)
        if other is None:
            return ContractDiff(entity_type, version, None, (), ())
        findings = find_weakened(
            load_contract(other.body, other.hash).contract, load_contract(row.body, row.hash).contract
        )
        differences = list_differences(json.loads(other.body), json.loads(row.body))
        return ContractDiff(entity_type, version, other.version, differences, place_findings(findings))

    def list_contract_versions(
        self, principal: Principal, entity_type: str, *, before: int | None, limit: int
    ) -> Sequence[ContractSummary]:
        """List the versions of a contract, the newest first."""
        with reading(self.database, principal) as read:
            with_drafts = read.may(READ_CONTRACT)
            versions = store.list_contract_versions(
                read.connection,
                principal.tenant_id,
                entity_type,
                with_drafts=with_drafts,
                before=before,
                limit=limit,
            )
            may_read = with_drafts or read.may(f"{entity_type}:read")
            if not may_read or not (versions or before is not None):
                raise contract_not_found(entity_type)
            return versions

    def list(
        self, principal: Principal, filters: DefinitionFilters, *, before: UUID | None, limit: int
    ) -> Sequence[DefinitionSummary]:
        with reading(self.database, principal) as read:
            read.require(READ)
            return store.list_definitions(
                read.connection, principal.tenant_id, filters, before=before, limit=limit
            )

    def read(self, principal: Principal, definition_id: UUID) -> DefinitionRecord:
        with reading(self.database, principal) as read:
            read.require(READ)
            definition = store.find_definition(read.connection, principal.tenant_id, definition_id)
            if definition is None:
                raise definition_not_found(definition_id)
            return definition

    def list_versions(
        self, principal: Principal, definition_id: UUID, *, before: int | None, limit: int
    ) -> Sequence[DefinitionSummary]:
        with reading(self.database, principal) as read:
            read.require(READ)
            versions = store.list_definition_versions(
                read.connection, principal.tenant_id, definition_id, before=before, limit=limit
            )
            if not versions and before is None:
                raise definition_not_found(definition_id)
            return versions

    def read_canvas(self, principal: Principal, definition_id: UUID) -> tuple[Mapping[str, Any], int]:
        """Read the positions of the nodes, and their version."""
        with reading(self.database, principal) as read:
            read.require(READ)
            canvas = store.read_canvas(read.connection, principal.tenant_id, definition_id)
            if canvas is None:
                raise definition_not_found(definition_id)
            return canvas, make_canvas_version(canvas)


def _may_read(read: ReadTransaction, row: ContractRow) -> bool:
    return read.may(READ_CONTRACT) or (row.status != "draft" and read.may(f"{row.entity_type}:read"))


def _list_readable(read: ReadTransaction) -> list[str]:
    """List the entity types whose documents the caller's roles may read."""
    granted = (permission.split(":") for permission in read.permissions)
    return sorted({entity for entity, act in granted if act in ("read", "*")})


def _show(row: ContractRow) -> ContractRecord:
    return ContractRecord(
        row.entity_type, row.version, row.status, row.hash, row.revision, json.loads(row.body)
    )
