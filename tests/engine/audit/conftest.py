"""A tenant with audited documents, seen by the roles that write and that seal."""

from collections.abc import Iterator

import pytest

from signet.core.tenancy import TenantFile
from signet.store.database import Database, PoolSettings
from signet.store.server import act_as
from tests.engine.audit.audited import Audited


@pytest.fixture
def audited(database: Database, owner_url: str, tenant: TenantFile) -> Iterator[Audited]:
    janitor = Database(act_as(owner_url, "signet_janitor"), PoolSettings(size=2))
    audited = Audited(tenant.tenant_id, database, janitor)
    audited.make_contract()
    yield audited
    janitor.close()
