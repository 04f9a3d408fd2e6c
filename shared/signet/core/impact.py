"""Where documents stand under one workflow, seen from another: what a publication would mean for them.

Nothing moves by itself: what runs goes on under the definition that it began with. This says at which places
a move could be tried; whether one instance can is its own report's to say.
"""

from collections.abc import Mapping
from typing import Any, Literal

Prospect = Literal["may_move", "same", "contract_differs", "node_gone", "type_differs"]
Content = Mapping[str, Any]


def foresee(running: Content, new: Content, node_id: str) -> Prospect:
    """Of a token at this node of what runs, under what would be published."""
    if running == new:
        return "same"
    if running.get("contract") != new.get("contract"):
        return "contract_differs"
    before, after = running["nodes"].get(node_id), new["nodes"].get(node_id)
    if before is None or after is None:
        return "node_gone"
    return "may_move" if before["type"] == after["type"] else "type_differs"
