"""The subject of an approval, and the draft of its new request."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.core.approvals.eligibility import PeopleBehind, Seat, find_people_behind
from signet.core.approvals.pins import Pins
from signet.core.approvals.policy import Policy
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.expressions import Environment
from signet.core.tenants.responsible import ResponsiblePersons
from signet.store.documents.write import DocumentRow


@dataclass(frozen=True, slots=True)
class RequestDraft:
    """The policy and seats of a new request, resolved before its step has a receipt."""

    policy: Policy
    chain_name: str | None
    chain_version: int | None
    seats: Sequence[Seat]


@dataclass(frozen=True, slots=True)
class ApprovalSubject:
    """The document that is decided about, and the definition and contract it runs under."""

    instance_id: UUID
    document: DocumentRow
    contract: CompiledContract
    env: Environment
    definition_hash: str
    # The person whose request led here, and those behind them; then with all who asked for the same as well.
    requester_id: str
    responsible: ResponsiblePersons
    requesters: ResponsiblePersons
    trace_id: str | None
    # What the way of the document reads of others.
    pins: Pins
    node_id: str
    # The permissions that voters need beside a seat, and those whose approval the same gate uses already.
    voter_permissions: Sequence[str]
    approved_elsewhere: Collection[str]
    # Makes the environment of a condition on a voter, with these roles.
    make_voter_env: Callable[[str, Collection[str]], Environment]

    def find_people_behind(self) -> PeopleBehind:
        return find_people_behind(self.document, self.requesters, self.pins)
