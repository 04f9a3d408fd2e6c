"""The tenant's rules as administrators keep them.

Every process applies a change within the TTL of its `RuleBook`. Where the tenant wants two people, one
proposes a change and another confirms it. Deletion is such a change too: the rule may have stopped something.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.control.change import ControlKind
from signet.core.documents.rules import Rule, RuleBody, check_rule_fields
from signet.core.errors import Rejected
from signet.core.previews.placed_findings import parse_body, place_findings, reject_findings
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.responsible import join_responsible
from signet.core.tenants.tenant_file import TenantSettings
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import reading
from signet.engine.access.seen_versions import require_seen
from signet.engine.cache import ContractCache
from signet.engine.control.changes import change_is_stale
from signet.engine.control.four_eyes import wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose
from signet.engine.documents.command_checks import check_reason
from signet.engine.documents.rules import check_rule
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.definitions import rules as store
from signet.store.definitions.rules import MAX_RULES_OF_TYPE
from signet.store.definitions.rules import RuleRecord as RuleRecord
from signet.store.documents.lists import list_contract_versions

READ, EDIT = "rule:read", "rule:edit"
SUBJECT: ControlKind = "rule"


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
    ) -> SavedRule | ControlChange:
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
            if wants_two_people(act):
                what = "create" if current is None else "replace"
                return _propose(act, (entity_type, name), what, _write(rule), expected_version, reason)
            return _save(act, rule, is_new=current is None, reason=reason)

    def disable(
        self, caller: Caller, entity_type: str, name: str, expected_version: int, reason: str | None = None
    ) -> ControlChange | None:
        """Put a rule out of force; return the proposal where another person must confirm it."""
        with _changing(self.database, caller, reason) as act:
            current = store.find_rule(act.connection, caller.principal.tenant_id, entity_type, name)
            _require_version(current, entity_type, name, expected_version)
            if wants_two_people(act):
                return _propose(act, (entity_type, name), "delete", {}, expected_version, reason)
            _disable(act, (entity_type, name), expected_version, reason)
            return None

    # --- changes that wait for another person ---

    read_control_permission, change_control_permission = READ, EDIT

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        entity_type, _, name = change.name.partition("/")
        rule = store.find_rule(connection, tenant_id, entity_type, name)
        return {} if rule is None else {field: getattr(rule, field) for field in RuleBody.model_fields}

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        act.require(EDIT)
        entity_type, _, name = change.name.partition("/")
        current = store.find_rule(act.connection, act.caller.principal.tenant_id, entity_type, name)
        version = current.version if current is not None else 0
        if version != change.base_version:
            raise change_is_stale(change, version)
        if change.act == "delete":
            _disable(act, (entity_type, name), version, change.reason)
            return
        rule = self._parse_rule(act, entity_type, name, change.body)
        if current is None:
            _require_room(act.connection, act.caller.principal.tenant_id, entity_type)
        _save(act, rule, is_new=current is None, reason=change.reason, proposers=change.responsible)

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


def _save(
    act: AdminTransaction,
    rule: Rule,
    *,
    is_new: bool,
    reason: str | None,
    proposers: Sequence[str] = (),
) -> SavedRule:
    principal, entity_type, name = act.caller.principal, rule.entity_type, rule.name
    tenant_id = principal.tenant_id
    saved_by = store.read_persons(act.connection, tenant_id, entity_type, name)
    responsible = join_responsible(saved_by, principal.responsible, proposers)
    version = store.save_rule(act.connection, tenant_id, rule, responsible)
    detail = {"version": version, "rule": rule.model_dump(mode="json", by_alias=True)}
    act.note((SUBJECT, f"{entity_type}/{name}"), "save_rule", detail, reason=reason)
    saved = store.find_rule(act.connection, tenant_id, entity_type, name)
    if saved is None:
        raise _not_found(entity_type, name)
    return SavedRule(saved, is_new)


def _disable(act: AdminTransaction, rule: tuple[str, str], version: int, reason: str | None) -> None:
    store.disable_rule(act.connection, act.caller.principal.tenant_id, *rule)
    act.note((SUBJECT, "/".join(rule)), "disable_rule", {"version": version + 1}, reason=reason)


def _propose(
    act: AdminTransaction,
    rule: tuple[str, str],
    what: str,
    body: dict[str, Any],
    version: int | None,
    reason: str | None,
) -> ControlChange:
    return propose(act, ControlProposal(SUBJECT, "/".join(rule), what, body, version or 0, EDIT, reason))


def _write(rule: Rule) -> dict[str, Any]:
    """Write the document of a rule, whose type and name are those of the change."""
    return rule.model_dump(mode="json", by_alias=True, include=set(RuleBody.model_fields))


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
    require_seen(f"the rule '{name}'", "RULE_VERSION_CONFLICT", current.version, expected)


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
