"""Measures of open incidents over all tenants, for the operators of the service."""

from collections.abc import Iterable
from dataclasses import dataclass

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class IncidentCount:
    """Open incidents of one code; `unattended_count` are those that nobody has acknowledged for long."""

    code: str
    open_count: int
    unattended_count: int


def measure_incidents(
    connection: Connection, codes: Iterable[str], *, long_seconds: float
) -> list[IncidentCount]:
    """Count open incidents over all tenants; other codes are counted together, and no tenant is named."""
    values = {"codes": sorted(codes), "long_seconds": long_seconds}
    with connection.cursor(row_factory=class_row(IncidentCount)) as cursor:
        return cursor.execute(_SQL.measure_incidents, values).fetchall()
