"""Documents that actions have made since people decided, and personal values that were erased since.

What was approved is done once, also by hand. And no condition takes the gap of an erasure for an answer.
"""

from collections.abc import Sequence

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.personal_data import READS_ERASED, describe_erased, list_gaps, list_own_fields
from signet.core.errors import Rejected
from signet.core.expressions import Expression
from signet.core.runtime.done_before import DONE_BEFORE
from signet.engine.cache import CompiledCache
from signet.engine.documents.change import MutationContext
from signet.engine.documents.commands import Operation, RequestTransition, RunAction
from signet.store.database import Connection
from signet.store.documents.action_runs import read_action_runs

_REMEDY = (
    "Have people decide again, or make another document. A step that is held is retried. For an action that"
    " people may repeat, the contract says `repeats: allowed`."
)


def refuse_repeat(
    connection: Connection, compiled: CompiledCache, operation: Operation, context: MutationContext
) -> Rejected | None:
    """Refuse a person what a step of the workflow does behind the decision, or what was done since it.

    It is asked of an action that makes documents.
    """
    row, tenant_id = context.row, context.caller.principal.tenant_id
    if row is None or context.is_own_workflow or not isinstance(operation, RunAction):
        return None
    if context.contract.contract.actions[operation.action].repeats is not None:
        return None
    runs = read_action_runs(connection, tenant_id, row.entity_type, row.id, f"action:{operation.action}")
    is_drawn = False
    if runs.definition is not None:
        workflow = compiled.read(connection, tenant_id, *runs.definition)
        is_drawn = operation.action in workflow.run_actions
    if runs.last_version is None and not is_drawn:
        return None
    since = context.refs.find_decision(row.id)
    if since is None or not (is_drawn or (runs.last_version or 0) >= since):
        return None
    why = "a step of the workflow runs it" if is_drawn else "it has made documents since people decided"
    sentence = f"'{operation.action}' is not run by hand behind an approval: {why}"
    return Rejected(DONE_BEFORE, sentence, remedy=_REMEDY)


def refuse_erased(operation: RequestTransition | RunAction, context: MutationContext) -> Rejected | None:
    """Refuse a request or an action whose conditions would read a value that was erased since people decided.

    Only a personal field that holds nothing costs a statement. Of a step, its node has looked.
    """
    row, personal = context.row, context.contract.personal_fields
    if row is None or context.is_own_workflow or not personal:
        return None
    gaps = list_gaps(list_own_fields(_list_conditions(operation, context.contract)), personal, context.data)
    erased = context.refs.find_erased_since(row.id, gaps, context.refs.find_decision) if gaps else None
    if not erased:
        return None
    remedy = "Amend the document, so that people decide without the value. Or publish a condition without it."
    return Rejected(READS_ERASED, describe_erased("the condition", erased), remedy=remedy)


def _list_conditions(
    operation: RequestTransition | RunAction, contract: CompiledContract
) -> Sequence[Expression]:
    if isinstance(operation, RequestTransition):
        permission = contract.permission_of_transition(operation.transition)
        return contract.list_conditions(permission, operation.transition)
    return contract.list_conditions(contract.permission_of_action(operation.action), None)
