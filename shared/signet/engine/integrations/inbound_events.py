"""Events from outside, sent with a token or signed by a sender that the tenant knows.

A message is taken once, however often it is sent. It wakes the workflows that wait for its key, or is kept
for the first that will. It keeps the persons behind its sender: of a signed one, everybody who has made or
changed its endpoint.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from signet.core.control.change import ControlKind
from signet.core.documents.payload_limits import check_payload
from signet.core.errors import FieldError, Rejected
from signet.core.integrations.inbound_events import (
    area_of,
    check_key,
    check_message_id,
    is_pointer,
    parse_key,
)
from signet.core.integrations.webhook_signatures import is_own, parse_secret, reject_signature, verify
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.quotas import QUOTAS, WRITES, bucket_of_person
from signet.core.tenants.request_limits import DEFAULT_LIMITS, RequestLimits
from signet.core.tenants.responsible import join_responsible
from signet.core.validation.text import find_text_problem
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.quotas import require_share
from signet.engine.access.read import ReadTransaction, bound_page, reading
from signet.engine.control.changes import change_is_stale
from signet.engine.control.four_eyes import wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose, supersede
from signet.engine.integrations.event_door import take_event
from signet.engine.integrations.secret_uses import require_free_secrets
from signet.engine.telemetry import SILENT, EventFate, Telemetry
from signet.ids import make_id
from signet.outbound.secrets import ReadSecret
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.integrations import inbound_events as store
from signet.store.integrations.inbound_events import EventKey, InboundEventRow
from signet.store.integrations.inbound_events import InboundEndpointRecord as InboundEndpointRecord
from signet.store.integrations.inbound_events import InboundEndpointTerms as InboundEndpointTerms

SEND = "inbound_event:send"
READ_ENDPOINTS, EDIT_ENDPOINTS = "inbound_endpoint:read", "inbound_endpoint:edit"
SUBJECT: ControlKind = "inbound_endpoint"
_LOG = logging.getLogger("signet.inbound")


@dataclass(frozen=True, slots=True)
class TakenEvent:
    """An event that was taken. With `was_known`, this answers a repetition of its message."""

    id: UUID
    key: str
    was_known: bool


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A message as it came: exactly these bytes are signed."""

    headers: Mapping[str, str]
    body: bytes
    content: Any
    trace_id: str


