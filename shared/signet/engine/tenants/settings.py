"""Name and settings of the tenant, as its own people see and change them. Its status is an operator's.

Where the tenant wants two people, one proposes a change and another confirms it: conditions read settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.control.change import ControlKind
from signet.core.errors import Defect, FieldError, Rejected
from signet.core.moments.known_zones import require_known_zone
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import MAX_CUSTOM_SETTINGS, CustomSetting, TenantSettings
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.quotas import QuotaLevel, list_quota_levels
from signet.engine.access.read import reading
from signet.engine.calendars.followers import wake_followers_of_settings
from signet.engine.control.changes import change_is_stale
from signet.engine.control.four_eyes import wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose
from signet.engine.documents.command_checks import check_reason
from signet.store.audit.write import lock_administration
from signet.store.calendars.calendars import find_calendar
from signet.store.database import Connection, Database
from signet.store.tenants.tenants import TenantRecord, change_tenant, find_tenant_record

READ_TENANT, EDIT_TENANT, READ_QUOTAS = "tenant:read", "tenant:edit", "quota:read"
KIND: ControlKind = "tenant_settings"
NAME = "tenant"


@dataclass(frozen=True, slots=True)
class TenantChange:
    """A change of the tenant; fields that are None stay. In `custom`, a None removes the setting."""

    name: str | None = None
    currency: str | None = None
    time_zone: str | None = None
    language: str | None = None
    custom: Mapping[str, CustomSetting | None] | None = None
    # The whole list; an empty list allows every host again.
    webhook_hosts: Sequence[str] | None = None
    four_eyes: bool | None = None
    calendar: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields that change."""
        fields = ("name", "currency", "time_zone", "language", "four_eyes", "calendar")
        changed = {name: getattr(self, name) for name in fields if getattr(self, name) is not None}
        if self.webhook_hosts is not None:
            changed["webhook_hosts"] = list(self.webhook_hosts)
        if self.custom is not None:
            changed["custom"] = {
                name: None if setting is None else setting.model_dump(mode="json")
                for name, setting in self.custom.items()
            }
        return changed


def _parse_change(body: Mapping[str, Any]) -> TenantChange:
    custom = {
        name: None if setting is None else CustomSetting.model_validate(setting)
        for name, setting in body.get("custom", {}).items()
    }
    return TenantChange(**{**body, "custom": custom if "custom" in body else None})


@dataclass(frozen=True, slots=True)
class TenantAdmin:
    database: Database

    def read(self, principal: Principal) -> TenantRecord:
        with reading(self.database, principal) as read:
            read.require(READ_TENANT)
            return _read(read.connection, principal)

    def list_quotas(self, principal: Principal) -> list[QuotaLevel]:
        with reading(self.database, principal) as read:
            read.require(READ_QUOTAS)
            return list_quota_levels(read.connection, principal.tenant_id)

    def change(
        self, caller: Caller, expected_version: int, change: TenantChange, reason: str | None = None
    ) -> TenantRecord | ControlChange:
        rejected = check_reason(reason)
        if rejected is not None:
            raise rejected
        tenant_id = caller.principal.tenant_id
        with administering(self.database, caller) as act:
            act.require(EDIT_TENANT)
            lock_administration(act.connection, tenant_id)
            before = _read(act.connection, caller.principal)
            if before.version != expected_version:
                raise Rejected(
                    "TENANT_VERSION_CONFLICT",
                    f"the tenant is at version {before.version}, and not {expected_version}",
                    remedy="Read it again, and make the change on what it is now.",
                    details={"current_version": before.version},
                )
            if _changes_nothing(before, change):
                return before
            if change.time_zone is not None:
                require_known_zone(change.time_zone, "/time_zone")
            _require_calendar(act, change)
            if wants_two_people(act):
                proposal = ControlProposal(
                    KIND, NAME, "replace", change.to_json(), expected_version, EDIT_TENANT, reason
                )
                return propose(act, proposal)
            return _write(act, before, change, reason)

    # --- changes that wait for another person ---

    read_control_permission, change_control_permission = READ_TENANT, EDIT_TENANT

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        record = find_tenant_record(connection, tenant_id)
        if record is None:
            return {}
        settings = TenantSettings.model_validate(record.settings).model_dump(mode="json")
        custom = {name: settings["custom"].get(name) for name in change.body.get("custom", ())}
        known = {"name": record.name, **settings, "custom": custom}
        return {name: known.get(name) for name in change.body}

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        act.require(EDIT_TENANT)
        before = _read(act.connection, act.caller.principal)
        if before.version != change.base_version:
            raise change_is_stale(change, before.version)
        _require_calendar(act, _parse_change(change.body))
        _write(act, before, _parse_change(change.body), change.reason)


def _require_calendar(act: AdminTransaction, change: TenantChange) -> None:
    """Require that there is a calendar of the name that the settings would have."""
    if change.calendar is None:
        return
    if find_calendar(act.connection, act.caller.principal.tenant_id, change.calendar) is None:
        sentence = f"there is no calendar '{change.calendar}'"
        mistake = FieldError("/calendar", "CALENDAR_UNKNOWN", sentence, "Save the calendar first.")
        raise Rejected("FIELDS_INVALID", sentence, fields=(mistake,))


def _changes_nothing(before: TenantRecord, change: TenantChange) -> bool:
    settings = _apply(before.settings, change)
    return change.name in (None, before.name) and settings == TenantSettings.model_validate(before.settings)


def _write(
    act: AdminTransaction, before: TenantRecord, change: TenantChange, reason: str | None
) -> TenantRecord:
    tenant_id, settings = act.caller.principal.tenant_id, _apply(before.settings, change)
    name = before.name if change.name is None else change.name
    change_tenant(act.connection, tenant_id, name, settings, act.now)
    wake_followers_of_settings(act.connection, tenant_id)
    detail = {"name": name, "settings": settings.model_dump(mode="json"), "before": before.settings}
    act.note(("tenant", str(tenant_id)), "change_tenant", detail, reason=reason)
    return _read(act.connection, act.caller.principal)


def _apply(kept: Mapping[str, Any], change: TenantChange) -> TenantSettings:
    before = TenantSettings.model_validate(kept)
    custom: dict[str, CustomSetting] = dict(before.custom)
    for name, setting in (change.custom or {}).items():
        if setting is None:
            custom.pop(name, None)
        else:
            custom[name] = setting
    if len(custom) > MAX_CUSTOM_SETTINGS:
        sentence = f"a tenant has at most {MAX_CUSTOM_SETTINGS} settings of its own"
        mistake = FieldError("/custom", "FIELD_TOO_LONG", sentence)
        raise Rejected("FIELDS_INVALID", sentence, fields=(mistake,))
    return TenantSettings(
        currency=change.currency or before.currency,
        time_zone=change.time_zone or before.time_zone,
        language=change.language or before.language,
        custom=custom,
        webhook_hosts=before.webhook_hosts if change.webhook_hosts is None else tuple(change.webhook_hosts),
        four_eyes=before.four_eyes if change.four_eyes is None else change.four_eyes,
        calendar=change.calendar or before.calendar,
    )


def _read(connection: Connection, principal: Principal) -> TenantRecord:
    record = find_tenant_record(connection, principal.tenant_id)
    if record is None:
        raise Defect("TENANT_LOST", "an active tenant has no row")
    return record
