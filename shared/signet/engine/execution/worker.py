"""The worker: it claims triggers of a tenant, runs the wave that they wake, and puts failures on record.

The database alone decides about retries. An error becomes the state of a trigger. An outage becomes nothing:
what was claimed is given back without an attempt. Only a worker that does not come back costs one.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from signet.core.errors import Transient
from signet.engine.approvals.lost_approvers import VOTER_LOST, recheck_requests
from signet.engine.automations.claimed_starts import START_AUTOMATION, ClaimedStarts
from signet.engine.cache import CompiledCache
from signet.engine.dispatch.arrival_turns import ArrivalTurns
from signet.engine.dispatch.claim_bounds import ClaimBounds
from signet.engine.dispatch.unsettled import UnsettledClaims
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.claim import Claim, LostReceipt, WaveResult
from signet.engine.execution.failed_triggers import describe_error, hold_stranded, release_expired_triggers
from signet.engine.execution.rebuild import rebuild_instance
from signet.engine.execution.wave import MAX_INSTANCES, Clock, Waves
from signet.engine.telemetry import SILENT, Telemetry, WaveReport
from signet.ids import make_id
from signet.store.database import Connection, Database
from signet.store.outbox.given_back import LEAST_GIVEN_BACK, give_back_triggers, plan_delays
from signet.store.outbox.queue import EVENTS, EVER, ClaimedTrigger, claim_due, fail, parse_claimed

LEASE_SECONDS = 60.0
MAX_TRANSIENT_RETRIES = 3


class Worker:
    """The use case; one a process."""

    def __init__(
        self,
        database: Database,
        documents: DocumentCaches,
        compiled: CompiledCache,
        clock: Clock = time.monotonic,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._clock = clock
        self._telemetry = telemetry
        self._database = database
        self._compiled = compiled
        self._contracts = documents.contracts
        self._bounds = ClaimBounds()
        self._arrivals = ArrivalTurns()
        self._unsettled = UnsettledClaims(database)
        self._waves = Waves(database, documents, compiled, clock)
        self._starts = ClaimedStarts(database, compiled)

    def work(self, tenant_id: UUID) -> bool:
        """Make one claim and run its wave. Return whether there was anything to do.

        A transient error gives back what was claimed, and is raised.
        """
        self.settle()
        claimed = self._claim(tenant_id)
        if claimed is None:
            return False
        try:
            self._serve(claimed)
        except Transient as error:
            self._give_back(claimed, error)
            raise
        return True

    def settle(self) -> None:
        """Give back what an earlier outage kept from being given back."""
        self._unsettled.settle()

    def _serve(self, claimed: Claim) -> None:
        about_voters = [trigger for trigger in claimed.triggers if trigger.event_type == VOTER_LOST]
        for trigger in about_voters:
            self._recheck(claimed, trigger)
        starts = [trigger for trigger in claimed.triggers if trigger.event_type == START_AUTOMATION]
        if starts:
            self._starts.run(claimed.tenant_id, starts, claimed.id)
        others = [one for one in claimed.triggers if one.event_type not in (VOTER_LOST, START_AUTOMATION)]
        if others:
            self._run(replace(claimed, triggers=others))

    def _claim(self, tenant_id: UUID) -> Claim | None:
        """Claim the oldest triggers, or in turn those that have just come behind a backlog."""
        arrived_since = self._arrivals.take(tenant_id)
        claimed = self._claim_since(tenant_id, arrived_since) if arrived_since is not None else None
        if claimed is not None:
            return claimed
        claimed = self._claim_since(tenant_id, self._bounds.find(tenant_id))
        self._arrivals.note(tenant_id, is_full=claimed is not None and len(claimed.triggers) == MAX_INSTANCES)
        return claimed

    def _claim_since(self, tenant_id: UUID, since: datetime) -> Claim | None:
        claim_id, triggers = make_id(), list[ClaimedTrigger]()
        due = claim_due(
            EVENTS,
            at_most=MAX_INSTANCES,
            lease_seconds=LEASE_SECONDS,
            claim_id=claim_id,
            since=since,
        )
        try:
            with self._database.pipelined(tenant_id, due) as pipeline:
                triggers = parse_claimed(EVENTS, pipeline.opening_rows)
                may_release = not triggers and since == EVER and not self._unsettled.owes(tenant_id)
                if may_release and self._release_expired(pipeline.connection, tenant_id):
                    rows = pipeline.connection.execute(due.text, due.values).fetchall()
                    triggers = parse_claimed(EVENTS, rows)
        except Transient as error:
            # Its commit may have been done.
            self._give_back(Claim(claim_id, tenant_id, triggers), error)
            raise
        self._bounds.note(tenant_id, since, triggers)
        return Claim(claim_id, tenant_id, triggers) if triggers else None

    def _give_back(self, claimed: Claim, error: Transient) -> None:
        """Give back what this claim still holds: some of it may have been done."""

        def write(connection: Connection) -> None:
            triggers = claimed.triggers
            held = give_back_triggers(
                connection, claimed.tenant_id, triggers, claimed.id, error.code, plan_delays(triggers)
            )
            self._telemetry.given_back(claimed.tenant_id, EVENTS.name, len(held), error.code)

        if claimed.triggers and not self._hold_stranded(claimed, error):
            self._unsettled.end(claimed.tenant_id, write)

    def _hold_stranded(self, claimed: Claim, error: Transient) -> bool:
        """Hold what was given back for too long: it goes alone, so that the cause is its own."""
        (trigger, *others) = claimed.triggers
        if others or trigger.given_back < LEAST_GIVEN_BACK:
            return False
        try:
            with self._database.transaction(claimed.tenant_id) as connection:
                return hold_stranded(connection, claimed, error.code, self._telemetry)
        except Transient:
            return False

    def _release_expired(self, connection: Connection, tenant_id: UUID) -> bool:
        """Release triggers of a worker that did not come back. Return whether any may be tried again."""
        return bool(
            release_expired_triggers(connection, tenant_id, self._telemetry, at_most=MAX_INSTANCES).again
        )

    def _recheck(self, claimed: Claim, trigger: ClaimedTrigger) -> None:
        """Check approvals that may have lost a voter. The instances that it wakes have waves of their own."""
        try:
            recheck_requests(self._database, self._contracts, claimed.tenant_id, trigger, claimed.id)
        except Transient:
            raise
        except Exception as error:
            with self._database.transaction(claimed.tenant_id) as connection:
                fail(connection, EVENTS, claimed.tenant_id, [(trigger, describe_error(error))], claimed.id)

    def _run(self, claimed: Claim) -> None:
        """Run one wave of all. If it fails, run one for each instance: only the culprit's triggers fail."""
        try:
            behind = self._run_with_retries(claimed).behind
            if behind:
                self._run(replace(claimed, triggers=behind))
            return
        except Transient:
            raise
        except Exception as error:
            singles = split_by_instance(claimed)
            if len(singles) == 1:
                self._repair_or_record(claimed, error)
                return
        for single in singles:
            self._run(single)

    def _run_with_retries(
        self, claimed: Claim, failures: Mapping[UUID, BaseException] | None = None
    ) -> WaveResult:
        """Run the wave again after a deadlock, a lost connection and the like."""
        for _ in range(MAX_TRANSIENT_RETRIES):
            try:
                return self._run_wave(claimed, failures)
            except Transient as error:
                if not error.is_brief:
                    raise
        return self._run_wave(claimed, failures)

    def _run_wave(self, claimed: Claim, failures: Mapping[UUID, BaseException] | None) -> WaveResult:
        causes = sorted({trigger.trace_id for trigger in claimed.triggers if trigger.trace_id})
        with self._telemetry.span("wave", causes, {"triggers": len(claimed.triggers)}) as span:
            began = self._clock()
            result = self._waves.run(claimed, failures)
            trace_id = causes[0] if len(causes) == 1 else span.traceparent or ""
            seconds = self._clock() - began
            self._telemetry.wave_ended(make_report(claimed, result, trace_id, seconds))
        traces = {trigger.instance_id: trigger.trace_id for trigger in claimed.triggers}
        for instance_id, error in result.failed.items():
            about = {"tenant_id": str(claimed.tenant_id), "instance_id": str(instance_id)}
            self._telemetry.failed(error, {**about, "trace_id": traces.get(instance_id) or ""})
        return result

    def _repair_or_record(self, claimed: Claim, error: Exception) -> None:
        """Rebuild an instance whose row lagged behind, and go on; put every other error on record."""
        instance_id = claimed.triggers[0].instance_id
        try:
            if isinstance(error, LostReceipt) and rebuild_instance(
                self._database, self._compiled, claimed.tenant_id, instance_id
            ):
                self._run_with_retries(claimed)
                return
        except Transient:
            raise
        except Exception as another:
            error = another
        self._run_with_retries(claimed, {instance_id: error})


def make_report(claimed: Claim, result: WaveResult, trace_id: str, seconds: float) -> WaveReport:
    stats = result.stats
    return WaveReport(
        tenant_id=claimed.tenant_id,
        trace_id=trace_id,
        triggers=len(claimed.triggers),
        instances=result.instances,
        rounds=result.rounds,
        seconds=seconds,
        steps=stats.steps,
        work=stats.work,
        effects=stats.effects,
        waits=stats.waits,
        paused=stats.paused,
        lapsed=stats.lapsed,
        released=stats.released,
        retried=stats.retried,
        dead=stats.dead,
    )


def split_by_instance(claimed: Claim) -> list[Claim]:
    grouped: dict[UUID, list[ClaimedTrigger]] = {}
    for trigger in claimed.triggers:
        grouped.setdefault(trigger.instance_id, []).append(trigger)
    return [Claim(claimed.id, claimed.tenant_id, triggers) for triggers in grouped.values()]
