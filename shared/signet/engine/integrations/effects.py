"""Effects on the outside world: claimed, delivered outside of any transaction, and put on record.

Outside, a delivery happens at least once: a worker that is cut off before recording it delivers again under
the same id. Here it counts exactly once, since only the holder of the claim may record it. No step is written
here; the trigger of an ended effect lets the workflow go on.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from signet.core.documents.payload_limits import check_payload
from signet.core.errors import Transient
from signet.core.integrations.retry_plan import parse_plan
from signet.engine.dispatch.arrival_turns import ArrivalTurns
from signet.engine.dispatch.claim_bounds import ClaimBounds
from signet.engine.dispatch.unsettled import UnsettledClaims
from signet.engine.execution.failed_triggers import release_expired_effects, wake_instances
from signet.engine.integrations.held_effects import (
    describe_disabled,
    describe_missing,
    hold_claimed,
    hold_gone,
    tell_of_withdrawn,
)
from signet.engine.integrations.in_app import IN_APP, deliver_in_app, find_people, tell_in_app
from signet.engine.telemetry import SILENT, EffectReport, Telemetry
from signet.ids import make_id
from signet.outbound.connector import Connector, Delivery, Destination, OutboundMessage, Recipient
from signet.store.database import Connection, Database
from signet.store.integrations.endpoints import (
    EndpointRecord,
    find_endpoints,
    note_failures,
    note_successes,
    read_webhook_hosts,
)
from signet.store.outbox.effect_acts import (
    end_tries,
    find_paused,
    keep_responses,
    let_effects_go,
    note_unsent,
)
from signet.store.outbox.queue import (
    EFFECTS,
    EVER,
    ClaimedEffect,
    claim_due,
    clean_error,
    complete,
    fail,
    give_back_effects,
    parse_claimed,
    release,
)

# All of them are delivered at once, so that a slow receiver delays only the others of its claim.
MAX_CLAIMED = 16
# Longer than the slowest delivery of any connector can take.
LEASE_SECONDS = 120.0
# After this many failures in a row an endpoint rests, longer each time.
FAILURES_TO_REST = 5
# After its rest one call tries the endpoint; the others wait for its outcome.
TRIAL_SECONDS = 30.0
PAUSED_SECONDS = 3_600.0
FIRST_REST_SECONDS, LONGEST_REST_SECONDS = 60.0, 3_600.0


@dataclass(frozen=True, slots=True)
class _Due:
    """A due effect with the data that its delivery needs."""

    effect: ClaimedEffect
    endpoint: EndpointRecord | None
    recipients: Sequence[Recipient]


@dataclass(frozen=True, slots=True)
class _Claimed:
    id: UUID
    now: datetime
    due: Sequence[_Due]
    # The hosts that the tenant may call; with an empty list, all hosts.
    hosts: Sequence[str]
    # The instances that a person has paused: what they send waits until that ends.
    paused: Set[UUID]
    # The end of its lease on the clock of this process.
    ends: float

    @property
    def is_over(self) -> bool:
        # Another worker may hold it by now.
        return time.monotonic() >= self.ends


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The effects of a claim by what becomes of them; those that rest or are held go back untried."""

    active: list[_Due] = field(default_factory=list)
    # For so many seconds; and with the reason.
    resting: list[tuple[_Due, float]] = field(default_factory=list)
    held: list[tuple[ClaimedEffect, str]] = field(default_factory=list)

    @property
    def untried(self) -> list[ClaimedEffect]:
        return [*(due.effect for due, _ in self.resting), *(effect for effect, _ in self.held)]


