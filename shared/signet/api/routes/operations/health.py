"""The route that tells whether the service can work."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from signet.api.http.call import Call
from signet.api.http.routing import Routes
from signet.engine.health import read_health


@dataclass(frozen=True, slots=True)
class HealthOfTenant:
    id: UUID


@dataclass(frozen=True, slots=True)
class HealthOfDatabase:
    version: str
    migrations: int
    latest_migration: str


@dataclass(frozen=True, slots=True)
class Health:
    status: Literal["ok"]
    # The bundle that answers.
    build: str
    tenant: HealthOfTenant
    database: HealthOfDatabase


def add_health_routes(routes: Routes) -> None:
    @routes.get("/v1/health", "Check whether the service can work for the caller's tenant", Health)
    def get_health(call: Call) -> Health:
        tenant_id = call.principal.tenant_id
        state = read_health(call.use.database, tenant_id)
        database = HealthOfDatabase(state.server_version, state.migrations, state.latest_migration)
        return Health("ok", call.build, HealthOfTenant(tenant_id), database)
