"""The API as `make run` serves it, for the clients that `make clients` generates."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import TenantFile
from signet.engine.tenants.install import install_tenant
from signet.local.development_token import make_development_token
from signet.local.gateway import open_gateway
from signet.local.tenant_file import read_tenant_file
from signet.local.worker_loop import running_worker
from signet.store.database import Database
from signet.wiring.effects import make_effects
from signet.wiring.engine import make_worker
from tests.support.api_application import SECRET, wire

if not os.environ.get("SIGNET_CLIENTS"):
    collect_ignore_glob = ["test_*.py"]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tenant.yaml"
LIFETIME_SECONDS = 600


@dataclass(frozen=True)
class ServedTenant:
    """The address of the API, and the tenant of the examples."""

    url: str
    tenant: TenantFile

    def make_token(self, person: str) -> str:
        (roles,) = (one.roles for one in self.tenant.members if one.user_id == person)
        now = datetime.now(UTC)
        return make_development_token(SECRET, self.tenant.tenant_id, person, roles, LIFETIME_SECONDS, now)


@pytest.fixture
def served(database: Database, worker: Database) -> Iterator[ServedTenant]:
    tenant = read_tenant_file(EXAMPLE)
    install_tenant(database, tenant, COMMAND_LINE)
    with (
        open_gateway("127.0.0.1", 0) as gateway,
        running_worker(worker, make_worker(worker), make_effects(worker)),
    ):
        gateway.start(wire(database))
        yield ServedTenant(gateway.url, tenant)
