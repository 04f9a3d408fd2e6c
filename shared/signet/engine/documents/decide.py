"""Decisions on operations: each becomes a change or a refusal. No SQL here."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from signet.authoring.actions import ActionRegistry
from signet.core.approvals.decided_pins import check_seen
from signet.core.approvals.eligibility import PeopleBehind, find_authors, separation_conflict
from signet.core.approvals.pins import Pins, hash_pins
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.field_values import validate_fields
from signet.core.documents.edit_window import EditEffect, decide_edit
from signet.core.documents.merge_patch import PatchTooDeep, apply_merge_patch
from signet.core.documents.request_check import RequestedDocument, check_asking
from signet.core.errors import FieldError, Rejected
from signet.core.expressions import FollowedField
from signet.core.runtime.resting_states import find_reentry
from signet.core.tenants.caller import Caller
from signet.engine.documents.actions import ChangeOrRefusal, MakeId, run_action
from signet.engine.documents.amendments import START, make_amendment, refuse_while_open
from signet.engine.documents.change import (
    AuditNote,
    DocumentChange,
    EndedRequest,
    InstanceStart,
    MutationContext,
    NewContent,
    RequestChange,
    as_rejected,
    audit_only_change,
    authorize,
    cancel_instance,
    make_version,
    reject_fields,
    reject_locked,
    supersede_request,
    trigger_workflow,
    window_of,
)
from signet.engine.documents.commands import (
    Amend,
    ConcludeTransition,
    Correct,
    Create,
    Delete,
    OfEdit,
    Operation,
    RequestTransition,
    RunAction,
    Update,
    WithdrawRequest,
)
from signet.engine.documents.decisions.done_by_decision import refuse_erased, refuse_given
from signet.engine.documents.paused_requests import withdraw_request
from signet.engine.documents.references import RefQuery
from signet.store.documents.write import DocumentRow


def decide_operation(
    operation: Operation, context: MutationContext, make_id: MakeId, actions: ActionRegistry
) -> ChangeOrRefusal:
    if isinstance(operation, Create):
        return _create(operation, context, make_id)
    row = context.row
    if row is None or row.deleted_at is not None:
        return Rejected("DOCUMENT_NOT_FOUND", f"there is no document {operation.id}")
    if isinstance(operation, ConcludeTransition):
        return _conclude(operation, context, row)
    if isinstance(operation, WithdrawRequest):
        return withdraw_request(operation, context, row)
    if isinstance(operation, Correct):
        return _correct(operation, context, row)
    refused = _refuse(operation, context, row)
    if refused is None and context.open_amendment is not None:
        refused = refuse_while_open(operation, context, row)
    if refused is not None:
        return refused
    if isinstance(operation, RunAction):
        return run_action(operation, context, row, make_id, actions)
    return _decide_allowed(operation, context, row, make_id)


def _refuse(operation: OfEdit, context: MutationContext, row: DocumentRow) -> Rejected | None:
    """Refuse for lack of authority, or of the right version.

    Authority comes first: a caller without it learns nothing of the document's state.
    """
    permission = find_permission(operation, context.contract)
    if isinstance(permission, Rejected):
        return permission
    denied = authorize(context, permission, context.env(context.data, status=row.status, version=row.version))
    if denied is not None:
        return denied
    if isinstance(operation, RunAction) and context.is_own_workflow:
        return None  # it holds the document locked, so there is no other version
    if operation.expected_version is None:
        return Rejected(
            "DOCUMENT_VERSION_MISSING",
            "the request does not say which version of the document was seen",
            remedy="Send the version that you saw.",
        )
    if operation.expected_version != row.version:
        return version_conflict(row, operation.expected_version)
    return None


def _decide_allowed(
    operation: Update | RequestTransition | Delete | Amend,
    context: MutationContext,
    row: DocumentRow,
    make_id: MakeId,
) -> DocumentChange | Rejected:
    match operation:
        case Update():
            return _update(operation, context, row, make_id)
        case Amend():
            return _amend_explicitly(operation, context, row, make_id)
        case RequestTransition():
            return _request(operation, context, row)
        case Delete():
            return _delete(operation, context, row)


def find_permission(operation: Create | OfEdit, loaded: CompiledContract) -> str | Rejected:
    """Find the permission for the operation, or reject what the contract does not know."""
    contract = loaded.contract
    match operation:
        case Create():
            return f"{contract.contract}:create"
        case Update():
            return f"{contract.contract}:edit"
        case Delete():
            return f"{contract.contract}:delete"
        case Amend():
            own = contract.amendment.permission if contract.amendment else None
            return own or f"{contract.contract}:amend"
        case RequestTransition(transition=name):
            requestable = [key for key, t in contract.transitions.items() if t.kind != "automatic"]
            if name in requestable:
                return loaded.permission_of_transition(name)
            remedy = f"Use one of: {', '.join(requestable)}."
            return Rejected("TRANSITION_UNKNOWN", f"nobody can ask for '{name}'", remedy=remedy)
        case RunAction(action=name):
            if name in contract.actions:
                return loaded.permission_of_action(name)
            remedy = f"Use one of: {', '.join(contract.actions) or '(none)'}."
            return Rejected("ACTION_UNKNOWN", f"nobody can run '{name}' on a document", remedy=remedy)


def list_followed(caller: Caller, operation: Operation, loaded: CompiledContract) -> frozenset[FollowedField]:
    """Find what the condition of its permission and its action read behind refs.

    Of a step, the node before it has asked the condition. A request that decides may lead to anything that
    its contract lets expressions read.
    """
    if isinstance(operation, RequestTransition) and _decides(loaded, operation):
        return loaded.readable_refs
    if isinstance(operation, ConcludeTransition | WithdrawRequest | Correct):
        return frozenset()
    permission, followed = find_permission(operation, loaded), frozenset[FollowedField]()
    if isinstance(permission, Rejected):
        return followed
    if caller.instance_id is None:
        followed = loaded.refs_of_conditions.get(permission, followed)
    if isinstance(operation, RunAction):
        followed |= loaded.refs_of_actions[operation.action]
    return followed


def _decides(loaded: CompiledContract, operation: RequestTransition) -> bool:
    return operation.transition in loaded.contract.separation_of_duties.deciding


def version_conflict(row: DocumentRow, expected: int) -> Rejected:
    """Refuse an act on a version of the document that is not its newest."""
    return Rejected(
        "DOCUMENT_VERSION_CONFLICT",
        f"the document is at version {row.version}, not {expected}",
        remedy="Read it again, and decide on what it says now.",
        details={"current_version": row.version},
    )


def _create(operation: Create, context: MutationContext, make_id: MakeId) -> DocumentChange | Rejected:
    change = make_document(operation, context, operation.id or make_id())
    if isinstance(change, Rejected):
        return change
    permission = f"{context.contract.contract.contract}:create"
    env = context.env(change.after.data, status=change.after.status, version=change.after.version)
    return authorize(context, permission, env) or change


def make_document(
    operation: Create, context: MutationContext, document_id: UUID
) -> DocumentChange | Rejected:
    """Make a new document. The authority to run an action includes making its documents."""
    contract = context.contract.contract
    data, mistakes = validate_fields(contract.fields, dict(operation.data))
    if data is None:
        return reject_fields(mistakes)
    return DocumentChange(
        document_id=document_id,
        caller=context.caller,
        contract=context.contract,
        before=None,
        after=NewContent(data, contract.initial_state, 1),
        note=AuditNote("create", operation.reason),
        instance=InstanceStart(START, "created"),
    )


def _update(
    operation: Update, context: MutationContext, row: DocumentRow, make_id: MakeId
) -> DocumentChange | Rejected:
    data = _patched(operation.patch, context, is_full=operation.is_full)
    if isinstance(data, Rejected):
        return data
    window = window_of(context, row)
    match EditEffect.APPLY if context.is_own_workflow else decide_edit(window):
        case EditEffect.REFUSE:
            return reject_locked(window)
        case EditEffect.AMEND if data == context.data:
            return _nothing_to_amend()
        case EditEffect.AMEND:
            return make_amendment(context, row, data, operation.reason, make_id)
        case _:
            change = make_version(context, row, "update", data, operation.reason)
            trigger_workflow(change, row, "mutation", {"action": "update"})
            supersede_request(change, row, "edited")
            return change


def _correct(operation: Correct, context: MutationContext, row: DocumentRow) -> DocumentChange | Rejected:
    """Make a new version. The request stays, since its way begins again for it. One that decides ends."""
    data = _patched(operation.patch, context, is_full=False)
    if isinstance(data, Rejected):
        return data
    change = make_version(context, row, "correct", data, operation.reason)
    if row.requested in context.contract.contract.separation_of_duties.deciding:
        supersede_request(change, row, "corrected")
    return change


def _nothing_to_amend() -> Rejected:
    """Refuse an edit without a difference, which would still end the approvals that are asked for."""
    sentence = "nothing would change: the edit makes an amendment that says what the document says"
    return Rejected("REQUEST_INVALID", sentence, remedy="Send the fields that change.")


def _patched(
    patch: Mapping[str, Any], context: MutationContext, *, is_full: bool
) -> Mapping[str, Any] | Rejected:
    try:
        merged = dict(patch) if is_full else apply_merge_patch(context.data, patch)
    except PatchTooDeep:
        return Rejected("REQUEST_INVALID", "the patch is nested deeper than any document can be")
    data, mistakes = validate_fields(context.contract.contract.fields, merged)
    return reject_fields(mistakes) if data is None else data


def _amend_explicitly(
    operation: Amend, context: MutationContext, row: DocumentRow, make_id: MakeId
) -> DocumentChange | Rejected:
    amendment = context.contract.contract.amendment
    if amendment is None or row.status not in amendment.from_states:
        allowed = ", ".join(amendment.from_states) if amendment else ""
        remedy = f"It may be asked for in: {allowed}." if allowed else "Its contract allows no amendment."
        return Rejected(
            "AMENDMENT_NOT_POSSIBLE", f"a document in status '{row.status}' cannot be amended", remedy=remedy
        )
    data = _patched(operation.patch, context, is_full=False)
    return (
        data if isinstance(data, Rejected) else make_amendment(context, row, data, operation.reason, make_id)
    )


def _request(
    operation: RequestTransition, context: MutationContext, row: DocumentRow
) -> DocumentChange | Rejected:
    contract = context.contract.contract
    transition = contract.transitions[operation.transition]
    document = RequestedDocument(row.status, row.pause, context.open_amendment)
    refused = check_asking(contract, operation.transition, document) or refuse_erased(operation, context)
    if refused is not None:
        return refused
    if transition.reason_required and not (operation.reason or "").strip():
        return _reason_required(operation.transition)
    pins = _read_pins(operation, context)
    if pins is not None:
        behind = find_authors(row, pins)
        refused = _separated(context, behind) or refuse_given(operation, context, row, behind)
        refused = refused or check_seen(pins, operation.seen)
        if refused is not None:
            return refused
    detail = {"pins_hash": hash_pins(pins)} if pins else {}
    change = audit_only_change(
        context, row, f"request:{operation.transition}", operation.reason, detail=detail
    )
    change.request = RequestChange(opens=operation.transition, pins=pins)
    supersede_request(change, row, f"replaced by a request for {operation.transition}")
    if row.instance_id is None:
        # Settled or failed: a new instance begins in the document's state.
        begins = contract.initial_state if contract.amendment is not None else None
        is_amendment = row.amended_from_id is not None
        node = find_reentry(row.status, amendments_begin=begins, is_amendment=is_amendment)
        change.instance = InstanceStart(node, "reentered")
    else:
        trigger_workflow(change, row, "transition_requested", {"transition": operation.transition})
    return change


def _conclude(
    operation: ConcludeTransition, context: MutationContext, row: DocumentRow
) -> DocumentChange | Rejected:
    if not context.is_own_workflow:
        return Rejected(
            "TRANSITION_NOT_POSSIBLE",
            "only a gate of the document's own workflow changes its status",
            remedy="Ask for the transition: the gate lets it pass when its conditions hold.",
        )
    action = f"transition:{operation.transition}"
    if operation.to is None or operation.to == row.status:
        change = audit_only_change(context, row, action, operation.reason)
    else:
        change = make_version(context, row, action, context.data, operation.reason, status=operation.to)
    change.keeps_content = True
    if row.request_id is not None:
        outcome = operation.reason or operation.transition
        change.request = RequestChange(ends=EndedRequest(row.request_id, operation.request_status, outcome))
    return change


def _delete(operation: Delete, context: MutationContext, row: DocumentRow) -> DocumentChange | Rejected:
    contract = context.contract.contract
    if row.status not in contract.deletable_in:
        allowed = ", ".join(contract.deletable_in) or "no status"
        sentence = f"a document in status '{row.status}' cannot be deleted"
        return Rejected("DELETE_NOT_POSSIBLE", sentence, remedy=f"The contract allows it in {allowed}.")
    window = window_of(context, row)
    if not context.is_own_workflow and decide_edit(window) is not EditEffect.APPLY:
        return reject_locked(window)
    change = make_version(context, row, "delete", context.data, operation.reason)
    change.after.is_deleted = True
    cancel_instance(change, row, "deleted")
    supersede_request(change, row, "deleted")
    return change


def _read_pins(operation: RequestTransition, context: MutationContext) -> Pins | None:
    """Return what may be read of other documents behind a request that decides; None where it does not."""
    if not _decides(context.contract, operation):
        return None
    return context.refs.pins_of(RefQuery(context.contract, context.followed, context.data))


def _separated(context: MutationContext, behind: PeopleBehind) -> Rejected | None:
    """Refuse a request that decides, by a person who took part or by a key: a key decides nothing.

    The person took part, too, who last changed a field that may be read of another document.
    """
    find_conflict = separation_conflict(context.contract, behind)
    denials = map(find_conflict, sorted(context.caller.principal.responsible))
    denial = next((denial for denial in denials if denial is not None), None)
    if denial is None and context.caller.principal.is_key:
        remedy = "Have a person ask for it, who has no part in the document."
        return Rejected("PERMISSION_DENIED", "an API key asks for nothing that decides", remedy=remedy)
    return as_rejected(denial)


def _reason_required(transition: str) -> Rejected:
    field = FieldError("/reason", "REASON_REQUIRED", f"'{transition}' wants a reason")
    return Rejected("FIELDS_INVALID", f"'{transition}' wants a reason", fields=(field,))
