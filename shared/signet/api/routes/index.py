"""Which routes there are, and what must be known of one before the module that declares it is imported.

Made when the code is built (`make openapi`) of what the modules declare; a test finds a stale one.
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
    # Whose module declares it.
    group: str
    # As `Declared` has them.
    is_public: bool = False
    is_signed: bool = False
    wants_metrics_token: bool = False
    is_for_operators: bool = False


def make_index(declared: Mapping[str, Sequence[Declared]]) -> list[RouteEntry]:
    """Of what each group declares."""
    return [
        RouteEntry(
            one.method,
            one.path,
            group,
            one.is_public,
            one.is_signed,
            one.wants_metrics_token,
            one.is_for_operators,
        )
        for group, ones in declared.items()
        for one in ones
    ]


def read_index() -> list[RouteEntry]:
    return [RouteEntry(**entry) for entry in orjson.loads(INDEX_FILE.read_bytes())]


def write_index(entries: Iterable[RouteEntry]) -> str:
    """A line for each, and in it what holds."""
    return "[\n" + ",\n".join(_write_entry(entry) for entry in entries) + "\n]\n"


def _write_entry(entry: RouteEntry) -> str:
    return orjson.dumps({name: value for name, value in asdict(entry).items() if value}).decode()
