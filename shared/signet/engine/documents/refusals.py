"""Refusals of whole operations: of what is unknown, and of all when one of them is refused."""

from collections.abc import Sequence

from signet.core.errors import Rejected
from signet.engine.documents.actions import ChangeOrRefusal
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.commands import ConcludeTransition, Create, Operation, Outcome, Refused


def find_refused(decided: Sequence[ChangeOrRefusal]) -> Refused | None:
    return next((refused for refused in decided if not isinstance(refused, DocumentChange)), None)


def refuse_all(decided: Sequence[ChangeOrRefusal], first: Refused) -> list[Outcome]:
    """Refuse the changes that could have been done, and name the refusal that prevents them."""
    return [
        type(first)(first.code, f"not done: {first.message}")
        if isinstance(change, DocumentChange)
        else change
        for change in decided
    ]


def refuse_unknown(operation: Operation) -> Rejected:
    if isinstance(operation, Create):
        return Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{operation.entity_type}'")
    return Rejected("DOCUMENT_NOT_FOUND", f"there is no document {operation.id}")


def is_refusal(operation: Operation, change: DocumentChange) -> bool:
    """Return whether a request ends without a change of its document: no rule can be against that."""
    is_refused = isinstance(operation, ConcludeTransition) and operation.request_status == "refused"
    return is_refused and not change.writes_document
