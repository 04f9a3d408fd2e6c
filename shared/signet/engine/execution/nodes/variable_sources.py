"""The persons behind variables: who wrote what the nodes that set them read of other documents."""

from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.authorship import find_sources
from signet.engine.execution.nodes.context import InstanceContext


def keep_sources(context: InstanceContext, node: WorkflowNode) -> None:
    """Count as editors of the document who last changed what the node reads, where it sets a variable.

    What reads the variable needs not know where its value is from: nobody behind it decides about it.
    """
    if not node.sets_variables:
        return
    document = context.document
    if document is None:
        return
    documents = context.documents
    contract = documents.contract_of(document)
    sources = context.execution.workflow.sources_of(contract, node)
    if sources:
        of_document = documents.make_context(context.system_caller(), contract, document, sources)
        documents.widen_editors(document.id, find_sources(of_document, sources))
