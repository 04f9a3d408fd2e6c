"""Acts of operators on an instance, or on one of its tokens, from outside of its graph.

Each act is one transaction that locks documents, then instances, as everywhere. It never takes a wave's
advisory lock: a wave passes by locked rows and comes back. Every change of an instance is a step with a
receipt, so that a rebuild finds the same row. It also leaves a line in the history and an audit row.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, cast
from uuid import UUID

from signet.core.errors import FieldError, Rejected, Transient
from signet.core.explain.instance_record import InstanceStatus
from signet.core.runtime.go_to_targets import check_end
from signet.core.runtime.operator_actions import check_advance, check_cancel, decide_advance, find_token
from signet.core.runtime.position import Token
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.command_checks import check_reason
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.instances.hand_answers import refuse_part_behind_gate, take_part_in_answer
from signet.engine.instances.operator_transaction import OperatorTransaction, operating, permission_of
from signet.ids import has_created_at
from signet.store.database import Database
from signet.store.instances.write import DeadTrigger, find_dead_triggers
from signet.store.outbox.queue import EVENTS, requeue_dead

MAX_REQUEUED = 100
MAX_IN_BULK = 100
# The acts on many instances at once. None of them is about a token, since a token is named by an operator who
# looks at one instance.
BulkAct = Literal["pause", "resume", "retry", "cancel", "fail", "wake", "rebuild"]
# An error of these codes for one of many refuses them all.
_FOR_ALL = frozenset({"PERMISSION_DENIED", "TENANT_INACTIVE"})


@dataclass(frozen=True, slots=True)
class InstanceState:
    """An instance after an act; `version` is what the next act must match."""

    id: UUID
    status: InstanceStatus
    version: int


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A rebuilt instance. `was_other` says that its row had differed from its steps."""

    state: InstanceState
    was_other: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """An instance as the operator saw it, without a version where the act needs none."""

    id: UUID
    version: int | None = None


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

    def pause(self, caller: Caller, instance_id: UUID, expected_version: int, reason: str) -> InstanceState:
        """Pause the instance where it is.

        Triggers that arrive meanwhile are completed at once, because resuming reads the tables.
        """
        with self._locked(caller, instance_id, "pause") as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_running(context, "paused")
            require_reason(reason)
            transaction.control(context, "paused", reason)
            transaction.note(instance_id, "pause", reason)
        return state_of(context)

    def resume(self, caller: Caller, instance_id: UUID, expected_version: int) -> InstanceState:
        """Resume the instance. Where the cause of a pause persists, it pauses again and says so."""
        with self._locked(caller, instance_id, "resume") as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            _require_paused(context, "resumed")
            transaction.resume(context, "resumed")
            transaction.wake(context)
            transaction.note(instance_id, "resume")
        return state_of(context)

    def retry(self, caller: Caller, instance_id: UUID, expected_version: int, reason: str) -> InstanceState:
        """Retry what is held, and what made the engine pause the instance; other branches run on meanwhile.

        Its dead triggers are tried from the first attempt again. What a person has paused, a person resumes.
        """
        with self._locked(caller, instance_id, "retry") as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            _require_retriable(transaction, context)
            require_reason(reason)
            back = transaction.requeue_dead(instance_id, MAX_REQUEUED)
            transaction.resume(context, "retried", reason)
            if not back:
                transaction.wake(context)
            transaction.note(
                instance_id, "retry", reason, {"triggers": [str(trigger_id) for trigger_id in back]}
            )
        return state_of(context)

    def fail(self, caller: Caller, instance_id: UUID, expected_version: int, reason: str) -> InstanceState:
        """Give the instance up for good.

        Its document stays as it is; a request begins a new instance in its state.
        """
        return self._end(caller, instance_id, expected_version, reason, "fail", "failed")

    def cancel(self, caller: Caller, instance_id: UUID, expected_version: int, reason: str) -> InstanceState:
        """Cancel an instance that is no longer wanted.

        Its document stays as it is; a request begins a new instance in its state.
        """
        return self._end(caller, instance_id, expected_version, reason, "cancel", "cancelled")

    def _end(
        self, caller: Caller, instance_id: UUID, expected_version: int, reason: str, act: str, control: str
    ) -> InstanceState:
        """End the instance with its open steps, approvals and requests; approvers are notified.

        An approval behind a gate is not left in this way, where the document could go on without it.
        """
        with self._locked(caller, instance_id, act) as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_live(context)
            require_reason(reason)
            raise_if(check_end(context.execution))
            transaction.control(context, control, reason)
            transaction.note(instance_id, act, reason)
        return state_of(context)

    def cancel_token(
        self, caller: Caller, instance_id: UUID, expected_version: int, token: str, reason: str
    ) -> InstanceState:
        """End the step of a token as if it were rejected: no approval counts that was not given.

        The token is named by its id or by its node.
        """
        with self._locked(caller, instance_id, "cancel_token") as transaction:
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
        return state_of(context)

    def advance(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        token: str,
        reason: str,
        payload: Any = None,
    ) -> InstanceState:
        """Advance a token as if its wait were over: the time, the event with this payload, the answer.

        It never replaces a decision of people, nor work that the workflow does itself. What comes in may
        still decide about the document: who says it counts as an editor, and may have no other part.
        """
        with self._locked(caller, instance_id, "advance") as transaction:
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            require_running(context, "advanced")
            require_reason(reason)
            chosen = require_token(context, token)
            execution = context.execution
            raise_if(check_advance(execution, chosen, payload))
            require_current(context)
            take_part_in_answer(transaction, context, caller)
            node, decision_input = (
                execution.workflow.nodes[chosen.node],
                transaction.decision_input(context, chosen),
            )
            decision = decide_advance(
                execution.workflow, node, decision_input, payload, caller.principal.subject
            )
            execution.advance(execution.open[chosen.id], decision, reason, transaction.actor, caller.claimed)
            transaction.wake(context)
            transaction.note(instance_id, "advance", reason, {"token": chosen.id, "node": chosen.node})
        return state_of(context)

    def wake(self, caller: Caller, instance_id: UUID) -> InstanceState:
        """Wake the instance, so that it goes on where it can."""
        with self._locked(caller, instance_id, "wake") as transaction:
            context = transaction.open(instance_id)
            require_running(context, "woken")
            transaction.wake(context)
            transaction.note(instance_id, "wake")
        return state_of(context)

    def rebuild(self, caller: Caller, instance_id: UUID) -> Rebuilt:
        """Rebuild the row from the steps, then wake the instance."""
        with self._locked(caller, instance_id, "rebuild") as transaction:
            was_other = transaction.rebuild(instance_id)
            context = transaction.open(instance_id)
            if context.execution.is_running:
                transaction.wake(context)
            transaction.note(instance_id, "rebuild", detail={"was_other": was_other})
        return Rebuilt(state_of(context), was_other)

    def act_on_many(
        self, caller: Caller, act: BulkAct, seen: Sequence[Seen], reason: str | None = None
    ) -> list[InstanceState | Rejected | Transient]:
        """Act on each instance in a transaction of its own, so that a refusal of one stops no other."""
        if len(seen) > MAX_IN_BULK:
            raise Rejected("BATCH_TOO_LARGE", f"at most {MAX_IN_BULK} instances at a time, not {len(seen)}")
        # In one order for every caller: under an idempotency key all of them stay locked until the end.
        order = sorted(range(len(seen)), key=lambda index: seen[index].id)
        outcomes = {index: self._try(caller, act, seen[index], reason or "") for index in order}
        return [outcomes[index] for index in range(len(seen))]

    def _try(
        self, caller: Caller, act: BulkAct, seen: Seen, reason: str
    ) -> InstanceState | Rejected | Transient:
        try:
            match act:
                case "wake":
                    return self.wake(caller, seen.id)
                case "rebuild":
                    return self.rebuild(caller, seen.id).state
            if seen.version is None:
                sentence = "the request does not say which version was seen"
                raise Rejected("VERSION_MISSING", sentence, remedy="Send it with the instance's id.")
            if act == "resume":
                return self.resume(caller, seen.id, seen.version)
            do = {"pause": self.pause, "retry": self.retry, "cancel": self.cancel, "fail": self.fail}[act]
            return do(caller, seen.id, seen.version, reason)
        except (Rejected, Transient) as error:
            if error.code in _FOR_ALL:
                raise
            return error

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
            transaction.write()
        return Requeued(frozenset(done), resumed)

    def _locked(
        self, caller: Caller, instance_id: UUID, act: str
    ) -> AbstractContextManager[OperatorTransaction]:
        return operating(self._database, self._caches, self._compiled, caller, instance_id, act)


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


