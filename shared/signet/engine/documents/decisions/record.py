"""The record of what people have decided about one document, and of what was erased since."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from signet.core.approvals.barring_changes import VoteBasis
from signet.core.approvals.decided_way import DecidedWay, StatusRun, find_decision, read_way
from signet.core.approvals.given_decision import GivenDecision
from signet.core.approvals.seats.bench import Bench
from signet.core.tenants.eligibility_changes import EligibilityChange
from signet.store.approvals.decided_ways import list_status_runs
from signet.store.approvals.given_decisions import list_given_decisions
from signet.store.database import Connection
from signet.store.documents.personal_values import list_erased_since, list_erased_since_asked
from signet.store.tenants.eligibility import read_eligibility_changes


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

    @property
    def decided_way(self) -> DecidedWay:
        """Return where people have decided on the way of the document, by the record alone."""
        return read_way(self.runs, lambda status: False)

    def read_changes(self, basis: VoteBasis) -> Sequence[EligibilityChange]:
        """Read what may bar a request that decides: what the document's people have given to the person."""
        return read_eligibility_changes(
            self.connection,
            self.tenant_id,
            since=basis.asked_since,
            user_ids=[basis.voter],
            roles=basis.roles[basis.voter],
            concerned=basis.concerned,
            bench=Bench(needed=basis.needed_permissions),
        )

    def find_erased_since(
        self, fields: Collection[str], find_way: Callable[[], DecidedWay]
    ) -> frozenset[str]:
        """Find which of these fields were erased since people decided about the document or its origin.

        Where they have not decided, since they were first asked about it in its status.
        """
        document = self.connection, self.tenant_id, self.document_id
        if not list_erased_since(*document, fields, 1):
            return frozenset()
        way = find_way()
        if way.is_decided or self.comes_of_approved:
            return list_erased_since(*document, fields, way.decided_since or 1)
        return list_erased_since_asked(*document, fields, way.in_status_since)
