"""JSON for statements that take many rows."""

from collections.abc import Mapping, Sequence
from typing import Any

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
