"""The originals of amendments in one transaction: those that are amended now, and those that end.

They are read only where a decision depends on them, and locked only when an amendment settles.
"""

from collections.abc import Callable, Iterable
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.amendments import ORIGINAL_MOVED_ON, OriginalState, find_movement, settles
from signet.core.errors import Rejected, Transient
from signet.engine.documents.amendments import describe_amendment, end_original, may_meet_amendment
from signet.engine.documents.business_keys import find_lost_key, list_business_keys
from signet.engine.documents.change import DocumentChange, MutationContext
from signet.engine.documents.commands import ConcludeTransition, Create, Operation
from signet.engine.documents.references import FindContract
from signet.store.database import Connection
from signet.store.documents.amendments import (
    AmendmentRow,
    find_amendment,
    hold_original,
    list_foreign_keys,
    list_open_amendments,
)
from signet.store.documents.write import DocumentRow, lock_documents

# Makes the context of a decision about a locked document.
MakeContext = Callable[[DocumentRow], MutationContext]


class Originals:
    """The amendments that a transaction meets; `rows` are its documents, which the locked originals join."""

    def __init__(self, connection: Connection, tenant_id: UUID, rows: dict[UUID, DocumentRow]) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._rows = rows
        self._open: dict[UUID, UUID] = {}
        self._amendments: dict[UUID, AmendmentRow | None] = {}
        # The originals that were locked for their amendments.
        self._locked: set[UUID] = set()

    def read_open(self, operations: Iterable[Operation], find_contract: FindContract) -> None:
        """Read which documents are amended, where an answer depends on it; for most operations nothing."""
        ids = {
            row.id
            for operation in operations
            if not isinstance(operation, Create | ConcludeTransition)
            if (row := self._rows.get(operation.id)) is not None
            if (contract := find_contract(operation, row)) is not None
            if may_meet_amendment(operation, contract.contract, row)
        }
        if ids:
            self._open |= list_open_amendments(self._connection, self._tenant_id, ids)

    def open_of(self, document_id: UUID) -> UUID | None:
        return self._open.get(document_id)

    def hold(self, contract: CompiledContract, row: DocumentRow, to: str | None) -> bool:
        """Lock the original that the document replaces in this status, if there is one.

        Return False where another transaction holds it, or where this wave moves it: then a later one tries.
        """
        amendment = self._find_settling(contract, row, to)
        if amendment is None or amendment.original_id in self._locked:
            return True
        original_id = amendment.original_id
        if original_id in self._rows or not hold_original(self._connection, self._tenant_id, original_id):
            return False
        self._rows |= lock_documents(self._connection, [original_id], ()).rows
        self._locked.add(original_id)
        return True

    def replace(
        self,
        operation: Operation,
        context: MutationContext,
        change: DocumentChange,
        make_context: MakeContext,
    ) -> Rejected | None:
        """Let an amendment that settles take the place of its original; refuse it where that moved on."""
        if not isinstance(operation, ConcludeTransition) or context.row is None:
            return None
        amendment = self._find_settling(context.contract, context.row, operation.to)
        if amendment is None:
            return None
        if not self.hold(context.contract, context.row, operation.to):
            raise Transient("DATABASE_CONTENDED", "another transaction holds the original of the amendment")
        of_original = make_context(self._rows[amendment.original_id])
        return _refuse_moved(amendment, of_original) or self._end(operation, of_original, context, change)

    def _end(
        self,
        operation: ConcludeTransition,
        of_original: MutationContext,
        context: MutationContext,
        change: DocumentChange,
    ) -> Rejected | None:
        original = of_original.row
        if original is None:
            return None
        detail = describe_amendment(of_original, change.document_id, context.data)
        change.further.append(end_original(of_original, original, detail, operation.reason))
        change.replaces = original
        _, wanted = list_business_keys([change])
        lost = list_foreign_keys(self._connection, self._tenant_id, wanted) if wanted else {}
        return find_lost_key(change, lost)

    def _find_settling(
        self, contract: CompiledContract, row: DocumentRow, to: str | None
    ) -> AmendmentRow | None:
        """Find the amendment that settles in this status for the first time. Most documents are none."""
        if row.amended_from_id is None or to is None or not settles(contract.contract, to):
            return None
        if row.id not in self._amendments:
            self._amendments[row.id] = find_amendment(self._connection, self._tenant_id, row.id)
        amendment = self._amendments[row.id]
        return None if amendment is None or amendment.closing == "settled" else amendment


def _refuse_moved(amendment: AmendmentRow, of_original: MutationContext) -> Rejected | None:
    """Refuse that an amendment replaces an original that is not what the amendment was made of."""
    original = of_original.row
    if original is None:
        return None
    made_of = OriginalState(amendment.original_version, amendment.original_status)
    is_deleted = original.deleted_at is not None
    now = OriginalState(original.version, original.status, is_deleted, amendment.has_other)
    movement = find_movement(of_original.contract.contract, made_of, now)
    return None if movement is None else Rejected(ORIGINAL_MOVED_ON, movement)
