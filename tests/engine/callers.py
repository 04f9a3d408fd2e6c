"""Work of separate processes in tests.

The processes come from a fork server that has imported this module.
"""

import multiprocessing
from multiprocessing.context import ForkServerContext
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from uuid import UUID

from signet.core.errors import Rejected, SignetError
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.cache import CompiledCache, ContractCache
from signet.engine.documents.commands import Operation, Update
from signet.engine.documents.mutate import Documents
from signet.engine.documents.rules import RuleBook
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.worker import Worker
from signet.store.database import Database, PoolSettings
from tests.draining import drain

BARRIER_SECONDS = 60
# The number of writes and of conflicts of one writer.
Report = tuple[int, int]


def processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def make_caller(tenant_id: UUID, user_id: str) -> Caller:
    return Caller(Principal(tenant_id, user_id, ("admin",)), via="test")


def write_often(documents: Documents, caller: Caller, document_id: UUID, times: int) -> Report:
    """Update until `times` writes went through; after a conflict, go on from the version it named."""
    version, written, conflicts = 1, 0, 0
    while written < times:
        try:
            patch = {"cost_center": f"{caller.principal.subject}-{written}"}
            version = documents.mutate(caller, Update(document_id, version, patch)).version
            written += 1
        except Rejected as error:
            if error.code != "DOCUMENT_VERSION_CONFLICT":
                raise
            current = error.details["current_version"]
            if not isinstance(current, int) or current <= version:
                raise AssertionError(f"a conflict at {version} that names {current}") from error
            version, conflicts = current, conflicts + 1
    return written, conflicts


def write_from_process(
    url: str, tenant_id: UUID, user_id: str, document_id: UUID, times: int, reports: "SimpleQueue[Report]"
) -> None:
    database = Database(url, PoolSettings())
    reports.put(write_often(Documents(database), make_caller(tenant_id, user_id), document_id, times))
    database.close()


def mutate_from_process(url: str, tenant_id: UUID, operations: list[Operation], key: str) -> None:
    """Send mutations; the test kills this process meanwhile."""
    try:
        documents = Documents(Database(url, PoolSettings(wait_seconds=1.0)))
        documents.mutate_many(make_caller(tenant_id, "carl"), operations, idempotency_key=key)
    except SignetError:
        pass


def drain_from_process(url: str, tenant_id: UUID) -> None:
    """Work until nothing is due, without a time limit for waves; the test may kill this process before."""
    database = Database(url, PoolSettings())
    caches = DocumentCaches(ContractCache(), RuleBook())
    drain(Worker(database, caches, CompiledCache(), clock=lambda: 0.0), [tenant_id])
    database.close()


def race_from_process(url: str, tenant_id: UUID, begin: Barrier, reports: "SimpleQueue[int]") -> None:
    """Work beside processes that begin at the same moment; report how many instances were moved."""
    database = Database(url, PoolSettings())
    worker = Worker(database, DocumentCaches(ContractCache(), RuleBook()), CompiledCache())
    with database.transaction(tenant_id):
        pass  # opens the connection before the race
    begin.wait(BARRIER_SECONDS)
    reports.put(drain(worker, [tenant_id]).instances)
    database.close()