class Effects:
    """The deliveries to the outside, and what came of them. One in each process."""

    def __init__(
        self, database: Database, connectors: Mapping[str, Connector], telemetry: Telemetry = SILENT
    ) -> None:
        self._database = database
        self._telemetry = telemetry
        self._connectors = connectors
        self._bounds = ClaimBounds()
        self._arrivals = ArrivalTurns()
        self._unsettled = UnsettledClaims(database)

    def work(self, tenant_id: UUID) -> int:
        """Deliver one claim of the tenant, and return how many effects it held."""
        self.settle()
        claimed = self._claim_deliveries(tenant_id)
        if claimed is None:
            return 0
        found = _sort(claimed)
        with ThreadPoolExecutor(MAX_CLAIMED, thread_name_prefix="effect") as pool:
            deliveries = list(pool.map(lambda due: self._deliver(tenant_id, claimed, due), found.active))
        self._keep(tenant_id, claimed, found, list(zip(found.active, deliveries, strict=True)))
        return len(claimed.due)

    def settle(self) -> None:
        """Record the deliveries that an earlier outage kept from being recorded."""
        self._unsettled.settle()

    def _keep(
        self,
        tenant_id: UUID,
        claimed: _Claimed,
        found: _Sorted,
        done: Sequence[tuple[_Due, Delivery]],
    ) -> None:
        """Record the deliveries, now or when the server is back: an unrecorded claim is delivered again."""

        def write(connection: Connection) -> None:
            _put_back(connection, tenant_id, claimed, found)
            _note(connection, tenant_id, claimed, done)

        self._unsettled.end(tenant_id, write)

    def _claim_deliveries(self, tenant_id: UUID) -> _Claimed | None:
        """Claim due effects with all that they need, or give back a claim that may have been committed."""
        claim_id, effects, ends = make_id(), list[ClaimedEffect](), time.monotonic() + LEASE_SECONDS
        arrived_since = self._arrivals.take(tenant_id)
        try:
            if arrived_since is not None:
                claimed = self._claim(tenant_id, claim_id, effects, ends, arrived_since)
                if claimed is not None:
                    return claimed
            claimed = self._claim(tenant_id, claim_id, effects, ends, self._bounds.find(tenant_id))
            self._arrivals.note(tenant_id, is_full=len(effects) == MAX_CLAIMED)
            return claimed
        except Transient as error:
            if effects:
                self._give_back(tenant_id, claim_id, effects, error.code)
            raise

    def _give_back(self, tenant_id: UUID, claim_id: UUID, effects: list[ClaimedEffect], code: str) -> None:
        def write(connection: Connection) -> None:
            note_unsent(connection, tenant_id, effects)
            held = give_back_effects(connection, tenant_id, effects, claim_id)
            tell_of_withdrawn(connection, tenant_id, held)
            self._telemetry.given_back(tenant_id, EFFECTS.name, len(held), code)

        self._unsettled.end(tenant_id, write)

    def _claim(
        self, tenant_id: UUID, claim_id: UUID, effects: list[ClaimedEffect], ends: float, since: datetime
    ) -> _Claimed | None:
        """Claim due effects into `effects`; where none is due, release the expired ones."""
        wanted = claim_due(
            EFFECTS,
            at_most=MAX_CLAIMED,
            lease_seconds=LEASE_SECONDS,
            claim_id=claim_id,
            since=since,
        )
        with self._database.pipelined(tenant_id, wanted) as pipeline:
            connection = pipeline.connection
            rows = pipeline.opening_rows
            is_whole = not rows and since == EVER and not self._unsettled.owes(tenant_id)
            if is_whole and release_expired_effects(connection, tenant_id, at_most=MAX_CLAIMED).again:
                rows = connection.execute(wanted.text, wanted.values).fetchall()
            effects += parse_claimed(EFFECTS, rows)
            self._bounds.note(tenant_id, since, effects)
            if not effects:
                return None
            names = {effect.endpoint for effect in effects if effect.endpoint is not None}
            endpoints = find_endpoints(connection, tenant_id, names)
            due = [
                _Due(effect, endpoints.get(effect.endpoint), [])
                if effect.endpoint
                else _Due(effect, None, find_people(connection, tenant_id, effect))
                for effect in effects
            ]
            hosts = read_webhook_hosts(connection, tenant_id) if names else []
            paused = find_paused(connection, tenant_id, {effect.instance_id for effect in effects})
            return _Claimed(claim_id, paused.now, due, hosts, frozenset(paused.ids), ends)

    def _deliver(self, tenant_id: UUID, claimed: _Claimed, due: _Due) -> Delivery:
        effect, began = due.effect, time.monotonic()
        causes = [effect.trace_id] if effect.trace_id else []
        with self._telemetry.span("effect", causes, {"effect_type": effect.effect_type}) as span:
            # The receiver continues the trace from here.
            trace_id = span.traceparent or effect.trace_id
            delivery = self._try(tenant_id, claimed, due, trace_id)
            outcome = _name_outcome(effect, delivery)
            if outcome != "delivered":
                span.fail(outcome)
            seconds = time.monotonic() - began
            self._telemetry.effect_ended(
                EffectReport(tenant_id, trace_id or "", effect.effect_type, outcome, seconds, delivery.status)
            )
        return delivery

    def _try(self, tenant_id: UUID, claimed: _Claimed, due: _Due, trace_id: str | None) -> Delivery:
        effect = due.effect
        if effect.effect_type == IN_APP:
            return deliver_in_app(effect, due.recipients)
        # People who have been told already stay on record, also when this attempt fails.
        earlier = effect.response_json.get("body") if isinstance(effect.response_json, dict) else None
        connector = self._connectors.get(effect.effect_type)
        if connector is None:
            reason = f"CONNECTOR_MISSING: nothing here delivers '{effect.effect_type}'"
            return Delivery(None, reason, earlier, has_left=False)
        message = OutboundMessage(
            effect.first_id or effect.id,
            tenant_id,
            effect.effect_type,
            effect.payload_json,
            effect.created_at,
            claimed.now,
            trace_id,
            _name_destination(due.endpoint, claimed),
            due.recipients,
            earlier,
        )
        try:
            return connector.deliver(message)
        except Exception as error:
            # An error in a connector costs this effect an attempt, and leaves all others alone.
            return Delivery(None, f"CONNECTOR_FAILED: {type(error).__name__}", earlier)


