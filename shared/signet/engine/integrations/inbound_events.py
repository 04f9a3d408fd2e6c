"""Events from outside are taken in here: with a token, or signed by a sender that the tenant knows.

A message is taken once, however often it is sent. Nothing is woken yet: it is kept for what will wait for it.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from signet.core.documents.payload_limits import check_payload
from signet.core.errors import FieldError, Rejected
from signet.core.integrations.inbound_events import check_key, check_message_id, is_pointer, read_key
from signet.core.integrations.webhook_signatures import read_secret, verify
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.quotas import WRITES
from signet.core.validation.text import find_text_problem
from signet.engine.access.admin import administering
from signet.engine.access.quotas import require_quota
from signet.engine.access.read import LAST, bound_page, reading
from signet.ids import make_id
from signet.outbound.secrets import ReadSecret
from signet.store.database import Connection, Database
from signet.store.integrations import inbound_events as store
from signet.store.integrations.inbound_events import EventRecord as EventRecord
from signet.store.integrations.inbound_events import FullEventRecord as FullEventRecord
from signet.store.integrations.inbound_events import InboundEndpointRecord as InboundEndpointRecord
from signet.store.integrations.inbound_events import InboundEndpointTerms as InboundEndpointTerms
from signet.store.integrations.inbound_events import InboundEventRow

SEND, READ = "inbound_event:send", "inbound_event:read"
READ_ENDPOINTS, EDIT_ENDPOINTS = "inbound_endpoint:read", "inbound_endpoint:edit"
SUBJECT = "inbound_endpoint"
_LOG = logging.getLogger("signet.inbound")


@dataclass(frozen=True, slots=True)
class TakenEvent:
    """`was_known`: it is the answer to the first time that the message was sent."""

    id: UUID
    key: str
    was_known: bool


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """As it came: what is signed are these bytes, and no others."""

    headers: Mapping[str, str]
    body: bytes
    content: Any
    trace_id: str


class InboundEvents:
    """The use case; one a process."""

    def __init__(self, database: Database, secrets: ReadSecret) -> None:
        self._database = database
        self._secrets = secrets

    def send(self, caller: Caller, key: str, message_id: str | None, payload: Any) -> TakenEvent:
        """Of one sender, by its token: the id of a message is known again among its own."""
        identifier = make_id()
        message_id = str(identifier) if message_id is None else message_id
        _raise(check_key(key) or check_message_id(message_id))
        principal = caller.principal
        new = InboundEventRow(
            identifier, key, payload, f"sender:{principal.subject}", message_id, caller.trace_id
        )
        with reading(self._database, principal) as read:
            read.require(SEND)
            _check_payload(payload)
            return _take(read.connection, principal.tenant_id, new)

    def take_signed(self, tenant_id: UUID, endpoint: str, message: InboundMessage) -> TakenEvent:
        """A sender that is not known, of a tenant that is none, and a wrong signature are answered alike."""
        with self._database.transaction(tenant_id) as connection:
            found = store.find_open_endpoint(connection, tenant_id, endpoint)
        # In no transaction: where secrets stand may be slow.
        secrets = self._read_secrets(tenant_id, endpoint, found.secrets)
        # Nothing is signed by no secret.
        message_id = verify(secrets, message.headers, message.body, found.now_seconds)
        key = read_key(found.key_prefix or "", found.key_pointer, message.content)
        if isinstance(key, Rejected):
            raise key
        _check_payload(message.content)
        source = f"endpoint:{endpoint}"
        new = InboundEventRow(make_id(), key, message.content, source, message_id, message.trace_id)
        with self._database.transaction(tenant_id) as connection:
            require_quota(connection, tenant_id, WRITES)
            return _take(connection, tenant_id, new)

    def _read_secrets(self, tenant_id: UUID, endpoint: str, names: Sequence[str]) -> list[bytes]:
        """Those that there are. The sender learns nothing of what is missing: that is for the operator."""
        secrets = []
        for name in names:
            try:
                secrets.append(read_secret(self._secrets(tenant_id, name) or ""))
            except Rejected:
                _LOG.error("tenant %s, inbound endpoint %s: no secret %s", tenant_id, endpoint, name)
        return secrets

    def list_newest(
        self, principal: Principal, *, key: str | None, before: UUID | None, limit: int
    ) -> Sequence[EventRecord]:
        """Without what they brought: each may be as large as an answer."""
        if key is not None:
            _raise(check_key(key))
        with reading(self._database, principal) as read:
            read.require(READ)
            return store.list_events(
                read.connection,
                principal.tenant_id,
                key=key,
                before=before or LAST,
                limit=bound_page(limit),
            )

    def read(self, principal: Principal, event_id: UUID) -> FullEventRecord:
        with reading(self._database, principal) as read:
            read.require(READ)
            found = store.find_event(read.connection, principal.tenant_id, event_id)
        if found is None:
            raise Rejected("EVENT_NOT_FOUND", f"there is no event {event_id}")
        return found

    def list_endpoints(
        self, principal: Principal, *, after: str, limit: int
    ) -> Sequence[InboundEndpointRecord]:
        with reading(self._database, principal) as read:
            read.require(READ_ENDPOINTS)
            return store.list_endpoints(
                read.connection, principal.tenant_id, after=after, limit=bound_page(limit)
            )

    def read_endpoint(self, principal: Principal, name: str) -> InboundEndpointRecord:
        with reading(self._database, principal) as read:
            read.require(READ_ENDPOINTS)
            found = store.find_endpoint(read.connection, principal.tenant_id, name)
        if found is None:
            raise _endpoint_not_found(name)
        return found

    def make_endpoint(self, caller: Caller, name: str, terms: InboundEndpointTerms) -> InboundEndpointRecord:
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            act.require(EDIT_ENDPOINTS)
            _check_terms(terms)
            actor_id = caller.principal.subject
            made = store.insert_endpoint(act.connection, tenant_id, name, terms, actor_id, act.now)
            if made is None:
                raise Rejected("INBOUND_ENDPOINT_EXISTS", f"there is an inbound endpoint '{name}' already")
            act.note((SUBJECT, name), "create", asdict(terms))
        return made

    def replace_endpoint(
        self, caller: Caller, name: str, version: int, terms: InboundEndpointTerms
    ) -> InboundEndpointRecord:
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            act.require(EDIT_ENDPOINTS)
            _check_terms(terms)
            replaced = store.replace_endpoint(act.connection, tenant_id, name, version, terms, act.now)
            if replaced is None:
                found = store.find_endpoint(act.connection, tenant_id, name)
                raise _endpoint_not_found(name) if found is None else _moved_on(name, found, version)
            act.note((SUBJECT, name), "replace", asdict(terms))
        return replaced


def _take(connection: Connection, tenant_id: UUID, new: InboundEventRow) -> TakenEvent:
    made = store.insert_event(connection, tenant_id, new)
    if made is not None:
        return TakenEvent(made.id, made.key, was_known=False)
    known = store.find_event_of_message(connection, tenant_id, new.source, new.message_id)
    assert known is not None  # it was in the way, and nobody takes one away within a transaction
    return TakenEvent(known.id, known.key, was_known=True)


def _check_payload(payload: Any) -> None:
    mistake = check_payload(payload)
    if mistake is not None:
        raise Rejected("FIELDS_INVALID", f"the payload {mistake.message}", fields=(mistake,))


def _check_terms(terms: InboundEndpointTerms) -> None:
    mistakes = []
    if terms.key_pointer is not None and not is_pointer(terms.key_pointer):
        mistakes.append(
            FieldError("/key_pointer", "POINTER_INVALID", "wants a JSON pointer such as /data/id")
        )
    if terms.key_pointer is None and not terms.key_prefix:
        mistakes.append(FieldError("/key_prefix", "FIELD_REQUIRED", "is required without a pointer"))
    if len(set(terms.secrets)) < len(terms.secrets):
        mistakes.append(FieldError("/secrets", "NAMED_TWICE", "names a secret twice"))
    for field, text in (("key_prefix", terms.key_prefix), ("key_pointer", terms.key_pointer)):
        problem = find_text_problem(text or "")
        if problem is not None:
            mistakes.append(FieldError(f"/{field}", "FIELD_TEXT_INVALID", problem))
    if mistakes:
        raise Rejected("FIELDS_INVALID", "this is no inbound endpoint", fields=tuple(mistakes))


def _endpoint_not_found(name: str) -> Rejected:
    return Rejected("INBOUND_ENDPOINT_NOT_FOUND", f"there is no inbound endpoint '{name}'")


def _moved_on(name: str, found: InboundEndpointRecord, version: int) -> Rejected:
    return Rejected(
        "INBOUND_ENDPOINT_VERSION_CONFLICT",
        f"the inbound endpoint '{name}' is at version {found.version}, not {version}",
        remedy="Read it again.",
    )


def _raise(rejected: Rejected | None) -> None:
    if rejected is not None:
        raise rejected
