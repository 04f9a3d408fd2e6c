"""The version of a canvas: where an editor has placed the nodes."""

from collections.abc import Mapping
from typing import Any

from signet.core.canonical_json import canonical_bytes, hash_bytes

# Versions fit into the column that versions of records have, and its largest is that of no record.
_MOST = 2**31 - 2


def make_canvas_version(positions: Mapping[str, Any]) -> int:
    """Make the version from the positions themselves: they are in no revision and no hash.

    >>> make_canvas_version({"a": [1.0, 2]}) == make_canvas_version({"a": (1, 2)})
    True
    """
    content = {node: [float(part) for part in position] for node, position in positions.items()}
    return int(hash_bytes(canonical_bytes(content))[:12], 16) % _MOST + 1
