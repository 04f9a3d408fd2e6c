"""Acts of operators on an instance, or on one of its tokens, from outside of its graph.

Each act is one transaction that locks documents, then instances, as everywhere. It never takes a wave's
advisory lock: a wave passes by locked rows and comes back. Every change of an instance is a step with a
receipt, so that a rebuild finds the same row. It also leaves a line in the history and an audit row.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.runtime.hand_answers import describe_answer
from signet.core.runtime.operator_actions import (
    Sequel,
    check_advance,
    check_cancel,
    check_resume,
    decide_advance,
)
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.nodes.done_once import list_repeated_items
from signet.engine.instances.act_checks import (
    raise_if,
    require_current,
    require_live,
    require_reason,
    require_repairable,
    require_retriable,
    require_running,
    require_token,
    require_version,
)
from signet.engine.instances.act_reports import InstanceState as InstanceState
from signet.engine.instances.act_reports import state_of
from signet.engine.instances.document_restarts import check_ending, plan_restart, refuse_blocked
from signet.engine.instances.hand_answers import refuse_part_behind_gate, require_answer, take_part_in_answer
from signet.engine.instances.operator_transaction import OperatorTransaction, operating, permission_of
from signet.ids import has_created_at
from signet.store.database import Database
from signet.store.instances.write import DeadTrigger, find_dead_triggers
from signet.store.outbox.effect_acts import free_paused
from signet.store.outbox.queue import EVENTS, requeue_dead

MAX_REQUEUED = 100


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A rebuilt instance. `was_other` says that its row had differed from its steps."""

    state: InstanceState
    was_other: bool


@dataclass(frozen=True, slots=True)
class Requeued:
    """The triggers that will be tried again, and the instances that go on because of them."""

    triggers: frozenset[UUID]
    resumed: Sequence[UUID]


