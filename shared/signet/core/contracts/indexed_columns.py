"""The typed columns of a document row that hold the `indexed` fields of its contract (design §3)."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from signet.core.contracts.contract import Contract
from signet.core.contracts.field_checks import FAST_COLUMN_OF

_PREFIX = {"text": "t", "number": "n", "time": "d"}
INDEXED_COLUMN_NAMES = ("t1", "t2", "t3", "t4", "n1", "n2", "n3", "n4", "d1", "d2")


def map_indexed_fields(contract: Contract) -> dict[str, str]:
    """Return the column of each indexed field, by the order of the names: the same on every machine."""
    used: dict[str, int] = {}
    columns: dict[str, str] = {}
    for name, declared in sorted(contract.fields.items()):
        if declared.indexed:
            kind = FAST_COLUMN_OF[declared.type]
            used[kind] = used.get(kind, 0) + 1
            columns[name] = f"{_PREFIX[kind]}{used[kind]}"
    return columns


def make_column_values(columns: Mapping[str, str], data: Mapping[str, Any]) -> dict[str, Any]:
    return {column: _as_column(column, data.get(name)) for name, column in columns.items()}


def _as_column(column: str, value: Any) -> Any:
    if value is None:
        return None
    if column.startswith("n"):
        return int(value)
    if column.startswith("d"):
        return parse_moment(value)
    return str(value)


def parse_moment(text: str) -> datetime:
    """Return the moment; a day is its first moment in UTC."""
    if len(text) == len("YYYY-MM-DD"):
        day = date.fromisoformat(text)
        return datetime(day.year, day.month, day.day, tzinfo=UTC)
    return datetime.fromisoformat(text)
