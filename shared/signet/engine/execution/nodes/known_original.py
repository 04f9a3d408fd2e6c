"""The original of an amendment before its gate: nothing leaves for what cannot settle."""

from signet.core.runtime.execution import Blocked
from signet.core.runtime.go_to_targets import has_lasting_effect
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.amendments import foresee_movement
from signet.engine.execution.nodes.context import InstanceContext


def find_moved_original(context: InstanceContext, node: WorkflowNode) -> Blocked | None:
    """Return why the node does nothing: it would pay or order for an amendment whose gate does not open.

    What ends the amendment for good goes on. So does what is done behind the gate that it settled by. Only an
    amendment costs a statement.
    """
    document, workflow = context.document, context.execution.workflow
    if document is None or document.amended_from_id is None or not has_lasting_effect(workflow, node.id):
        return None
    states = context.documents.contract_of(document).contract.states
    targets = [states[workflow.nodes[gate].config["to"]] for gate in workflow.list_gates_of_slot(node.id)]
    if all(state.final and not state.settled for state in targets):
        return None
    connection, tenant_id = context.documents.connection, context.tenant_id
    moved = foresee_movement(connection, tenant_id, document.id, context.documents.contract_of)
    return None if moved is None else Blocked(moved.message, {"code": moved.code})
