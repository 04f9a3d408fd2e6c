"""Tenants with the benchmark's workflow, and documents that wait for it."""

from collections.abc import Sequence

from bench.company import install_author
from bench.engine.workflow import ENTITY_TYPE, make_data, read_contract_file, read_patch_file
from signet.core.tenants.caller import Caller
from signet.engine.definitions.definitions import Definitions
from signet.engine.documents.commands import Create, Operation
from signet.engine.documents.mutate import Documents
from signet.store.database import Database

BATCH = 500


class BenchCompany:
    """A maker of tenants and documents that gives each number once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._definitions = Definitions(database)
        self._documents = Documents(database)
        self._tenants = 0
        self._numbers = 0

    def install_tenants(self, count: int) -> list[Caller]:
        contract, patch = read_contract_file(), read_patch_file()
        authors = []
        for _ in range(count):
            self._tenants += 1
            caller = install_author(self._database, self._tenants)
            self._definitions.create_contract(caller, contract)
            self._definitions.publish_contract(caller, ENTITY_TYPE, 1)
            self._definitions.publish(caller, self._definitions.create(caller, "org_patch", patch).id)
            authors.append(caller)
        return authors

    def create_documents(self, callers: Sequence[Caller], count: int) -> None:
        """Create so many documents in all, the same number for each author."""
        for caller in callers:
            left = count // len(callers)
            while left:
                operations: list[Operation] = []
                for _ in range(min(left, BATCH)):
                    self._numbers += 1
                    operations.append(Create(ENTITY_TYPE, make_data(self._numbers)))
                self._documents.mutate_many(caller, operations)
                left -= len(operations)