def _name_destination(endpoint: EndpointRecord | None, claimed: _Claimed) -> Destination | None:
    if endpoint is None:
        return None
    return Destination(endpoint.name, endpoint.url, endpoint.secrets, claimed.hosts)


def _name_outcome(effect: ClaimedEffect, delivery: Delivery) -> Literal["delivered", "failed", "dead"]:
    if delivery.is_delivered:
        return "delivered"
    is_dead = delivery.is_final and not delivery.is_gone
    return "dead" if is_dead or effect.attempts >= effect.max_attempts else "failed"


def _sort(claimed: _Claimed) -> _Sorted:
    """Sort by what to deliver now, what to release untried for some seconds, and what to hold.

    Nothing is delivered where the lease has run out: another worker may do so.
    """
    found, tried = _Sorted(), set[str]()
    for due in claimed.due:
        endpoint = due.endpoint
        reason = _find_reason_to_hold(due)
        if claimed.is_over:
            found.resting.append((due, 0.0))
        elif due.effect.instance_id in claimed.paused:
            found.resting.append((due, PAUSED_SECONDS))
        elif reason is not None:
            found.held.append((due.effect, reason))
        elif endpoint is None or endpoint.failures < FAILURES_TO_REST:
            found.active.append(due)
        elif endpoint.rests_until is not None and endpoint.rests_until > claimed.now:
            seconds = (endpoint.rests_until - claimed.now).total_seconds()
            found.resting.append((due, max(seconds, 1.0)))
        elif endpoint.name in tried:
            found.resting.append((due, TRIAL_SECONDS))
        else:
            tried.add(endpoint.name)
            found.active.append(due)
    return found


def _find_reason_to_hold(due: _Due) -> str | None:
    name, endpoint = due.effect.endpoint, due.endpoint
    if endpoint is None:
        return None if name is None else describe_missing(name)
    return describe_disabled(endpoint) if endpoint.status == "disabled" else None


def _put_back(connection: Connection, tenant_id: UUID, claimed: _Claimed, found: _Sorted) -> None:
    """Release effects untried: an endpoint that rests, or a pause, costs no effect an attempt."""
    note_unsent(connection, tenant_id, found.untried)
    for seconds in {seconds for _, seconds in found.resting}:
        effects = [due.effect for due, rest in found.resting if rest == seconds]
        release(connection, EFFECTS, tenant_id, effects, claimed.id, delay_seconds=seconds)
    if found.held:
        hold_claimed(connection, tenant_id, found.held, claimed.id)
    if found.untried:
        tell_of_withdrawn(connection, tenant_id, [effect.id for effect in found.untried])


