"""What a publication would mean for what runs: how many stand where, and whether they could come along."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.artifact import Artifact
from signet.core.impact import Prospect, foresee
from signet.core.principal import Principal
from signet.engine.compiling import find_definition, read_stored
from signet.engine.designing.trials import find_readable, read_workflow
from signet.engine.reading import Reading, reading
from signet.store.database import Database
from signet.store.definitions import DefinitionRow
from signet.store.designing import NodeCount, count_at_nodes

MAX_COUNTED_INSTANCES = 10_000
MAX_PLACES = 200
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class ImpactAtNode:
    """Tokens that stand there, under a definition that runs; `prospect` is of moving their instances."""

    definition_id: UUID
    definition_version: int
    node_id: str
    token_count: int
    prospect: Prospect
    examples: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class Impact:
    """What runs goes on under its own definition; new documents would run this one.

    With `is_complete` false there is more than was counted.
    """

    hash: str
    instance_count: int
    is_complete: bool
    places: Sequence[ImpactAtNode]


@dataclass(frozen=True, slots=True)
class Foreseeing:
    database: Database

    def read(self, principal: Principal, definition_id: UUID) -> Impact:
        with reading(self.database, principal) as read:
            definition = find_readable(read, definition_id)
            artifact = read_workflow(read, definition)
            counts = _count(read, definition)
            running = _read_running(read, {row.definition_id for row in counts if row.definition_id})
        instance_count = counts[0].live_count if counts else 0
        places = [place for row in counts if (place := _look(row, running, artifact)) is not None]
        is_complete = instance_count <= MAX_COUNTED_INSTANCES and len(places) <= MAX_PLACES
        return Impact(
            artifact.hash, min(instance_count, MAX_COUNTED_INSTANCES), is_complete, places[:MAX_PLACES]
        )


def _count(read: Reading, definition: DefinitionRow) -> list[NodeCount]:
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


def _read_running(read: Reading, ids: set[UUID]) -> dict[UUID, Artifact]:
    connection, tenant_id = read.connection, read.principal.tenant_id
    found = {}
    for definition_id in ids:
        stored = read_stored(connection, tenant_id, find_definition(connection, tenant_id, definition_id))
        if stored is not None:
            found[definition_id] = stored
    return found


def _look(row: NodeCount, running: dict[UUID, Artifact], new: Artifact) -> ImpactAtNode | None:
    if row.definition_id is None or row.node is None or row.definition_id not in running:
        return None
    content: Any = running[row.definition_id].content
    return ImpactAtNode(
        definition_id=row.definition_id,
        definition_version=row.definition_version or 0,
        node_id=row.node,
        token_count=row.token_count or 0,
        prospect=foresee(content, new.content, row.node),
        examples=row.examples or (),
    )
