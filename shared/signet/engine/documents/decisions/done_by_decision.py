"""The limits of a decision: what people have decided about is done once, and nothing else is done.

What an action made of an approved document was approved with it, until a person has it say something else.
And no condition takes the gap of an erasure for an answer. Nobody decides by what the document's people gave.
"""

from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from signet.core.approvals.barring_changes import find_barring_change, make_request_basis
from signet.core.approvals.decided_way import DecidedWay
from signet.core.approvals.eligibility import PeopleBehind
from signet.core.approvals.unasked_content import describe_unasked, list_accepted, refuse_unasked
from signet.core.contracts.alike_actions import list_alike_actions
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import Contract
from signet.core.documents.personal_data import READS_ERASED, describe_erased, list_gaps, list_own_fields
from signet.core.errors import Rejected
from signet.core.expressions import Expression
from signet.core.runtime.done_before import DONE_BEFORE
from signet.engine.cache import CompiledCache
from signet.engine.documents.change import MutationContext, as_rejected
from signet.engine.documents.commands import Operation, RequestTransition, RunAction
from signet.engine.documents.decisions.record import DocumentDecisions
from signet.store.approvals.typed_values import find_first_original, list_typed_over
from signet.store.database import Connection
from signet.store.documents.action_runs import read_action_runs
from signet.store.documents.write import DocumentRow

_REMEDY = (
    "Have people decide again, or make another document. A step that is held is retried. For an action that"
    " people may repeat, the contract says `repeats: allowed`."
)


def refuse_by_hand(
    connection: Connection, compiled: CompiledCache, operation: Operation, context: MutationContext
) -> Rejected | None:
    """Refuse a person what a step does behind the decision, what was done since it, and what is unasked.

    It is asked of an action that makes documents. Actions that make the same are one.
    """
    row, tenant_id = context.row, context.caller.principal.tenant_id
    record = context.decisions
    if row is None or record is None or context.is_own_workflow or not isinstance(operation, RunAction):
        return None
    known = connection, tenant_id, row, context.contract.contract
    unasked = read_unasked(*known, lambda: record.decided_way)
    if unasked is not None:
        return refuse_unasked(unasked)
    if context.contract.contract.actions[operation.action].repeats is not None:
        return None
    alike = list_alike_actions(context.contract.contract, operation.action)
    words = [f"action:{name}" for name in alike]
    runs = read_action_runs(connection, tenant_id, row.entity_type, row.id, words)
    is_drawn = False
    if runs.definition is not None:
        workflow = compiled.read(connection, tenant_id, *runs.definition)
        is_drawn = not workflow.run_actions.isdisjoint(alike)
    if runs.last_version is None and not is_drawn:
        return None
    since = record.find_decision()
    if since is None or not (is_drawn or (runs.last_version or 0) >= since):
        return None
    why = "a step of the workflow runs it" if is_drawn else "it has made documents since people decided"
    sentence = f"'{operation.action}' is not run by hand behind an approval: {why}"
    return Rejected(DONE_BEFORE, sentence, remedy=_REMEDY)


def read_unasked(
    connection: Connection,
    tenant_id: UUID,
    row: DocumentRow,
    contract: Contract,
    read_decided_way: Callable[[], DecidedWay],
) -> str | None:
    """Find what a document says that nobody was asked about, where it comes of an approved one.

    A document that no person has edited costs no statement.
    """
    is_amendment = row.amended_from_id is not None
    if not is_amendment and not row.editor_ids:
        return None
    list_since = partial(list_typed_over, connection, tenant_id, row.id, accepted=list_accepted(contract))
    typed_over = frozenset[str]() if is_amendment else list_since(since=0)
    if not is_amendment and not typed_over:
        return None
    origin = find_first_original(connection, tenant_id, row.id) if is_amendment else row.id
    if not DocumentDecisions(connection, tenant_id, origin).comes_of_approved:
        return None
    way = read_decided_way()
    if way.is_decided:
        typed_over = list_since(since=way.since)
    return describe_unasked(is_amendment=is_amendment, is_decided=way.is_decided, typed_over=typed_over)


def refuse_erased(operation: RequestTransition | RunAction, context: MutationContext) -> Rejected | None:
    """Refuse a request or an action that reads a value which was erased since people were asked.

    Its conditions read it, or what the action sets does. Only a personal field that holds nothing costs a
    statement. Of a step, its node has looked.
    """
    record, contract = context.decisions, context.contract
    personal = contract.personal_fields
    if record is None or context.is_own_workflow or not personal:
        return None
    read, reader = list(_list_conditions(operation, contract)), "the condition"
    if isinstance(operation, RunAction):
        read += contract.parts_of_actions[operation.action]
        reader = f"the action '{operation.action}' or its condition"
    gaps = list_gaps(list_own_fields(read), personal, context.data)
    erased = record.find_erased_since(gaps, lambda: record.decided_way) if gaps else None
    if not erased:
        return None
    remedy = (
        "Fill the value again where the document may be edited. Or amend the document, so that people decide"
        " without the value. Or publish a condition or an action without it."
    )
    return Rejected(READS_ERASED, describe_erased(reader, erased), remedy=remedy)


def refuse_given(
    operation: RequestTransition, context: MutationContext, row: DocumentRow, behind: PeopleBehind
) -> Rejected | None:
    """Refuse a request that decides, where the document's people have given what it rests on.

    It counts since the document was made, and costs a statement.
    """
    principal, contract, record = context.caller.principal, context.contract, context.decisions
    assert record is not None
    permission = contract.permission_of_transition(operation.transition)
    basis = make_request_basis(
        principal.subject,
        principal.roles,
        behind.everyone,
        permission=permission,
        reads_roles=permission in contract.permissions_by_roles,
        made_at=row.created_at,
    )
    return as_rejected(find_barring_change(basis, record.read_changes(basis)))


def _list_conditions(
    operation: RequestTransition | RunAction, contract: CompiledContract
) -> Sequence[Expression]:
    if isinstance(operation, RequestTransition):
        permission = contract.permission_of_transition(operation.transition)
        return contract.list_conditions(permission, operation.transition)
    return contract.list_conditions(contract.permission_of_action(operation.action), None)
