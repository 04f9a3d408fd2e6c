"""The documents that actions have made since people decided: what was approved is done once, also by hand."""

from signet.core.approvals.decided_way import find_decision
from signet.core.contracts.alike_actions import list_alike_actions
from signet.core.errors import Rejected
from signet.core.runtime.done_before import DONE_BEFORE
from signet.engine.cache import CompiledCache
from signet.engine.documents.change import MutationContext
from signet.engine.documents.commands import Operation, RunAction
from signet.store.approvals.decided_ways import list_status_runs
from signet.store.database import Connection
from signet.store.documents.action_runs import read_action_runs
from signet.store.documents.write import DocumentRow

_REMEDY = (
    "Have people decide again, or make another document. A step that is held is retried. For an action that"
    " people may repeat, the contract says `repeats: allowed`."
)


def refuse_repeat(
    connection: Connection, compiled: CompiledCache, operation: Operation, context: MutationContext
) -> Rejected | None:
    """Refuse a person what a step of the workflow does behind the decision, or what was done since it.

    It is asked of an action that makes documents. Actions that make the same are one.
    """
    row, tenant_id = context.row, context.caller.principal.tenant_id
    if row is None or context.is_own_workflow or not isinstance(operation, RunAction):
        return None
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
    since = _find_decision(connection, context, row)
    if since is None or not (is_drawn or (runs.last_version or 0) >= since):
        return None
    why = "a step of the workflow runs it" if is_drawn else "it has made documents since people decided"
    sentence = f"'{operation.action}' is not run by hand behind an approval: {why}"
    return Rejected(DONE_BEFORE, sentence, remedy=_REMEDY)


def _find_decision(connection: Connection, context: MutationContext, row: DocumentRow) -> int | None:
    """Return the version from which on acts count for one decision; None where nobody has decided."""
    runs = list_status_runs(connection, context.caller.principal.tenant_id, [row.id]).get(row.id, ())
    since = find_decision(runs)
    return 0 if since is None and context.refs.comes_of_approved(row.id) else since
