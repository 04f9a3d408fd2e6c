"""Actions of a contract, run in the same way by people and by workflows. No SQL here.

`update` sets fields, `create` makes a document, `python` calls the author's function.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from signet.authoring.actions import ActionActor, ActionDocument, ActionInput, ActionRegistry, freeze
from signet.core.approvals.unpinned_reads import list_pointed_behind
from signet.core.contracts.contract import DeclaredAction
from signet.core.contracts.field_values import validate_fields
from signet.core.documents.edit_window import EditEffect, decide_edit
from signet.core.errors import Failed, Rejected
from signet.engine.documents.change import (
    DocumentChange,
    MutationContext,
    audit_only_change,
    make_version,
    reject_fields,
    reject_locked,
    supersede_request,
    trigger_workflow,
    window_of,
)
from signet.engine.documents.commands import Create, RunAction
from signet.engine.documents.python_actions import call_function
from signet.store.documents.write import DocumentRow

MakeId = Callable[[], UUID]
ChangeOrRefusal = DocumentChange | Rejected | Failed


def run_action(
    operation: RunAction,
    context: MutationContext,
    row: DocumentRow,
    make_id: MakeId,
    registry: ActionRegistry,
) -> ChangeOrRefusal:
    refused = _refuse_unpinned(operation, context)
    if refused is not None:
        return refused
    action = context.contract.contract.actions[operation.action]
    payload, mistakes = validate_fields(action.payload, dict(operation.payload))
    if payload is None:
        return reject_fields(mistakes, "payload")
    match action.kind:
        case "update":
            return _update(operation, context, row, action, payload)
        case "create":
            return _create(operation, context, row, action, payload, make_id)
        case "python":
            return _ask_function(operation, context, row, payload, make_id, registry)


def _refuse_unpinned(operation: RunAction, context: MutationContext) -> Rejected | None:
    """Refuse a person what no approval has pinned, where a step has pointed the ref; steps are held."""
    if context.is_own_workflow or not context.pins:
        return None
    reads = context.contract.refs_of_actions[operation.action]
    unpinned = ", ".join(sorted(map(".".join, list_pointed_behind(context.pins, context.data, reads))))
    if not unpinned:
        return None
    sentence = f"the action reads {unpinned}, which no approval of the document has pinned"
    remedy = "Amend the document, so that people decide on what the action reads."
    return Rejected("READS_UNPINNED", sentence, remedy=remedy)


def _update(
    operation: RunAction,
    context: MutationContext,
    row: DocumentRow,
    action: DeclaredAction,
    payload: Mapping[str, Any],
) -> ChangeOrRefusal:
    values = _render(operation, context, row, payload)
    data, mistakes = validate_fields(context.contract.contract.fields, {**context.data, **values})
    if data is None:
        return reject_fields(mistakes)
    change = _change(operation, context, row, data)
    if isinstance(change, DocumentChange):
        change.output_fields = tuple(action.output)
    return change


def _create(
    operation: RunAction,
    context: MutationContext,
    row: DocumentRow,
    action: DeclaredAction,
    payload: Mapping[str, Any],
    make_id: MakeId,
) -> DocumentChange:
    change, document_id = _note(operation, context, row), make_id()
    values = _render(operation, context, row, payload)
    change.creates = [Create(action.entity_type or "", values, document_id, operation.reason)]
    change.output = {"document_id": str(document_id), "version": 1}
    return change


def _ask_function(
    operation: RunAction,
    context: MutationContext,
    row: DocumentRow,
    payload: Mapping[str, Any],
    make_id: MakeId,
    registry: ActionRegistry,
) -> ChangeOrRefusal:
    function = registry.find(row.entity_type, operation.action)
    if function is None:
        return _not_loaded(operation, row, registry)
    answer = call_function(
        function, context, operation.action, lambda: _make_input(operation, context, row, payload)
    )
    if isinstance(answer, Failed):
        return answer
    change = (
        _note(operation, context, row)
        if answer.data is None
        else _change(operation, context, row, answer.data)
    )
    if isinstance(change, DocumentChange):
        change.output = answer.output
        change.creates = [
            Create(new.entity_type, new.data, make_id(), operation.reason) for new in answer.creates
        ]
    return change


def _render(
    operation: RunAction, context: MutationContext, row: DocumentRow, payload: Mapping[str, Any]
) -> Mapping[str, Any]:
    env = context.env(context.data, status=row.status, version=row.version)
    env |= {"payload": payload, "context": operation.context}
    values: Mapping[str, Any] = context.contract.actions[operation.action](env)[0]
    return values


def _change(
    operation: RunAction, context: MutationContext, row: DocumentRow, data: Mapping[str, Any]
) -> DocumentChange | Rejected:
    """Make the document's own change: an edit like any other, unless its own workflow makes it."""
    window = window_of(context, row)
    if not context.is_own_workflow and decide_edit(window) is not EditEffect.APPLY:
        return reject_locked(window)
    change = make_version(context, row, f"action:{operation.action}", data, operation.reason)
    if context.is_own_workflow:
        change.is_approved = operation.is_approved
    if not context.is_own_workflow:
        trigger_workflow(change, row, "mutation", {"action": operation.action})
        supersede_request(change, row, "edited")
    return change


def _note(operation: RunAction, context: MutationContext, row: DocumentRow) -> DocumentChange:
    """Make a change that leaves the document as it is, so that no edit window forbids it."""
    return audit_only_change(context, row, f"action:{operation.action}", operation.reason)


def _make_input(
    operation: RunAction, context: MutationContext, row: DocumentRow, payload: Mapping[str, Any]
) -> ActionInput:
    principal = context.caller.principal
    return ActionInput(
        document=ActionDocument(row.id, row.entity_type, row.status, row.version, freeze(context.data)),
        payload=freeze(payload),
        actor=ActionActor(principal.subject, tuple(principal.roles)),
        org=freeze(context.org),
        now=context.transaction.now,
        context=freeze(operation.context),
    )


def _not_loaded(operation: RunAction, row: DocumentRow, registry: ActionRegistry) -> Rejected:
    loaded = f"loaded: {', '.join(registry.modules)}" if registry.modules else "names no module"
    wanted = f"@action('{row.entity_type}', '{operation.action}')"
    return Rejected(
        "ACTION_NOT_LOADED",
        f"no Python function runs the action '{operation.action}' of '{row.entity_type}'",
        remedy=f"SIGNET_EXTENSIONS {loaded}. Register one with {wanted} in a module that it names.",
    )
