"""Index of all routes: what is needed of one before the module that declares it is imported.

`make openapi` writes it from the declarations. A test finds a stale one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from signet.api.http.routing import Declared

INDEX_FILE = Path(__file__).with_name("index.json")


@dataclass(frozen=True, slots=True)
class RouteEntry:
    method: str
    path: str
    # Names the function that declares it.
    group: str
    # As in `Declared`.
    is_public: bool = False
    is_signed: bool = False
    wants_metrics_token: bool = False
    is_for_operators: bool = False
    takes_merge_patch: bool = False


def make_index(declared: Mapping[str, Sequence[Declared]]) -> list[RouteEntry]:
    """Make an index from the declarations of each group."""
    return [
        RouteEntry(
            route.method,
            route.path,
            group,
            route.is_public,
            route.is_signed,
            route.wants_metrics_token,
            route.is_for_operators,
            route.takes_merge_patch,
        )
        for group, routes in declared.items()
        for route in routes
    ]


def read_index() -> list[RouteEntry]:
    return [RouteEntry(**entry) for entry in orjson.loads(INDEX_FILE.read_bytes())]


def write_index(entries: Iterable[RouteEntry]) -> str:
    """Write one line for each route, with its true flags only."""
    return "[\n" + ",\n".join(_write_entry(entry) for entry in entries) + "\n]\n"


def _write_entry(entry: RouteEntry) -> str:
    return orjson.dumps({name: value for name, value in asdict(entry).items() if value}).decode()
