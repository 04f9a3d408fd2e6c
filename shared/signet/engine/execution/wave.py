"""One wave: a set of instances of one tenant, moved in one transaction until each of them waits or ends.

A round takes every ready token on through pure nodes in memory, writes receipts and steps of all instances
in one statement, and only then lets the acting nodes act (WF-14). Documents change in memory and are written
once, at the end, with everything else.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from signet.core.errors import SignetError, Superseded, Transient
from signet.core.runtime.document_changes import apply_document_changes
from signet.core.runtime.execution import Blocked, PendingAction
from signet.core.runtime.projection import Step
from signet.engine.approvals.requests import ApprovalRequests
from signet.engine.cache import CompiledCache
from signet.engine.documents.unit_of_work import DocumentCaches, DocumentUnitOfWork
from signet.engine.execution.failed_triggers import pause_for
from signet.engine.execution.nodes.context import InstanceContext, StepWait, read_execution
from signet.engine.execution.nodes.handler import HandlerResult
from signet.engine.execution.nodes.registry import HANDLERS
from signet.engine.execution.rows import (
    has_ready_tokens,
    make_change_row,
    make_continuation,
    make_effect_row,
    make_history_rows,
    make_instance_row,
    make_step_row,
)
from signet.engine.execution.wave_report import WaveStats
from signet.engine.telemetry import PURE
from signet.store.database import Connection, Database, is_intact
from signet.store.instances.waves import (
    OpenedWave,
    OpenStepRow,
    WaveRows,
    count_lagging,
    end_wave,
    open_wave,
    parse_opened_wave,
    write_steps,
)
from signet.store.outbox.queue import EVENTS, ClaimedEvent, fail, release
from signet.store.pipeline import PipelinedTransaction

MAX_INSTANCES = 100
MAX_ROUNDS = 50
MAX_WAVE_SECONDS = 0.1
# What another transaction holds is tried again soon: whoever holds it is about to be done.
RELEASE_DELAY_SECONDS = 0.05
SUSPENDED_DELAY_SECONDS = 60.0
Clock = Callable[[], float]
_Row = TypeVar("_Row", ClaimedEvent, OpenStepRow)


class LostReceipt(Superseded):
    """A step has a receipt already: the instance's row lags behind its steps (WF-02)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Triggers of one tenant that this worker holds."""

    id: UUID
    tenant_id: UUID
    triggers: Sequence[ClaimedEvent]


@dataclass(slots=True)
class WaveResult:
    """What a wave came to."""

    instances: int = 0
    steps: int = 0
    rounds: int = 0
    failed: dict[UUID, BaseException] = field(default_factory=dict)
    stats: WaveStats = field(default_factory=WaveStats)


class Waves:
    """The use case with its caches; one a process."""

    def __init__(
        self, database: Database, documents: DocumentCaches, compiled: CompiledCache, clock: Clock
    ) -> None:
        self._database = database
        self._documents = documents
        self._compiled = compiled
        self._clock = clock

    def run(self, claim: Claim, failures: Mapping[UUID, BaseException] | None = None) -> WaveResult:
        """Moves the instances that the triggers wake; those of `failures` are only put on record."""
        began = self._clock()
        with self._database.pipelined(claim.tenant_id, open_wave(claim.triggers, claim.id)) as pipeline:
            opened = parse_opened_wave(pipeline.first_row)
            if opened is None:
                _release(pipeline.connection, claim, claim.triggers, SUSPENDED_DELAY_SECONDS)
                return WaveResult()
            documents = DocumentUnitOfWork(
                self._documents, pipeline.connection, claim.tenant_id, opened.transaction, opened.documents
            )
            wave = _Wave(pipeline.connection, claim, opened, documents, failures or {}, self._clock)
            wave.load(self._compiled)
            wave.load_approvals()
            wave.apply_changes()
            while wave.run_round() and wave.result.rounds < MAX_ROUNDS:
                if self._clock() - began > MAX_WAVE_SECONDS:
                    break
            end_wave(pipeline, claim.tenant_id, wave.collect_rows(pipeline), opened.transaction.now)
            return wave.result


