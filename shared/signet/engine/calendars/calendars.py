"""Business calendars of the tenant, in versions that never change.

What waits names the version that it was computed by. Where the tenant wants two people, one proposes a
version and another confirms it: deadlines depend on it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.calendars.business_calendar import CalendarBody
from signet.core.calendars.calendar_reader import parse_calendar
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.control.change import ControlKind
from signet.core.errors import Rejected
from signet.core.previews.placed_findings import (
    PlacedFinding,
    parse_body,
    place_findings,
    reject_findings,
)
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.responsible import join_responsible
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import bound_page, reading
from signet.engine.access.seen_versions import require_seen
from signet.engine.calendars.followers import wake_followers_of_calendar
from signet.engine.calendars.stored_calendars import calendar_not_found
from signet.engine.control.changes import change_is_stale
from signet.engine.control.four_eyes import wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose, supersede
from signet.engine.documents.command_checks import check_reason
from signet.store.audit.write import lock_administration
from signet.store.calendars import calendars as store
from signet.store.calendars.calendars import MAX_CALENDARS, CalendarRow
from signet.store.calendars.calendars import CalendarSummary as CalendarSummary
from signet.store.database import Connection, Database

READ, EDIT = "calendar:read", "calendar:edit"
SUBJECT: ControlKind = "calendar"


@dataclass(frozen=True, slots=True)
class CalendarRecord:
    """A version of a calendar; `body` is what its author wrote."""

    name: str
    version: int
    hash: str
    body: Mapping[str, Any]
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SavedCalendar:
    calendar: CalendarRecord
    is_new: bool


@dataclass(frozen=True, slots=True)
class WrittenCalendar:
    """A checked body, as it is stored."""

    body: str
    hash: str
    findings: tuple[PlacedFinding, ...]


@dataclass(frozen=True, slots=True)
class Calendars:
    database: Database

    def list(self, principal: Principal, after: str, limit: int) -> Sequence[CalendarSummary]:
        with reading(self.database, principal) as read:
            read.require(READ)
            return store.list_calendars(read.connection, principal.tenant_id, after, bound_page(limit))

    def list_versions(
        self, principal: Principal, name: str, before: int, limit: int
    ) -> Sequence[CalendarSummary]:
        """List the versions of one calendar, the newest first."""
        with reading(self.database, principal) as read:
            read.require(READ)
            tenant_id = principal.tenant_id
            return store.list_versions(read.connection, tenant_id, name, before, bound_page(limit))

    def read(self, principal: Principal, name: str, version: int | None = None) -> CalendarRecord:
        """Read the version in force, or the one that is named."""
        with reading(self.database, principal) as read:
            row = store.find_calendar(read.connection, principal.tenant_id, name, version)
            if row is None or not read.may(READ):
                raise calendar_not_found(name)
            return _show(row)

    def save(
        self,
        caller: Caller,
        name: str,
        document: Any,
        expected_version: int | None,
        reason: str | None = None,
    ) -> SavedCalendar | ControlChange:
        """Save a new calendar, or the next version of the one that was seen. The same text makes none."""
        with _changing(self.database, caller, reason) as act:
            current = _find(act.connection, caller.principal.tenant_id, name)
            _require_version(current, name, expected_version)
            written = parse_calendar_body(name, document)
            if current is not None and current.hash == written.hash:
                return SavedCalendar(_show(current), is_new=False)
            if current is None:
                _require_room(act)
            if wants_two_people(act):
                what, version = ("create", 0) if current is None else ("replace", current.version)
                body = json.loads(written.body)
                return propose(act, ControlProposal(SUBJECT, name, what, body, version, EDIT, reason))
            supersede(act, SUBJECT, name)
            return _save(act, name, current, written, reason=reason)

    # --- changes that wait for another person ---

    read_control_permission, change_control_permission = READ, EDIT

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        row = _find(connection, tenant_id, change.name)
        return {} if row is None else json.loads(row.body)

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        act.require(EDIT)
        current = _find(act.connection, act.caller.principal.tenant_id, change.name)
        version = current.version if current is not None else 0
        if version != change.base_version:
            raise change_is_stale(change, version)
        if current is None:
            _require_room(act)
        written = parse_calendar_body(change.name, change.body)
        _save(act, change.name, current, written, reason=change.reason, proposers=change.responsible)


def parse_calendar_body(name: str, document: Any) -> WrittenCalendar:
    """Check a body as its author wrote it, without the name of the calendar."""
    parse_body(CalendarBody, document)
    calendar, findings = parse_calendar({**document, "calendar": name})
    if calendar is None:
        raise reject_findings(place_findings(findings))
    body = canonical_bytes(document)
    return WrittenCalendar(body.decode(), hash_bytes(body), place_findings(findings))


def _save(
    act: AdminTransaction,
    name: str,
    current: CalendarRow | None,
    written: WrittenCalendar,
    *,
    reason: str | None,
    proposers: Sequence[str] = (),
) -> SavedCalendar:
    principal = act.caller.principal
    version = 1 if current is None else current.version + 1
    store.save_version(
        act.connection,
        principal.tenant_id,
        name=name,
        version=version,
        body=written.body,
        digest=written.hash,
        created_by=principal.subject,
        responsible=join_responsible(principal.responsible, proposers),
        now=act.now,
    )
    wake_followers_of_calendar(act.connection, principal.tenant_id, name)
    detail = {"version": version, "hash": written.hash}
    act.note((SUBJECT, name), "save_calendar", detail, reason=reason)
    saved = _find(act.connection, principal.tenant_id, name)
    if saved is None:
        raise calendar_not_found(name)
    return SavedCalendar(_show(saved), is_new=current is None)


@contextmanager
def _changing(database: Database, caller: Caller, reason: str | None) -> Iterator[AdminTransaction]:
    """Open a transaction that changes calendars one after the other, so that what it reads stays true."""
    refused = check_reason(reason)
    if refused is not None:
        raise refused
    with administering(database, caller) as act:
        act.require(EDIT)
        lock_administration(act.connection, caller.principal.tenant_id)
        yield act


def _find(connection: Connection, tenant_id: UUID, name: str) -> CalendarRow | None:
    return store.find_calendar(connection, tenant_id, name)


def _show(row: CalendarRow) -> CalendarRecord:
    return CalendarRecord(
        row.name, row.version, row.hash, json.loads(row.body), row.created_by, row.created_at
    )


def _require_version(current: CalendarRow | None, name: str, expected: int | None) -> None:
    if current is not None:
        require_seen(f"the calendar '{name}'", "CALENDAR_VERSION_CONFLICT", current.version, expected)
    elif expected is not None:
        raise calendar_not_found(name)


def _require_room(act: AdminTransaction) -> None:
    if store.count_calendars(act.connection, act.caller.principal.tenant_id) >= MAX_CALENDARS:
        raise Rejected(
            "CALENDAR_TOO_MANY",
            f"a tenant has at most {MAX_CALENDARS} calendars",
            remedy="Change one that is there.",
        )
