"""Records of changed eligibility. The statements that change it write them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row

from signet.core.approvals.seats.bench import NO_BENCH, Bench
from signet.core.tenants.eligibility_changes import ChangeAuthor, EligibilityChange
from signet.core.tenants.permissions import OWN_RESOURCES
from signet.ids import make_id
from signet.store.database import Connection
from signet.store.json_values import to_json
from signet.store.statements import Statements

_SQL = Statements(__file__)
# So many different people are looked at who changed eligibility lately.
MAX_AUTHORS = 1_000


def describe_author(author: ChangeAuthor) -> dict[str, Any]:
    """Return the values that each record needs. Its id has the time of this one, and its own randomness."""
    return {"change_id": make_id(), "actor_id": author.actor_id, "persons": list(author.persons)}


def read_eligibility_changes(
    connection: Connection,
    tenant_id: UUID,
    *,
    since: datetime,
    user_ids: Collection[str],
    roles: Collection[str],
    concerned: Collection[str],
    bench: Bench = NO_BENCH,
) -> list[EligibilityChange]:
    """Read what the concerned persons have changed about these people, or have taken from these roles.

    Where there is a bench, also how they have taken from it a permission that votes need. A statement that
    judges votes can ask `vote_changes_since` in a subselect.
    """
    values = {
        "tenant_id": tenant_id,
        "since": since,
        "user_ids": list(user_ids),
        "roles": list(roles),
        "concerned": list(concerned),
        **describe_bench(bench),
    }
    with connection.cursor(row_factory=class_row(EligibilityChange)) as cursor:
        return cursor.execute(_SQL.read_eligibility_changes, values).fetchall()


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """A request, and whose changes since it was opened may bar votes on it."""

    request_id: UUID
    since: datetime
    user_ids: Collection[str]
    roles: Collection[str]
    concerned: Collection[str]
    bench: Bench


def describe_bench(bench: Bench) -> dict[str, Any]:
    """Return the values that say what is a taking of a permission, and by which lines the seats came."""
    return {
        "holders": sorted(bench.holder_ids),
        "seat_roles": sorted(bench.seat_roles),
        "lines": sorted(bench.lines),
        "line_holders": sorted(bench.line_holders),
        "needed": sorted(bench.needed),
        "by_roles": sorted(bench.by_roles),
        "own_resources": sorted(OWN_RESOURCES),
    }


def read_changes_of_requests(
    connection: Connection, tenant_id: UUID, queries: Sequence[ChangeQuery]
) -> dict[UUID, list[EligibilityChange]]:
    """Read the changes for many requests in one statement, by request."""
    changes: dict[UUID, list[EligibilityChange]] = defaultdict(list)
    if not queries:
        return changes
    rows = [
        {
            "id": query.request_id,
            "since": query.since,
            "user_ids": sorted(query.user_ids),
            "roles": sorted(query.roles),
            "concerned": sorted(query.concerned),
            **describe_bench(query.bench),
        }
        for query in queries
    ]
    with connection.cursor(row_factory=dict_row) as cursor:
        found = cursor.execute(
            _SQL.read_changes_of_requests, {"tenant_id": tenant_id, "rows": to_json(rows)}
        ).fetchall()
    for row in found:
        changes[row.pop("request_id")].append(EligibilityChange(**row))
    return changes


def list_authors(
    connection: Connection, tenant_id: UUID, since: datetime
) -> list[tuple[list[str], datetime]]:
    """List who has changed eligibility since a moment, and when last."""
    values = {"tenant_id": tenant_id, "since": since, "limit": MAX_AUTHORS}
    rows: list[Any] = connection.execute(_SQL.list_authors, values).fetchall()
    return [(list(persons), changed_at) for persons, changed_at in rows]


def has_lost_holder(
    connection: Connection,
    tenant_id: UUID,
    *,
    since: datetime,
    user_ids: Collection[str],
    roles: Collection[str],
) -> bool:
    """Return whether one of the people, or a holder of one of the roles, was disabled or lost a role.

    That a role has lost permissions counts for everybody.
    """
    values = {"tenant_id": tenant_id, "since": since, "user_ids": list(user_ids), "roles": list(roles)}
    return connection.execute(_SQL.has_lost_holder, values).fetchone() == (True,)
