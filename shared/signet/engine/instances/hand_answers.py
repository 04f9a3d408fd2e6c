"""Answers by hand, and acts behind a gate: an operator is held to separation of duties for both.

What they enter may decide about the document like an edit of it, so that they count as its editors.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from signet.core.approvals.eligibility import PeopleBehind, separation_conflict
from signet.core.contracts.compiled_contract import Denial
from signet.core.errors import Rejected
from signet.core.runtime.go_to_targets import is_behind_gate
from signet.core.runtime.hand_answers import check_readers, read_answer
from signet.core.runtime.position import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.core.tenants.caller import Caller
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.instances.operator_transaction import OperatorTransaction
from signet.store.approvals.given_decisions import list_requesters


def require_answer(context: InstanceContext, node: WorkflowNode, payload: Any) -> Any:
    """Require an answer in the shape of what the node would have saved, with all that is read behind it."""
    document = context.document
    contract = context.documents.contract_of(document).contract if document is not None else None
    answer = read_answer(node, payload, contract)
    if isinstance(answer, Rejected):
        raise answer
    refused = check_readers(context.execution.workflow.content, node.id, answer)
    if refused is not None:
        raise refused
    return answer


def take_part_in_answer(transaction: OperatorTransaction, context: InstanceContext, caller: Caller) -> None:
    """Count the caller as an editor of the document, or refuse them for the part that they have already."""
    refuse_part(transaction, context, caller)
    if context.document is not None:
        transaction.add_editors(context.document.id, _list_persons(caller))


def refuse_part(transaction: OperatorTransaction, context: InstanceContext, caller: Caller) -> None:
    """Refuse a caller with a part in the document: they would answer what decides about it.

    A command line has the person's part too that it claims to be.
    """
    if context.document is None:
        return
    persons = _list_persons(caller)
    denial = (
        _find_part(transaction, context, persons)
        or _find_approval(transaction, context, persons, "give the answer")
        or _find_request(transaction, context, persons)
    )
    if denial is not None:
        remedy = "Have an operator without a part in it give the answer."
        raise Rejected(denial.code, denial.sentence, remedy=remedy)


def refuse_part_behind_gate(
    transaction: OperatorTransaction,
    context: InstanceContext,
    caller: Caller,
    tokens: Sequence[Token] | None = None,
) -> None:
    """Refuse a caller with a part in a document that stands behind a gate: it would be done again for them.

    Who approved what is done there would do it again. Before the gate its approvals are asked again. Where
    the instance has ended, `tokens` are those that it had.
    """
    document = context.document
    if document is None:
        return
    execution = context.execution
    tokens = execution.projection.position.at_work() if tokens is None else tokens
    if not is_behind_gate(execution.workflow, tokens, document.status, is_decided=execution.is_decided):
        return
    persons = _list_persons(caller)
    denial = _find_part(transaction, context, persons) or _find_approval(
        transaction, context, persons, "do this too"
    )
    if denial is not None:
        remedy = "Have another operator do it; what is held can be retried."
        raise Rejected(denial.code, denial.sentence, remedy=remedy)


def _list_persons(caller: Caller) -> frozenset[str]:
    claimed = () if caller.claimed is None else (caller.claimed,)
    return frozenset((*caller.principal.responsible, *claimed))


def _find_approval(
    transaction: OperatorTransaction, context: InstanceContext, persons: Iterable[str], what: str
) -> Denial | None:
    """Find an approval of the document, or of one that it was made of or amends, that stands or was used.

    Its voter would decide alone about what they then do, for instance about the account that is paid.
    """
    document = context.document
    assert document is not None
    for person in sorted(transaction.list_approvers(document.id).intersection(persons)):
        if _bars_deciding(context, person):
            approved = "the document, or one that it comes from"
            return Denial("SEPARATION_OF_DUTIES", f"{person} has approved {approved}, and may not {what}")
    return None


def _bars_deciding(context: InstanceContext, person: str) -> bool:
    """Return whether the contract keeps an editor from deciding."""
    document = context.document
    assert document is not None
    contract = context.documents.contract_of(document)
    return separation_conflict(contract, PeopleBehind(editors=frozenset((person,))))(person) is not None


def _find_part(
    transaction: OperatorTransaction, context: InstanceContext, persons: Iterable[str]
) -> Denial | None:
    """Find a part in the document. Their own earlier answers bar nobody from another one."""
    document = context.document
    assert document is not None
    find_conflict = context.make_conflict_check(document)
    for person in sorted(persons):
        denial = find_conflict(person)
        if denial is not None and transaction.has_answered(context, document.id, person):
            others = document.editor_responsible - {person}
            denial = context.make_conflict_check(replace(document, editor_responsible=others))(person)
        if denial is not None:
            return denial
    return None


def _find_request(
    transaction: OperatorTransaction, context: InstanceContext, persons: Iterable[str]
) -> Denial | None:
    """Find a request of theirs in any instance of the document, and bar who decided by it like a voter."""
    document = context.document
    assert document is not None
    asked = list_requesters(transaction.connection, context.tenant_id, document.id, list(persons))
    contract = context.documents.contract_of(document)
    find_conflict = separation_conflict(contract, PeopleBehind(requesters=frozenset(asked)))
    for person, has_decided in sorted(asked.items()):
        if has_decided and _bars_deciding(context, person):
            sentence = f"{person} has decided about the document by a request, and may not give the answer"
            return Denial("SEPARATION_OF_DUTIES", sentence)
        denial = find_conflict(person)
        if denial is not None:
            return denial
    return None
