"""The route that tells whether the service can work."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
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
class HealthOfThread:
    name: str
    last_looked_at: datetime
    seconds_ago: float


@dataclass(frozen=True, slots=True)
class Health:
    status: Literal["ok"]
    # The bundle that answers.
    build: str
    tenant: HealthOfTenant
    database: HealthOfDatabase
    # The threads that work beside the API in the same process. Functions have none: alarms watch theirs.
    threads: Sequence[HealthOfThread]


def add_health_routes(routes: Routes) -> None:
    @routes.get("/v1/health", "Check whether the service can work for the caller's tenant", Health)
    def get_health(call: Call) -> Health:
        tenant_id = call.principal.tenant_id
        state = read_health(call.use.database, tenant_id)
        database = HealthOfDatabase(state.server_version, state.migrations, state.latest_migration)
        now = datetime.now(UTC)
        threads = [
            HealthOfThread(name, looked_at, round((now - looked_at).total_seconds(), 3))
            for name, looked_at in sorted(call.use.telemetry.list_looks().items())
        ]
        return Health("ok", call.build, HealthOfTenant(tenant_id), database, threads)