def require_version(context: InstanceContext, expected: int) -> None:
    if context.row.version != expected:
        raise Rejected(
            "INSTANCE_VERSION_CONFLICT",
            f"the instance is at version {context.row.version}, not {expected}",
            remedy="Read it again, and decide on what it does now.",
            details={"current_version": context.row.version},
        )


def require_running(context: InstanceContext, act: str) -> None:
    if context.row.status != "running":
        sentence = f"the instance is {context.row.status}: only a running one can be {act}"
        remedy = "Resume it." if context.row.status == "paused" else ""
        raise Rejected("INSTANCE_NOT_RUNNING", sentence, remedy=remedy)


def _require_paused(context: InstanceContext, act: str) -> None:
    if context.row.status != "paused":
        sentence = f"the instance is {context.row.status}: only a paused one can be {act}"
        raise Rejected("INSTANCE_NOT_PAUSED", sentence)


def _require_retriable(transaction: OperatorTransaction, context: InstanceContext) -> None:
    """Require that a token is held, or that the engine has paused the instance."""
    execution = context.execution
    if not (execution.is_running and execution.projection.position.held()):
        _require_paused(context, "retried")
    if context.row.status == "paused" and not execution.projection.is_paused_by_holds:
        pause = transaction.read_pause(context.row.id)
        if pause is not None and pause.is_by_person:
            sentence = "a person has paused the instance: nothing has failed that could be retried"
            raise Rejected("INSTANCE_PAUSED_BY_PERSON", sentence, remedy="Resume it.")


