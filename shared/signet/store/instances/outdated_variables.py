"""Variables of a document's workflow that are older than what people have changed since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Json

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class KnownVariable:
    """A variable with the fields of the document that it holds for: each one, where that is None.

    One that is not set has the entries of the slots that might have set it.
    """

    name: str
    value: Any
    fields: Sequence[str] | None
    entries: Sequence[str] | None = None

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "fields": self.fields, "entries": self.entries}


def list_outdated(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str,
    document_id: UUID,
    instance_id: UUID,
    data: Mapping[str, Any],
    variables: Sequence[KnownVariable],
    edits: Sequence[tuple[int, int]],
) -> Mapping[str, Sequence[str]]:
    """Return by outdated variable the fields that differ from when it was set.

    `data` is what the document says now. `edits` are the versions before and after each edit that no step on
    record tells of yet.
    """
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "document_id": document_id,
        "instance_id": instance_id,
        "data": Json(dict(data)),
        "variables": Json([variable.to_json() for variable in variables]),
        "edits": Json([{"seen": seen, "found": found} for seen, found in edits]),
    }
    rows: Any = connection.execute(_SQL.list_outdated, values).fetchall()
    return dict(rows)