class _Wave:
    def __init__(
        self,
        connection: Connection,
        claim: Claim,
        opened: OpenedWave,
        documents: DocumentUnitOfWork,
        failures: Mapping[UUID, BaseException],
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._connection = connection
        self._claim = claim
        self._opened = opened
        self._documents = documents
        self._rows = WaveRows()
        self._approvals = ApprovalRequests(connection, claim.tenant_id, opened.transaction.now)
        self._contexts: dict[UUID, InstanceContext] = {}
        self.result = WaveResult(failed=dict(failures))

    def load(self, compiled: CompiledCache) -> None:
        tenant_id = self._claim.tenant_id
        triggers, steps = _by_instance(self._own_triggers()), _by_instance(self._opened.steps)
        for row in self._opened.instances:
            try:
                workflow = compiled.read(
                    self._connection, tenant_id, row.definition_id, row.definition_version
                )
            except Exception as error:  # a workflow that cannot be loaded is its instances' trouble alone
                self._exclude(row.id, error)
                continue
            context = InstanceContext(
                tenant_id,
                row,
                steps.get(row.id, []),
                read_execution(workflow, row, steps.get(row.id, [])),
                self._documents,
                self._opened.effects,
                self._approvals,
                triggers.get(row.id, []),
            )
            self._contexts[row.id] = context
        self._check_projections()
        self._documents.read_refs(
            [query for context in self._contexts.values() for query in context.list_ref_queries()]
        )

    def _check_projections(self) -> None:
        """A row that lags behind its steps may send its instance anywhere: it is made anew first (WF-02).

        Where it began its first step's receipt says so; where all wait, their open steps do.
        """
        contexts = self._moving()
        lags = any(not context.execution.agrees_with_steps for context in contexts)
        ready = [place.row.id for place in contexts if place.row.version and has_ready_tokens(place)]
        if lags or (ready and count_lagging(self._connection, self._claim.tenant_id, ready)):
            raise LostReceipt("PROJECTION_LAGS", "an instance's row lags behind its steps")

    def load_approvals(self) -> None:
        self._approvals.load(
            [p.row.id for p in self._contexts.values() if p.execution.workflow.has_approvals]
        )

    def apply_changes(self) -> None:
        """What happened while the instances rested: an edit, a request, an answer from outside."""
        refusals: list[tuple[InstanceContext, Step]] = []
        for context in self._moving():
            self._isolate(context, lambda one: self._apply_changes_to(one, refusals))
        refusals = [(place, step) for place, step in refusals if place.row.id not in self.result.failed]
        if refusals:
            self._write_new_steps()
        for context, step in refusals:
            context.refuse(step.data["transition"], step.data["reason"], step.id)

    def run_round(self) -> bool:
        """One round of all instances; whether any of them can go on."""
        contexts = [context for context in self._moving() if has_ready_tokens(context)]
        if not contexts:
            return False
        pending_actions: list[tuple[InstanceContext, PendingAction]] = []
        clock, stats = self._clock, self.result.stats
        began_chains, before = clock(), stats.count_other_than(HANDLERS)
        for place in contexts:
            self._isolate(
                place, lambda one: pending_actions.extend((one, pending) for pending in _run_chains(one))
            )
        ended_chains = clock()
        self._write_new_steps()
        for place, intent in pending_actions:
            if place.execution.is_due(intent):
                began, node_type = clock(), intent.node.type.name
                self._settle(place, intent, HANDLERS[node_type].act(place, intent))
                stats.time(node_type, began, clock())
        stats.time(PURE, began_chains, ended_chains, stats.count_other_than(HANDLERS) - before)
        for place in contexts:
            place.execution.end_round()
        self.result.rounds += 1
        return True

    def collect_rows(self, pipeline: PipelinedTransaction) -> WaveRows:
        self._write_new_steps()
        self._answer_triggers()
        self._write_new_steps()
        for context in self._contexts.values():
            self._rows.steps.extend(make_change_row(context, step) for step in context.execution.recorded)
            if context.execution.projection.version != context.row.version:
                context.refuse_what_is_left()
                self._rows.instances.append(make_instance_row(context))
                self._rows.history.extend(make_history_rows(context))
                self.result.instances += 1
            if has_ready_tokens(context) and context.row.id not in self.result.failed:
                self._documents.batch.events.append(make_continuation(context))
            context.void_what_is_left()
        for instance_id, moment in self._approvals.wakes:
            self._documents.batch.events.append(make_continuation(self._contexts[instance_id], moment))
        self._approvals.write()
        self._documents.write(pipeline)
        return self._rows

    def _moving(self) -> list[InstanceContext]:
        return [
            context
            for context in self._contexts.values()
            if context.execution.is_running and context.row.id not in self.result.failed
        ]

    def _isolate(self, context: InstanceContext, act: Callable[[InstanceContext], None]) -> None:
        """Before anything was written, an instance that fails leaves the wave and takes nobody along.

        Whatever it is that its author or we got wrong: the others go on, and it is put on record.
        """
        if self.result.steps:
            act(context)
            return
        try:
            act(context)
        except Exception as error:
            self._exclude(context.row.id, error)
            context.reset()

    def _exclude(self, instance_id: UUID, error: Exception) -> None:
        """Unless it was the database that could not go on: that is nobody's failure."""
        if isinstance(error, Transient) or not is_intact(self._connection):
            raise error
        self.result.failed.setdefault(instance_id, error)

    def _apply_changes_to(
        self, context: InstanceContext, refusals: list[tuple[InstanceContext, Step]]
    ) -> None:
        document_state = context.observe()
        refusal = (
            apply_document_changes(
                context.execution, document_state, context.decision_input, context.try_gate
            )
            if document_state
            else None
        )
        if refusal is not None:
            refusals.append((context, refusal))
        for step in list(context.execution.open.values()):
            self._resume(context, step.token)

    def _resume(self, context: InstanceContext, token_id: str) -> None:
        step = context.execution.open.get(token_id)
        handler = HANDLERS.get(context.execution.workflow.nodes[step.node].type.name) if step else None
        if step is None or handler is None or not context.execution.is_running:
            return
        result = handler.resume(context, context.execution.workflow.nodes[step.node], step)
        if isinstance(result, Blocked):
            context.execution.pause(result)
        elif result is not None and result.decision is not None:
            del context.waits[token_id]
            version = context.document.version if context.document is not None else step.version
            context.execution.end_open(step, result.decision, version, has_waited=True)

    def _settle(self, context: InstanceContext, pending: PendingAction, result: HandlerResult) -> None:
        step = pending.step
        if result.effect is not None:
            self.result.stats.count_effect(result.effect.effect_type)
            self._rows.effects.append(make_effect_row(context, step, result.effect))
        if result.decision is not None:
            version = context.document.version if context.document is not None else step.version
            context.execution.end_open(step, result.decision, version)
        else:
            context.waits[step.token] = StepWait(result.resume_at, result.waiting_for_event_key)
            context.execution.touch(step)

    def _write_new_steps(self) -> None:
        rows = []
        for context in self._contexts.values():
            recorded, context.execution.recorded = context.execution.recorded, []
            for step in recorded:
                if step.id is None:
                    rows.append(make_step_row(context, step))
                else:
                    context.execution.recorded.append(step)
        if not rows:
            return
        if write_steps(self._connection, rows, self._opened.transaction.now) < len(rows):
            raise LostReceipt("STEP_DONE_BEFORE", "a step of this wave has been done before")
        self.result.steps += len(rows)
        self.result.stats.count_steps(rows)

    def _answer_triggers(self) -> None:
        """Done, failed, or back in the queue because somebody else holds their instance or its document."""
        failures: list[tuple[ClaimedEvent, str]] = []
        missed: list[ClaimedEvent] = []
        for trigger in self._own_triggers():
            error = self.result.failed.get(trigger.instance_id)
            if error is not None:
                failures.append((trigger, describe(error)))
            elif trigger.instance_id in self._contexts or trigger.instance_id not in self._opened.known:
                self._rows.done.append(trigger)
            else:
                missed.append(trigger)
        _release(self._connection, self._claim, missed, RELEASE_DELAY_SECONDS)
        stats = self.result.stats
        stats.released = len(missed)
        stats.count_done(self._rows.done, self._opened.transaction.now)
        if not failures:
            return
        returned = fail(self._connection, EVENTS, self._claim.tenant_id, failures, self._claim.id)
        stats.retried, stats.dead = len(returned.again), len(returned.dead)
        for dead in returned.dead:
            context = self._contexts.get(dead.instance_id)
            if context is not None and context.execution.is_running:
                context.execution.pause(Blocked(dead.error or "", {"trigger": str(dead.id)}))
        unread = (dead for dead in returned.dead if dead.instance_id not in self._contexts)
        pause_for(self._connection, self._claim.tenant_id, unread)

    def _own_triggers(self) -> list[ClaimedEvent]:
        return [trigger for trigger in self._claim.triggers if trigger.id in self._opened.triggers]


def _run_chains(context: InstanceContext) -> list[PendingAction]:
    return context.execution.run_chains(context.decision_input, context.prepare)


def _by_instance(found: Iterable[_Row]) -> dict[UUID, list[_Row]]:
    grouped: dict[UUID, list[_Row]] = {}
    for one in found:
        grouped.setdefault(one.instance_id, []).append(one)
    return grouped


def _release(
    connection: Connection, claim: Claim, triggers: Sequence[ClaimedEvent], delay_seconds: float
) -> None:
    release(connection, EVENTS, claim.tenant_id, triggers, claim.id, delay_seconds=delay_seconds)


def describe(error: BaseException) -> str:
    """For an operator: the code where there is one, and no more of a foreign error than its first line."""
    if isinstance(error, SignetError):
        return f"{error.code}: {error.message}"
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
