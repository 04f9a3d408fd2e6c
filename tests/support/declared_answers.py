"""The statuses that the OpenAPI document declares, held against every answer that tests get."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from signet.api import openapi
from signet.api.routes.index import read_index
from signet.api.routes.table import RouteTable
from signet.core.errors import Rejected

OPENAPI_FILE = Path(openapi.__path__[0]) / "openapi.json"


def expect_declared(method: str, path: str, status: int) -> None:
    """Expect that the route declares this status. A path without a route is passed over."""
    declared = find_responses("GET" if method == "HEAD" else method, path)
    assert declared is None or str(status) in declared, f"{method} {path} answers {status}, and declares none"


def find_responses(method: str, path: str) -> Mapping[str, Any] | None:
    table, document = _read()
    try:
        entry = table.find(method, path).entry
    except Rejected:
        return None
    described = document["paths"].get(entry.path.replace("<", "{").replace(">", "}"), {})
    responses: Mapping[str, Any] | None = described.get(method.lower(), {}).get("responses")
    return responses


@cache
def _read() -> tuple[RouteTable, Mapping[str, Any]]:
    return RouteTable(read_index()), orjson.loads(OPENAPI_FILE.read_bytes())
