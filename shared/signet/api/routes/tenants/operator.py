"""Routes for operators of the deployment: tenants by id."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Path
from pydantic import Field

from signet.api.http.bodies import OPERATORS
from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.parameters import PathId, Reason
from signet.api.http.routing import Routes
from signet.api.routes.tenants.own import QuotaLevels, Tenant
from signet.core.tenants.quotas import MAX_CAPACITY, MAX_REFILL_SECONDS, Quota
from signet.core.tenants.tenant_file import TenantContent
from signet.core.validation.strict_model import Strict
from signet.engine.tenants.operator import TenantStatus

QuotaName = Annotated[str, Path(pattern="^[a-z_]+:[a-z_]+$", max_length=100)]


class NewStatus(Strict):
    status: TenantStatus
    reason: Reason = None


class NewQuota(Strict):
    capacity: Annotated[int, Field(ge=1, le=MAX_CAPACITY, description="How many may be used at once.")]
    refill_seconds: Annotated[
        int, Field(ge=1, le=MAX_REFILL_SECONDS, description="The seconds in which an empty quota fills up.")
    ]


def add_operator_routes(routes: Routes) -> None:
    @routes.get("/v1/tenants/<tenant_id>", "One tenant", Tenant, is_versioned=True, is_for_operators=True)
    def get_any_tenant(call: Call, tenant_id: PathId) -> HttpAnswer:
        return show_record(call.use.tenant_operator.read(call.caller, tenant_id))

    @routes.put(
        "/v1/tenants/<tenant_id>",
        "Install a tenant",
        Tenant,
        is_for_operators=True,
        large_bodies_want=OPERATORS,
    )
    def install_tenant(
        call: Call, tenant_id: PathId, content: Annotated[TenantContent, Body()]
    ) -> HttpAnswer:
        """Install a tenant, as often as needed: then it agrees with this. Other roles and members stay."""
        return show_record(call.use.tenant_operator.install(call.caller, tenant_id, content))

    @routes.put("/v1/tenants/<tenant_id>/status", "Suspend or resume a tenant", Tenant, is_for_operators=True)
    def put_tenant_status(call: Call, tenant_id: PathId, new: Annotated[NewStatus, Body()]) -> HttpAnswer:
        """Set the status; data of a suspended tenant is neither read nor written, and its workflows rest."""
        return show_record(
            call.use.tenant_operator.set_status(call.caller, tenant_id, new.status, new.reason)
        )

    @routes.get("/v1/tenants/<tenant_id>/quotas", "A tenant's quotas", QuotaLevels, is_for_operators=True)
    def list_tenant_quotas(call: Call, tenant_id: PathId) -> QuotaLevels:
        return QuotaLevels(call.use.tenant_operator.list_quotas(call.caller, tenant_id))

    @routes.put(
        "/v1/tenants/<tenant_id>/quotas/<quota_name>", "Grant a quota", QuotaLevels, is_for_operators=True
    )
    def grant_tenant_quota(
        call: Call, tenant_id: PathId, quota_name: QuotaName, new: Annotated[NewQuota, Body()]
    ) -> QuotaLevels:
        quota = Quota(quota_name, new.capacity, new.refill_seconds)
        return QuotaLevels(call.use.tenant_operator.grant_quota(call.caller, tenant_id, quota))

    @routes.delete(
        "/v1/tenants/<tenant_id>/quotas/<quota_name>",
        "Take a granted quota back",
        QuotaLevels,
        is_for_operators=True,
    )
    def withdraw_tenant_quota(call: Call, tenant_id: PathId, quota_name: QuotaName) -> QuotaLevels:
        """Withdraw a granted quota; the default is valid again."""
        return QuotaLevels(call.use.tenant_operator.withdraw_quota(call.caller, tenant_id, quota_name))
