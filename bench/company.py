"""Tenants with a published contract and one-kilobyte documents, on a durable server of the bench's own."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg

from signet.authoring.files import read_document
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import TenantFile
from signet.engine.definitions.definitions import Definitions
from signet.engine.documents.commands import Applied, Create, Operation
from signet.engine.documents.mutate import Documents
from signet.engine.tenants.install import install_tenant
from signet.local.postgres import running_postgres
from signet.store.database import Database, PoolSettings
from signet.store.schema.migrations import migrate_up, read_migrations
from signet.store.schema.server import act_as, create_database, use_database
from signet.wiring.process import MIGRATIONS_FOLDER

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FILLER = "x" * 700


@dataclass(frozen=True)
class BenchTenant:
    tenant_id: UUID
    document_ids: Sequence[UUID]

    def author(self) -> Caller:
        return Caller(Principal(self.tenant_id, "bench", ("admin",)), via="bench")


@contextmanager
def durable_server() -> Iterator[str]:
    """Yield the owner's URL of a migrated database with durable settings."""
    with tempfile.TemporaryDirectory(prefix="signet-bench-") as folder:
        Path(folder).chmod(0o711)
        with running_postgres(Path(folder)) as server:
            create_database(server.url, "bench")
            url = use_database(server.url, "bench")
            migrate_up(url, read_migrations(MIGRATIONS_FOLDER), say=lambda _: None)
            yield url


def let_references_write(admin: psycopg.Connection[tuple[object, ...]]) -> None:
    """Let the references write documents by plain statements; the engine has a function for it."""
    admin.execute("GRANT UPDATE ON documents TO signet_api, signet_worker")


def open_database(url: str, size: int, role: str = "signet_api") -> Database:
    return Database(act_as(url, role), PoolSettings(size=size, idle_count=size))


def install_author(database: Database, number: int) -> Caller:
    """Install a tenant, and return a caller who may do everything in it."""
    tenant = TenantFile.model_validate(
        {
            "tenant_id": UUID(int=(0x7 << 76) | (0b10 << 62) | number),
            "name": f"bench {number}",
            "roles": [{"role": "admin", "permissions": ["*:*"]}],
        }
    )
    install_tenant(database, tenant, COMMAND_LINE)
    return Caller(Principal(tenant.tenant_id, "bench", ("admin",)), via="bench")


def make_tenants(database: Database, document_counts: Sequence[int]) -> list[BenchTenant]:
    """Make one tenant for each count of documents."""
    contract, _ = read_document(EXAMPLES / "invoice" / "contract.yaml")
    definitions, documents = Definitions(database), Documents(database)
    tenants = []
    for number, count in enumerate(document_counts, start=1):
        caller = install_author(database, number)
        definitions.create_contract(caller, contract)
        definitions.publish_contract(caller, "invoice", 1)
        tenants.append(BenchTenant(caller.principal.tenant_id, _create(documents, caller, count)))
    return tenants


def _create(documents: Documents, caller: Caller, count: int) -> list[UUID]:
    ids: list[UUID] = []
    for begin in range(0, count, 500):
        operations: list[Operation] = [
            Create(
                "invoice",
                {
                    "number": f"R-{number}",
                    "vendor_id": "V-1",
                    "invoice_date": "2026-01-01",
                    "grand_total": 1,
                    "lines": [{"description": FILLER[:500], "quantity": 1, "unit_price": 1}],
                },
            )
            for number in range(begin, min(begin + 500, count))
        ]
        outcomes = documents.mutate_many(caller, operations)
        ids += [outcome.document_id for outcome in outcomes if isinstance(outcome, Applied)]
    return ids
