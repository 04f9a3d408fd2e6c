"""Effects on the outside world: claimed, delivered outside of any transaction, and put on record.

To the outside at least once: whoever was cut off between delivering and noting it delivers again, under the
same id. In our books exactly once: what is noted is noted by the one whose claim the row still has. Steps are
never written here; the trigger that an ended effect writes has the workflow look at it.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid5

from signet.core.documents.payload_limits import check_payload
from signet.core.errors import Transient
from signet.engine.execution.failed_triggers import free_effects, wake_instances
from signet.engine.telemetry import SILENT, EffectReport, Telemetry
from signet.ids import make_id
from signet.outbound.connector import Connector, Delivery, Destination, OutboundMessage, Recipient
from signet.outbound.fan_out import NO_RECIPIENT
from signet.store.database import Connection, Database
from signet.store.integrations.endpoints import (
    EndpointRecord,
    disable_endpoint,
    find_endpoints,
    note_failures,
    note_successes,
    read_recipients,
    read_webhook_hosts,
    tell_people,
)
from signet.store.outbox.queue import (
    EFFECTS,
    ClaimedEffect,
    claim_due,
    clean_error,
    complete,
    fail,
    keep_responses,
    parse_claimed,
    release,
)
from signet.store.tenants.tenants import read_now

# All of them at once: one receiver that is slow holds up the others of its claim only.
MAX_CLAIMED = 16
# Longer than the slowest delivery of any connector can take.
LEASE_SECONDS = 120.0
# After so many failures one after another an endpoint is left alone, longer each time.
FAILURES_TO_REST = 5
FIRST_REST_SECONDS, LONGEST_REST_SECONDS = 60.0, 3_600.0
# After its rest one call tries whether it answers; the others wait until that is known.
TRIAL_SECONDS = 30.0
MAX_NOTING_TRIES = 3
IN_APP = "in_app"


@dataclass(frozen=True, slots=True)
class _Due:
    """An effect with what its delivery needs."""

    effect: ClaimedEffect
    endpoint: EndpointRecord | None
    recipients: Sequence[Recipient]


@dataclass(frozen=True, slots=True)
class _Claimed:
    id: UUID
    now: datetime
    due: Sequence[_Due]
    # The only ones that the tenant may call; all where there are none.
    hosts: Sequence[str]


class Effects:
    """One a process."""

    def __init__(
        self, database: Database, connectors: Mapping[str, Connector], telemetry: Telemetry = SILENT
    ) -> None:
        self._database = database
        self._telemetry = telemetry
        self._connectors = connectors

    def work(self, tenant_id: UUID) -> int:
        """One claim of the tenant; how many effects there were to do."""
        claimed = self._claim(tenant_id)
        if claimed is None:
            return 0
        active, resting = _choose(claimed)
        with ThreadPoolExecutor(MAX_CLAIMED, thread_name_prefix="effect") as pool:
            deliveries = list(pool.map(lambda one: self._deliver(tenant_id, claimed, one), active))
        self._keep(tenant_id, claimed, resting, list(zip(active, deliveries, strict=True)))
        return len(claimed.due)

    def _keep(
        self,
        tenant_id: UUID,
        claimed: _Claimed,
        resting: Sequence[tuple[_Due, float]],
        done: Sequence[tuple[_Due, Delivery]],
    ) -> None:
        """What is not noted is delivered again, all of the claim: so a deadlock or a lost connection is not
        the end of it. Whatever was noted all the same has the claim no more."""
        for tries_left in reversed(range(MAX_NOTING_TRIES)):
            try:
                with self._database.transaction(tenant_id) as connection:
                    _put_back(connection, tenant_id, claimed, resting)
                    _note(connection, tenant_id, claimed, done)
                return
            except Transient:
                if not tries_left:
                    raise

    def _claim(self, tenant_id: UUID) -> _Claimed | None:
        claim_id = make_id()
        wanted = claim_due(
            EFFECTS, tenant_id, at_most=MAX_CLAIMED, lease_seconds=LEASE_SECONDS, claim_id=claim_id
        )
        with self._database.pipelined(tenant_id, wanted) as pipeline:
            connection = pipeline.connection
            rows = pipeline.opening_rows
            if not rows and free_effects(connection, tenant_id, at_most=MAX_CLAIMED).again:
                rows = connection.execute(wanted.text, wanted.values).fetchall()
            effects = parse_claimed(EFFECTS, rows)
            if not effects:
                return None
            names = {effect.endpoint for effect in effects if effect.endpoint is not None}
            endpoints = find_endpoints(connection, tenant_id, names)
            due = [
                _Due(
                    effect, endpoints.get(effect.endpoint or ""), _find_people(connection, tenant_id, effect)
                )
                for effect in effects
            ]
            hosts = read_webhook_hosts(connection, tenant_id) if names else []
            return _Claimed(claim_id, read_now(connection), due, hosts)

    def _deliver(self, tenant_id: UUID, claimed: _Claimed, one: _Due) -> Delivery:
        effect, began = one.effect, time.monotonic()
        causes = [effect.trace_id] if effect.trace_id else []
        with self._telemetry.span("effect", causes, {"effect_type": effect.effect_type}) as span:
            # Whoever is called goes on in the trace from here.
            trace_id = span.traceparent or effect.trace_id
            delivery = self._try(tenant_id, claimed, one, trace_id)
            outcome = _name_outcome(effect, delivery)
            if outcome != "delivered":
                span.fail(outcome)
            seconds = time.monotonic() - began
            self._telemetry.effect_ended(
                EffectReport(tenant_id, trace_id or "", effect.effect_type, outcome, seconds, delivery.status)
            )
        return delivery

    def _try(self, tenant_id: UUID, claimed: _Claimed, one: _Due, trace_id: str | None) -> Delivery:
        effect, endpoint = one.effect, one.endpoint
        if endpoint is not None and endpoint.status == "disabled":
            reason = f"ENDPOINT_DISABLED: {endpoint.disabled_reason or endpoint.name}"
            return Delivery(None, reason, is_final=True)
        if effect.effect_type == IN_APP:
            # Within our own books: written with the rest.
            return Delivery(None, None, {"told": _name_notices(one)}) if one.recipients else NO_RECIPIENT
        # Whoever has been told already stays on record, whatever comes of this attempt.
        earlier = effect.response_json.get("body") if isinstance(effect.response_json, dict) else None
        connector = self._connectors.get(effect.effect_type)
        if connector is None:
            reason = f"CONNECTOR_MISSING: nothing here delivers '{effect.effect_type}'"
            return Delivery(None, reason, earlier)
        message = OutboundMessage(
            effect.id,
            tenant_id,
            effect.effect_type,
            effect.payload_json,
            effect.created_at,
            claimed.now,
            trace_id,
            _name_destination(endpoint, claimed),
            one.recipients,
            earlier,
        )
        try:
            return connector.deliver(message)
        except Exception as error:
            # A connector's own mistake costs this effect an attempt, and no other one anything.
            return Delivery(None, f"CONNECTOR_FAILED: {type(error).__name__}", earlier)


def _name_destination(endpoint: EndpointRecord | None, claimed: _Claimed) -> Destination | None:
    if endpoint is None:
        return None
    return Destination(endpoint.name, endpoint.url, endpoint.secret_refs, claimed.hosts)


def _name_outcome(effect: ClaimedEffect, delivery: Delivery) -> Literal["delivered", "failed", "dead"]:
    """Of this attempt."""
    if delivery.is_delivered:
        return "delivered"
    return "dead" if delivery.is_final or effect.attempts >= effect.max_attempts else "failed"


def _choose(claimed: _Claimed) -> tuple[list[_Due], list[tuple[_Due, float]]]:
    """What is tried now; and what goes back untried, for so many seconds."""
    active: list[_Due] = []
    resting: list[tuple[_Due, float]] = []
    tried: set[str] = set()
    for one in claimed.due:
        endpoint = one.endpoint
        if endpoint is None or endpoint.status == "disabled" or endpoint.failures < FAILURES_TO_REST:
            active.append(one)
        elif endpoint.rests_until is not None and endpoint.rests_until > claimed.now:
            resting.append((one, max((endpoint.rests_until - claimed.now).total_seconds(), 1.0)))
        elif endpoint.name in tried:
            resting.append((one, TRIAL_SECONDS))
        else:
            tried.add(endpoint.name)
            active.append(one)
    return active, resting


def _find_people(connection: Connection, tenant_id: UUID, effect: ClaimedEffect) -> list[Recipient]:
    named = effect.payload_json.get("to") if isinstance(effect.payload_json, dict) else None
    if not isinstance(named, list) or not named:
        return []
    rows = read_recipients(connection, tenant_id, named)
    return [Recipient(row.user_id, row.display_name, row.email, row.phone) for row in rows]


def _put_back(
    connection: Connection, tenant_id: UUID, claimed: _Claimed, resting: Sequence[tuple[_Due, float]]
) -> None:
    """Untried: that an endpoint rests costs no effect an attempt."""
    for seconds in {seconds for _, seconds in resting}:
        effects = [one.effect for one, each in resting if each == seconds]
        release(connection, EFFECTS, tenant_id, effects, claimed.id, delay_seconds=seconds)


def _note(
    connection: Connection, tenant_id: UUID, claimed: _Claimed, done: Sequence[tuple[_Due, Delivery]]
) -> None:
    if not done:
        return
    evidence = [(one.effect, _describe(delivery)) for one, delivery in done]
    own = keep_responses(connection, tenant_id, evidence, claimed.id)
    # What another one has claimed since is that one's to note.
    mine = [(one, delivery) for one, delivery in done if one.effect.id in own]
    delivered = [one for one, delivery in mine if delivery.is_delivered]
    _tell(connection, tenant_id, delivered)
    complete(connection, EFFECTS, tenant_id, [one.effect for one in delivered], claimed.id)
    failures = [(one.effect, str(delivery.error)) for one, delivery in mine if not delivery.is_delivered]
    final = {one.effect.id for one, delivery in mine if delivery.is_final}
    dead = fail(connection, EFFECTS, tenant_id, failures, claimed.id, final=final).dead
    _note_endpoints(connection, tenant_id, mine)
    wake_instances(connection, tenant_id, [*(one.effect for one in delivered), *dead])


def _describe(delivery: Delivery) -> dict[str, Any]:
    # Whatever a receiver says: what cannot be kept must not keep all the others from being noted.
    body = delivery.body if check_payload(delivery.body) is None else {"unkept": "no JSON that can be kept"}
    said = {"status": delivery.status, "body": body, "duration_ms": delivery.duration_ms}
    return {**said, "error": clean_error(delivery.error)} if delivery.error else said


def _tell(connection: Connection, tenant_id: UUID, delivered: Sequence[_Due]) -> None:
    for one in delivered:
        effect = one.effect
        if effect.effect_type == IN_APP:
            notices = {UUID(notice): user_id for user_id, notice in _name_notices(one).items()}
            data = {key: effect.payload_json.get(key, "") for key in ("subject", "text")}
            tell_people(connection, tenant_id, notices, {**data, "instance_id": str(effect.instance_id)})


def _name_notices(one: _Due) -> dict[str, str]:
    """By whom it tells: always the same, so that nobody is told twice."""
    return {person.user_id: str(uuid5(one.effect.id, person.user_id)) for person in one.recipients}


def _note_endpoints(connection: Connection, tenant_id: UUID, done: Sequence[tuple[_Due, Delivery]]) -> None:
    """Whether a receiver answers is one for all workers: a dead one is to cost none of them its time."""
    answered = {one.endpoint.name for one, delivery in done if one.endpoint and delivery.is_delivered}
    note_successes(connection, tenant_id, answered)
    failed = Counter(
        one.endpoint.name
        for one, delivery in done
        if one.endpoint and one.endpoint.name not in answered and not delivery.is_final and delivery.error
    )
    note_failures(
        connection,
        tenant_id,
        failed,
        limit=FAILURES_TO_REST,
        first_seconds=FIRST_REST_SECONDS,
        cap_seconds=LONGEST_REST_SECONDS,
    )
    for one, delivery in done:
        if one.endpoint and delivery.is_gone:
            reason = f"the receiver answered {delivery.status}: it wants no more"
            disable_endpoint(connection, tenant_id, one.endpoint.name, reason)
