"""Inbound events, and the endpoints of senders who sign them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from signet.core.integrations.inbound_events import KEPT_DAYS
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.store.database import Connection
from signet.store.responsible_sets import keep_responsible
from signet.store.statements import Statements

_SQL = Statements(__file__)
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class InboundEventRow:
    id: UUID
    key: str
    payload: Any
    source: str
    message_id: str
    trace_id: str | None
    # The persons behind the sender.
    responsible: ResponsiblePersons
    # The oldest wait that fits takes it alone.
    is_consumed: bool = False


@dataclass(frozen=True, slots=True)
class EventKey:
    id: UUID
    key: str


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event, and what became of it.

    It is `taken`; or `open`: a wait has yet to decide; or `unfit`, with the reason of the last wait. Else it
    is `kept` for the first that waits, or `expired`.
    """

    id: UUID
    key: str
    source: str
    message_id: str
    received_at: datetime
    expires_at: datetime
    state: Literal["taken", "open", "unfit", "kept", "expired"]
    reason: str | None


@dataclass(frozen=True, slots=True)
class FullEventRecord(EventRecord):
    """An event with its payload; `responsible` is null where no person behind it is on record."""

    payload: Any
    trace_id: str | None
    responsible: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class OpenInboundEndpoint:
    """An endpoint for messages, read without a token; it has no secrets if there is none of that name."""

    now_seconds: int
    key_prefix: str | None
    key_pointer: str | None
    secrets: list[str]
    # How the keys begin of events that one wait takes alone.
    consume: list[str]
    # Everybody who has made or changed it: they stand behind what it lets in.
    persons: list[str]


@dataclass(frozen=True, slots=True)
class InboundEndpointTerms:
    """The settings of an inbound endpoint; `secrets` are names, and the secrets themselves are in no row."""

    key_prefix: str
    key_pointer: str | None
    secrets: Sequence[str]
    status: Literal["active", "disabled"]
    # How the keys begin of events that one wait takes alone; all others go to each wait that is open.
    consume: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundEndpointRecord(InboundEndpointTerms):
    name: str
    version: int
    created_by: str
    created_at: datetime
    updated_at: datetime


def insert_event(connection: Connection, tenant_id: UUID, new: InboundEventRow) -> EventKey | None:
    """Insert an event; None if its message is there already."""
    values = {
        "tenant_id": tenant_id,
        "id": new.id,
        "key": new.key,
        "payload": Jsonb(new.payload),
        "source": new.source,
        "message_id": new.message_id,
        "trace_id": new.trace_id,
        "responsible": _keep(connection, tenant_id, new.responsible),
        "is_consumed": new.is_consumed,
        "kept_days": KEPT_DAYS,
    }
    return _find(connection, EventKey, _SQL.insert_event, values)


def find_event_of_message(
    connection: Connection, tenant_id: UUID, source: str, message_id: str
) -> EventKey | None:
    values = {"tenant_id": tenant_id, "source": source, "message_id": message_id}
    return _find(connection, EventKey, _SQL.find_event_of_message, values)


def find_event(connection: Connection, tenant_id: UUID, event_id: UUID) -> FullEventRecord | None:
    return _find(connection, FullEventRecord, _SQL.find_event, {"tenant_id": tenant_id, "id": event_id})


def list_events(
    connection: Connection,
    tenant_id: UUID,
    *,
    key: str | None,
    before: UUID,
    limit: int,
    is_unmatched: bool = False,
) -> Sequence[EventRecord]:
    """List events, or those of a key; with `is_unmatched` those that no wait has taken."""
    values = {
        "tenant_id": tenant_id,
        "key": key,
        "before": before,
        "limit": limit,
        "is_unmatched": is_unmatched,
    }
    statement = _SQL.list_events if key is None else _SQL.list_events_of_key
    return _list(connection, EventRecord, statement, values)


def find_open_endpoint(connection: Connection, tenant_id: UUID, name: str) -> OpenInboundEndpoint:
    values = {"tenant_id": tenant_id, "name": name}
    endpoint = _find(connection, OpenInboundEndpoint, _SQL.find_open_endpoint, values)
    assert endpoint is not None
    return endpoint


def find_endpoint(connection: Connection, tenant_id: UUID, name: str) -> InboundEndpointRecord | None:
    return _find(
        connection, InboundEndpointRecord, _SQL.find_endpoint, {"tenant_id": tenant_id, "name": name}
    )


def list_endpoints(
    connection: Connection, tenant_id: UUID, *, after: str, limit: int
) -> Sequence[InboundEndpointRecord]:
    values = {"tenant_id": tenant_id, "after": after, "limit": limit}
    return _list(connection, InboundEndpointRecord, _SQL.list_endpoints, values)


def read_persons(connection: Connection, tenant_id: UUID, name: str) -> ResponsiblePersons:
    """Read everybody who has made or changed an endpoint."""
    row: Any = connection.execute(_SQL.read_persons, {"tenant_id": tenant_id, "name": name}).fetchone()
    return frozenset(row[0]) if row is not None else NOBODY


def insert_endpoint(
    connection: Connection,
    tenant_id: UUID,
    name: str,
    terms: InboundEndpointTerms,
    *,
    responsible: ResponsiblePersons,
    actor_id: str,
    now: datetime,
) -> InboundEndpointRecord | None:
    """Insert an endpoint; None if the name is taken."""
    values = {
        **_write(terms),
        "tenant_id": tenant_id,
        "name": name,
        "responsible": _keep(connection, tenant_id, responsible),
        "actor_id": actor_id,
        "now": now,
    }
    return _find(connection, InboundEndpointRecord, _SQL.insert_endpoint, values)


def replace_endpoint(
    connection: Connection,
    tenant_id: UUID,
    name: str,
    version: int,
    terms: InboundEndpointTerms,
    *,
    responsible: ResponsiblePersons,
    now: datetime,
) -> InboundEndpointRecord | None:
    """Replace an endpoint; None if it is not at that version."""
    values = {
        **_write(terms),
        "tenant_id": tenant_id,
        "name": name,
        "version": version,
        "responsible": _keep(connection, tenant_id, responsible),
        "now": now,
    }
    return _find(connection, InboundEndpointRecord, _SQL.replace_endpoint, values)


def _keep(connection: Connection, tenant_id: UUID, persons: ResponsiblePersons) -> bytes:
    return bytes.fromhex(keep_responsible(connection, tenant_id, persons)[2:])


def _write(terms: InboundEndpointTerms) -> dict[str, Any]:
    return {**asdict(terms), "secrets": list(terms.secrets), "consume": list(terms.consume)}


def _find(connection: Connection, row: type[_Row], statement: str, values: Mapping[str, Any]) -> _Row | None:
    with connection.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statement, values).fetchone()


def _list(connection: Connection, row: type[_Row], statement: str, values: Mapping[str, Any]) -> list[_Row]:
    with connection.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statement, values).fetchall()
