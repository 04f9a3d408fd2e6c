"""Is the service able to work for this tenant? It is, if a transaction of the tenant's answers."""

from uuid import UUID

from signet.store.database import Database
from signet.store.operations.health import DatabaseState, read_database_state


def read_health(database: Database, tenant_id: UUID) -> DatabaseState:
    with database.transaction(tenant_id) as connection:
        return read_database_state(connection)
