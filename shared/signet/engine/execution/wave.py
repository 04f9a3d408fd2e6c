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
from signet.core.runtime.document_changes import react
from signet.core.runtime.execution import Hold, Intent
from signet.core.runtime.projection import Step
from signet.engine.approvals.requests import WaveApprovals
from signet.engine.cache import CompiledCache
from signet.engine.documents.unit_of_work import DocumentCaches, OpenDocuments
from signet.engine.execution.failed_triggers import pause_for
from signet.engine.execution.nodes.context import InstancePlace, Waiting, read_journey
from signet.engine.execution.nodes.handler import Acted
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
from signet.engine.execution.wave_report import Tally
from signet.engine.telemetry import PURE
from signet.store.database import Connection, Database, Exchange, is_intact
from signet.store.instances.waves import (
    OpenedWave,
    OpenStepRow,
    WaveRows,
    count_lagging,
    end_wave,
    open_wave,
    read_opened,
    write_steps,
)
from signet.store.outbox.queue import EVENTS, ClaimedEvent, fail, release

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
class Moved:
    """What a wave came to."""

    instances: int = 0
    steps: int = 0
    rounds: int = 0
    failed: dict[UUID, BaseException] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)


class Waves:
    """The use case with its caches; one a process."""

    def __init__(
        self, database: Database, documents: DocumentCaches, compiled: CompiledCache, clock: Clock
    ) -> None:
        self._database = database
        self._documents = documents
        self._compiled = compiled
        self._clock = clock

    def run(self, claim: Claim, failures: Mapping[UUID, BaseException] | None = None) -> Moved:
        """Moves the instances that the triggers wake; those of `failures` are only put on record."""
        began = self._clock()
        with self._database.exchange(claim.tenant_id, open_wave(claim.triggers, claim.id)) as exchange:
            opened = read_opened(exchange.opening_row)
            if opened is None:
                _release(exchange.connection, claim, claim.triggers, SUSPENDED_DELAY_SECONDS)
                return Moved()
            documents = OpenDocuments(
                self._documents, exchange.connection, claim.tenant_id, opened.setting, opened.documents
            )
            wave = _Wave(exchange.connection, claim, opened, documents, failures or {}, self._clock)
            wave.load(self._compiled)
            wave.load_approvals()
            wave.take_in()
            while wave.go_round() and wave.moved.rounds < MAX_ROUNDS:
                if self._clock() - began > MAX_WAVE_SECONDS:
                    break
            end_wave(exchange, claim.tenant_id, wave.finish(exchange), opened.setting.now)
            return wave.moved


