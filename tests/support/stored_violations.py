"""The violations in the rows of a test, by the invariants that `signet ops verify` asks."""

from uuid import UUID

from signet.engine.cache import CompiledCache
from signet.engine.housekeeping.verification import VerificationLimits, find_stored_violations
from signet.store.database import Database, PoolSettings
from tests.support.database.runtime_roles import as_role


def list_violations(
    admin_url: str, tenant_id: UUID, *, grace_seconds: float = 900.0
) -> list[tuple[str, str]]:
    """Return the violations of a tenant: the name of the invariant, and the row."""
    limits = VerificationLimits(grace_seconds=grace_seconds)
    database = Database(as_role(admin_url, "signet_owner"), PoolSettings(statement_seconds=300.0))
    try:
        found = list(find_stored_violations(database, CompiledCache(), tenant_id, limits))
    finally:
        database.close()
    return [(violation.invariant, violation.where) for violation in found]
