"""Documents opened as a wave opens them: locked and read, then changed by the steps of workflows."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

from signet.engine.documents.commands import Author
from signet.engine.documents.unit_of_work import OpenDocuments
from signet.store.documents.write import lock_and_read, read_locked
from tests.engine.conftest import Company


@contextmanager
def opened(company: Company, *ids: UUID) -> Iterator[OpenDocuments]:
    """What was kept is written at the end of the block."""
    tenant_id = company.tenant_id
    opening = lock_and_read(sorted(ids), ["admin"])
    with company.database.transaction(tenant_id) as connection:
        row = connection.execute(opening.text, opening.values).fetchone()
        rows, setting = read_locked(row)
        assert setting is not None
        documents = OpenDocuments(company.documents.caches, connection, tenant_id, setting, rows)
        yield documents
        documents.write()


def author_of_step(company: Company, instance_id: UUID | None, user_id: str = "carl") -> Author:
    assert instance_id is not None
    return Author(company.principal(user_id), "workflow", "00-test", instance_id, uuid4())
