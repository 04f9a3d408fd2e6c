"""One wave: a set of instances of one tenant, moved in one transaction until each of them waits or ends.

A round moves every ready token on through pure nodes in memory. It writes receipts and steps of all instances
in one statement, and only then lets the acting nodes act (WF-14). Documents change in memory and are written
once, at the end, with everything else.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar
from uuid import UUID

from signet.core.errors import Transient
from signet.core.runtime.document_changes import apply_document_changes
from signet.core.runtime.execution import Blocked, PendingAction
from signet.core.runtime.projection import Step
from signet.engine.approvals.requests import ApprovalRequests
from signet.engine.cache import CompiledCache
from signet.engine.documents.unit_of_work import DocumentCaches, DocumentUnitOfWork
from signet.engine.execution.automation_instances import end_replaced, keep_new_chains
from signet.engine.execution.claim import Claim, LostReceipt, WaveResult, group_by_instance
from signet.engine.execution.failed_triggers import describe_error, pause_for
from signet.engine.execution.left_documents import leave_again
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import find_document_state
from signet.engine.execution.nodes.handler import HandlerResult
from signet.engine.execution.nodes.opened_instance import make_execution
from signet.engine.execution.nodes.registry import HANDLERS, act, prepare, read_input, resume, try_gate
from signet.engine.execution.nodes.running_accounts import RunningAccounts
from signet.engine.execution.rows import (
    add_effect_rows,
    has_ready_tokens,
    hold_event_waits,
    is_asked,
    make_change_row,
    make_continuation,
    make_deadline_row,
    make_history_rows,
    make_instance_row,
    make_step_row,
    refuse_after_end,
    refuse_request,
    settle_waits,
)
from signet.engine.incidents.changes import find_code, write_hold_changes
from signet.engine.telemetry import PURE
from signet.store.database import Database, is_intact
from signet.store.instances.waves import (
    NO_CAUSE,
    OpenedWave,
    WaveRows,
    count_lagging,
    end_wave,
    open_wave,
    parse_opened_wave,
    write_steps,
)
from signet.store.outbox.given_back import CONTENDED, give_back_triggers
from signet.store.outbox.queue import EVENTS, ClaimedTrigger, fail, release
from signet.store.pipeline import PipelinedTransaction

MAX_INSTANCES = 100
MAX_ROUNDS = 50
MAX_WAVE_SECONDS = 0.1
# What another transaction holds is tried again soon: that transaction is about to end.
RELEASE_DELAY_SECONDS = 0.05
SUSPENDED_DELAY_SECONDS = 60.0
Clock = Callable[[], float]
_Result = TypeVar("_Result")


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
        """Move the instances that the triggers wake; those of `failures` are only put on record."""
        began = self._clock()
        with self._database.pipelined(claim.tenant_id, open_wave(claim.triggers, claim.id)) as pipeline:
            opened = parse_opened_wave(pipeline.first_row)
            if opened is None:
                connection, wait = pipeline.connection, SUSPENDED_DELAY_SECONDS
                release(connection, EVENTS, claim.tenant_id, claim.triggers, claim.id, delay_seconds=wait)
                return WaveResult()
            documents = DocumentUnitOfWork(
                self._documents, pipeline.connection, claim.tenant_id, opened.transaction, opened.documents
            )
            wave = _Wave(pipeline, claim, opened, documents, failures or {}, self._clock)
            wave.load_instances(self._compiled)
            wave.check_projections()
            wave.load_references()
            wave.load_approvals()
            wave.apply_changes()
            wave.refuse_requests()
            wave.run_rounds(began)
            wave.write_new_steps()
            wave.answer_triggers()
            wave.write_new_steps()
            wave.open_event_waits()
            wave.collect_rows()
            wave.end()
            return wave.result


class _Wave:
    def __init__(
        self,
        pipeline: PipelinedTransaction,
        claim: Claim,
        opened: OpenedWave,
        documents: DocumentUnitOfWork,
        failures: Mapping[UUID, BaseException],
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._pipeline = pipeline
        self._connection = pipeline.connection
        self._claim = claim
        self._opened = opened
        self._documents = documents
        self._rows = WaveRows()
        self._approvals = ApprovalRequests(self._connection, claim.tenant_id, opened.transaction.now)
        self._accounts = RunningAccounts(self._connection, claim.tenant_id, documents)
        self._contexts: dict[UUID, InstanceContext] = {}
        # Steps that refuse a request: it is told of them when they are written.
        self._refusals: list[tuple[InstanceContext, Step]] = []
        self.result = WaveResult(failed=dict(failures))

    # --- the steps of a wave, in their order ---

    def load_instances(self, compiled: CompiledCache) -> None:
        tenant_id = self._claim.tenant_id
        triggers, steps = group_by_instance(self._own_triggers()), group_by_instance(self._opened.steps)
        entities = set[UUID | None]()
        for row in self._opened.instances:
            if row.entity_id is not None and row.entity_id in entities:  # each sees what the others did
                self.result.behind.extend(triggers[row.id])
                continue
            try:
                workflow = compiled.read(
                    self._connection, tenant_id, row.definition_id, row.definition_version
                )
            except Exception as error:  # a workflow that cannot be loaded stops only its own instances
                self._exclude(row.id, error)
                continue
            entities.add(row.entity_id)
            self._contexts[row.id] = InstanceContext(
                tenant_id,
                row,
                steps.get(row.id, []),
                make_execution(workflow, row, steps.get(row.id, [])),
                self._documents,
                self._opened.effects,
                self._approvals,
                self._accounts,
                triggers.get(row.id, []),
                self._opened.causes.get(row.id, NO_CAUSE),
            )

    def check_projections(self) -> None:
        """Refuse instances whose row is older than their steps; the worker rebuilds them (WF-02).

        An instance that waits shows it by its open steps. One that has a ready token shows it by receipts, so
        that the database is asked.
        """
        contexts = self._list_reachable()
        lags = any(not context.execution.agrees_with_steps for context in contexts)
        ready = [context.row.id for context in contexts if context.row.version and has_ready_tokens(context)]
        if lags or (ready and count_lagging(self._connection, self._claim.tenant_id, ready)):
            raise LostReceipt("PROJECTION_LAGS", "an instance's row lags behind its steps")

    def load_references(self) -> None:
        """Read the documents that expressions of all instances refer to, in one statement."""
        self._documents.refs.load([q for c in self._contexts.values() for q in c.list_ref_queries()])

    def load_approvals(self) -> None:
        self._approvals.load([i for i, c in self._contexts.items() if c.execution.workflow.has_approvals])

    def apply_changes(self) -> None:
        """Apply what happened while the instances rested: an edit, a request, an answer from outside."""
        for context in self._list_reachable():
            refusal = self._isolate(context, self._apply_changes_to)
            if refusal is not None:
                self._refusals.append((context, refusal))

    def refuse_requests(self) -> None:
        """Refuse the requests that cannot be served, each in the name of its step."""
        if self._refusals:
            self.write_new_steps()
        for context, step in self._refusals:
            refuse_request(context, step.data["transition"], step.data["reason"], step.id)

    def run_rounds(self, began: float) -> None:
        """Run rounds until no instance can go on, or the wave has taken its time."""
        while self._run_round() and self.result.rounds < MAX_ROUNDS:
            if self._clock() - began > MAX_WAVE_SECONDS:
                break
        leave_again(self._connection, self._claim.tenant_id, self._contexts.values())

    def write_new_steps(self) -> None:
        """Write the steps that have no row yet, with their receipts: before anything acts on them (WF-14)."""
        rows = [
            make_step_row(context, step)
            for context in self._contexts.values()
            for step in context.execution.take_new()
        ]
        if not rows:
            return
        if write_steps(self._connection, rows, self._opened.transaction.now) < len(rows):
            raise LostReceipt("STEP_DONE_BEFORE", "a step of this wave has been done before")
        self.result.steps += len(rows)
        self.result.stats.count_steps(rows)

    def answer_triggers(self) -> None:
        """Complete triggers, fail them, or give back those whose instance or document is held elsewhere."""
        failures, missed = list[tuple[ClaimedTrigger, str]](), list[ClaimedTrigger]()
        for trigger in self._own_triggers():
            error = self.result.failed.get(trigger.instance_id)
            if error is not None:
                failures.append((trigger, describe_error(error)))
            elif trigger.instance_id in self._contexts or trigger.instance_id not in self._opened.known:
                self._rows.done.append(trigger)
            elif trigger not in self.result.behind:
                missed.append(trigger)
        if missed:
            claim, delays = self._claim, [RELEASE_DELAY_SECONDS] * len(missed)
            # It is counted, because another may hold it for ever.
            give_back_triggers(self._connection, claim.tenant_id, missed, claim.id, CONTENDED, delays)
        self.result.stats.released = len(missed)
        self.result.stats.count_done(self._rows.done, self._opened.transaction.now)
        if failures:
            self._fail_triggers(failures)

    def open_event_waits(self) -> None:
        """Hold the waits for events that have begun; wake those for which an event was kept."""
        offered = hold_event_waits(self._connection, self._claim.tenant_id, self._contexts)
        self._documents.batch.events += [make_continuation(self._contexts[one]) for one in offered]

    def collect_rows(self) -> None:
        """Make the rows of all instances as they are now; nothing moves them after this."""
        for context in self._contexts.values():
            self._collect_rows_of(context)
        for instance_id, moment in self._approvals.wakes:
            self._documents.batch.events.append(make_continuation(self._contexts[instance_id], moment))

    def end(self) -> None:
        """Write approvals, documents and the rows of the wave, in the last statements of the transaction."""
        self._approvals.write()
        self.result.note_end(self._documents.batch.events, self._approvals.lapsed_count)
        self._documents.write(self._pipeline)
        now, tenant_id = self._opened.transaction.now, self._claim.tenant_id
        end_wave(self._pipeline, tenant_id, self._rows, now)
        held = [(c.row, c.execution) for c in self._contexts.values() if c.execution.hold_changes]
        if held:
            self._pipeline.closing.append(write_hold_changes(held, tenant_id, now))
        self._pipeline.closing.extend(keep_new_chains(tenant_id, self._contexts.values()))

    # --- which instances move ---

    def _list_moving(self) -> list[InstanceContext]:
        return [context for context in self._list_reachable() if context.execution.is_running]

    def _list_reachable(self) -> list[InstanceContext]:
        """List the instances that a change can reach, also those whose tokens are all held.

        A request reaches those that are paused, too: it is answered.
        """
        left = [c for i, c in self._contexts.items() if not self.result.failed or i not in self.result.failed]
        return [c for c in left if c.execution.takes_changes or is_asked(c)]

    def _isolate(self, context: InstanceContext, act: Callable[[InstanceContext], _Result]) -> _Result | None:
        """Act on one instance. Before anything has changed, one that fails leaves the wave alone.

        It is put on record, and the others go on. A gate that has waited passes before a step is written.
        """
        if self.result.steps or not self._documents.batch.is_empty or not self._approvals.rows.is_empty:
            return act(context)
        try:
            return act(context)
        except Exception as error:
            if context.has_decided:
                raise
            self._exclude(context.row.id, error)
            context.reset()
            return None

    def _exclude(self, instance_id: UUID, error: Exception) -> None:
        """Exclude an instance from the wave, unless the database failed: then the wave is run again."""
        if isinstance(error, Transient) or not is_intact(self._connection):
            raise error
        self.result.failed.setdefault(instance_id, error)

    # --- changes since the last wave ---

    def _apply_changes_to(self, context: InstanceContext) -> Step | None:
        """Return the step that refuses a request, if one does."""
        document_state, refusal = None if end_replaced(context) else find_document_state(context), None
        if document_state is not None:
            refusal = apply_document_changes(
                context.execution, document_state, context.decision_input, partial(try_gate, context)
            )
            context.adopt_changes()
        for step in list(context.execution.open.values()):
            self._resume(context, step.token)
        return refusal

    def _resume(self, context: InstanceContext, token_id: str) -> None:
        nodes, step = context.execution.workflow.nodes, context.execution.open.get(token_id)
        if step is None or nodes[step.node].type.name not in HANDLERS or not context.execution.takes_changes:
            return
        result = resume(context, nodes[step.node], step)
        if isinstance(result, Blocked):
            context.execution.hold(token_id, result)
        elif result is not None and result.decision is not None:
            del context.waits[token_id]
            context.end_step(step, result.decision, has_waited=True)
        else:
            context.execution.let_go(token_id)
            if result is not None:
                context.wait_until(step, result.resume_at)

    def _run_round(self) -> bool:
        """Run one round of all instances that have a ready token; return False where none has."""
        contexts = [context for context in self._list_moving() if has_ready_tokens(context)]
        if not contexts:
            return False
        pending_actions: list[tuple[InstanceContext, PendingAction]] = []
        clock, stats = self._clock, self.result.stats
        began_chains, before = clock(), stats.count_other_than(HANDLERS)
        for context in contexts:
            pending_actions += [(context, pending) for pending in self._isolate(context, _run_chains) or ()]
        ended_chains = clock()
        self.write_new_steps()
        for context, pending in pending_actions:
            if context.execution.is_due(pending):
                began, node_type = clock(), pending.node.type.name
                self._settle(context, pending, act(context, pending))
                stats.time(node_type, began, clock())
        stats.time(PURE, began_chains, ended_chains, stats.count_other_than(HANDLERS) - before)
        for context in contexts:
            context.execution.end_round()
        self.result.rounds += 1
        return True

    def _settle(self, context: InstanceContext, pending: PendingAction, result: HandlerResult) -> None:
        step = pending.step
        if result.effect is not None:
            self.result.stats.count_effect(result.effect.effect_type)
            add_effect_rows(self._rows, context, step, result.effect)
        if result.decision is not None:
            context.end_step(step, result.decision)
        else:
            context.begin_wait(step, result.resume_at, result.event_keys, result.followed)
            context.execution.mark_changed(step)

    # --- the end ---

    def _own_triggers(self) -> list[ClaimedTrigger]:
        return [trigger for trigger in self._claim.triggers if trigger.id in self._opened.triggers]

    def _fail_triggers(self, failures: list[tuple[ClaimedTrigger, str]]) -> None:
        """Fail triggers, and pause the instances of those that are dead letters by that."""
        returned = fail(self._connection, EVENTS, self._claim.tenant_id, failures, self._claim.id)
        self.result.stats.retried, self.result.stats.dead = len(returned.again), len(returned.dead)
        for dead in returned.dead:
            context = self._contexts.get(dead.instance_id)
            if context is not None and context.execution.takes_changes:
                context.execution.pause(Blocked(dead.error or "", {"trigger": str(dead.id)}))
        unread = (dead for dead in returned.dead if dead.instance_id not in self._contexts)
        pause_for(self._connection, self._claim.tenant_id, unread)

    def _collect_rows_of(self, context: InstanceContext) -> None:
        execution = context.execution
        self._rows.steps.extend(make_change_row(context, step) for step in execution.changed.values())
        if execution.projection.version != context.row.version:
            refuse_after_end(context)
            self._rows.instances.append(make_instance_row(context))
            self._rows.history.extend(make_history_rows(context))
            for change in execution.hold_changes:
                if change.is_new:
                    code = find_code(execution.workflow, change)
                    self.result.stats.count_pause(context.row.id, code)
            self.result.instances += 1
        elif context.has_other_deadline:
            self._rows.deadlines.append(make_deadline_row(context))
        if has_ready_tokens(context) and context.row.id not in self.result.failed:
            self._documents.batch.events.append(make_continuation(context))
        settle_waits(context)


def _run_chains(context: InstanceContext) -> list[PendingAction]:
    return context.execution.run_pure_nodes(partial(read_input, context), partial(prepare, context))
