"""Documents that people left undone: a request that comes to nothing leaves them so again."""

from collections.abc import Iterable
from uuid import UUID

from signet.core.runtime.document_changes import BEGUN_FOR_NOTHING
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.database import Connection
from signet.store.instances.moves import list_begun_over_left


def leave_again(connection: Connection, tenant_id: UUID, contexts: Iterable[InstanceContext]) -> None:
    """End the instances that began for a request, and rest where an operator had left the document.

    What that left undone would be lost in silence. Its incident opens again.
    """
    rested = {context.row.id: context for context in contexts if _rests_for_nothing(context)}
    for instance_id in list_begun_over_left(connection, tenant_id, list(rested)) if rested else ():
        rested[instance_id].execution.leave_document("cancelled", {"reason": BEGUN_FOR_NOTHING})


def _rests_for_nothing(context: InstanceContext) -> bool:
    execution = context.execution
    if context.row.birth != "reentered" or not execution.changed or execution.find_passed_gate():
        return False
    nodes = [execution.workflow.nodes[token.node] for token in execution.projection.position.at_work()]
    is_at_rest = execution.is_running and all(node.type.name == "state" for node in nodes)
    return execution.projection.status == "completed" or is_at_rest
