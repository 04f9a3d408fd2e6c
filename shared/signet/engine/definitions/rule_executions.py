"""Evaluations of the tenant's rules, as administrators read them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.core.tenants.principal import Principal
from signet.engine.access.read import reading
from signet.engine.documents.read import document_not_found
from signet.store.database import Database
from signet.store.documents import rule_executions as store
from signet.store.documents.rule_executions import RuleExecution as RuleExecution
from signet.store.documents.timeline import find_document_type

READ = "rule_execution:read"


@dataclass(frozen=True, slots=True)
class RuleExecutions:
    database: Database

    def list_of_document(
        self, principal: Principal, document_id: UUID, before: UUID | None, limit: int
    ) -> Sequence[RuleExecution]:
        with reading(self.database, principal) as read:
            read.require(READ)
            tenant_id = principal.tenant_id
            if find_document_type(read.connection, tenant_id, document_id) is None:
                raise document_not_found(document_id)
            return store.list_executions(read.connection, tenant_id, document_id, before=before, limit=limit)

    def list_rejections(
        self,
        principal: Principal,
        entity_type: str | None,
        rule: str | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[RuleExecution]:
        """List rejections, also of documents that were therefore never made."""
        with reading(self.database, principal) as read:
            read.require(READ)
            return store.list_rejections(
                read.connection, principal.tenant_id, entity_type, rule, before=before, limit=limit
            )
