"""Documents that refs lead to: what they say, and who stands behind it. They are not locked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.store.database import Connection
from signet.store.json_values import to_json
from signet.store.statements import Statements

_SQL = Statements(__file__)
STATUS = "status"
# The name that stands for each field: a function in Python may write any.
_EVERY_FIELD = "*"


@dataclass(frozen=True, slots=True)
class ReferencedDocument:
    """The values that a ref reads from another document; personal values are references here too."""

    entity_type: str
    status: str
    version: int
    is_deleted: bool
    snapshot_hash: str | None
    values: Mapping[str, Any]
    # By field, who changed it last. Where that is not known, everyone who wrote the document: so if deleted.
    changed_by: Mapping[str, Sequence[str] | None]
    wrote: ResponsiblePersons
    # The fields that steps or rules may write: they may have left them so because of another value.
    left_to_steps: Collection[str] = ()
    # The document in force that was read, where an amendment has taken the place of the named one.
    read_from: UUID | None = None
    # So many amendments have taken its place that nobody knows which document is in force.
    is_past_bound: bool = False
    # The persons who keep it as it is: by what a refusal has read, or by an open amendment.
    hinderers: ResponsiblePersons = NOBODY

    def persons_of(self, field: str) -> ResponsiblePersons:
        return self.list_writers(field) | self.hinderers

    def list_writers(self, field: str) -> ResponsiblePersons:
        persons = self.changed_by.get(field)
        if persons is None:
            return self.wrote
        return self.wrote.union(persons) if self._is_left_to_steps(field) else frozenset(persons)

    def _is_left_to_steps(self, field: str) -> bool:
        """Return whether steps, gates or rules may write the field; a status is given by gates."""
        return field == STATUS or field in self.left_to_steps or _EVERY_FIELD in self.left_to_steps


def read_referenced(
    connection: Connection, tenant_id: UUID, ids: Collection[UUID], fields: Collection[str]
) -> dict[UUID, ReferencedDocument]:
    """Read these fields of the documents as they are now, without a lock."""
    wanted = {"tenant_id": tenant_id, "ids": sorted(ids), "fields": sorted(fields)}
    rows: list[Any] = connection.execute(_SQL.read_referenced, wanted).fetchall()
    return {
        row[0]: ReferencedDocument(*(*row[1:8], frozenset(row[8]), *row[9:12], frozenset(row[12])))
        for row in rows
    }


def write_hinderers(connection: Connection, document_id: UUID, persons: ResponsiblePersons) -> None:
    """Add to the persons who stand behind what others read of a document, because a refusal left it so."""
    wanted = {"document_id": document_id, "persons": sorted(persons)}
    connection.execute(_SQL.keep_hinderers, wanted)


def list_key_holders(
    connection: Connection, tenant_id: UUID, keys: Sequence[Mapping[str, Any]]
) -> ResponsiblePersons:
    """List who wrote the other documents that hold these business keys."""
    wanted = {"tenant_id": tenant_id, "keys": to_json(keys)}
    rows: list[Any] = connection.execute(_SQL.list_key_holders, wanted).fetchall()
    return frozenset(person for (person,) in rows)