def _note(
    connection: Connection, tenant_id: UUID, claimed: _Claimed, done: Sequence[tuple[_Due, Delivery]]
) -> None:
    if not done:
        return
    evidence = [(due.effect, _describe(delivery)) for due, delivery in done]
    unsent = [due.effect for due, delivery in done if not delivery.has_left]
    note_unsent(connection, tenant_id, unsent)
    own = keep_responses(connection, tenant_id, evidence, claimed.id, unsent={effect.id for effect in unsent})
    # A worker that has claimed an effect since records it itself.
    mine = [(due, delivery) for due, delivery in done if due.effect.id in own]
    delivered = [due for due, delivery in mine if delivery.is_delivered]
    for due in delivered:
        if due.effect.effect_type == IN_APP:
            tell_in_app(connection, tenant_id, due.effect, due.recipients)
    complete(connection, EFFECTS, tenant_id, [due.effect for due in delivered], claimed.id)
    failed = [(due, delivery) for due, delivery in mine if not delivery.is_delivered and not delivery.is_gone]
    tries = [(due.effect, str(delivery.error)) for due, delivery in failed]
    by_hand = end_tries(connection, tenant_id, tries, claimed.id) if tries else set()
    failures = [(effect, error) for effect, error in tries if effect.id not in by_hand]
    final = {due.effect.id for due, delivery in failed if delivery.is_final}
    delays = _plan_delays([due.effect for due, _ in failed])
    final |= {due.effect.id for due, _ in failed if _is_over(due.effect, claimed.now, delays)}
    dead = fail(connection, EFFECTS, tenant_id, failures, claimed.id, final=final, delays=delays).dead
    # Its endpoint was switched on meanwhile.
    freed = [due.effect for due, delivery in mine if due.effect.held_at is not None and not delivery.is_gone]
    if freed:
        let_effects_go(connection, tenant_id, {effect.id for effect in freed})
    _note_endpoints(connection, tenant_id, mine)
    gone = [(d.effect, d.endpoint, str(one.status)) for d, one in mine if d.endpoint and one.is_gone]
    if gone:
        hold_gone(connection, tenant_id, gone, claimed.id)
    wake_instances(connection, tenant_id, [*(due.effect for due in delivered), *dead, *freed])
    if failed:
        tell_of_withdrawn(connection, tenant_id, {due.effect.id for due, _ in failed})


def _plan_delays(effects: Sequence[ClaimedEffect]) -> dict[UUID, float]:
    """Return the delay before the next attempt of each: its author's, or the backoff of all effects."""
    return {
        effect.id: parse_plan(effect.payload_json).delay_seconds(
            EFFECTS.backoff.delay_seconds(effect.attempts, effect.id)
        )
        for effect in effects
    }


def _is_over(effect: ClaimedEffect, now: datetime, delays: Mapping[UUID, float]) -> bool:
    return parse_plan(effect.payload_json).is_over(effect.created_at, now, delays[effect.id])


def _describe(delivery: Delivery) -> dict[str, Any]:
    # An answer that cannot be stored must not stop the record of all the others.
    is_kept = check_payload(delivery.body) is None
    body = delivery.body if is_kept else {"unkept": "no JSON that can be kept"}
    kept_as_text = delivery.kept_as_text if is_kept else "broken"
    evidence = {"status": delivery.status, "body": body, "duration_ms": delivery.duration_ms}
    if kept_as_text is not None:
        evidence["kept_as_text"] = kept_as_text
    return {**evidence, "error": clean_error(delivery.error)} if delivery.error else evidence


def _note_endpoints(connection: Connection, tenant_id: UUID, done: Sequence[tuple[_Due, Delivery]]) -> None:
    """Record the health of endpoints for all workers: an answer to a trial ends its rest."""
    called = [(due.endpoint, delivery) for due, delivery in done if due.endpoint is not None]
    answered = {
        endpoint.name
        for endpoint, delivery in called
        if delivery.is_delivered or (delivery.refuses_message and endpoint.failures >= FAILURES_TO_REST)
    }
    note_successes(connection, tenant_id, answered)
    failed = Counter(e.name for e, delivery in called if e.name not in answered and delivery.shows_failure)
    rests = {"first_seconds": FIRST_REST_SECONDS, "cap_seconds": LONGEST_REST_SECONDS}
    note_failures(connection, tenant_id, failed, limit=FAILURES_TO_REST, **rests)