def require_repairable(context: InstanceContext) -> None:
    """Require that the instance runs, or that only its tokens are held."""
    require_live(context)
    if not context.execution.takes_changes:
        status = context.row.status
        sentence = f"the instance is {status}: it can be repaired while it runs, or is held"
        remedy = "Resume it." if status == "paused" else ""
        raise Rejected("INSTANCE_NOT_RUNNING", sentence, remedy=remedy)


def require_live(context: InstanceContext) -> None:
    if not context.execution.is_live:
        raise Rejected("INSTANCE_ENDED", f"the instance is {context.row.status} already")


def require_current(context: InstanceContext) -> None:
    """Refuse while an edit is not yet taken in, since it may send the instance elsewhere."""
    document = context.document
    if document is not None and document.version != context.row.entity_version:
        sentence = "the document was edited, and the instance has not taken that in yet"
        raise Rejected("INSTANCE_BEHIND", sentence, remedy="Read it again in a moment; wake it if it stays.")


def require_token(context: InstanceContext, name: str) -> Token:
    token = find_token(context.execution, name)
    if isinstance(token, Rejected):
        raise token
    return token


def raise_if(rejected: Rejected | None) -> None:
    if rejected is not None:
        raise rejected


def require_reason(reason: str) -> None:
    rejected = check_reason(reason)
    if rejected is not None:
        raise rejected
    if not reason.strip():
        mistake = FieldError("/reason", "REASON_REQUIRED", "wants a reason")
        raise Rejected("FIELDS_INVALID", "this act needs a reason", fields=(mistake,))


def state_of(context: InstanceContext) -> InstanceState:
    projection = context.execution.projection
    return InstanceState(context.row.id, cast(InstanceStatus, projection.status), projection.version)
