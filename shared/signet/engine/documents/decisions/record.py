"""The record of what people have decided about one document, and of what was erased since."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from signet.core.approvals.decided_way import StatusRun, find_decision
from signet.core.approvals.given_decision import GivenDecision
from signet.store.approvals.decided_ways import list_status_runs
from signet.store.approvals.given_decisions import list_given_decisions
from signet.store.database import Connection
from signet.store.documents.personal_values import list_erased_since


@dataclass(eq=False)
class DocumentDecisions:
    """The record of a document as it is stored. It reads each part once, so it serves one answer."""

    connection: Connection
    tenant_id: UUID
    document_id: UUID

    @cached_property
    def runs(self) -> Sequence[StatusRun]:
        """Return the statuses that the document had, in order."""
        found = list_status_runs(self.connection, self.tenant_id, [self.document_id])
        return found.get(self.document_id, ())

    @cached_property
    def given(self) -> Sequence[GivenDecision]:
        """Return what people have decided about the document, and about what an action made it of."""
        found = list_given_decisions(self.connection, self.tenant_id, [self.document_id])
        return found.get(self.document_id, ())

    @property
    def comes_of_approved(self) -> bool:
        """Return whether an action made the document of one about which people had decided."""
        return any(decision.origin_id is not None for decision in self.given)

    def find_decision(self) -> int | None:
        """Find from which version on acts count for one decision; None where nobody has decided."""
        since = find_decision(self.runs)
        return 0 if since is None and self.comes_of_approved else since

    def find_erased_since(
        self, fields: Collection[str], find_decided: Callable[[], int | None]
    ) -> frozenset[str]:
        """Find which of these fields were erased since people decided about the document or its origin."""
        document = self.connection, self.tenant_id, self.document_id
        if not list_erased_since(*document, fields, 1):
            return frozenset()
        since = find_decided()
        if since is None and not self.comes_of_approved:
            return frozenset()
        return list_erased_since(*document, fields, since or 1)
