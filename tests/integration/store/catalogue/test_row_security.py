"""Row security as the runtime roles: exactly one tenant, or nothing."""

from uuid import uuid4

import psycopg
import pytest
from psycopg import Connection

from signet.core.errors import Defect, Transient
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import TenantFile
from signet.engine.tenants.install import install_tenant
from signet.store.database import Database, PoolSettings
from signet.store.tenants.tenants import find_tenant, list_members
from tests.conftest import make_tenant_file
from tests.support.database.runtime_roles import as_role


def test_an_installed_tenant_reads_back(database: Database, tenant: TenantFile) -> None:
    with database.transaction(tenant.tenant_id) as connection:
        row = find_tenant(connection, tenant.tenant_id)
        members = list_members(connection, tenant.tenant_id, limit=10)
    assert row is not None and (row.name, row.status, row.version) == ("acme", "active", 1)
    assert [(m.user_id, m.roles, m.manager_id) for m in members] == [
        ("carl", ["clerk"], "mona"),
        ("mona", ["manager"], None),
    ]


def test_installing_again_changes_nothing_and_a_change_arrives(
    database: Database, tenant: TenantFile
) -> None:
    install_tenant(database, tenant, COMMAND_LINE)
    carl = tenant.members[1].model_copy(update={"roles": (), "manager": None})
    with database.transaction(tenant.tenant_id) as connection:
        row = find_tenant(connection, tenant.tenant_id)
    assert row is not None and row.version == 1

    install_tenant(database, tenant.model_copy(update={"name": "acme two", "members": (carl,)}), COMMAND_LINE)
    with database.transaction(tenant.tenant_id) as connection:
        row = find_tenant(connection, tenant.tenant_id)
        members = list_members(connection, tenant.tenant_id, limit=10)
    assert row is not None and (row.name, row.version) == ("acme two", 2)
    assert [(m.user_id, m.roles, m.manager_id) for m in members] == [
        ("carl", [], None),
        ("mona", ["manager"], None),
    ]


def test_another_tenants_rows_are_not_there(database: Database, tenant: TenantFile) -> None:
    with database.transaction(uuid4()) as connection:
        assert find_tenant(connection, tenant.tenant_id) is None
        assert list_members(connection, tenant.tenant_id, limit=10) == []


def test_without_a_tenant_there_are_no_rows(database: Database, tenant: TenantFile) -> None:
    with database.tenantless_transaction() as connection:
        assert find_tenant(connection, tenant.tenant_id) is None


def test_the_tenant_does_not_outlive_its_transaction(owner_url: str, tenant: TenantFile) -> None:
    database = Database(as_role(owner_url, "signet_api"), PoolSettings(size=1))
    with database.transaction(tenant.tenant_id) as connection:
        assert find_tenant(connection, tenant.tenant_id) is not None
    with database.tenantless_transaction() as connection:  # the same connection: the pool has one
        assert find_tenant(connection, tenant.tenant_id) is None
    database.close()


def test_writing_another_tenants_row_is_refused(database: Database, tenant: TenantFile) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), database.transaction(uuid4()) as connection:
        connection.execute(
            "INSERT INTO roles (tenant_id, role) VALUES (%(tenant_id)s, 'thief')",
            {"tenant_id": tenant.tenant_id},
        )


@pytest.mark.parametrize("role", ["signet_worker", "signet_janitor", "signet_dispatch"])
def test_other_runtime_roles_cannot_write_members(owner_url: str, tenant: TenantFile, role: str) -> None:
    with psycopg.connect(as_role(owner_url, role)) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", [str(tenant.tenant_id)])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE members SET display_name = 'x'")


def test_even_the_owner_of_the_tables_is_held_by_row_security(
    superuser: Connection[tuple[object, ...]], tenant: TenantFile
) -> None:
    superuser.execute("SET ROLE signet_owner")
    assert superuser.execute("SELECT count(*) FROM members").fetchone() == (0,)
    superuser.execute("RESET ROLE")
    assert superuser.execute("SELECT count(*) FROM members").fetchone() == (2,)


def test_a_transaction_without_tenant_fails_closed(database: Database) -> None:
    with pytest.raises(Defect, match="without a tenant"), database.transaction(None):  # type: ignore[arg-type]
        pass


def test_an_exception_rolls_back(database: Database) -> None:
    tenant = make_tenant_file(uuid4())
    with pytest.raises(RuntimeError), database.transaction(tenant.tenant_id) as connection:
        connection.execute(
            "INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'half', '{}')", [tenant.tenant_id]
        )
        raise RuntimeError
    with database.transaction(tenant.tenant_id) as connection:
        assert find_tenant(connection, tenant.tenant_id) is None


def test_an_unreachable_database_is_transient() -> None:
    settings = PoolSettings(wait_seconds=0.2, connect_seconds=1)
    database = Database("postgresql://nobody@127.0.0.1:1/none", settings)
    with pytest.raises(Transient) as caught, database.tenantless_transaction():
        pass
    assert caught.value.code == "DATABASE_UNAVAILABLE"
    database.close()
