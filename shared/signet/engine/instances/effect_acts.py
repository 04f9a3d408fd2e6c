"""Acts of operators on the effects of an instance: listed, tried now, withdrawn.

A dry run says what would follow, and writes nothing. A step that waits for a withdrawn effect is told: it
takes its edge for errors, or its token is held with an incident.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.integrations.effect_acts import (
    Consequence,
    EffectState,
    check_try_now,
    check_withdraw,
    foresee_withdrawal,
    list_effect_acts,
)
from signet.core.runtime.workflow import WorkflowNode
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.access.read import LAST, reading
from signet.engine.cache import CompiledCache
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.rebuild import instance_not_found
from signet.engine.instances.act_checks import raise_if, require_reason
from signet.engine.instances.hand_answers import refuse_part, take_part_in_answer
from signet.engine.instances.operator_transaction import OperatorTransaction, permission_of
from signet.ids import has_created_at
from signet.store.database import Connection, Database
from signet.store.instances.write import find_entity
from signet.store.outbox.effect_acts import (
    EffectRow,
    find_effect,
    list_effects,
    lock_effect,
    try_effect_now,
    withdraw_effect,
)

READ = "workflow:read"
EffectAct = Literal["try_now", "withdraw"]


@dataclass(frozen=True, slots=True)
class OutgoingEffect:
    """An effect of an instance, without its content, which may be personal."""

    id: UUID
    instance_id: UUID
    document_id: UUID | None
    step_id: UUID
    effect_type: str
    endpoint: str | None
    status: str
    attempts: int
    max_attempts: int
    due_at: datetime
    # Since when its endpoint, which is switched off, keeps it waiting.
    held_at: datetime | None
    withdrawn_at: datetime | None
    # Why an operator withdrew or discarded it.
    reason: str | None
    error: str | None
    # The acts that the server would accept now.
    acts: Sequence[str]


@dataclass(frozen=True, slots=True)
class EffectActed:
    """An effect after an act, or after a dry run of it.

    `follows` says what becomes of the step that waits for it. With `may_have_left` something was sent, or
    may have been.
    """

    act: EffectAct
    outcome: Literal["done", "possible"]
    follows: Consequence
    may_have_left: bool
    effect: OutgoingEffect


class EffectActs:
    """The use case with the caches of a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def list_of_instance(
        self, principal: Principal, instance_id: UUID, *, before: UUID | None, limit: int
    ) -> Sequence[OutgoingEffect]:
        """List the effects of an instance, the newest first."""
        tenant_id = principal.tenant_id
        with reading(self._database, principal) as read:
            read.require(READ)
            found = find_entity(tenant_id, instance_id)
            if read.connection.execute(found.text, found.values).fetchone() is None:
                raise instance_not_found(instance_id)
            rows = list_effects(read.connection, tenant_id, instance_id, before=before or LAST, limit=limit)
        return [_show(row) for row in rows]

    def try_now(self, caller: Caller, effect_id: UUID, reason: str, *, dry_run: bool = False) -> EffectActed:
        """Have an effect that waits tried at once, also where its endpoint rests; its plan stays as it is."""
        return self._act(caller, effect_id, "try_now", reason, dry_run=dry_run)

    def withdraw(self, caller: Caller, effect_id: UUID, reason: str, *, dry_run: bool = False) -> EffectActed:
        """Withdraw what was not delivered. What is on its way is not tried again."""
        return self._act(caller, effect_id, "withdraw", reason, dry_run=dry_run)

    def _act(
        self, caller: Caller, effect_id: UUID, act: EffectAct, reason: str, *, dry_run: bool
    ) -> EffectActed:
        tenant_id = caller.principal.tenant_id
        with self._database.transaction(tenant_id) as connection:
            row = find_effect(connection, tenant_id, effect_id) if has_created_at(effect_id) else None
            entities = {row.instance_id: row.document_id} if row is not None and row.has_instance else {}
            transaction = OperatorTransaction(connection, caller, self._caches, self._compiled, entities)
            (transaction.permit if dry_run else transaction.require)(permission_of(act))
            require_reason(reason)
            row = _lock(connection, tenant_id, effect_id, row)
            raise_if((check_try_now if act == "try_now" else check_withdraw)(_state_of(row)))
            if dry_run:
                context, _ = transaction.peek(row.instance_id)
                _refuse_part(transaction, context, row, caller)
                return _describe(context, row, act, "possible")
            context = transaction.open(row.instance_id)
            _refuse_part(transaction, context, row, caller)
            said: dict[str, object] = {"effects": [str(effect_id)]}
            if act == "try_now":
                try_effect_now(connection, tenant_id, effect_id, row.endpoint)
            else:
                if _chooses(context, row):
                    take_part_in_answer(transaction, context, caller)
                    said["is_answer"] = True
                withdraw_effect(connection, tenant_id, effect_id, reason)
                if row.status != "processing" and _find_waiting(context, row) is not None:
                    transaction.wake(context)
            transaction.note(row.instance_id, act, reason, said)
            transaction.write()
            done = _require(find_effect(connection, tenant_id, effect_id), effect_id)
            return _describe(context, done, act, "done")


