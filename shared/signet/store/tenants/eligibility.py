"""Records of changed eligibility. The statements that change it write them."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.core.tenants.eligibility_changes import ChangeAuthor, EligibilityChange
from signet.ids import make_id
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


def describe_author(author: ChangeAuthor) -> dict[str, Any]:
    """Return the values that each record needs. Its id has the time of this one, and its own randomness."""
    return {"change_id": make_id(), "actor_id": author.actor_id, "persons": list(author.persons)}


def read_eligibility_changes(
    connection: Connection,
    *,
    since: datetime,
    user_ids: Collection[str],
    roles: Collection[str],
    concerned: Collection[str],
) -> list[EligibilityChange]:
    """Read what the concerned persons have changed about these people, or have taken from these roles.

    A statement that judges votes can ask `eligibility_changes_since` in a subselect.
    """
    values = {
        "since": since,
        "user_ids": list(user_ids),
        "roles": list(roles),
        "concerned": list(concerned),
    }
    with connection.cursor(row_factory=class_row(EligibilityChange)) as cursor:
        return cursor.execute(_SQL.read_eligibility_changes, values).fetchall()


def has_lost_holder(
    connection: Connection,
    tenant_id: UUID,
    *,
    since: datetime,
    user_ids: Collection[str],
    roles: Collection[str],
) -> bool:
    """Return whether one of the people, or a holder of one of the roles, was disabled or lost the role."""
    values = {"tenant_id": tenant_id, "since": since, "user_ids": list(user_ids), "roles": list(roles)}
    return connection.execute(_SQL.has_lost_holder, values).fetchone() == (True,)