class Instances:
    """The use case with the caches of a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def pause(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        reason: str,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """Pause the instance where it is; what it has not sent waits until it is resumed.

        Triggers that arrive meanwhile are completed at once, because resuming reads the tables.
        """
        with self._locked(caller, instance_id, "pause", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_running(context, "paused")
            require_reason(reason)
            transaction.lock_effects(context.row.id)
            transaction.control(context, "paused", reason)
            transaction.note(instance_id, "pause", reason)
        return state_of(context, transaction.report)

    def resume(
        self, caller: Caller, instance_id: UUID, expected_version: int, *, dry_run: bool = False
    ) -> InstanceState:
        """Lift the pause. What is held stays so until it is retried, and a lasting cause pauses it again."""
        with self._locked(caller, instance_id, "resume", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            raise_if(check_resume(context.execution))
            transaction.control(context, "resumed")
            free_paused(transaction.connection, context.tenant_id, context.row.id)
            transaction.wake(context)
            transaction.note(instance_id, "resume")
        return state_of(context, transaction.report)

    def retry(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        reason: str,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """Retry what is held, and what made the engine pause the instance; other branches run on meanwhile.

        Its dead triggers are tried from the first attempt again. What a person has paused, a person resumes.
        """
        with self._locked(caller, instance_id, "retry", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_retriable(transaction, context)
            require_reason(reason)
            back = transaction.requeue_dead(instance_id, MAX_REQUEUED)
            transaction.retry(context, reason)
            transaction.report.repeats = list_repeated_items(context)
            if not back:
                transaction.wake(context)
            transaction.note(
                instance_id, "retry", reason, {"triggers": [str(trigger_id) for trigger_id in back]}
            )
        return state_of(context, transaction.report)

    def fail(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        reason: str,
        then: Sequel | None = None,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """Give the instance up for good. Its document stays as it is; `then` says what follows."""
        return self._end(caller, instance_id, expected_version, reason, then, ("fail", "failed"), dry_run)

    def cancel(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        reason: str,
        then: Sequel | None = None,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """Cancel an instance that is not wanted. Its document stays as it is; `then` says what follows."""
        return self._end(
            caller, instance_id, expected_version, reason, then, ("cancel", "cancelled"), dry_run
        )

    def _end(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        reason: str,
        then: Sequel | None,
        named: tuple[str, str],
        dry_run: bool,
    ) -> InstanceState:
        """End the instance with its open steps, approvals and requests, and notify the approvers.

        `then` is wanted where nobody can ask for a transition of the document: it begins again, or is left.
        """
        act, control = named
        with self._locked(caller, instance_id, act, dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_live(context)
            require_reason(reason)
            follows = {"then": then} if then is not None else {}
            place = check_ending(transaction, context, caller, then)
            transaction.end(context, control, reason)
            transaction.note(instance_id, act, reason, follows)
            if then == "restart":
                transaction.begin_act("restart", dry_run=dry_run)
                plan = plan_restart(transaction, self._caches, context, place)
                refuse_blocked(plan)
                plan.perform(caller, reason)
                transaction.report.repeats = plan.repeats
        return state_of(context, transaction.report)

    def cancel_token(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        token: str,
        reason: str,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """End the step of a token as if it were rejected: no approval counts that was not given.

        The token is named by its id or by its node.
        """
        with self._locked(caller, instance_id, "cancel_token", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_repairable(context)
            require_reason(reason)
            chosen = require_token(context, token)
            raise_if(check_cancel(context.execution.workflow, chosen))
            refuse_part_behind_gate(transaction, context, caller)
            context.execution.cancel_token(chosen, reason, transaction.actor)
            if context.execution.is_running:
                transaction.wake(context)
            transaction.note(instance_id, "cancel_token", reason, {"token": chosen.id, "node": chosen.node})
        return state_of(context, transaction.report)

    def advance(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        token: str,
        reason: str,
        payload: Any = None,
        *,
        dry_run: bool = False,
    ) -> InstanceState:
        """Advance a token as if its wait were over: the time, the event with this payload, the answer.

        It never replaces a decision of people, nor work that the workflow does itself. What comes in may
        still decide about the document: who says it counts as an editor, and may have no other part.
        """
        with self._locked(caller, instance_id, "advance", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_running(context, "advanced")
            require_reason(reason)
            chosen = require_token(context, token)
            execution = context.execution
            node = execution.workflow.nodes[chosen.node]
            raise_if(check_advance(execution, chosen))
            answer = require_answer(context, node, payload)
            require_current(context)
            take_part_in_answer(transaction, context, caller)
            decision_input = transaction.decision_input(context, chosen)
            decision = decide_advance(
                execution.workflow, node, decision_input, answer, caller.principal.subject
            )
            execution.advance(execution.open[chosen.id], decision, reason, transaction.actor, caller.claimed)
            transaction.wake(context)
            said = {"token": chosen.id, "node": chosen.node, **describe_answer(node, answer)}
            transaction.note(instance_id, "advance", reason, said)
        return state_of(context, transaction.report)

    def wake(self, caller: Caller, instance_id: UUID, *, dry_run: bool = False) -> InstanceState:
        """Wake the instance, so that it goes on where it can."""
        with self._locked(caller, instance_id, "wake", dry_run) as transaction:
            context = transaction.open(instance_id)
            require_running(context, "woken")
            transaction.wake(context)
            transaction.note(instance_id, "wake")
        return state_of(context, transaction.report)

    def rebuild(self, caller: Caller, instance_id: UUID, *, dry_run: bool = False) -> Rebuilt:
        """Rebuild the row from the steps, then wake the instance."""
        with self._locked(caller, instance_id, "rebuild", dry_run) as transaction:
            was_other = transaction.rebuild(instance_id)
            context = transaction.open(instance_id)
            if context.execution.is_running:
                transaction.wake(context)
            transaction.note(instance_id, "rebuild", detail={"was_other": was_other})
        return Rebuilt(state_of(context, transaction.report), was_other)

    def requeue(self, caller: Caller, trigger_ids: Sequence[UUID]) -> Requeued:
        """Requeue dead triggers as if they had never been tried.

        Instances that one of them had paused are resumed. An id that names no dead trigger is missing in the
        result.
        """
        if len(trigger_ids) > MAX_REQUEUED:
            sentence = f"at most {MAX_REQUEUED} triggers at a time, not {len(trigger_ids)}"
            raise Rejected("BATCH_TOO_LARGE", sentence)
        tenant_id = caller.principal.tenant_id
        wanted = [trigger_id for trigger_id in sorted(set(trigger_ids)) if has_created_at(trigger_id)]
        with self._database.transaction(tenant_id) as connection:
            dead = find_dead_triggers(connection, tenant_id, wanted)
            entities = {trigger.instance_id: trigger.entity_id for trigger in dead if trigger.has_instance}
            transaction = OperatorTransaction(connection, caller, self._caches, self._compiled, entities)
            transaction.require(permission_of("requeue"))
            done = requeue_dead(connection, EVENTS, tenant_id, [trigger.id for trigger in dead])
            back = [trigger for trigger in dead if trigger.id in done]
            resumed = [
                instance_id for instance_id in sorted(entities) if _take_back(transaction, instance_id, back)
            ]
            transaction.note_orphans("requeue", None, [row.id for row in back if not row.has_instance])
            transaction.write()
        return Requeued(frozenset(done), resumed)

    def _locked(
        self, caller: Caller, instance_id: UUID, act: str, dry_run: bool = False
    ) -> AbstractContextManager[OperatorTransaction]:
        return operating(
            self._database, self._caches, self._compiled, caller, instance_id, act, dry_run=dry_run
        )


def _take_back(transaction: OperatorTransaction, instance_id: UUID, back: Sequence[DeadTrigger]) -> bool:
    """Return whether the instance resumes: the requeued trigger had paused it, and now wakes it."""
    own = [trigger.id for trigger in back if trigger.instance_id == instance_id]
    if not own:
        return False
    context = transaction.open(instance_id)
    transaction.note(instance_id, "requeue", detail={"triggers": [str(trigger_id) for trigger_id in own]})
    pause = transaction.read_pause(instance_id)
    if context.row.status != "paused" or pause is None or pause.trigger_id not in own:
        return False
    transaction.control(context, "resumed")
    transaction.note(instance_id, "resume")
    return True
