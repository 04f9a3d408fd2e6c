"""Lookups that make seats of approvers: values of expressions, managers, members of roles and turns."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import separation_conflict
from signet.core.approvals.seats import MAX_SEATS, ApproverData, list_named_people, list_needs
from signet.core.compiler.node_configurations import Approver
from signet.core.errors import Defect
from signet.core.expressions import Compiled, ExpressionError, compile_expression, parse_expression
from signet.engine.approvals.subject import ApprovalSubject
from signet.store.approvals.requests import (
    ApprovalRows,
    read_candidates,
    read_managers,
    read_members,
    read_turns,
)
from signet.store.database import Connection

MAX_LEVELS = 10
MAX_EXPRESSIONS = 1_000


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
        values = {text: compile_approver_text(text).value(about.env) for text in needs.expressions}
        people = {str(values[text]) for text in needs.managers_of if isinstance(values[text], str)}
        managers = read_managers(self._connection, self._tenant_id, people, MAX_LEVELS) if people else {}
        members: dict[str, Collection[str]] = {}
        turns: dict[str, int] = {}
        barred: set[str] = set()
        if needs.turns:
            self._lock_roles()
            members = {role: read_members(self._connection, self._tenant_id, role) for role in needs.turns}
            find_conflict = separation_conflict(about.contract, about.document, about.requesters, about.pins)
            barred = {p for people in members.values() for p in people if find_conflict(p) is not None}
            turns = self._read_turns(about.document.id, needs.turns)
        named = [values[text] for text in needs.filtered]
        roles = self._read_roles(person for value in named for person in list_named_people(value))
        return ApproverData(values, managers, members, turns, roles, barred)

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

    def _read_roles(self, named: Iterable[Any]) -> dict[str, Collection[str]]:
        """Read the roles of these people, as far as they are active members."""
        # Of more people no seats are made.
        people = list(dict.fromkeys(person for person in named if isinstance(person, str)))[: MAX_SEATS + 1]
        if not people:
            return {}
        self._lock_roles()
        found = read_candidates(self._connection, self._tenant_id, people, (), at_most=0)
        return {person: row.roles for person, row in found.items()}

    def _read_turns(self, document_id: UUID, roles: Sequence[str]) -> dict[str, int]:
        unread = [role for role in roles if not self._turns.get((document_id, role), (0, False))[1]]
        read = read_turns(self._connection, self._tenant_id, document_id, unread) if unread else {}
        for role, (turn, is_own) in read.items():
            taken_by_others = 0 if is_own else self._rows.turns.get(role, 0)
            self._turns[document_id, role] = turn + taken_by_others, is_own
        return {role: self._turns[document_id, role][0] for role in roles}


@lru_cache(maxsize=MAX_EXPRESSIONS)
def compile_approver_text(text: str) -> Compiled:
    parsed = parse_expression(text)
    if isinstance(parsed, ExpressionError):
        raise Defect("APPROVAL_EXPRESSION_UNREADABLE", f"a published policy holds '{text}'")
    return compile_expression(parsed)
