"""Dead effects that an operator sends again. Dead triggers are in `actions.py`: they may resume an instance.

The instance keeps what it made of the dead letter. A step that took its error edge has ended, and one without
such an edge holds its token. The effect is delivered all the same, with evidence, unless the incident of its
step has closed since: then it is withdrawn. A step that still waits for the effect is told. What belongs to a
way that its document has left is not sent: nobody would approve it any more. Nor is it sent where the edge
for errors sends or makes something in its place.
"""

from collections.abc import Sequence, Set
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.repair.move_check import list_ahead
from signet.core.runtime.go_to_targets import has_lasting_effect
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.instances.act_checks import require_reason
from signet.engine.instances.hand_answers import refuse_part
from signet.engine.instances.operator_transaction import OperatorTransaction, permission_of
from signet.ids import has_created_at
from signet.store.database import Connection, Database
from signet.store.operations.overview import (
    StepOfEffect,
    find_dead_effects,
    find_left_behind,
    list_steps_of_effects,
)
from signet.store.outbox.queue import EFFECTS, requeue_dead

REQUEUE = permission_of("requeue")


class DeadEffects:
    """The use case with the caches of a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def requeue(self, caller: Caller, effect_ids: Sequence[UUID], reason: str | None = None) -> Set[UUID]:
        """Requeue dead effects and return those that will be sent again.

        Each instance has them in its history and in the audit trail. An id that names no dead effect is
        missing. Where an edge takes the error, it wants a reason, and an operator without a part.
        """
        tenant_id = caller.principal.tenant_id
        with self._database.transaction(tenant_id) as connection:
            wanted = [effect_id for effect_id in sorted(set(effect_ids)) if has_created_at(effect_id)]
            dead = find_dead_effects(connection, tenant_id, wanted)
            entities = {effect.instance_id: effect.entity_id for effect in dead if effect.has_instance}
            transaction = OperatorTransaction(connection, caller, self._caches, self._compiled, entities)
            transaction.require(REQUEUE)
            refuse_left_behind(connection, tenant_id, [effect.id for effect in dead])
            for step in list_steps_of_effects(connection, tenant_id, [effect.id for effect in dead]):
                _check_chosen_way(transaction, caller, step, reason)
            done = requeue_dead(connection, EFFECTS, tenant_id, [effect.id for effect in dead])
            for instance_id in sorted(entities):
                own = [
                    str(effect.id)
                    for effect in dead
                    if effect.instance_id == instance_id and effect.id in done
                ]
                if own:
                    transaction.open(instance_id)
                    transaction.note(instance_id, "requeue", reason, {"effects": own})
            orphans = [effect.id for effect in dead if effect.id in done and not effect.has_instance]
            transaction.note_orphans("requeue", reason, orphans)
            transaction.write()
        return done


def refuse_left_behind(connection: Connection, tenant_id: UUID, effect_ids: Sequence[UUID]) -> None:
    """Refuse to send effects again whose document has ended, or has left the way that they belong to.

    Their documents are locked.
    """
    left = find_left_behind(connection, tenant_id, effect_ids)
    if left:
        raise _refuse_left(f"the effect {left[0]} is of a way that its document has left")


def _check_chosen_way(
    transaction: OperatorTransaction, caller: Caller, step: StepOfEffect, reason: str | None
) -> None:
    """Hold a caller to what `try_now` asks, where the end of the effect chooses how the document goes on.

    Where that way has been gone already, and has sent or made something, it would be done twice.
    """
    context = transaction.open(step.instance_id)
    workflow = context.execution.workflow
    node = workflow.nodes.get(step.node_id)
    if node is None or "error" not in node.edges:
        return
    require_reason(reason or "")
    refuse_part(transaction, context, caller)
    if not step.has_gone_on:
        return
    standing = {token.node for token in context.execution.projection.position.at_work()}
    begun = (transaction.read_acted(context).keys() | standing) & list_ahead(workflow, node.id)
    done = sorted(name for name in begun - {node.id} if has_lasting_effect(workflow, name))
    if done:
        raise _refuse_left(f"{node.id} has failed, and {', '.join(done)} acts in its place")


def _refuse_left(sentence: str) -> Rejected:
    remedy = "Leave it unsent; what the document needs now is asked for by a transition."
    return Rejected("EFFECT_LEFT_BEHIND", sentence, remedy=remedy)