class InboundEvents:
    """The events that come in from outside. One in each process."""

    def __init__(
        self,
        database: Database,
        secrets: ReadSecret,
        limits: RequestLimits = DEFAULT_LIMITS,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._limits = limits
        self._telemetry = telemetry

    def send(
        self, caller: Caller, key: str, message_id: str | None, payload: Any, *, is_consumed: bool = False
    ) -> TakenEvent:
        """Take an event of a sender with a token; ids of messages are known again for each sender."""
        identifier = make_id()
        message_id = str(identifier) if message_id is None else message_id
        _raise(check_key(key) or check_message_id(message_id))
        principal = caller.principal
        source = f"sender:{principal.subject}"
        new = InboundEventRow(
            identifier,
            key,
            payload,
            source,
            message_id,
            caller.trace_id,
            principal.responsible,
            is_consumed,
        )
        with reading(self._database, principal) as read:
            _require_key(read, key)
            _check_payload(payload)
            taken = take_event(read.connection, principal.tenant_id, new)
        return self._report(*taken)

    def take_signed(self, tenant_id: UUID, endpoint: str, message: InboundMessage) -> TakenEvent:
        """Take an event of a signing sender.

        Answer alike for an unknown sender, an unknown tenant and a wrong signature.
        """
        with self._database.transaction(tenant_id) as connection:
            sender = store.find_open_endpoint(connection, tenant_id, endpoint)
        # Outside of a transaction, since the store of secrets may be slow.
        secrets = self._read_secrets(tenant_id, endpoint, sender.secrets)
        # With no secret at all, no signature holds.
        message_id = verify(secrets, message.headers, message.body, sender.now_seconds)
        if is_own(message_id, message.content):
            _LOG.error(
                "tenant %s, inbound endpoint %s: it was sent Signet's own message", tenant_id, endpoint
            )
            raise reject_signature()
        key = parse_key(sender.key_prefix or "", sender.key_pointer, message.content)
        if isinstance(key, Rejected):
            raise key
        _check_payload(message.content)
        source = f"endpoint:{endpoint}"
        new = InboundEventRow(
            make_id(),
            key,
            message.content,
            source,
            message_id,
            message.trace_id,
            frozenset(sender.persons),
            any(key.startswith(prefix) for prefix in sender.consume),
        )
        with self._database.transaction(tenant_id) as connection:
            percent = self._limits.person_percent
            require_share(connection, tenant_id, bucket_of_person(QUOTAS[WRITES], source, percent))
            taken = take_event(connection, tenant_id, new)
        return self._report(*taken)

    def _report(self, event: EventKey, fate: EventFate) -> TakenEvent:
        self._telemetry.event_came(fate)
        return TakenEvent(event.id, event.key, was_known=fate == "known")

    def _read_secrets(self, tenant_id: UUID, endpoint: str, names: Sequence[str]) -> list[bytes]:
        """Read the secrets that exist.

        A missing one is logged for the operator, because the sender must not learn of it.
        """
        secrets = []
        for name in names:
            try:
                secrets.append(parse_secret(self._secrets(tenant_id, name) or ""))
            except Rejected:
                _LOG.error("tenant %s, inbound endpoint %s: no secret %s", tenant_id, endpoint, name)
        return secrets

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
            record = store.find_endpoint(read.connection, principal.tenant_id, name)
        if record is None:
            raise _endpoint_not_found(name)
        return record

    def create_endpoint(
        self, caller: Caller, name: str, terms: InboundEndpointTerms
    ) -> InboundEndpointRecord | ControlChange:
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            _begin(act, terms)
            _require_secrets(act, name, None, terms)
            if wants_two_people(act):
                if store.find_endpoint(act.connection, tenant_id, name) is not None:
                    raise _exists(name)
                return _propose(act, name, "create", terms, 0)
            return _create(act, name, terms, caller.principal.subject)

    def replace_endpoint(
        self, caller: Caller, name: str, version: int, terms: InboundEndpointTerms
    ) -> InboundEndpointRecord | ControlChange:
        """Replace the terms. One person alone may stop an endpoint, also where the tenant wants two."""
        with administering(self._database, caller) as act:
            _begin(act, terms)
            record = store.find_endpoint(act.connection, caller.principal.tenant_id, name)
            if record is None:
                raise _endpoint_not_found(name)
            if record.version != version:
                raise _moved_on(name, record, version)
            _require_secrets(act, name, record, terms)
            if not _stops(record, terms) and wants_two_people(act):
                return _propose(act, name, "replace", terms, version)
            supersede(act, SUBJECT, name)
            return _replace(act, name, version, terms)

    # --- changes that wait for another person ---

    read_control_permission, change_control_permission = READ_ENDPOINTS, EDIT_ENDPOINTS

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        record = store.find_endpoint(connection, tenant_id, change.name)
        return {} if record is None else _write(record)

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        terms = InboundEndpointTerms(**change.body)
        _begin(act, terms)
        record = store.find_endpoint(act.connection, act.caller.principal.tenant_id, change.name)
        if (record.version if record is not None else 0) != change.base_version:
            raise change_is_stale(change, record.version if record is not None else 0)
        _require_secrets(act, change.name, record, terms)
        proposers = change.responsible
        if record is None:
            _create(act, change.name, terms, change.proposed_by, proposers)
        else:
            _replace(act, change.name, change.base_version, terms, proposers)


def _begin(act: AdminTransaction, terms: InboundEndpointTerms) -> None:
    act.require(EDIT_ENDPOINTS)
    lock_administration(act.connection, act.caller.principal.tenant_id)
    _check_terms(terms)


def _require_secrets(
    act: AdminTransaction, name: str, record: InboundEndpointRecord | None, terms: InboundEndpointTerms
) -> None:
    """Require secrets of the endpoint's own. One of older days may share them, and can be switched off."""
    had = record.secrets if record is not None else ()
    is_kept = terms.status == "disabled" and set(terms.secrets) <= set(had)
    require_free_secrets(act, "in", name, () if is_kept else terms.secrets)


def _create(
    act: AdminTransaction,
    name: str,
    terms: InboundEndpointTerms,
    created_by: str,
    proposers: Sequence[str] = (),
) -> InboundEndpointRecord:
    principal = act.caller.principal
    record = store.insert_endpoint(
        act.connection,
        principal.tenant_id,
        name,
        terms,
        responsible=join_responsible(principal.responsible, proposers),
        actor_id=created_by,
        now=act.now,
    )
    if record is None:
        raise _exists(name)
    act.note((SUBJECT, name), "create", _write(terms))
    return record


def _replace(
    act: AdminTransaction,
    name: str,
    version: int,
    terms: InboundEndpointTerms,
    proposers: Sequence[str] = (),
) -> InboundEndpointRecord:
    principal = act.caller.principal
    known = store.read_persons(act.connection, principal.tenant_id, name)
    replaced = store.replace_endpoint(
        act.connection,
        principal.tenant_id,
        name,
        version,
        terms,
        responsible=join_responsible(known, principal.responsible, proposers),
        now=act.now,
    )
    if replaced is None:
        raise _endpoint_not_found(name)
    act.note((SUBJECT, name), "replace", _write(terms))
    return replaced


def _propose(
    act: AdminTransaction, name: str, what: str, terms: InboundEndpointTerms, version: int
) -> ControlChange:
    return propose(act, ControlProposal(SUBJECT, name, what, _write(terms), version, EDIT_ENDPOINTS))


def _stops(record: InboundEndpointRecord, terms: InboundEndpointTerms) -> bool:
    """Return whether the terms change nothing, or only stop the endpoint."""
    return _write(terms) in (_write(record), _write(replace(record, status="disabled")))


def _write(terms: InboundEndpointTerms) -> dict[str, Any]:
    return {
        "key_prefix": terms.key_prefix,
        "key_pointer": terms.key_pointer,
        "secrets": list(terms.secrets),
        "status": terms.status,
        "consume": list(terms.consume),
    }


def _require_key(read: ReadTransaction, key: str) -> None:
    """Require the permission to send any event, or those of the key's area."""
    area = area_of(key)
    wanted = SEND if area is None else f"{SEND}.{area}"
    if not (read.may(SEND) or read.may(wanted)):
        raise Rejected("PERMISSION_DENIED", f"the key '{key}' needs the permission '{wanted}'")


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
    for index, prefix in enumerate(terms.consume):
        if not prefix.startswith(terms.key_prefix):
            sentence = "begins with no key of this endpoint"
            mistakes.append(FieldError(f"/consume/{index}", "PREFIX_FOREIGN", sentence))
    texts = [("key_prefix", terms.key_prefix), ("key_pointer", terms.key_pointer)]
    for field, text in (*texts, *((f"consume/{at}", prefix) for at, prefix in enumerate(terms.consume))):
        problem = find_text_problem(text or "")
        if problem is not None:
            mistakes.append(FieldError(f"/{field}", "FIELD_TEXT_INVALID", problem))
    if mistakes:
        raise Rejected("FIELDS_INVALID", "this is no inbound endpoint", fields=tuple(mistakes))


def _exists(name: str) -> Rejected:
    return Rejected("INBOUND_ENDPOINT_EXISTS", f"there is an inbound endpoint '{name}' already")


def _endpoint_not_found(name: str) -> Rejected:
    return Rejected("INBOUND_ENDPOINT_NOT_FOUND", f"there is no inbound endpoint '{name}'")


def _moved_on(name: str, record: InboundEndpointRecord, version: int) -> Rejected:
    return Rejected(
        "INBOUND_ENDPOINT_VERSION_CONFLICT",
        f"the inbound endpoint '{name}' is at version {record.version}, not {version}",
        remedy="Read it again.",
        details={"current_version": record.version},
    )


def _raise(rejected: Rejected | None) -> None:
    if rejected is not None:
        raise rejected