def list_effects_of(
    database: Database, tenant_id: UUID, instance_id: UUID, *, limit: int
) -> Sequence[OutgoingEffect]:
    """List the effects of an instance for the command line, the newest first."""
    with database.transaction(tenant_id) as connection:
        return [
            _show(row) for row in list_effects(connection, tenant_id, instance_id, before=LAST, limit=limit)
        ]


def _lock(connection: Connection, tenant_id: UUID, effect_id: UUID, row: EffectRow | None) -> EffectRow:
    """Lock the effect, and read it as it is then: a worker may have claimed it meanwhile."""
    _require(row, effect_id)
    lock_effect(connection, tenant_id, effect_id)
    return _require(find_effect(connection, tenant_id, effect_id), effect_id)


def _require(row: EffectRow | None, effect_id: UUID) -> EffectRow:
    if row is None or not row.has_instance:
        raise Rejected("EFFECT_NOT_FOUND", f"there is no effect {effect_id}")
    return row


def _refuse_part(
    transaction: OperatorTransaction, context: InstanceContext, row: EffectRow, caller: Caller
) -> None:
    """Refuse a person with a part in the document, where the end of the effect chooses how it goes on."""
    if _chooses(context, row):
        refuse_part(transaction, context, caller)


def _chooses(context: InstanceContext, row: EffectRow) -> bool:
    """Return whether a step waits for the effect, and goes another way where it is not delivered."""
    waiting = _find_waiting(context, row)
    return waiting is not None and "error" in waiting.edges


def _describe(
    context: InstanceContext, row: EffectRow, act: EffectAct, outcome: Literal["done", "possible"]
) -> EffectActed:
    waiting = _find_waiting(context, row) if act == "withdraw" else None
    return EffectActed(
        act,
        outcome,
        foresee_withdrawal(None if waiting is None else waiting.edges),
        row.may_have_left,
        _show(row),
    )


def _find_waiting(context: InstanceContext, row: EffectRow) -> WorkflowNode | None:
    """Find the node whose step waits for the effect."""
    execution = context.execution
    waiting = (step for step in execution.open.values() if step.id == row.step_id)
    step = next(waiting, None)
    return execution.workflow.nodes[step.node] if step is not None else None


def _state_of(row: EffectRow) -> EffectState:
    return EffectState(
        row.status,
        row.withdrawn_at is not None,
        row.endpoint,
        row.held_by,
        row.is_paused_by_person,
    )


def _show(row: EffectRow) -> OutgoingEffect:
    return OutgoingEffect(
        row.id,
        row.instance_id,
        row.document_id,
        row.step_id,
        row.effect_type,
        row.endpoint,
        "held"
        if (row.held_at is not None or row.is_paused_by_person)
        and row.status in ("pending", "processing", "failed")
        else row.status,
        row.attempts,
        row.max_attempts,
        row.due_at,
        row.held_at,
        row.withdrawn_at,
        row.discard_reason or row.withdraw_reason,
        row.error,
        list_effect_acts(_state_of(row)),
    )
