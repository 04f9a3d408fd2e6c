"""The tenant's rules as administrators keep them.

Every process applies a change within the TTL of its `RuleBook`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.rules import Rule, RuleBody, check_rule_fields
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.responsible import join_responsible
from signet.core.tenants.tenant_file import TenantSettings
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.cache import ContractCache
from signet.engine.definitions.compilation import parse_body, place_findings, reject_findings
from signet.engine.documents.command_checks import check_reason
from signet.engine.documents.rules import check_rule
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.definitions import rules as store
from signet.store.definitions.rules import MAX_RULES_OF_TYPE
from signet.store.definitions.rules import RuleRecord as RuleRecord
from signet.store.documents.lists import list_contract_versions

READ, EDIT = "rule:read", "rule:edit"


@dataclass(frozen=True, slots=True)
class SavedRule:
    rule: RuleRecord
    is_new: bool


@dataclass(frozen=True, slots=True)
class Rules:
    database: Database
    contracts: ContractCache

    def list(
        self, principal: Principal, entity_type: str | None, after: tuple[str, str], limit: int
    ) -> Sequence[RuleRecord]:
        with reading(self.database, principal) as read:
            read.require(READ)
            return store.list_saved_rules(read.connection, principal.tenant_id, entity_type, after, limit)

    def read(self, principal: Principal, entity_type: str, name: str) -> RuleRecord:
        """Read a rule. A missing rule and a forbidden one get the same answer."""
        with reading(self.database, principal) as read:
            rule = store.find_rule(read.connection, principal.tenant_id, entity_type, name)
            if rule is None or not read.may(READ):
                raise _not_found(entity_type, name)
            return rule

    def save(
        self,
        caller: Caller,
        entity_type: str,
        name: str,
        document: Any,
        expected_version: int | None,
        reason: str | None = None,
    ) -> SavedRule:
        """Save a new rule, or the next version of the rule that was seen.

        It is checked against the newest contract.
        """
        tenant_id = caller.principal.tenant_id
        with _changing(self.database, caller, reason) as act:
            current = store.find_rule(act.connection, tenant_id, entity_type, name)
            _require_version(current, entity_type, name, expected_version)
            rule = self._parse_rule(act, entity_type, name, document)
            if current is None:
                _require_room(act.connection, tenant_id, entity_type)
            saved_by = store.read_persons(act.connection, tenant_id, entity_type, name)
            responsible = join_responsible(saved_by, caller.principal.responsible)
            version = store.save_rule(act.connection, tenant_id, rule, responsible)
            detail = {"version": version, "rule": rule.model_dump(mode="json", by_alias=True)}
            act.note(("rule", f"{entity_type}/{name}"), "save_rule", detail, reason=reason)
            saved = store.find_rule(act.connection, tenant_id, entity_type, name)
            if saved is None:
                raise _not_found(entity_type, name)
            return SavedRule(saved, is_new=current is None)

    def disable(
        self, caller: Caller, entity_type: str, name: str, expected_version: int, reason: str | None = None
    ) -> None:
        tenant_id = caller.principal.tenant_id
        with _changing(self.database, caller, reason) as act:
            current = store.find_rule(act.connection, tenant_id, entity_type, name)
            _require_version(current, entity_type, name, expected_version)
            store.disable_rule(act.connection, tenant_id, entity_type, name)
            detail = {"version": expected_version + 1}
            act.note(("rule", f"{entity_type}/{name}"), "disable_rule", detail, reason=reason)

    def _parse_rule(self, act: AdminTransaction, entity_type: str, name: str, document: Any) -> Rule:
        parse_body(RuleBody, document)
        contract = self._require_contract(act, entity_type)
        rule = parse_body(Rule, {**document, "entity_type": entity_type, "name": name})
        _, findings = check_rule(rule, contract, TenantSettings.model_validate(act.transaction.settings))
        findings = (*findings, *check_rule_fields(rule, contract.contract))
        if findings:
            raise reject_findings(place_findings(findings))
        return rule

    def _require_contract(self, act: AdminTransaction, entity_type: str) -> CompiledContract:
        tenant_id = act.caller.principal.tenant_id
        for version in list_contract_versions(act.connection, tenant_id, entity_type)[:1]:
            loaded = self.contracts.read(act.connection, tenant_id, entity_type, version)
            if loaded is not None:
                return loaded
        raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{entity_type}'")


@contextmanager
def _changing(database: Database, caller: Caller, reason: str | None) -> Iterator[AdminTransaction]:
    """Open a transaction that changes rules one after the other, so that what it reads stays true."""
    refused = check_reason(reason)
    if refused is not None:
        raise refused
    with administering(database, caller) as act:
        act.require(EDIT)
        lock_administration(act.connection, caller.principal.tenant_id)
        yield act


def _require_version(current: RuleRecord | None, entity_type: str, name: str, expected: int | None) -> None:
    if current is None:
        if expected is not None:
            raise _not_found(entity_type, name)
        return
    if expected is None:
        raise Rejected(
            "VERSION_MISSING",
            f"the rule '{name}' exists already: the request does not say which version was seen",
            remedy="Read the rule first, and send the ETag of that answer as If-Match.",
        )
    if current.version != expected:
        raise Rejected(
            "RULE_VERSION_CONFLICT",
            f"the rule is at version {current.version}, not {expected}",
            remedy="Read it again, and decide on what it says now.",
        )


def _require_room(connection: Connection, tenant_id: UUID, entity_type: str) -> None:
    rules = store.list_rules(connection, tenant_id, entity_type)
    if len(rules) >= MAX_RULES_OF_TYPE:
        raise Rejected(
            "RULE_TOO_MANY",
            f"'{entity_type}' has {len(rules)} rules already",
            remedy="Delete one, or let one rule do the work of several.",
        )


def _not_found(entity_type: str, name: str) -> Rejected:
    return Rejected("RULE_UNKNOWN", f"there is no rule '{name}' about '{entity_type}'")
