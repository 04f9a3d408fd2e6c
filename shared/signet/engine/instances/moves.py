"""Moves of instances to a newer definition: reported first, then done as one step or not at all.

Each move is a transaction of its own, like every act of an operator. It locks documents, then instances, and
never takes a wave's advisory lock. Earlier steps stay as they were; from the move on, the new definition
holds.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from signet.core.errors import Rejected, Transient
from signet.core.repair.move_check import Definition, MoveInput, Report, assess
from signet.core.runtime.projection import MOVED, Actor
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.command_checks import check_reason
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.instances.act_checks import require_live, require_version
from signet.engine.instances.loaded_definitions import DefinitionLoader, list_unpinned
from signet.engine.instances.operator_transaction import OperatorTransaction
from signet.store.control.changes import read_four_eyes
from signet.store.database import Connection, Database
from signet.store.definitions.write import DefinitionRow
from signet.store.instances.moves import ExpectedInstance as ExpectedInstance
from signet.store.instances.moves import TargetRow, find_target, list_done, list_live_under, list_older
from signet.store.instances.write import find_entity

# The permission to move instances, and to list those that could be moved.
MOVE = "workflow:move"
MAX_MOVED = 200
FIRST = UUID(int=0)
# The outcome of one of many by its error code; for other codes it is `refused`, with the code.
_OUTCOMES = {
    "INSTANCE_VERSION_CONFLICT": "conflict",
    "INSTANCE_NOT_FOUND": "not_found",
    "INSTANCE_ENDED": "ended",
}
_FOR_ALL = frozenset({"PERMISSION_DENIED", "TENANT_INACTIVE"})


@dataclass(frozen=True, slots=True)
class MoveTarget:
    """A version of the workflow that the instance runs, or of another one for its documents."""

    version: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class MoveOutcome:
    """The outcome for one instance.

    `safe` and `blocked` have the report; `moved` has the version that the next act must match.
    """

    instance_id: UUID
    outcome: Literal["moved", "safe", "blocked", "conflict", "not_found", "ended", "busy", "refused"]
    version: int | None = None
    report: Report | None = None
    error: Rejected | Transient | None = None


@dataclass(frozen=True, slots=True)
class MovableInstances:
    """Instances under older definitions by id; the next page begins after `after`."""

    target: TargetRow
    seen: Sequence[ExpectedInstance]
    after: UUID | None


class InstanceMoves:
    """The use case with the caches of a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def report(self, caller: Caller, instance_id: UUID, target: MoveTarget) -> MoveOutcome:
        """Report the outcome of a move; nothing is written, and no quota is used."""
        with self._locked(caller, instance_id) as (connection, transaction):
            transaction.permit(MOVE)
            context, agrees_with_steps = transaction.peek(instance_id)
            assessed = self._assess(connection, context, target, agrees_with_steps=agrees_with_steps)
            outcome: Literal["safe", "blocked"] = "safe" if assessed.report.is_safe else "blocked"
            return MoveOutcome(instance_id, outcome, context.row.version, assessed.report)

    def move(
        self,
        caller: Caller,
        instance_id: UUID,
        expected_version: int,
        target: MoveTarget,
        reason: str | None = None,
    ) -> MoveOutcome:
        """Move all tokens or none. Waits go on, and a paused instance stays paused."""
        rejected = check_reason(reason)
        if rejected is not None:
            raise rejected
        with self._locked(caller, instance_id) as (connection, transaction):
            transaction.require(MOVE)
            context = transaction.open(instance_id)
            require_version(context, expected_version)
            assessed = self._assess(connection, context, target)
            if not assessed.report.is_safe:
                return MoveOutcome(instance_id, "blocked", context.row.version, assessed.report)
            ends = assessed.describe_ends()
            _take_definition(caller, context, assessed, {**ends, "report": assessed.report.to_json()}, reason)
            if context.document is not None and assessed.new.contract is not None:
                context.documents.adopt_contract(caller, context.document, assessed.new.contract, reason)
            transaction.note(instance_id, "move", reason, ends)
            transaction.write()
            return MoveOutcome(instance_id, "moved", context.execution.projection.version, assessed.report)

    def list_movable(
        self,
        caller: Caller,
        entity_type: str,
        name: str,
        version: int,
        *,
        after: UUID = FIRST,
        limit: int = MAX_MOVED,
    ) -> MovableInstances:
        """List instances that run or are paused under a definition older than this one."""
        tenant_id, limit = caller.principal.tenant_id, max(1, min(limit, MAX_MOVED))
        with self._database.transaction(tenant_id) as connection:
            OperatorTransaction(connection, caller, self._caches, self._compiled, {}).permit(MOVE)
            target = _find_target(connection, tenant_id, entity_type, name, version, "effective")
            older = list_older(connection, tenant_id, target.id)
            seen = list_live_under(connection, tenant_id, older, after=after, limit=limit)
        return MovableInstances(target, seen, seen[-1].id if len(seen) == limit else None)

    def move_many(
        self,
        caller: Caller,
        seen: Sequence[ExpectedInstance],
        target: MoveTarget,
        reason: str | None = None,
        *,
        dry_run: bool = True,
    ) -> list[MoveOutcome]:
        """Move each instance in a transaction of its own, so that a refusal of one stops no other."""
        if len(seen) > MAX_MOVED:
            raise Rejected("BATCH_TOO_LARGE", f"at most {MAX_MOVED} instances at a time, not {len(seen)}")
        outcomes: list[MoveOutcome] = []
        for instance in seen:
            try:
                if dry_run:
                    outcome = self.report(caller, instance.id, target)
                else:
                    outcome = self.move(caller, instance.id, instance.version, target, reason)
            except (Rejected, Transient) as error:
                if error.code in _FOR_ALL and not outcomes:
                    raise
                outcome = _refuse(instance.id, error)
            outcomes.append(outcome)
        return outcomes

    @contextmanager
    def _locked(self, caller: Caller, instance_id: UUID) -> Iterator[tuple[Connection, OperatorTransaction]]:
        tenant_id = caller.principal.tenant_id
        with self._database.pipelined(tenant_id, find_entity(tenant_id, instance_id)) as pipeline:
            row = pipeline.first_row
            entities = {instance_id: row[0]} if row is not None else {}
            transaction = OperatorTransaction(
                pipeline.connection, caller, self._caches, self._compiled, entities
            )
            yield pipeline.connection, transaction

    def _assess(
        self,
        connection: Connection,
        context: InstanceContext,
        wanted: MoveTarget,
        *,
        agrees_with_steps: bool = True,
    ) -> "_Assessed":
        row, tenant_id = context.row, context.tenant_id
        require_live(context)
        loader = DefinitionLoader(connection, tenant_id, self._caches, self._compiled)
        pinned = loader.read(row.definition_id)
        target = loader.find(pinned.row, wanted.name, wanted.version)
        old, new = pinned.definition, target.definition
        document = context.document
        position = MoveInput(
            context.execution.projection.tokens(),
            frozenset(list_done(connection, tenant_id, row.id)),
            [request.node_id for request in context.approvals.list_given(row.id)],
            row.entity_version,
            document.version if document is not None else row.entity_version,
            document.status if document is not None else None,
            agrees_with_steps,
            read_four_eyes(connection, tenant_id),
            list_unpinned(
                pinned,
                target,
                document.status if document is not None else None,
                is_decided=context.execution.is_decided,
            ),
        )
        return _Assessed(old, new, target.row, assess(old, new, position))


