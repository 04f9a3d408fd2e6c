"""Rules of the tenant before and after a mutation, with the evidence of each evaluation.

A rejection stays on record, although nothing else of the change does.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.expression_scope import (
    make_scope,
    type_of_entity,
    type_of_fields,
    type_of_settings,
)
from signet.core.contracts.field_values import validate_fields
from signet.core.documents.personal_data import mask_fields, mask_variables
from signet.core.documents.rules import CompiledRule, EmitAction, RejectAction, Rule, SetAction, compile_rule
from signet.core.errors import FieldError, Rejected
from signet.core.expressions import FollowedField
from signet.core.expressions.actors import find_person_against
from signet.core.expressions.byte_budget import BudgetSpent, ByteBudget
from signet.core.expressions.render import refuse_too_large
from signet.core.tenants.caller import Caller
from signet.core.tenants.responsible import ResponsiblePersons
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.validation.finding import Finding
from signet.core.validation.strict_model import parse_strictly
from signet.engine.documents.change import DocumentChange, MutationContext, reject_fields
from signet.engine.documents.commands import (
    Amend,
    ConcludeTransition,
    Correct,
    Create,
    Delete,
    Operation,
    RequestTransition,
    RunAction,
    Update,
    WithdrawRequest,
)
from signet.ids import make_id
from signet.store.database import Connection, Database
from signet.store.definitions.rules import list_rules
from signet.store.documents.rule_executions import write_executions
from signet.store.documents.write import TransactionContext
from signet.store.responsible_sets import TransactionSets
from signet.store.tenants.tenants import read_now

TTL_SECONDS = 5.0
MAX_CACHED_BOOKS = 500
# Rejections of one transaction. The others were refused by the same rules.
MAX_KEPT = 100
# Of all events that rules emit of one change.
MAX_EMITTED_BYTES = 1_048_576
UNFIT_REMEDY = "Save the rule again, so that it fits the contract (PUT /v1/rules/{entity_type}/{rule})."
_Key = tuple[UUID, str, int]
# Has a set of persons written with the transaction, and returns its hash as rows hold it.
KeepResponsible = Callable[[ResponsiblePersons], str]


class RuleBook:
    """The rules by tenant, entity type and contract version; a change is seen within TTL_SECONDS."""

    def __init__(self, ttl_seconds: float = TTL_SECONDS) -> None:
        self._ttl_seconds = ttl_seconds
        self._books: dict[_Key, tuple[float, Sequence[CompiledRule]]] = {}

    def read(
        self,
        connection: Connection,
        tenant_id: UUID,
        contract: CompiledContract,
        transaction: TransactionContext,
    ) -> Sequence[CompiledRule]:
        key = (tenant_id, contract.contract.contract, contract.contract.version)
        # The age of a cache entry is no fact of the domain, so the clock of the process serves.
        moment = time.monotonic()
        held = self._books.get(key)
        if held is not None and moment - held[0] < self._ttl_seconds:
            return held[1]
        rules = [_load(row, contract, transaction) for row in list_rules(connection, tenant_id, key[1])]
        if len(self._books) >= MAX_CACHED_BOOKS:
            self._books.clear()
        self._books[key] = (moment, rules)
        return rules


def check_rule(
    rule: Rule, contract: CompiledContract, settings: TenantSettings
) -> tuple[CompiledRule | None, tuple[Finding, ...]]:
    entity = type_of_entity(contract.contract)
    return compile_rule(rule, make_scope(entity, type_of_settings(settings), type_of_fields({})))


def _load(
    row: Mapping[str, Any], contract: CompiledContract, transaction: TransactionContext
) -> CompiledRule:
    document = {key: value for key, value in row.items() if key not in ("version", "persons")}
    rule, _ = parse_strictly(Rule, {**document, "entity_type": contract.contract.contract})
    settings = TenantSettings.model_validate(transaction.settings)
    compiled, findings = check_rule(rule, contract, settings) if rule else (None, ())
    if compiled is None:
        # It was checked when it was saved, but a newer contract may have left it behind. Leaving it out in
        # silence would allow the changes that it exists to stop.
        problem = findings[0].sentence if findings else "it cannot be read"
        sentence = f"the rule '{row['name']}' no longer fits the contract: {problem}"
        raise Rejected("RULE_UNFIT", sentence, remedy=UNFIT_REMEDY)
    return replace(compiled, version=int(row["version"]), responsible=frozenset(row["persons"] or ()))


def followed_by_rules(rules: Sequence[CompiledRule], operation: str) -> frozenset[FollowedField]:
    """Return what the rules about this operation read behind refs."""
    return frozenset(
        read
        for rule in rules
        if rule.followed and rule.concerns(operation, rule.rule.phase)
        for read in rule.followed
    )


def apply_rules(
    rules: Sequence[CompiledRule], context: MutationContext, change: DocumentChange
) -> Rejected | None:
    return _apply_before(rules, context, change) or _apply_after(rules, context, change)


def _apply_before(
    rules: Sequence[CompiledRule], context: MutationContext, change: DocumentChange
) -> Rejected | None:
    """Apply rules in order of priority; each sees the values that the ones before it set."""
    written = change.after.data
    for compiled in _concerned(rules, change, "before"):
        env = _env(context, change)
        if not _matches(compiled, context, change, env):
            against = _find_rejection_behind(compiled, context, change, env)
            if against is not None:
                return against
            continue
        for index, action in enumerate(compiled.rule.actions):
            if isinstance(action, RejectAction):
                return _rejected(compiled.rule, action)
            if isinstance(action, SetAction) and _may_set(context, change):
                refused = _set_values(compiled, index, change, written, env)
                if refused is not None:
                    return refused
    return None


def _set_values(
    compiled: CompiledRule,
    index: int,
    change: DocumentChange,
    written: Mapping[str, Any],
    env: Mapping[str, Any],
) -> Rejected | None:
    """Set the values of a rule in place of what was sent; what a step has written stays."""
    rendered = compiled.templates[index](env)
    if isinstance(rendered, Rejected):
        return _too_large(compiled.rule)
    merged = {**change.after.data, **rendered[0]}
    data, mistakes = validate_fields(change.contract.contract.fields, merged)
    if data is None:
        return reject_fields(mistakes)
    if data != change.after.data:
        changed = _list_changed(change, written, data)
        if changed:
            return _changes_step(compiled.rule, changed)
        change.content_responsible |= compiled.responsible
        change.is_set_by_rules = True
    change.after.data = data
    return None


def _may_set(context: MutationContext, change: DocumentChange) -> bool:
    """Return whether rules may set values. Nobody edits in a locked status, and a rule is no way around that.

    A step of the document's own workflow may write there; its definition says what.
    """
    if not change.writes_document or change.keeps_content:
        return False
    before = change.before
    if before is None or not context.is_own_workflow:
        return True
    state = change.contract.contract.states.get(before.status)
    return state is None or state.edit != "locked"


def _list_changed(change: DocumentChange, written: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
    """List what a rule would change of what a step writes.

    In a new document it may fill what the step leaves empty.
    """
    if change.caller.instance_id is None:
        return []
    is_new = change.before is None
    return [
        name
        for name in sorted(data)
        if data[name] != written.get(name) and not (is_new and written.get(name) is None)
    ]


def _apply_after(
    rules: Sequence[CompiledRule], context: MutationContext, change: DocumentChange
) -> Rejected | None:
    emitted = ByteBudget(MAX_EMITTED_BYTES)
    for compiled in _concerned(rules, change, "after"):
        env = _env(context, change)
        if not _matches(compiled, context, change, env):
            against = _find_rejection_behind(compiled, context, change, env)
            if against is not None:
                return against
            continue
        for index, action in enumerate(compiled.rule.actions):
            if isinstance(action, RejectAction):
                return _rejected(compiled.rule, action)
            if isinstance(action, EmitAction):
                payload = _render_event(compiled, index, _masked(env, change), emitted)
                if isinstance(payload, Rejected):
                    return payload
                change.emits.append((action.event_type, payload))
    return None


def _render_event(
    compiled: CompiledRule, index: int, env: Mapping[str, Any], emitted: ByteBudget
) -> dict[str, Any] | Rejected:
    """Render what a rule emits, within what all rules may emit of one change."""
    rendered = compiled.templates[index](env)
    if isinstance(rendered, Rejected):
        return _too_large(compiled.rule)
    payload: dict[str, Any] = rendered[0]
    try:
        emitted.take_value(payload)
    except BudgetSpent:
        return _emits_too_much(compiled.rule)
    return payload


def _too_large(rule: Rule) -> Rejected:
    return refuse_too_large(f"the rule '{rule.name}': ")


def _emits_too_much(rule: Rule) -> Rejected:
    return Rejected(
        "TEMPLATE_TOO_LARGE",
        f"with the rule '{rule.name}' the rules emit more than {MAX_EMITTED_BYTES} bytes of one change",
        remedy="Have the rules emit less: an id in place of a long text, or fewer events.",
        details={"rule": rule.name},
    )


def _concerned(rules: Sequence[CompiledRule], change: DocumentChange, phase: str) -> list[CompiledRule]:
    operation = operation_of(change)
    return [rule for rule in rules if rule.concerns(operation, phase)]


def operation_of(change: DocumentChange) -> str:
    """Return the word that rules have for the operation of this change."""
    kind = change.note.action.partition(":")[0]
    return {"request": "transition", "amend": "create", "correct": "update"}.get(kind, kind)


def kind_of(operation: Operation) -> str:
    """Return the same word before the operation is decided."""
    match operation:
        case Create() | Amend():
            return "create"
        case Update() | Correct():
            return "update"
        case RunAction():
            return "action"
        case Delete():
            return "delete"
        case RequestTransition() | ConcludeTransition():
            return "transition"
        case WithdrawRequest():
            return "withdraw_request"


def _env(context: MutationContext, change: DocumentChange) -> dict[str, Any]:
    return context.env(change.after.data, status=change.after.status, version=change.after.version)


def _masked(env: Mapping[str, Any], change: DocumentChange) -> dict[str, Any]:
    """Mask personal values: emitted events are kept and sent where nothing can be erased."""
    return {**env, "entity": mask_fields(change.contract.contract.fields, env["entity"])}


def _matches(
    compiled: CompiledRule, context: MutationContext, change: DocumentChange, env: Mapping[str, Any]
) -> bool:
    evaluation = compiled.condition.evaluate(env)
    evidence = dict(evaluation.evidence)
    evidence["variables"] = mask_variables(evidence["variables"], change.contract.personal_fields)
    change.executions.append(
        {
            "id": make_id(),
            "document_id": change.document_id,
            "document_version": change.after.version,
            "entity_type": change.contract.contract.contract,
            "rule": compiled.rule.name,
            "rule_version": compiled.version,
            "phase": compiled.rule.phase,
            "matched": evaluation.value is True,
            "evidence": evidence,
        }
    )
    return evaluation.value is True


def _find_rejection_behind(
    compiled: CompiledRule, context: MutationContext, change: DocumentChange, env: Mapping[str, Any]
) -> Rejected | None:
    """Find what a rule that rejects says of a person behind the key; nothing else is done in their place."""
    rejects = next((each for each in compiled.rule.actions if isinstance(each, RejectAction)), None)
    if rejects is None or context.list_behind is None:
        return None
    found = find_person_against(compiled.condition, env, context.list_behind, wanted=False)
    if found is None:
        return None
    _matches(compiled, context, change, found)  # for the evidence
    return _rejected(compiled.rule, rejects)


def _changes_step(rule: Rule, names: Sequence[str]) -> Rejected:
    """Refuse to change what a step writes: its definition says the value, and people may have approved it."""
    return Rejected(
        "RULE_SETS_APPROVED",
        f"the rule '{rule.name}' would set {', '.join(names)} in what a step of the workflow writes",
        remedy="Let the action set the value. Or change the rule, or take it out of force. Then retry.",
        details={"rule": rule.name},
    )


def _rejected(rule: Rule, action: RejectAction) -> Rejected:
    pointer = f"/{action.field}" if action.field else ""
    mistake = FieldError(pointer, "RULE_REJECTED", action.message, within="document")
    return Rejected("RULE_REJECTED", action.message, fields=(mistake,), details={"rule": rule.name})


def make_rejection_rows(rejected: Sequence[DocumentChange], keep: KeepResponsible) -> list[dict[str, Any]]:
    """Make the row of each evaluation that stopped a change: it was the last one of that change."""
    return [
        {
            **change.executions[-1],
            "is_rejection": True,
            "operation": operation_of(change),
            "actor_id": change.caller.principal.subject,
            "responsible": keep(change.caller.principal.responsible),
            "origin": _describe_origin(change.caller),
            "instance_id": change.caller.instance_id,
            "step_id": change.caller.step_id,
            "trace_id": change.caller.trace_id,
        }
        for change in rejected[:MAX_KEPT]
    ]


def keep_rejections(database: Database, tenant_id: UUID, rejected: Sequence[DocumentChange]) -> None:
    """Write rejections in a transaction of their own, behind the one that was rolled back for them."""
    if not rejected:
        return
    with database.transaction(tenant_id) as connection:
        rows = make_rejection_rows(rejected, TransactionSets(connection, tenant_id).keep)
        write_executions(connection, tenant_id, rows, now=read_now(connection))


def _describe_origin(caller: Caller) -> dict[str, Any]:
    key = caller.principal.key
    return {
        "via": caller.via,
        **(caller.origin.to_json() if caller.origin is not None else {}),
        **({"key": key.to_json()} if key is not None else {}),
        **({"claimed": caller.claimed} if caller.claimed is not None else {}),
    }
