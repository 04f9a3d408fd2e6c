"""A tenant with audited documents, seen by the roles that write and that seal."""

from collections.abc import Iterator

import pytest

from signet.core.tenants.tenant_file import TenantFile
from signet.store.database import Database, PoolSettings
from tests.engine.audit.audited import Audited
from tests.pooling.reaching import as_role


@pytest.fixture
def audited(database: Database, owner_url: str, tenant: TenantFile) -> Iterator[Audited]:
    janitor = Database(as_role(owner_url, "signet_janitor"), PoolSettings(size=2))
    audited = Audited(tenant.tenant_id, database, janitor)
    audited.make_contract()
    yield audited
    janitor.close()