@dataclass(frozen=True, slots=True)
class _Assessed:
    old: Definition
    new: Definition
    target: DefinitionRow
    report: Report

    def describe_ends(self) -> dict[str, object]:
        """Describe both definitions for the record, and that other approvals are asked where they are."""
        changed = {"changes_approvals": True} if self.report.changes_approvals else {}
        return {"from": self.old.to_json(), "to": self.new.to_json(), **changed}


def _take_definition(
    caller: Caller,
    context: InstanceContext,
    assessed: _Assessed,
    detail: dict[str, object],
    reason: str | None,
) -> None:
    """Record the move as the last step of the old definition, and switch to the new one."""
    principal = caller.principal
    data = {**detail, **({"reason": reason} if reason else {})}
    actor = Actor(principal.subject, tuple(principal.roles), principal.behind)
    context.execution.control(MOVED.removeprefix("sys:control:"), data, actor=actor)
    context.execution.workflow = assessed.new.workflow
    context.row = replace(
        context.row, definition_id=assessed.target.id, definition_version=assessed.target.version
    )


def _find_target(
    connection: Connection, tenant_id: UUID, entity_type: str, name: str, version: int, kind: str
) -> TargetRow:
    target = find_target(connection, tenant_id, entity_type, name, version, kind)
    if target is None:
        sentence = f"there is no published version {version} of the workflow '{name}'"
        raise Rejected("DEFINITION_NOT_FOUND", sentence)
    return target


def _refuse(instance_id: UUID, error: Rejected | Transient) -> MoveOutcome:
    if isinstance(error, Transient):
        return MoveOutcome(instance_id, "busy", error=error)
    outcome = _OUTCOMES.get(error.code, "refused")
    return MoveOutcome(instance_id, outcome, error=error)  # type: ignore[arg-type]  # one of them
