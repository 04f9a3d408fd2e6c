"""Actions of a contract, run in the same way by people and by workflows. No SQL here.

`update` sets fields, `create` makes a document, `python` calls the author's function. Every error in a
function becomes a failure of its action, with the reason. It is a value, like a rejection: a batch or a wave
goes on without the document whose action failed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from signet.authoring.actions import (
    MAX_CREATED_DOCUMENTS,
    MAX_OUTPUT_BYTES,
    ActionActor,
    ActionDocument,
    ActionFunction,
    ActionInput,
    ActionRegistry,
    ActionResult,
    NewDocument,
    freeze,
    name_function,
)
from signet.core.approvals.unpinned_reads import list_pointed_behind
from signet.core.contracts.contract import DeclaredAction
from signet.core.contracts.field_values import MAX_FIELD_ERRORS, validate_fields
from signet.core.contracts.fields import Fields
from signet.core.documents.edit_window import EditEffect, decide_edit
from signet.core.documents.merge_patch import MAX_PATCH_DEPTH, apply_merge_patch
from signet.core.documents.personal_data import mask_text
from signet.core.errors import Failed, FieldError, Rejected
from signet.core.explain.vocabulary import escape
from signet.core.expressions.render import refuse_too_large
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
from signet.engine.documents.decisions.done_by_decision import refuse_erased
from signet.store.documents.write import DocumentRow

MAX_REASON_CHARACTERS = 500
MakeId = Callable[[], UUID]
ChangeOrRefusal = DocumentChange | Rejected | Failed


def run_action(
    operation: RunAction,
    context: MutationContext,
    row: DocumentRow,
    make_id: MakeId,
    registry: ActionRegistry,
) -> ChangeOrRefusal:
    refused = _refuse_unpinned(operation, context) or refuse_erased(operation, context)
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
    if isinstance(values, Rejected):
        return values
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
) -> ChangeOrRefusal:
    values = _render(operation, context, row, payload)
    if isinstance(values, Rejected):
        return values
    change, document_id = _note(operation, context, row), make_id()
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
) -> Mapping[str, Any] | Rejected:
    env = context.env(context.data, status=row.status, version=row.version)
    env |= {"payload": payload, "context": operation.context}
    rendered = context.contract.actions[operation.action](env)
    if isinstance(rendered, Rejected):
        return refuse_too_large(f"what the action '{operation.action}' sets: ")
    values: Mapping[str, Any] = rendered[0]
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


@dataclass(frozen=True, slots=True)
class ActionAnswer:
    """The checked result of a function; `data` is None where the document stays as it is."""

    data: Mapping[str, Any] | None
    creates: Sequence[NewDocument]
    output: Mapping[str, Any]


class _Invalid(Exception):
    """A result that the contract does not allow."""

    def __init__(self, reason: str, fields: tuple[FieldError, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fields = fields


def call_function(
    function: ActionFunction, context: MutationContext, action: str, make_input: Callable[[], ActionInput]
) -> ActionAnswer | Failed:
    try:
        return _read(function(make_input()), context, action)
    except _Invalid as invalid:
        return _fail(function, context, action, invalid.reason, invalid.fields)
    except (Exception, SystemExit) as error:
        failed = _fail(function, context, action, f"raised {_describe(error)}")
        failed.__cause__ = error
        return failed


def _fail(
    function: ActionFunction,
    context: MutationContext,
    action: str,
    reason: str,
    fields: tuple[FieldError, ...] = (),
) -> Failed:
    """Make a failure without personal values: it is kept where nothing can be erased."""
    personal = [context.data.get(name) for name in context.contract.personal_fields]
    masked = escape(mask_text(reason, personal))[:MAX_REASON_CHARACTERS]
    place = name_function(function)
    return Failed(
        "ACTION_FAILED",
        f"the action '{action}' failed: {place} {masked}",
        fields=fields,
        details={"action": action, "function": place},
    )


def _describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its text is the author's code too
        return type(error).__name__


def _read(returned: Any, context: MutationContext, action: str) -> ActionAnswer:
    if not isinstance(returned, ActionResult):
        raise _Invalid(f"returned a {type(returned).__name__}, not an ActionResult")
    contract = context.contract.contract
    changes, data = _read_object(returned.changes, "changes"), None
    if changes:
        data = _check(contract.fields, apply_merge_patch(context.data, changes), "changes")
    output = _check(contract.actions[action].output, _read_object(returned.output, "output"), "output")
    size = len(orjson.dumps(output))
    if size > MAX_OUTPUT_BYTES:
        raise _Invalid(f"gives back {size} bytes, at most {MAX_OUTPUT_BYTES}")
    return ActionAnswer(data, _read_creates(returned.creates), output)


def _read_creates(creates: Any) -> list[NewDocument]:
    if not isinstance(creates, list | tuple):
        raise _Invalid(f"has a {type(creates).__name__} in 'creates', not a list")
    if len(creates) > MAX_CREATED_DOCUMENTS:
        raise _Invalid(f"makes {len(creates)} documents, at most {MAX_CREATED_DOCUMENTS}")
    documents = []
    for index, new in enumerate(creates):
        if not isinstance(new, NewDocument) or not isinstance(new.entity_type, str):
            raise _Invalid(f"has a {type(new).__name__} in 'creates', not a NewDocument")
        documents.append(NewDocument(new.entity_type, _read_object(new.data, f"creates/{index}/data")))
    return documents


def _read_object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _Invalid(f"has a {type(value).__name__} as '{place}', not an object")
    read: dict[str, Any] = _thaw(value, place, 0)
    return read


def _thaw(value: Any, place: str, depth: int) -> Any:
    """Copy objects and lists, also frozen ones of the input; the contract judges all other values."""
    if depth > MAX_PATCH_DEPTH:
        raise _Invalid(f"has something in '{place}' that is nested deeper than {MAX_PATCH_DEPTH} levels")
    if isinstance(value, Mapping):
        return {name: _thaw(inner, place, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_thaw(item, place, depth + 1) for item in value]
    # A member of an enum is a text or a number with more to it.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value


def _check(fields: Fields, values: Mapping[str, Any], place: str) -> dict[str, Any]:
    checked, mistakes = validate_fields(fields, values)
    if checked is None:
        placed = [FieldError(f"/{place}{m.pointer}", m.code, m.message) for m in mistakes]
        first = placed[0]
        reason = f"returned {place} that the contract does not allow: {first.pointer} {first.message}"
        raise _Invalid(reason, tuple(placed[:MAX_FIELD_ERRORS]))
    return checked
