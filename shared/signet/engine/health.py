"""Health of the service for one tenant: a transaction of the tenant must answer."""

from uuid import UUID

from signet.store.database import Database
from signet.store.operations.health import DatabaseState, read_database_state


def read_health(database: Database, tenant_id: UUID) -> DatabaseState:
    with database.transaction(tenant_id) as connection:
        return read_database_state(connection)
