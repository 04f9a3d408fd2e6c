"""Name and settings of the tenant, as its own people see and change them. Its status is an operator's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signet.core.errors import Defect, FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import MAX_CUSTOM_SETTINGS, CustomSetting, TenantSettings
from signet.engine.access.admin import administering
from signet.engine.access.quotas import QuotaLevel, list_quota_levels
from signet.engine.access.read import reading
from signet.engine.documents.command_checks import check_reason
from signet.store.audit.write import lock_administration
from signet.store.database import Connection, Database
from signet.store.tenants.tenants import TenantRecord, change_tenant, find_tenant_record

READ_TENANT, EDIT_TENANT, READ_QUOTAS = "tenant:read", "tenant:edit", "quota:read"


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
    ) -> TenantRecord:
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
                )
            settings = _apply(before.settings, change)
            name = before.name if change.name is None else change.name
            if name == before.name and settings == TenantSettings.model_validate(before.settings):
                return before
            change_tenant(act.connection, tenant_id, name, settings, act.now)
            detail = {"name": name, "settings": settings.model_dump(mode="json"), "before": before.settings}
            act.note(("tenant", str(tenant_id)), "change_tenant", detail, reason=reason)
            return _read(act.connection, caller.principal)


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
    )


def _read(connection: Connection, principal: Principal) -> TenantRecord:
    record = find_tenant_record(connection, principal.tenant_id)
    if record is None:
        raise Defect("TENANT_LOST", "an active tenant has no row")
    return record
