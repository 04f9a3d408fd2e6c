"""The impact of a publication: tokens of running instances at each node, and if they could move."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from signet.core.compiler.artifact import Artifact, parse_artifact
from signet.core.repair.move_check import Obstacle
from signet.core.repair.publication_impact import RestingPlace, StoredDefinition, find_obstacles
from signet.core.runtime.position import TokenState
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.definitions.compilation import require_definition
from signet.engine.definitions.designer.preview import (
    read_contract_of,
    read_workflow,
    require_readable,
)
from signet.engine.definitions.heavy_calls import (
    IN_PLACE,
    LARGE_ARTIFACT_BYTES,
    CallsOfRequest,
    HeavyCalls,
    choose_place,
)
from signet.store.control.changes import read_four_eyes
from signet.store.database import Database
from signet.store.definitions.designer import NodeCount, count_at_nodes
from signet.store.definitions.write import DefinitionRow, read_compiled

MAX_COUNTED_INSTANCES = 10_000
MAX_PLACES = 200
EXAMPLES = 3
# A definition, and what it was compiled to: the text and its hash.
_Stored = tuple[DefinitionRow, tuple[str, str]]


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
            calls = CallsOfRequest(self.calls)
            new = _describe(read, row, read_workflow(read, row, calls, for_heavy=True))
            counts = _count(read, row)
            ids = {count.definition_id for count in counts if count.definition_id}
            stored = _read_stored(read, ids)
            place = _choose_place(read, calls, new.artifact, stored)
            running = {key: _describe(read, row, parse_artifact(*one)) for key, (row, one) in stored.items()}
            obstacles = _find_obstacles(read, place, running, new, counts)
        instance_count = counts[0].live_count if counts else 0
        assessed = (_show(count, running, new, obstacles) for count in counts)
        places = [place for place in assessed if place is not None]
        is_complete = instance_count <= MAX_COUNTED_INSTANCES and len(places) <= MAX_PLACES
        counted = min(instance_count, MAX_COUNTED_INSTANCES)
        return Impact(new.artifact.hash, counted, is_complete, places[:MAX_PLACES])


def _choose_place(
    read: ReadTransaction, calls: HeavyCalls, new: Artifact, stored: Mapping[UUID, _Stored]
) -> HeavyCalls:
    """Choose by the size of all that run another workflow, before any of them is parsed."""
    others = [text for _, (text, digest) in stored.values() if digest != new.hash]
    is_large = sum(map(len, (new.text, *others))) > LARGE_ARTIFACT_BYTES
    return choose_place(calls, read.connection, read.principal.tenant_id, is_large=is_large)


def _find_obstacles(
    read: ReadTransaction,
    place: HeavyCalls,
    running: Mapping[UUID, StoredDefinition],
    new: StoredDefinition,
    counts: Sequence[NodeCount],
) -> dict[tuple[UUID, RestingPlace], tuple[Obstacle, ...]]:
    """Find what keeps the instances of other definitions, definition by definition."""
    wants_two_people = read_four_eyes(read.connection, read.principal.tenant_id)
    found: dict[tuple[UUID, RestingPlace], tuple[Obstacle, ...]] = {}
    for key, old in running.items():
        if old.artifact.hash == new.artifact.hash:
            continue
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


def _read_stored(read: ReadTransaction, ids: set[UUID]) -> dict[UUID, _Stored]:
    """Read what runs as text, with its hash."""
    connection, tenant_id = read.connection, read.principal.tenant_id
    definitions = {}
    for definition_id in ids:
        row = require_definition(connection, tenant_id, definition_id)
        stored = read_compiled(connection, tenant_id, row.id, row.version)
        if stored is not None:
            definitions[definition_id] = (row, stored)
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
