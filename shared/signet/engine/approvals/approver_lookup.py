"""Lookups of approvers: their policy, what makes seats of them, and people who can still vote.

Delegates are not looked up: a delegate can vote only where the delegator can.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from signet.core.approvals.barring_changes import MAX_CHANGES
from signet.core.approvals.eligibility import (
    Seat,
    can_anyone_vote,
    list_counted,
    list_open_holders,
    separation_conflict,
)
from signet.core.approvals.entitlement import VoteCheck
from signet.core.approvals.policy import (
    Policy,
    Stage,
    list_asked_roles,
    policy_of_chain,
    policy_of_node,
)
from signet.core.approvals.seats.assignment import (
    MAX_SEATS,
    ApproverData,
    ApproverQueries,
    list_named_people,
    list_needs,
)
from signet.core.approvals.seats.bench import Bench, find_bench
from signet.core.compiler.node_configurations import Approver
from signet.core.errors import Defect
from signet.core.expressions import (
    Compiled,
    Environment,
    ExpressionError,
    compile_expression,
    parse_expression,
)
from signet.core.runtime.workflow import WorkflowNode
from signet.core.tenants.eligibility_changes import EligibilityChange
from signet.engine.approvals.subject import ApprovalSubject
from signet.store.approvals.requests import (
    ApprovalRows,
    CandidateRow,
    find_first_asked,
    read_candidates,
    read_managers,
    read_members,
    read_published_chain,
    read_turns,
)
from signet.store.database import Connection
from signet.store.tenants.eligibility import read_eligibility_changes

MAX_LEVELS = 10
MAX_EXPRESSIONS = 1_000
# Of a role so many members are looked at to find one who may vote.
MAX_CANDIDATES = 1_000


def read_policy(
    connection: Connection, tenant_id: UUID, node: WorkflowNode
) -> tuple[Policy | None, str | None, int | None]:
    """Read the policy of a node, with its chain's name and version.

    The policy is None when the chain is not published or can no longer be read.
    """
    name = node.config["chain"]
    if name is None:
        return policy_of_node(node.config), None, None
    chain = read_published_chain(connection, tenant_id, name)
    if chain is None:
        return None, name, None
    policy, _ = policy_of_chain(chain.steps, same_person=chain.same_person, permission=chain.permission)
    return policy, name, chain.version


def evaluate_texts(needs: ApproverQueries, env: Environment) -> dict[str, Any]:
    """Return the value of each expression that names approvers, by its text."""
    return {text: _compile_text(text).value(env) for text in needs.expressions}


def read_managers_of(
    connection: Connection, tenant_id: UUID, values: Mapping[str, Any], needs: ApproverQueries
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Read the managers of the people that expressions name, and the owners whose line a key has."""
    people = {value for text in needs.managers_of if isinstance(value := values[text], str)}
    return read_managers(connection, tenant_id, people, MAX_LEVELS) if people else ({}, {})


def list_people_of(values: Mapping[str, Any], needs: ApproverQueries) -> list[str]:
    """List the people whose roles make seats of theirs. Of more people than these no seats are made."""
    named = (person for text in needs.filtered for person in list_named_people(values[text]))
    return list(dict.fromkeys(person for person in named if isinstance(person, str)))[: MAX_SEATS + 1]


def read_roles_of(
    connection: Connection, tenant_id: UUID, people: Sequence[str]
) -> dict[str, Collection[str]]:
    """Read the roles of these people, as far as they are active members."""
    if not people:
        return {}
    found = read_candidates(connection, tenant_id, people, (), at_most=0)
    return {person: row.roles for person, row in found.items()}


