"""The local stack as `make run` wires it: gateway, API, worker and database, as the runtime roles."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from signet.api.openapi.build import renew_page
from signet.core.tenants.quotas import READS, WRITES, Quota
from signet.engine.access.quotas import set_quota
from signet.local.gateway import open_gateway
from signet.local.worker_loop import running_worker
from signet.store.database import Database, PoolSettings
from signet.wiring.effects import make_effects
from signet.wiring.engine import make_worker
from tests.support.api_application import wire
from tests.support.company import Company, make_company
from tests.support.database.runtime_roles import as_role
from tests.support.http_client import Client

# This is more than any run asks for.
PLENTY = 10_000_000


@dataclass(frozen=True)
class ConformanceStack:
    """The stack's address, and a client that needs no network."""

    url: str
    company: Company
    client: Client


@contextmanager
def running_stack(owner_url: str) -> Iterator[ConformanceStack]:
    """Yield the stack with one company, whose invoices have their workflow."""
    renew_page()
    api = Database(as_role(owner_url, "signet_api"), PoolSettings(size=8))
    engine = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=2))
    owner = Database(owner_url, PoolSettings())
    try:
        company = make_company(api)
        company.publish("invoice")
        for name in (READS, WRITES):
            set_quota(owner, company.tenant_id, Quota(name, PLENTY, 60))
        application = wire(api)
        with (
            open_gateway("127.0.0.1", 0) as gateway,
            running_worker(engine, make_worker(engine), make_effects(engine)),
        ):
            gateway.start(application)
            yield ConformanceStack(gateway.url, company, Client(application, company.tenant_id))
    finally:
        for database in (api, engine, owner):
            database.close()
