"""The worker: it claims triggers of a tenant, runs the wave that they wake, and puts failures on record.

The database alone decides about retries. An error becomes the state of a trigger. An outage becomes nothing:
what was claimed is given back without an attempt. Only a worker that does not come back costs one.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import IntEnum
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
from signet.store.outbox.queue import EVENTS, EVER, ClaimedTrigger, fail
from signet.store.outbox.trigger_claims import ClaimAnswer, claim_and_look, list_claimed, parse_answer

LEASE_SECONDS = 60.0
MAX_TRANSIENT_RETRIES = 3


class Worked(IntEnum):
    """Outcomes of a claim: nothing was due, all that was due is done, or more is due."""

    NOTHING = 0
    ALL = 1
    MORE = 2


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

    def work(self, tenant_id: UUID) -> Worked:
        """Make one claim and run its wave. A transient error gives back what was claimed, and is raised."""
        self.settle()
        claimed, has_more = self._claim(tenant_id)
        if claimed is None:
            return Worked.NOTHING
        try:
            has_more = self._serve(claimed) or has_more
        except Transient as error:
            self._give_back(claimed, error)
            raise
        return Worked.MORE if has_more else Worked.ALL

    def has_more_after(self, tenant_id: UUID) -> bool:
        """Work, and return whether more is due: a consumer does not look in vain."""
        return self.work(tenant_id) is Worked.MORE

    def settle(self) -> None:
        """Give back what an earlier outage kept from being given back."""
        self._unsettled.settle()

    def _serve(self, claimed: Claim) -> bool:
        """Serve the triggers, and return whether that has made others due."""
        about_voters = [trigger for trigger in claimed.triggers if trigger.event_type == VOTER_LOST]
        for trigger in about_voters:
            self._recheck(claimed, trigger)
        starts = [trigger for trigger in claimed.triggers if trigger.event_type == START_AUTOMATION]
        if starts:
            self._starts.run(claimed.tenant_id, starts, claimed.id)
        others = [one for one in claimed.triggers if one.event_type not in (VOTER_LOST, START_AUTOMATION)]
        has_left_work = bool(others) and self._run(replace(claimed, triggers=others))
        return has_left_work or bool(about_voters or starts)

    def _claim(self, tenant_id: UUID) -> tuple[Claim | None, bool]:
        """Claim the oldest triggers, or in turn those that have just come behind a backlog.

        Return also whether more is due.
        """
        arrived_since = self._arrivals.take(tenant_id)
        claimed = self._claim_since(tenant_id, arrived_since)[0] if arrived_since is not None else None
        if claimed is not None:
            return claimed, True
        claimed, has_more = self._claim_since(tenant_id, self._bounds.find(tenant_id))
        self._arrivals.note(tenant_id, is_full=claimed is not None and len(claimed.triggers) == MAX_INSTANCES)
        return claimed, has_more

    def _claim_since(self, tenant_id: UUID, since: datetime) -> tuple[Claim | None, bool]:
        claim_id, looks_at_leases = make_id(), since == EVER and not self._unsettled.owes(tenant_id)
        answer = self._ask(tenant_id, claim_id, since, looks_at_leases=looks_at_leases)
        self._bounds.note(tenant_id, since, answer.triggers)
        has_more = answer.has_more
        if answer.has_expired:
            is_due_again = self._release_expired(tenant_id)
            if is_due_again and not answer.triggers:
                claim_id = make_id()
                answer = self._ask(tenant_id, claim_id, since)
                has_more = answer.has_more
            else:
                has_more = is_due_again
        return (Claim(claim_id, tenant_id, answer.triggers) if answer.triggers else None), has_more

    def _ask(
        self, tenant_id: UUID, claim_id: UUID, since: datetime, *, looks_at_leases: bool = False
    ) -> ClaimAnswer:
        """Claim in one message, once more where a connection was lost that may have been idle for long."""
        statement = claim_and_look(
            at_most=MAX_INSTANCES,
            lease_seconds=LEASE_SECONDS,
            claim_id=claim_id,
            since=since,
            looks_at_leases=looks_at_leases,
        )
        for tries_left in (1, 0):
            try:
                return parse_answer(self._database.claim(tenant_id, statement))
            except Transient as error:
                # Its commit may have been done.
                self._give_back_all(tenant_id, claim_id, error.code)
                if not (tries_left and error.is_brief) or self._unsettled.owes(tenant_id):
                    raise
        raise AssertionError("the last try has returned or raised")

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

    def _give_back_all(self, tenant_id: UUID, claim_id: UUID, code: str) -> None:
        """Give back what a claim holds whose answer was lost."""

        def write(connection: Connection) -> None:
            triggers = list_claimed(connection, tenant_id, claim_id)
            if triggers:
                delays = plan_delays(triggers)
                held = give_back_triggers(connection, tenant_id, triggers, claim_id, code, delays)
                self._telemetry.given_back(tenant_id, EVENTS.name, len(held), code)

        self._unsettled.end(tenant_id, write)

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

    def _release_expired(self, tenant_id: UUID) -> bool:
        """Release triggers of a worker that did not come back. Return whether any may be tried again."""
        with self._database.transaction(tenant_id) as connection:
            released = release_expired_triggers(connection, tenant_id, self._telemetry, at_most=MAX_INSTANCES)
        return bool(released.again)

    def _recheck(self, claimed: Claim, trigger: ClaimedTrigger) -> None:
        """Check approvals that may have lost a voter. The instances that it wakes have waves of their own."""
        try:
            recheck_requests(self._database, self._contracts, claimed.tenant_id, trigger, claimed.id)
        except Transient:
            raise
        except Exception as error:
            with self._database.transaction(claimed.tenant_id) as connection:
                fail(connection, EVENTS, claimed.tenant_id, [(trigger, describe_error(error))], claimed.id)

    def _run(self, claimed: Claim) -> bool:
        """Run one wave of all. If it fails, run one for each instance: only the culprit's triggers fail.

        Return whether a wave has left work to the next.
        """
        try:
            result = self._run_with_retries(claimed)
            if not result.behind:
                return result.has_left_work
            return self._run(replace(claimed, triggers=result.behind)) or result.has_left_work
        except Transient:
            raise
        except Exception as error:
            singles = split_by_instance(claimed)
            if len(singles) == 1:
                return self._repair_or_record(claimed, error).has_left_work
        left_work = [self._run(single) for single in singles]
        return any(left_work)

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

    def _repair_or_record(self, claimed: Claim, error: Exception) -> WaveResult:
        """Rebuild an instance whose row lagged behind, and go on; put every other error on record."""
        instance_id = claimed.triggers[0].instance_id
        try:
            if isinstance(error, LostReceipt) and rebuild_instance(
                self._database, self._compiled, claimed.tenant_id, instance_id
            ):
                return self._run_with_retries(claimed)
        except Transient:
            raise
        except Exception as another:
            error = another
        return self._run_with_retries(claimed, {instance_id: error})


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
        due_lags=stats.due_lags,
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
