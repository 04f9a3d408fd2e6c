"""Variables that are older than what people have changed since: no step reads them.

A variable that its slot has left unset is as old as that: its conditions had it so.

They are read again when their slot sets them again, or when the document says again what it said. So they are
when people have approved the document with them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from signet.core.repair.kept_items import is_kept
from signet.core.runtime.graph.deciding_slots import EVERY
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.documents.write import DocumentRow
from signet.store.instances.outdated_variables import KnownVariable, list_outdated


def find_outdated_read(context: InstanceContext, node: WorkflowNode) -> str | None:
    """Return why the node may not read: a variable is older than what people have changed since."""
    read = context.execution.workflow.variables_read[node.id]
    if not read:
        return None
    outdated = find_outdated(context, read)
    return f"VARIABLE_OUTDATED: {node.id} reads {describe_outdated(outdated)}" if outdated else None


def find_outdated(context: InstanceContext, names: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Return the variables that are older than a change by people, with the fields that differ.

    One that people have approved as it is may be read. The database is asked once for an instance. It is
    asked only where people have edited the document, and where no step of the wave has set what is read.
    """
    execution, document = context.execution, context.document
    variables = {name: value for name, value in execution.projection.context.items() if not is_kept(name)}
    known = variables.keys() | execution.workflow.entries_of_variables.keys()
    wanted = set(variables) if EVERY in names else known & set(names)
    if document is None or not document.editor_ids or not wanted - execution.set_now:
        return {}
    if context.environment.outdated is None:
        context.environment.outdated = _read_outdated(context, document, variables)
    found = context.environment.outdated
    shown = {
        name
        for request in context.approvals.list_live(context.row.id)
        if request.status == "approved" and (request.applied or request.document_version == document.version)
        for name, value in (request.variables or {}).items()
        if variables.get(name) == value
    }
    return {name: found[name] for name in sorted(wanted - execution.set_now - shown) if name in found}


def describe_outdated(outdated: Mapping[str, Sequence[str]]) -> str:
    """Say which variables are older than which fields."""
    return "; ".join(
        f"context.{name}, and {', '.join(fields)} was changed since" for name, fields in outdated.items()
    )


def _read_outdated(
    context: InstanceContext, document: DocumentRow, variables: Mapping[str, Any]
) -> Mapping[str, Sequence[str]]:
    workflow = context.execution.workflow
    entries: Mapping[str, Sequence[str] | None] = {
        **{name: sorted(nodes) for name, nodes in workflow.entries_of_variables.items()},
        **dict.fromkeys(variables),
    }
    asked = [
        KnownVariable(name, variables.get(name), _list_fields(workflow, name), nodes)
        for name, nodes in entries.items()
    ]
    controls = (step for step in context.execution.changed.values() if step.is_control)
    edits = [(step.version, step.version_after) for step in controls if step.version_after > step.version]
    place = context.tenant_id, document.entity_type, document.id, context.row.id
    return list_outdated(context.documents.connection, *place, document.data, asked, edits)


def _list_fields(workflow: Workflow, variable: str) -> Sequence[str] | None:
    fields = workflow.fields_of_variables.get(variable, frozenset({EVERY}))
    return None if EVERY in fields else sorted(fields)
