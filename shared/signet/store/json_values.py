"""JSON for statements that take many rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from signet.core.audit.verification import AuditRow


def to_json(rows: Sequence[Mapping[str, Any] | AuditRow]) -> str:
    return orjson.dumps(rows, option=orjson.OPT_NON_STR_KEYS).decode()
