"""Notifications to the one that a workflow acts for, of what other people did to it."""

from collections.abc import Collection, Mapping
from typing import Any

from signet.engine.execution.nodes.context import InstanceContext
from signet.ids import make_id


def tell_requester(
    context: InstanceContext, kind: str, said: Mapping[str, Any], by: str, responsible: Collection[str]
) -> None:
    """Tell what `by` did, and the persons behind it. The end of the transaction finds out who is told."""
    row = context.row
    if row.entity_id is None:
        return
    place = {
        "entity_type": row.entity_type,
        "document_id": str(row.entity_id),
        "instance_id": str(row.id),
    }
    context.approvals.rows.told.append(
        {
            "id": make_id(),
            "actor_id": row.actor_id,
            "owners": sorted(row.responsible or ()),
            "done_by": sorted({by, *responsible}),
            "kind": kind,
            "data": {**said, "by": by, **place},
        }
    )
