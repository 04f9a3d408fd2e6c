"""The pins by which documents of one transaction read other documents: what gates have used of them."""

from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from signet.core.approvals.pins import Pins
from signet.core.contracts.compiled_contract import CompiledContract
from signet.engine.documents.commands import Operation, RunAction
from signet.store.database import Connection
from signet.store.documents.write import DocumentRow, read_last_pins

FindContract = Callable[[Operation, DocumentRow], CompiledContract | None]


class PinsInForce:
    """The pins by document. A wave gives those of its instances; for actions of people they are read."""

    def __init__(self, connection: Connection, tenant_id: UUID) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._pins: dict[UUID, Pins] = {}

    def use(self, document_id: UUID, pins: Pins) -> None:
        self._pins[document_id] = pins

    def of(self, document_id: UUID) -> Pins:
        return self._pins.get(document_id, {})

    def read_for(
        self, operations: Iterable[Operation], rows: Mapping[UUID, DocumentRow], find_contract: FindContract
    ) -> None:
        """Read the pins of documents whose actions read other documents, or hand refs on to new ones."""
        types = {
            row.id: row.entity_type
            for operation in operations
            if isinstance(operation, RunAction) and (row := rows.get(operation.id)) is not None
            if _reads_others(find_contract(operation, row), operation.action)
        }
        if types:
            self._pins |= read_last_pins(self._connection, self._tenant_id, types)


def _reads_others(contract: CompiledContract | None, name: str) -> bool:
    action = contract.contract.actions.get(name) if contract is not None else None
    if contract is None or action is None or not contract.has_readable_refs:
        return False
    return action.kind != "update" or bool(contract.refs_of_actions[name])
