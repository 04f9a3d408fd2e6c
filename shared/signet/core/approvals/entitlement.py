"""Entitlement to vote: the permissions that voters need, and the one check of votes on a stage.

The permission of an automatic transition, with its condition, belongs to each voter whose vote leads there:
only the system passes its gate. The permission of a requested one belongs to its requester. A policy may name
one more for its voters.

A vote is refused by the check. The inbox, the view of a request and explanations ask it too, so that people
read what they would be answered.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from signet.core.approvals.barring_changes import VoteBasis, find_barring_change
from signet.core.approvals.eligibility import (
    Allowed,
    AuthoredDocument,
    ConflictCheck,
    Delegation,
    PeopleBehind,
    Seat,
    VotingContext,
    can_anyone_vote,
    choose_seat,
    find_people_behind,
    separation_conflict,
)
from signet.core.approvals.pins import Pins, list_changed_by, read_pinned
from signet.core.approvals.policy import (
    Policy,
    Stage,
    list_asked_roles,
    policy_of_chain,
    policy_of_node,
)
from signet.core.approvals.seats.foreign_seats import comes_by_line, find_foreign_seat, is_handed
from signet.core.approvals.votes import count_votes
from signet.core.compiler.node_configurations import Vote
from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.expressions import Compiled, Environment, list_variables
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.eligibility_changes import EligibilityChange
from signet.core.tenants.permissions import grants
from signet.core.tenants.responsible import ResponsiblePersons

NO_LONGER_VALID, UNPROVEN = "VOTE_NO_LONGER_VALID", "APPROVAL_UNPROVEN"
MakeEnvironment = Callable[[str], Environment]
# Makes the environment of a condition on a voter, with these roles.
MakeVoterEnvironment = Callable[[str, Collection[str]], Environment]


def list_voter_permissions(workflow: Workflow, node_id: str, policy: Policy) -> tuple[str, ...]:
    """List what voters of an approval node need: of the automatic gate behind it, and of its policy."""
    gate = workflow.exit_gate_of(node_id)
    is_automatic = gate is not None and gate.config["kind"] == "automatic"
    of_gate = (gate.config["permission"],) if gate is not None and is_automatic else ()
    of_policy = (policy.permission,) if policy.permission is not None else ()
    return tuple(dict.fromkeys((*of_gate, *of_policy)))


class WrittenRequest(Protocol):
    """A request as its row says that a node asks it. Worker processes write such rows."""

    @property
    def node_id(self) -> str: ...

    @property
    def chain_name(self) -> str | None: ...

    @property
    def voter_permissions(self) -> Sequence[str] | None: ...

    # What else is on record: the node of its step, that version of its chain, and a request of the same node.
    @property
    def origin(self) -> Mapping[str, Any] | None: ...


def find_foreign_request(request: WrittenRequest, policy: Policy, workflow: Workflow | None) -> str | None:
    """Return why the definition of its instance, if it ever ran it, does not ask such a request."""
    origin, node_id = request.origin or {}, request.node_id
    if workflow is None:
        return "the instance has never run the definition that is said to ask"
    node = workflow.nodes.get(node_id)
    if node is None or node.type.name != "approval":
        return f"the definition asks nobody at {node_id}"
    if origin.get("step_node_id") != node_id:
        return f"no step of the instance asks at {node_id}"
    chain = node.config["chain"]
    asked = policy_of_node(node.config) if chain is None else _read_chain(origin.get("chain"))
    if chain != request.chain_name or policy != asked:
        return f"{node_id} asks by another policy"
    if set(request.voter_permissions or ()) != set(list_voter_permissions(workflow, node_id, policy)):
        return f"{node_id} wants other permissions of its voters"
    return f"{node_id} is asked twice at once" if origin.get("is_double") else None


def _read_chain(chain: Mapping[str, Any] | None) -> Policy | None:
    """Read the policy of a chain; None where that version was never published."""
    if chain is None:
        return None
    terms = {"same_person": chain["same_person"], "permission": chain["permission"]}
    return policy_of_chain(chain["steps"], **terms)[0]


def has_without_condition(
    contract: CompiledContract, needed: Sequence[str], permissions: Collection[str]
) -> bool:
    """Return whether these permissions entitle to vote, and no condition may still refuse it."""
    return all(
        permission not in contract.conditions and grants(permissions, permission) for permission in needed
    )


@dataclass(frozen=True, slots=True)
class Entitlement:
    """The permissions that voters need, and those that each person has by the member tables."""

    contract: CompiledContract
    needed: Sequence[str]
    # By person, for active members only.
    permissions: Mapping[str, Sequence[str]]
    # Makes the environment of a condition, with the person as actor.
    make_env: MakeEnvironment

    def find_denial(self, person: str) -> Denial | None:
        """Return why the person may not vote from any seat."""
        held = self.permissions.get(person, ())
        for permission in self.needed:
            # The environment is made only where a condition reads it.
            env = self.make_env(person) if permission in self.contract.conditions else {}
            denial = self.contract.authorize(permission, held, env)
            if denial is not None:
                return denial
        return None


def _reads_roles(condition: Compiled) -> bool:
    """Return whether a condition reads the roles of the actor, or the actor as a whole."""
    paths = (name.path for name in list_variables(condition.expression))
    return any(path[0] == "actor" and path[1:2] != ("user_id",) for path in paths)


def check_all(*checks: ConflictCheck) -> ConflictCheck:
    """Return the check that gives the first denial of these."""

    def find_denial(person: str) -> Denial | None:
        denials = (check(person) for check in checks)
        return next((denial for denial in denials if denial is not None), None)

    return find_denial


class Voter(Protocol):
    """A person as of now: their roles, and what these permit."""

    @property
    def roles(self) -> Collection[str]: ...

    @property
    def permissions(self) -> Sequence[str]: ...


class VotedDocument(AuthoredDocument, Protocol):
    """The document that is voted on."""

    @property
    def entity_type(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCheck:
    """Everything that decides who may vote on one stage, as of one moment."""

    contract: CompiledContract
    document: VotedDocument
    # The persons behind the request, and the moment since which grants may bar a vote.
    requesters: ResponsiblePersons
    asked_since: datetime
    pins: Pins
    # The permissions that voters need beside a seat.
    needed_permissions: Sequence[str]
    # Those whose approval counts already in another stage, or in another approval that the same gate uses.
    approved_elsewhere: Collection[str]
    stage: Stage
    seats: Sequence[Seat]
    now: datetime
    make_env: MakeVoterEnvironment
    # Of the active members that matter here: their roles now, and what these permit. `with_people` adds them.
    roles: Mapping[str, Collection[str]] = field(default_factory=dict)
    permissions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    delegations: Sequence[Delegation] = ()
    # Changes of eligibility that may bar a vote.
    changes: Sequence[EligibilityChange] = ()

    def with_people(
        self,
        people: Mapping[str, Voter],
        delegations: Sequence[Delegation] = (),
        changes: Sequence[EligibilityChange] = (),
    ) -> "VoteCheck":
        """Return the check with these people in it, and with what they gave each other."""
        return replace(
            self,
            roles={user_id: person.roles for user_id, person in people.items()},
            permissions={user_id: person.permissions for user_id, person in people.items()},
            delegations=delegations,
            changes=changes,
        )

    def choose(self, person: str, vote: Vote = "approved") -> Allowed | Denial:
        """Return the seat that the person would fill by this vote, or the reason for none."""
        # A decided stage is closed, although the wave has yet to begin the next one or to escalate.
        is_open = not count_votes(self.stage, self.seats).is_decided
        context = self.make_context()
        foreign = self._find_foreign_seats(context)
        drawn = [seat for seat in self.seats if seat.position not in foreign]
        chosen = choose_seat(person, drawn, context, vote=vote, is_open=is_open)
        if isinstance(chosen, Allowed) or not foreign:
            return chosen
        beyond = choose_seat(person, self.seats, context, vote=vote, is_open=is_open)
        return Denial(UNPROVEN, foreign[beyond.position]) if isinstance(beyond, Allowed) else chosen

    def _find_foreign_seats(self, context: VotingContext) -> Mapping[int, str]:
        """Find the open seats that the workflow has not drawn, or not yet, with the reason."""
        resolved = [seat for seat in self.seats if seat.origin == "resolved"]
        found = {}
        for seat in (seat for seat in self.seats if seat.status == "open"):
            nobody_else = seat.origin == "escalated" and not can_anyone_vote(resolved, context)
            reason = find_foreign_seat(self.stage, self.seats, seat, nobody_else=nobody_else)
            if reason is not None:
                found[seat.position] = reason
        return found

    def find_lapse(
        self,
        voter: str,
        represented: str | None,
        seat: Seat | None,
        delegation: Delegation | None = None,
    ) -> Denial | None:
        """Return why a vote that counted may not be used any more: a gate asks this, and explanations.

        To take a role from others after the vote helps it in nothing, and before the vote it was refused.
        """
        voices = (voter,) if represented is None else (voter, represented)
        gone = next((voice for voice in voices if voice not in self.roles), None)
        if gone is not None:
            return Denial(NO_LONGER_VALID, f"{gone} is no active member any more")
        needed_role = seat.needed_role if seat is not None else None
        if needed_role is not None and needed_role not in self.roles[voices[-1]]:
            return Denial(NO_LONGER_VALID, f"{voices[-1]} does not hold the role '{needed_role}' any more")
        denials = (self._find_conflict_of(voice) for voice in voices)
        first = next((denial for denial in denials if denial is not None), None)
        basis = self._make_basis(voter, represented, seat)
        basis = replace(basis, judges_takings=False, delegation=delegation)
        return first or find_barring_change(basis, self.changes)

    def _find_conflict_of(self, person: str) -> Denial | None:
        """Return what keeps the person from any seat, in a sentence that names them."""
        denial = self.make_conflict_check()(person)
        if denial is not None:
            return denial
        lacking = self._make_entitlement().find_denial(person)
        return None if lacking is None else replace(lacking, sentence=f"{person} {lacking.sentence}")

    def _make_entitlement(self) -> Entitlement:
        return Entitlement(self.contract, self.needed_permissions, self.permissions, self._make_env_of_member)

    def make_context(self) -> VotingContext:
        entitlement = self._make_entitlement()
        return VotingContext(
            entity_type=self.document.entity_type,
            now=self.now,
            roles=self.roles,
            delegations=self.delegations,
            find_conflict=check_all(self.make_conflict_check(), entitlement.find_denial),
            approved_elsewhere=self.approved_elsewhere,
            find_barring_grant=self._find_barring_grant if self.changes or self.delegations else None,
        )

    def make_conflict_check(self) -> ConflictCheck:
        """Return the check of separation of duties alone. It names what a person has changed elsewhere."""
        find_conflict = separation_conflict(self.contract, self.find_people_behind())
        of_document = find_people_behind(self.document, self.requesters, None)
        find_own = separation_conflict(self.contract, of_document)

        def find_named(person: str) -> Denial | None:
            denial = find_conflict(person)
            if denial is None or find_own(person) is not None:
                return denial
            read = ", ".join(list_changed_by(self.pins, person))
            sentence = f"{person} stands behind what this document reads of others ({read})"
            return replace(denial, sentence=f"{sentence} and may not decide about it")

        return find_named

    def find_people_behind(self) -> PeopleBehind:
        return find_people_behind(self.document, self.requesters, self.pins)

    def make_voter_env(self, person: str, roles: Collection[str]) -> Environment:
        """Make the environment of a condition on a voter: they see other documents as they were pinned."""
        return {**self.make_env(person, roles), "refs": read_pinned(self.pins)}

    def _make_env_of_member(self, person: str) -> Environment:
        return self.make_voter_env(person, self.roles.get(person, ()))

    def _find_barring_grant(self, voter: str, delegation: Delegation | None, seat: Seat) -> Denial | None:
        """Return why the vote rests on what its own people granted or took since it was asked for."""
        basis = self._make_basis(voter, delegation.user_id if delegation is not None else None, seat)
        return find_barring_change(replace(basis, delegation=delegation), self.changes)

    def find_bar(self, person: str, roles: Collection[str]) -> Denial | None:
        """Return the change that would bar the vote of a person who is given these roles."""
        basis = self._make_basis(person, None, None)
        return find_barring_change(replace(basis, roles={person: roles}), self.changes)

    def _make_basis(self, voter: str, represented: str | None, seat: Seat | None) -> VoteBasis:
        """Make what a vote from this seat rests on. Without one it is any that is asked by a role."""
        voices = {voter, represented or voter}
        asked_roles = list_asked_roles(self.stage, self.seats)
        is_by_line = seat is not None and comes_by_line(self.stage, seat)
        seat_roles = asked_roles if seat is None else (seat.holder_role, seat.needed_role)
        return VoteBasis(
            voter=voter,
            represented=represented,
            roles={voice: self.roles.get(voice, ()) for voice in voices},
            own_seat_roles=[role for role in seat_roles if role is not None],
            is_by_line=is_by_line,
            is_seated=seat is not None and is_handed(seat),
            holder_ids={seat.holder_user_id for seat in self.seats if seat.holder_user_id is not None},
            seat_roles=asked_roles,
            line_holders={
                each.holder_user_id
                for each in self.seats
                if each.holder_user_id is not None and each.lines is None and comes_by_line(self.stage, each)
            },
            own_lines=(seat.lines or ()) if seat is not None and is_by_line else (),
            lines={line for each in self.seats for line in each.lines or ()},
            responsible=self.find_people_behind().everyone,
            needed_permissions=self.needed_permissions,
            reads_roles=any(
                _reads_roles(self.contract.conditions[permission])
                for permission in self.needed_permissions
                if permission in self.contract.conditions
            ),
            asked_since=self.asked_since,
        )
