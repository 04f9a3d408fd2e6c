"""Documents locked and read as a wave does it, then changed by the steps of workflows."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

from signet.core.tenants.caller import Caller
from signet.engine.documents.unit_of_work import DocumentUnitOfWork
from signet.store.documents.write import lock_documents
from tests.engine.conftest import Company


@contextmanager
def opened(company: Company, *ids: UUID) -> Iterator[DocumentUnitOfWork]:
    """Open the documents; write their changes at the end of the block."""
    tenant_id = company.tenant_id
    with company.database.transaction(tenant_id) as connection:
        locked = lock_documents(connection, sorted(ids), ["admin"])
        documents = DocumentUnitOfWork(
            company.documents.caches, connection, tenant_id, locked.transaction, locked.rows
        )
        yield documents
        documents.write()


def caller_of_step(company: Company, instance_id: UUID | None, user_id: str = "carl") -> Caller:
    assert instance_id is not None
    return Caller(company.principal(user_id), "workflow", "00-test", instance_id, uuid4())
