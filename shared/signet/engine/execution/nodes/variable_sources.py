"""The persons behind variables and conditions: who wrote what nodes read of other documents for them."""

from signet.core.errors import Rejected
from signet.core.expressions import FollowedField
from signet.core.runtime.workflow import WorkflowNode
from signet.core.runtime.workflow_reads import deciding_fields_of, sources_of
from signet.engine.documents.persons.authorship import find_sources
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.documents.write import DocumentRow


def keep_sources(context: InstanceContext, node: WorkflowNode) -> None:
    """Count as editors of the document who last changed what the node reads, where it sets a variable.

    What reads the variable needs not know where its value is from: nobody behind it decides about it.
    """
    if not node.sets_variables:
        return
    document = context.document
    if document is None:
        return
    contract = context.documents.contract_of(document)
    _count_as_editors(context, document, sources_of(context.execution.workflow, contract, node))


def keep_deciders(context: InstanceContext, node: WorkflowNode) -> None:
    """Count as editors who last changed what conditions have read: what follows was written because of it.

    It says what the steps behind it write and make, as a value does that they copy.
    """
    document = context.document
    if document is None:
        return
    contract = context.documents.contract_of(document)
    read = deciding_fields_of(context.execution.workflow, contract, node)
    if node.type.name == "rule" and contract.has_readable_refs:
        read |= _read_by_rules(context, document, node)
    _count_as_editors(context, document, read)


def _read_by_rules(
    context: InstanceContext, document: DocumentRow, node: WorkflowNode
) -> frozenset[FollowedField]:
    rules = context.documents.find_rules(context.documents.contract_of(document))
    named = () if isinstance(rules, Rejected) else rules
    return frozenset(
        read for rule in named if rule.rule.name in node.config["rules"] for read in rule.followed
    )


def _count_as_editors(
    context: InstanceContext, document: DocumentRow, sources: frozenset[FollowedField]
) -> None:
    if not sources:
        return
    documents, contract = context.documents, context.documents.contract_of(document)
    of_document = documents.make_context(context.system_caller(), contract, document, sources)
    documents.widen_editors(document.id, find_sources(of_document, sources))
