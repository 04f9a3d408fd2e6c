"""The impact of a publication: tokens of running instances at each node, and if they could move."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from signet.core.compiler.artifact import Artifact
from signet.core.repair.move_check import Definition, MoveInput, Obstacle, assess
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.tokens import ROOT
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.definitions.compilation import read_stored, require_definition
from signet.engine.definitions.designer.preview import read_contract_of, read_workflow, require_readable
from signet.store.control.changes import read_four_eyes
from signet.store.database import Database
from signet.store.definitions.designer import NodeCount, count_at_nodes
from signet.store.definitions.write import DefinitionRow

MAX_COUNTED_INSTANCES = 10_000
MAX_PLACES = 200
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class ImpactAtNode:
    """Tokens in the same state at one node, under a definition that runs.

    `current` runs the same workflow already. `safe` and `blocked` judge a move from this node alone. The
    report of each move also looks at the steps and approvals of the instance.
    """

    definition_id: UUID
    definition_version: int
    node_id: str
    state: TokenState
    token_count: int
    prospect: Literal["current", "safe", "blocked"]
    obstacles: Sequence[Obstacle]
    examples: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class Impact:
    """The impact of a publication on running instances, which go on under their own definitions.

    There is more than was counted if `is_complete` is false.
    """

    hash: str
    instance_count: int
    is_complete: bool
    places: Sequence[ImpactAtNode]


@dataclass(frozen=True, slots=True)
class PublicationImpact:
    database: Database

    def read(self, principal: Principal, definition_id: UUID) -> Impact:
        with reading(self.database, principal) as read:
            row = require_readable(read, definition_id)
            new = _load(read, row, read_workflow(read, row))
            counts = _count(read, row)
            running = _read_running(read, {count.definition_id for count in counts if count.definition_id})
            wants_two_people = read_four_eyes(read.connection, principal.tenant_id)
        instance_count = counts[0].live_count if counts else 0
        assessed = (_assess(count, running, new, wants_two_people=wants_two_people) for count in counts)
        places = [place for place in assessed if place is not None]
        is_complete = instance_count <= MAX_COUNTED_INSTANCES and len(places) <= MAX_PLACES
        counted = min(instance_count, MAX_COUNTED_INSTANCES)
        return Impact(new.workflow.hash, counted, is_complete, places[:MAX_PLACES])


def _load(read: ReadTransaction, row: DefinitionRow, artifact: Artifact) -> Definition:
    """Load a definition; a draft counts as published now."""
    published_at = row.published_at or read.transaction.now
    contract = read_contract_of(read, artifact)
    return Definition(str(row.id), row.name, row.version, published_at, Workflow(artifact), contract)


def _count(read: ReadTransaction, definition: DefinitionRow) -> list[NodeCount]:
    is_automation = definition.definition_kind == "automation"
    return count_at_nodes(
        read.connection,
        read.principal.tenant_id,
        entity_type=definition.entity_type,
        automation=definition.name if is_automation else None,
        at_most=MAX_COUNTED_INSTANCES + 1,
        examples=EXAMPLES,
        limit=MAX_PLACES + 1,
    )


def _read_running(read: ReadTransaction, ids: set[UUID]) -> dict[UUID, Definition]:
    connection, tenant_id = read.connection, read.principal.tenant_id
    definitions = {}
    for definition_id in ids:
        row = require_definition(connection, tenant_id, definition_id)
        stored = read_stored(connection, tenant_id, row)
        if stored is not None:
            definitions[definition_id] = _load(read, row, stored)
    return definitions


def _assess(
    row: NodeCount, running: dict[UUID, Definition], new: Definition, *, wants_two_people: bool
) -> ImpactAtNode | None:
    if row.definition_id is None or row.node is None or row.definition_id not in running:
        return None
    old, state = running[row.definition_id], TokenState(row.state or "")
    position = MoveInput([Token(ROOT, row.node, state, 0)], wants_two_people=wants_two_people)
    obstacles = _find_obstacles(old, new, position)
    is_current = old.workflow.hash == new.workflow.hash
    return ImpactAtNode(
        definition_id=row.definition_id,
        definition_version=row.definition_version or 0,
        node_id=row.node,
        state=state,
        token_count=row.token_count or 0,
        prospect="current" if is_current else "blocked" if obstacles else "safe",
        obstacles=() if is_current else obstacles,
        examples=row.examples or (),
    )


def _find_obstacles(old: Definition, new: Definition, position: MoveInput) -> list[Obstacle]:
    report = assess(old, new, position)
    return [
        *report.obstacles,
        *(obstacle for assessment in report.assessments for obstacle in assessment.obstacles),
    ]