class _Wave:
    def __init__(
        self,
        connection: Connection,
        claim: Claim,
        opened: OpenedWave,
        documents: OpenDocuments,
        failures: Mapping[UUID, BaseException],
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._connection = connection
        self._claim = claim
        self._opened = opened
        self._documents = documents
        self._rows = WaveRows()
        self._approvals = WaveApprovals(connection, claim.tenant_id, opened.setting.now)
        self._places: dict[UUID, InstancePlace] = {}
        self.moved = Moved(failed=dict(failures))

    def load(self, compiled: CompiledCache) -> None:
        tenant_id = self._claim.tenant_id
        triggers, steps = _by_instance(self._own_triggers()), _by_instance(self._opened.steps)
        for row in self._opened.instances:
            try:
                workflow = compiled.read(
                    self._connection, tenant_id, row.definition_id, row.definition_version
                )
            except Exception as error:  # a workflow that cannot be loaded is its instances' trouble alone
                self._leave_out(row.id, error)
                continue
            place = InstancePlace(
                tenant_id,
                row,
                steps.get(row.id, []),
                read_journey(workflow, row, steps.get(row.id, [])),
                self._documents,
                self._opened.effects,
                self._approvals,
                triggers.get(row.id, []),
            )
            self._places[row.id] = place
        self._check_places()
        self._documents.read_refs(one for place in self._places.values() for one in place.list_followers())

    def _check_places(self) -> None:
        """A row that lags behind its steps may send its instance anywhere: it is made anew first (WF-02).

        Where it began its first step's receipt says so; where all wait, their open steps do.
        """
        places = self._moving()
        lags = any(not place.journey.agrees_with_steps for place in places)
        ready = [place.row.id for place in places if place.row.version and has_ready_tokens(place)]
        if lags or (ready and count_lagging(self._connection, self._claim.tenant_id, ready)):
            raise LostReceipt("PROJECTION_LAGS", "an instance's row lags behind its steps")

    def load_approvals(self) -> None:
        self._approvals.load([p.row.id for p in self._places.values() if p.journey.workflow.has_approvals])

    def take_in(self) -> None:
        """What happened while the instances rested: an edit, a request, an answer from outside."""
        refusals: list[tuple[InstancePlace, Step]] = []
        for place in self._moving():
            self._attempt(place, lambda one: self._take_in_one(one, refusals))
        refusals = [(place, step) for place, step in refusals if place.row.id not in self.moved.failed]
        if refusals:
            self._write_new_steps()
        for place, step in refusals:
            place.refuse(step.data["transition"], step.data["reason"], step.id)

    def go_round(self) -> bool:
        """One round of all instances; whether any of them can go on."""
        places = [place for place in self._moving() if has_ready_tokens(place)]
        if not places:
            return False
        intents: list[tuple[InstancePlace, Intent]] = []
        clock, tally = self._clock, self.moved.tally
        began_chains, before = clock(), tally.count_other_than(HANDLERS)
        for place in places:
            self._attempt(place, lambda one: intents.extend((one, intent) for intent in _run_chains(one)))
        ended_chains = clock()
        self._write_new_steps()
        for place, intent in intents:
            if place.journey.is_due(intent):
                began, node_type = clock(), intent.node.type.name
                self._settle(place, intent, HANDLERS[node_type].act(place, intent))
                tally.time(node_type, began, clock())
        tally.time(PURE, began_chains, ended_chains, tally.count_other_than(HANDLERS) - before)
        for place in places:
            place.journey.end_round()
        self.moved.rounds += 1
        return True

    def finish(self, exchange: Exchange) -> WaveRows:
        self._write_new_steps()
        self._answer_triggers()
        self._write_new_steps()
        for place in self._places.values():
            self._rows.steps.extend(make_change_row(place, step) for step in place.journey.recorded)
            if place.journey.projection.version != place.row.version:
                place.refuse_what_is_left()
                self._rows.instances.append(make_instance_row(place))
                self._rows.history.extend(make_history_rows(place))
                self.moved.instances += 1
            if has_ready_tokens(place) and place.row.id not in self.moved.failed:
                self._documents.batch.events.append(make_continuation(place))
            place.void_what_is_left()
        for instance_id, moment in self._approvals.wakes:
            self._documents.batch.events.append(make_continuation(self._places[instance_id], moment))
        self._approvals.write()
        self._documents.write(exchange)
        return self._rows

    def _moving(self) -> list[InstancePlace]:
        return [
            place
            for place in self._places.values()
            if place.journey.is_running and place.row.id not in self.moved.failed
        ]

    def _attempt(self, place: InstancePlace, act: Callable[[InstancePlace], None]) -> None:
        """Before anything was written, an instance that fails leaves the wave and takes nobody along.

        Whatever it is that its author or we got wrong: the others go on, and it is put on record.
        """
        if self.moved.steps:
            act(place)
            return
        try:
            act(place)
        except Exception as error:
            self._leave_out(place.row.id, error)
            place.begin_anew()

    def _leave_out(self, instance_id: UUID, error: Exception) -> None:
        """Unless it was the database that could not go on: that is nobody's failure."""
        if isinstance(error, Transient) or not is_intact(self._connection):
            raise error
        self.moved.failed.setdefault(instance_id, error)

    def _take_in_one(self, place: InstancePlace, refusals: list[tuple[InstancePlace, Step]]) -> None:
        observed = place.observe()
        refusal = react(place.journey, observed, place.look, place.try_gate) if observed else None
        if refusal is not None:
            refusals.append((place, refusal))
        for step in list(place.journey.open.values()):
            self._resume(place, step.token)

    def _resume(self, place: InstancePlace, token_id: str) -> None:
        step = place.journey.open.get(token_id)
        handler = HANDLERS.get(place.journey.workflow.nodes[step.node].type.name) if step else None
        if step is None or handler is None or not place.journey.is_running:
            return
        acted = handler.resume(place, place.journey.workflow.nodes[step.node], step)
        if isinstance(acted, Hold):
            place.journey.pause(acted)
        elif acted is not None and acted.decision is not None:
            del place.waits[token_id]
            version = place.document.version if place.document is not None else step.version
            place.journey.end_open(step, acted.decision, version, has_waited=True)

    def _settle(self, place: InstancePlace, intent: Intent, acted: Acted) -> None:
        step = intent.step
        if acted.effect is not None:
            self.moved.tally.count_effect(acted.effect.effect_type)
            self._rows.effects.append(make_effect_row(place, step, acted.effect))
        if acted.decision is not None:
            version = place.document.version if place.document is not None else step.version
            place.journey.end_open(step, acted.decision, version)
        else:
            place.waits[step.token] = Waiting(acted.resume_at, acted.waiting_for_event_key)
            place.journey.touch(step)

    def _write_new_steps(self) -> None:
        rows = []
        for place in self._places.values():
            recorded, place.journey.recorded = place.journey.recorded, []
            for step in recorded:
                if step.id is None:
                    rows.append(make_step_row(place, step))
                else:
                    place.journey.recorded.append(step)
        if not rows:
            return
        if write_steps(self._connection, rows, self._opened.setting.now) < len(rows):
            raise LostReceipt("STEP_DONE_BEFORE", "a step of this wave has been done before")
        self.moved.steps += len(rows)
        self.moved.tally.count_steps(rows)

    def _answer_triggers(self) -> None:
        """Done, failed, or back in the queue because somebody else holds their instance or its document."""
        failures: list[tuple[ClaimedEvent, str]] = []
        missed: list[ClaimedEvent] = []
        for trigger in self._own_triggers():
            error = self.moved.failed.get(trigger.instance_id)
            if error is not None:
                failures.append((trigger, describe(error)))
            elif trigger.instance_id in self._places or trigger.instance_id not in self._opened.known:
                self._rows.done.append(trigger)
            else:
                missed.append(trigger)
        _release(self._connection, self._claim, missed, RELEASE_DELAY_SECONDS)
        tally = self.moved.tally
        tally.released = len(missed)
        tally.count_done(self._rows.done, self._opened.setting.now)
        if not failures:
            return
        returned = fail(self._connection, EVENTS, self._claim.tenant_id, failures, self._claim.id)
        tally.retried, tally.dead = len(returned.again), len(returned.dead)
        for dead in returned.dead:
            place = self._places.get(dead.instance_id)
            if place is not None and place.journey.is_running:
                place.journey.pause(Hold(dead.error or "", {"trigger": str(dead.id)}))
        unread = (dead for dead in returned.dead if dead.instance_id not in self._places)
        pause_for(self._connection, self._claim.tenant_id, unread)

    def _own_triggers(self) -> list[ClaimedEvent]:
        return [trigger for trigger in self._claim.triggers if trigger.id in self._opened.triggers]


def _run_chains(place: InstancePlace) -> list[Intent]:
    return place.journey.run_chains(place.look, place.prepare)


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
