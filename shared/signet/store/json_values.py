"""JSON and arrays for statements that take many rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg.adapt import Dumper

from signet.core.audit.verification import AuditRow


class JsonText(bytes):
    """JSON as it goes to the server."""


class JsonTextDumper(Dumper):
    """Write JSON as a plain literal: its backslashes need no escape, as the server reads them as they are.

    An escaped literal is read character by character on both sides, twice as long.
    """

    def dump(self, obj: JsonText) -> JsonText:
        return obj

    def quote(self, obj: JsonText) -> bytes:
        server = self.connection.pgconn if self.connection else None
        if server is None or server.parameter_status(b"standard_conforming_strings") != b"on":
            return bytes(super().quote(obj))
        return b"'" + obj.replace(b"'", b"''") + b"'"


psycopg.adapters.register_dumper(JsonText, JsonTextDumper)


def to_json(rows: Sequence[Mapping[str, Any] | AuditRow]) -> JsonText:
    return JsonText(orjson.dumps(rows, option=orjson.OPT_NON_STR_KEYS))


def to_id_array(ids: Iterable[UUID]) -> str:
    """Write ids as the server reads an array. The driver would look for signs to escape in each of them."""
    return f"{{{','.join(map(str, ids))}}}"


def to_time_array(times: Iterable[datetime]) -> str:
    """Write moments with their zone as the server reads an array."""
    return f"{{{','.join(map(datetime.isoformat, times))}}}"
