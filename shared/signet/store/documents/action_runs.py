"""The runs of an action on a document, over all of its instances."""

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
    # The newest version of the document at which the action has made documents.
    last_version: int | None


def read_action_runs(
    connection: Connection, tenant_id: UUID, entity_type: str, document_id: UUID, action: str
) -> ActionRuns:
    """Read what the trail says of an action; `action` is the word of the trail."""
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "document_id": document_id,
        "action": action,
    }
    row: Any = connection.execute(_SQL.read_action_runs, values).fetchone()
    definition = (row[0], row[1]) if row[0] is not None else None
    return ActionRuns(definition, row[2])
