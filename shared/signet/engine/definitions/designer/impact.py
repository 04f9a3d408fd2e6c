"""The impact of a publication: tokens of running instances at each node, and if they could move."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from signet.core.compiler.artifact import Artifact
from signet.core.repair.move_check import Obstacle
from signet.core.repair.publication_impact import RestingPlace, StoredDefinition, find_obstacles
from signet.core.runtime.position import TokenState
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.definitions.compilation import read_stored, require_definition
from signet.engine.definitions.designer.preview import (
    are_large,
    read_contract_of,
    read_workflow,
    require_readable,
)
from signet.engine.definitions.heavy_calls import IN_PLACE, HeavyCalls, choose_place
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
    calls: HeavyCalls = IN_PLACE

    def read(self, principal: Principal, definition_id: UUID) -> Impact:
        with reading(self.database, principal) as read:
            row = require_readable(read, definition_id)
            new = _describe(read, row, read_workflow(read, row, self.calls, for_heavy=True))
            counts = _count(read, row)
            running = _read_running(read, {count.definition_id for count in counts if count.definition_id})
            obstacles = self._find_obstacles(read, running, new, counts)
        instance_count = counts[0].live_count if counts else 0
        assessed = (_show(count, running, new, obstacles) for count in counts)
        places = [place for place in assessed if place is not None]
        is_complete = instance_count <= MAX_COUNTED_INSTANCES and len(places) <= MAX_PLACES
        counted = min(instance_count, MAX_COUNTED_INSTANCES)
        return Impact(new.artifact.hash, counted, is_complete, places[:MAX_PLACES])

    def _find_obstacles(
        self,
        read: ReadTransaction,
        running: Mapping[UUID, StoredDefinition],
        new: StoredDefinition,
        counts: Sequence[NodeCount],
    ) -> dict[tuple[UUID, RestingPlace], tuple[Obstacle, ...]]:
        """Find what keeps the instances of other definitions, definition by definition."""
        tenant_id = read.principal.tenant_id
        others = {key: old for key, old in running.items() if old.artifact.hash != new.artifact.hash}
        is_large = are_large([new.artifact, *(old.artifact for old in others.values())])
        place = choose_place(self.calls, read.connection, tenant_id, is_large=is_large)
        wants_two_people = read_four_eyes(read.connection, tenant_id)
        found: dict[tuple[UUID, RestingPlace], tuple[Obstacle, ...]] = {}
        for key, old in others.items():
            resting = [at for count in counts if count.definition_id == key and (at := _place_of(count))]
            obstacles = place.call(find_obstacles, old, new, resting, wants_two_people=wants_two_people)
            found |= {(key, at): listed for at, listed in zip(resting, obstacles, strict=True)}
        return found


def _place_of(count: NodeCount) -> RestingPlace | None:
    return None if count.node is None else RestingPlace(count.node, TokenState(count.state or ""))


def _describe(read: ReadTransaction, row: DefinitionRow, artifact: Artifact) -> StoredDefinition:
    """Describe a definition; a draft counts as published now."""
    published_at = row.published_at or read.transaction.now
    contract = read_contract_of(read, artifact)
    return StoredDefinition(str(row.id), row.name, row.version, published_at, artifact, contract)


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


def _read_running(read: ReadTransaction, ids: set[UUID]) -> dict[UUID, StoredDefinition]:
    connection, tenant_id = read.connection, read.principal.tenant_id
    definitions = {}
    for definition_id in ids:
        row = require_definition(connection, tenant_id, definition_id)
        stored = read_stored(connection, tenant_id, row)
        if stored is not None:
            definitions[definition_id] = _describe(read, row, stored)
    return definitions


def _show(
    count: NodeCount,
    running: Mapping[UUID, StoredDefinition],
    new: StoredDefinition,
    found: Mapping[tuple[UUID, RestingPlace], tuple[Obstacle, ...]],
) -> ImpactAtNode | None:
    place = _place_of(count)
    if count.definition_id is None or place is None or count.definition_id not in running:
        return None
    is_current = running[count.definition_id].artifact.hash == new.artifact.hash
    obstacles = found.get((count.definition_id, place), ())
    return ImpactAtNode(
        definition_id=count.definition_id,
        definition_version=count.definition_version or 0,
        node_id=place.node,
        state=place.state,
        token_count=count.token_count or 0,
        prospect="current" if is_current else "blocked" if obstacles else "safe",
        obstacles=obstacles,
        examples=count.examples or (),
    )
