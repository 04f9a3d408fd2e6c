"""Steps behind a decision whose conditions would read a value that was erased since: their token is held."""

from signet.core.documents.erased_reads import READS_ERASED, describe_erased, list_gaps
from signet.core.documents.personal_data import resolve_personal
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.done_by_decision import find_erased_since
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_decided_way


def find_erased_read(context: InstanceContext, node: WorkflowNode) -> str | None:
    """Return why the node may not go on. Only a personal field that holds nothing costs a statement."""
    document, documents = context.document, context.documents
    if document is None:
        return None
    personal = documents.contract_of(document).personal_fields
    if not personal:
        return None
    data = resolve_personal(document.data, document.personal or {})
    gaps = list_gaps(context.execution.workflow.read_to_choose(node), personal, data)
    if not gaps:
        return None
    place = documents.connection, context.tenant_id, document.id
    erased = find_erased_since(documents.refs, place, gaps, lambda: read_decided_way(context).decided_since)
    return f"{READS_ERASED}: {describe_erased(node.id, erased)}" if erased else None
