"""Routes of the caller's tenant: name, settings, quotas."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.parameters import IfMatch, Named, Reason, require_version
from signet.api.http.proposed_changes import show_saved
from signet.api.http.routing import Routes
from signet.core.tenants.tenant_file import (
    MAX_CUSTOM_SETTINGS,
    Currency,
    CustomSetting,
    DefaultCalendar,
    DisplayName,
    FourEyes,
    Language,
    TenantSettings,
    TimeZone,
    WebhookHosts,
)
from signet.core.validation.strict_model import Strict
from signet.engine.access.quotas import QuotaLevel
from signet.engine.control.proposals import ControlChange
from signet.engine.tenants.operator import TenantStatus
from signet.engine.tenants.settings import TenantChange


class TenantPatch(Strict):
    name: DisplayName | None = None
    currency: Currency | None = None
    time_zone: TimeZone | None = None
    language: Language | None = None
    custom: Annotated[
        Mapping[Named, CustomSetting | None] | None,
        Field(
            max_length=MAX_CUSTOM_SETTINGS,
            description="The tenant's own settings that change; null removes one.",
        ),
    ] = None
    webhook_hosts: WebhookHosts | None = None
    four_eyes: FourEyes | None = None
    calendar: DefaultCalendar | None = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Tenant:
    tenant_id: UUID
    name: str
    status: TenantStatus
    settings: TenantSettings
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class QuotaLevels:
    items: Sequence[QuotaLevel]


def add_tenant_routes(routes: Routes) -> None:
    @routes.get("/v1/tenant", "The caller's tenant", Tenant, is_versioned=True)
    def get_tenant(call: Call) -> HttpAnswer:
        return show_record(call.use.tenant_admin.read(call.principal))

    @routes.patch(
        "/v1/tenant",
        "Change the tenant's name or settings",
        Tenant,
        also={202: ControlChange},
        is_versioned=True,
        large_bodies_want="tenant:edit",
    )
    def change_tenant(
        call: Call, change: Annotated[TenantPatch, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Change what is named, and keep the rest; workflows read the present settings as `org.*`."""
        tenant_change = TenantChange(
            change.name,
            change.currency,
            change.time_zone,
            change.language,
            change.custom,
            change.webhook_hosts,
            change.four_eyes,
            change.calendar,
        )
        version = require_version(if_match)
        return show_saved(call.use.tenant_admin.change(call.caller, version, tenant_change, change.reason))

    @routes.get("/v1/quotas", "The tenant's quotas, and what is left of them", QuotaLevels)
    def list_quotas(call: Call) -> QuotaLevels:
        return QuotaLevels(call.use.tenant_admin.list_quotas(call.principal))
