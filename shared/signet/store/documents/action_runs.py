"""The runs of actions on a document, over all of its instances."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ActionRuns:
    # The definition of the document's newest instance, by id and version.
    definition: tuple[UUID, int] | None
    # The newest version of the document at which one of the actions has made documents.
    last_version: int | None


def read_action_runs(
    connection: Connection, tenant_id: UUID, entity_type: str, document_id: UUID, actions: Sequence[str]
) -> ActionRuns:
    """Read what the trail says of actions; `actions` are words of the trail."""
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "document_id": document_id,
        "actions": list(actions),
    }
    row: Any = connection.execute(_SQL.read_action_runs, values).fetchone()
    definition = (row[0], row[1]) if row[0] is not None else None
    return ActionRuns(definition, row[2])
