"""Admission of a caller, read with the first request of a token and so loaded with the API itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class Admission:
    tenant_status: str
    # None if there is no such member.
    member_status: str | None
    # The member whose name looks like the one of nobody.
    look_alike: str | None


def read_admission(
    connection: Connection, tenant_id: UUID, user_id: str, skeletons: Sequence[str]
) -> Admission | None:
    with connection.cursor(row_factory=class_row(Admission)) as cursor:
        values = {"tenant_id": tenant_id, "user_id": user_id, "skeletons": list(skeletons)}
        return cursor.execute(_SQL.read_admission, values).fetchone()
