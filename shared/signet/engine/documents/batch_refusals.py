"""The refusals of a batch of which all or nothing is done."""

from collections.abc import Sequence

from signet.engine.documents.actions import ChangeOrRefusal
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.commands import Outcome, Refused


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