class ApproverLookup:
    """The lookups of one wave; it takes turns in memory, which are written with the wave's approvals."""

    def __init__(
        self, connection: Connection, tenant_id: UUID, rows: ApprovalRows, lock_roles: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._rows = rows
        self._lock_roles = lock_roles
        # By document and role: the turn, and whether the document had taken it before this wave.
        self._turns: dict[tuple[UUID, str], tuple[int, bool]] = {}

    def gather(self, about: ApprovalSubject, approvers: Sequence[Approver]) -> ApproverData:
        """Gather everything that makes seats of the approvers."""
        needs = list_needs(approvers)
        values = evaluate_texts(needs, about.env)
        managers, owners = read_managers_of(self._connection, self._tenant_id, values, needs)
        members: dict[str, Collection[str]] = {}
        turns: dict[str, int] = {}
        barred: set[str] = set()
        if needs.turns:
            self._lock_roles()
            members = {role: read_members(self._connection, self._tenant_id, role) for role in needs.turns}
            find_conflict = separation_conflict(about.contract, about.find_people_behind())
            barred = {p for people in members.values() for p in people if find_conflict(p) is not None}
            turns = self._read_turns(about.document.id, needs.turns)
        named = list_people_of(values, needs)
        if named:
            self._lock_roles()
        roles = read_roles_of(self._connection, self._tenant_id, named)
        return ApproverData(values, managers, members, turns, roles, barred, owners)

    def take_turns(self, about: ApprovalSubject, approvers: Sequence[Approver]) -> None:
        """Count the turns of roles that the document asks for the first time."""
        for role in list_needs(approvers).turns:
            turn, is_own = self._turns[about.document.id, role]
            if is_own:
                continue
            self._turns[about.document.id, role] = turn, True
            self._rows.turns[role] = self._rows.turns.get(role, 0) + 1
            taken = {"document_id": about.document.id, "role": role, "turn": turn}
            self._rows.document_turns.append(taken)

    def _read_turns(self, document_id: UUID, roles: Sequence[str]) -> dict[str, int]:
        unread = [role for role in roles if not self._turns.get((document_id, role), (0, False))[1]]
        read = read_turns(self._connection, self._tenant_id, document_id, unread) if unread else {}
        for role, (turn, is_own) in read.items():
            taken_by_others = 0 if is_own else self._rows.turns.get(role, 0)
            self._turns[document_id, role] = turn + taken_by_others, is_own
        return {role: self._turns[document_id, role][0] for role in roles}


@lru_cache(maxsize=MAX_EXPRESSIONS)
def _compile_text(text: str) -> Compiled:
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        raise Defect("APPROVAL_EXPRESSION_UNREADABLE", f"a published policy holds '{text}'")
    return compile_expression(parsed)


def can_anyone_vote_now(
    connection: Connection,
    tenant_id: UUID,
    about: ApprovalSubject,
    stage: Stage,
    seats: Sequence[Seat],
    now: datetime,
) -> bool:
    """Return if anyone can vote; the caller holds the roles."""
    users, roles = list_open_holders(seats)
    document_id = about.document.id
    # A permission or its condition may rule out any holder of a role: then as many are asked as can be.
    enough = max(MAX_CANDIDATES if about.voter_permissions else 1, 1 + _count_excluded(about, seats))
    people = read_candidates(connection, tenant_id, users, roles, at_most=enough, document_id=document_id)
    since = next((person.changed_since for person in people.values()), None)
    changes: Sequence[EligibilityChange] = ()
    if since is not None:
        # So may changes of eligibility, which are rare.
        people = read_candidates(connection, tenant_id, users, roles, at_most=MAX_CANDIDATES)
        changes = _read_changes(connection, tenant_id, about, stage, seats, people, since)
    if len(changes) > MAX_CHANGES:
        changes = ()  # the stage waits for votes, and each of them finds its own
    check = _make_check(about, stage, seats, since or now, now).with_people(people, changes=changes)
    return can_anyone_vote(seats, check.make_context())


def is_bench_cleared(
    connection: Connection,
    tenant_id: UUID,
    about: ApprovalSubject,
    stage: Stage,
    seats: Sequence[Seat],
    now: datetime,
) -> bool:
    """Return if a person of the document took a vote from those who are asked; the caller holds the roles."""
    since = find_first_asked(connection, about.document.id)
    if since is None:
        return False
    changes = _read_changes(connection, tenant_id, about, stage, seats, {}, since)
    check = _make_check(about, stage, seats, since, now).with_people({}, changes=changes)
    return check.find_bar("", ()) is not None  # it bars everybody


def _make_check(
    about: ApprovalSubject, stage: Stage, seats: Sequence[Seat], since: datetime, now: datetime
) -> VoteCheck:
    return VoteCheck(
        contract=about.contract,
        document=about.document,
        requesters=about.requesters,
        asked_since=since,
        pins=about.pins,
        needed_permissions=about.voter_permissions,
        approved_elsewhere=about.approved_elsewhere,
        stage=stage,
        seats=seats,
        now=now,
        make_env=about.make_voter_env,
    )


def _read_changes(
    connection: Connection,
    tenant_id: UUID,
    about: ApprovalSubject,
    stage: Stage,
    seats: Sequence[Seat],
    people: Mapping[str, CandidateRow],
    since: datetime,
) -> Sequence[EligibilityChange]:
    """Read what may bar these people: what was given to them, and what was taken from those who are asked.

    Nobody gives eligibility to themselves, so that of what they were given only the document's people matter.
    """
    behind = about.find_people_behind().everyone
    own_roles = {role for person in people.values() for role in person.roles}
    asked_roles = list_asked_roles(stage, seats)
    bench = find_bench(about.contract, about.voter_permissions, seats, asked_roles)
    given = read_eligibility_changes(
        connection,
        tenant_id,
        since=since,
        user_ids=people,
        roles=(),
        concerned=behind,
        bench=Bench(needed=bench.needed),
    )
    taken = read_eligibility_changes(
        connection,
        tenant_id,
        since=since,
        user_ids=bench.holder_ids,
        roles=asked_roles | own_roles,
        concerned=behind.union(people),
        bench=bench,
    )
    return [*given, *taken]


def _count_excluded(about: ApprovalSubject, seats: Sequence[Seat]) -> int:
    """Return at most how many people are barred, or are counted already: in the stage, or beside it."""
    behind = about.find_people_behind().everyone
    return len(behind | list_counted(seats) | frozenset(about.approved_elsewhere))
