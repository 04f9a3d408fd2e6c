"""Verification of what is stored: the invariants, the rows of instances against their steps, the audit trail.

It reads whole tables, each invariant in a transaction of its own. Nothing is written, and nothing is locked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from signet.core.errors import SignetError
from signet.engine.audit.verify import verify_tenant
from signet.engine.cache import CompiledCache
from signet.engine.execution.rebuild import differs_from_steps
from signet.store.database import Connection, Database
from signet.store.instances.lists import END, InstanceFilter, list_instances
from signet.store.operations.invariants import INVARIANTS, find_violations
from signet.store.tenants.tenants import list_tenant_ids

TENANTS_AT_A_LOOK = 200
INSTANCES_AT_A_LOOK = 50
STATUSES = ("running", "paused", "completed", "failed", "cancelled")
REBUILT = "instances_are_the_sum_of_their_steps"
REBUILT_SENTENCE = "The row of an instance is what its steps add up to."
TRAIL = "audit_trail_is_sound"
TRAIL_SENTENCE = "Rows, chains, versions, personal values and seals of the audit trail are what they were."


@dataclass(frozen=True, slots=True)
class VerificationLimits:
    # At most so many violations of one invariant are named.
    violations: int = 20
    # So many instances are compared with their steps, the newest first.
    instances: int = 1_000
    # What is due, or claimed, for less than this may still be done by a worker.
    grace_seconds: float = 900.0


@dataclass(frozen=True, slots=True)
class Violation:
    """A row that should not be, the invariant that it violates, and the sentence of that."""

    invariant: str
    sentence: str
    where: str


def list_tenants(database: Database) -> Iterator[UUID]:
    """List the ids of all tenants; only an admin of the database may."""
    after = UUID(int=0)
    while True:
        with database.tenantless_transaction() as connection:
            page = list_tenant_ids(connection, after, TENANTS_AT_A_LOOK)
        yield from page
        if len(page) < TENANTS_AT_A_LOOK:
            return
        after = page[-1]


def find_stored_violations(
    database: Database, compiled: CompiledCache, tenant_id: UUID, limits: VerificationLimits
) -> Iterator[Violation]:
    """Find what the rows of a tenant violate, one invariant after the other."""
    for invariant in INVARIANTS:
        with database.snapshot(tenant_id) as connection:
            found = find_violations(
                connection,
                tenant_id,
                invariant,
                grace_seconds=limits.grace_seconds,
                limit=limits.violations,
            )
        yield from (Violation(invariant.name, invariant.sentence, where) for where in found)
    yield from _compare_with_steps(database, compiled, tenant_id, limits)
    for finding in verify_tenant(database, tenant_id).findings[: limits.violations]:
        yield Violation(TRAIL, TRAIL_SENTENCE, f"{finding.where}: {finding.sentence} ({finding.code})")


def _compare_with_steps(
    database: Database, compiled: CompiledCache, tenant_id: UUID, limits: VerificationLimits
) -> Iterator[Violation]:
    found, compared, before = 0, 0, END
    while compared < limits.instances and found < limits.violations:
        wanted = min(INSTANCES_AT_A_LOOK, limits.instances - compared)
        with database.snapshot(tenant_id) as connection:
            page = list_instances(
                connection, tenant_id, InstanceFilter(STATUSES), before=before, limit=wanted
            )
            ids = [instance.id for instance in page]
            wrong = [
                where for each in ids if (where := _find_difference(connection, compiled, tenant_id, each))
            ]
        yield from (Violation(REBUILT, REBUILT_SENTENCE, where) for where in wrong)
        if len(page) < wanted:
            return
        found, compared, before = found + len(wrong), compared + len(page), ids[-1]


def _find_difference(
    connection: Connection, compiled: CompiledCache, tenant_id: UUID, instance_id: UUID
) -> str | None:
    """Return in words how the row of an instance differs from its steps."""
    try:
        is_other = differs_from_steps(connection, compiled, tenant_id, instance_id)
    except SignetError as error:
        return f"instance {instance_id} cannot be made again from its steps: {error.code}: {error.message}"
    return f"instance {instance_id} differs from its steps" if is_other else None
