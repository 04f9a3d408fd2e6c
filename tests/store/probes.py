"""A query whose plan is checked, and the row that it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import signet.store
from signet.store.statements import read_statements

LARGE, SMALL = UUID(int=1), UUID(int=3)
# The wanted row: tests/store/plan_rows.sql describes it. Its number is a parent's.
NUMBER = 50_000
ROW = UUID(int=NUMBER)
KEY = NUMBER.to_bytes(32)
API, WORKER = "signet_api", "signet_worker"
PAGE = "LIMIT 50"


def statements_of(module: str) -> dict[str, str]:
    """Return the statements beside a module of the store, such as `outbox/queue`."""
    return read_statements(str(Path(signet.store.__file__).parent / module))


@dataclass(frozen=True)
class Probe:
    """A query inside a transaction of the tenant; `created_at` of the row is added to its values."""

    index: str
    text: str
    values: Mapping[str, Any]
    role: str = WORKER


def plain(
    index: str, table: str, condition: str, order: str = "", role: str = WORKER, **values: Any
) -> Probe:
    text = f"SELECT * FROM {table} WHERE tenant_id = %(tenant_id)s AND {condition} {order}"
    return Probe(index, text, {"tenant_id": LARGE, **values}, role)
