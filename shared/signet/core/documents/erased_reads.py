"""Gaps that an erasure has left behind a decision: no condition takes one for an answer.

People decided when the value was there. A condition that reads the gap would go another way than they have
seen.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from signet.core.expressions import Expression, list_variables

READS_ERASED = "READS_ERASED"


def list_own_fields(expressions: Iterable[Expression]) -> frozenset[str]:
    """List the fields of the own document that the expressions read."""
    paths = (name.path for expression in expressions for name in list_variables(expression))
    return frozenset(path[1] for path in paths if path[0] == "entity" and len(path) > 1)


def list_gaps(read: Collection[str], personal: Collection[str], data: Mapping[str, Any]) -> frozenset[str]:
    """List the personal fields among these that hold nothing."""
    return frozenset(name for name in personal if name in read and data.get(name) is None)


def describe_erased(reader: str, fields: Collection[str]) -> str:
    erased = ", ".join(sorted(fields))
    return f"{reader} reads {erased}, which was erased after people decided about the document"
