"""Checks that need no document: batches too long, invalid names, texts that no store keeps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import Contract
from signet.core.documents.rules import CompiledRule
from signet.core.errors import FieldError, Rejected, Within
from signet.core.tenants.caller import Caller
from signet.core.validation.text import MAX_REASON_CHARACTERS, NAME, find_text_problem
from signet.engine.documents.actions import ChangeOrRefusal
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.commands import (
    Amend,
    ConcludeTransition,
    Correct,
    Create,
    Operation,
    Outcome,
    Refused,
    RequestTransition,
    RunAction,
    Update,
)
from signet.engine.documents.decide import list_followed
from signet.engine.documents.references import RefQuery
from signet.engine.documents.rules import followed_by_rules, kind_of
from signet.store.documents.write import DocumentRow

MAX_BATCH = 1_000
MAX_DATA_BYTES = 1_048_576


def list_queries(
    caller: Caller,
    operation: Operation,
    contract: CompiledContract,
    row: DocumentRow | None,
    rules: Sequence[CompiledRule] | Rejected,
) -> Sequence[RefQuery]:
    """List what deciding will read by refs: of the document as it is, and as it would be."""
    by_rules = () if isinstance(rules, Rejected) else followed_by_rules(rules, kind_of(operation))
    followed = list_followed(caller, operation, contract).union(by_rules)
    if not followed:
        return ()
    data = row.data if row else {}
    return RefQuery(contract, followed, data), RefQuery(contract, followed, content_of(operation))


def require_batch(operations: Sequence[Operation]) -> None:
    if len(operations) > MAX_BATCH:
        raise Rejected(
            "BATCH_TOO_LARGE", f"a batch has at most {MAX_BATCH} operations, not {len(operations)}"
        )
    ids = [operation.id for operation in operations if operation.id is not None]
    if len(set(ids)) != len(ids):
        raise Rejected("DOCUMENT_TWICE_IN_BATCH", "a batch may name a document only once")


def list_ids(operations: Sequence[Operation]) -> list[UUID]:
    """List the documents to lock, in the one order in which every transaction locks them."""
    return sorted(operation.id for operation in operations if operation.id is not None)


def check_operation(operation: Operation) -> Rejected | None:
    return _check_name(operation) or check_reason(operation.reason) or _check_content(operation)


def check_size(change: DocumentChange) -> Rejected | None:
    """Check the size of the data as it would be stored, after rules have set values.

    What a gate keeps was checked when it was written.
    """
    if change.keeps_content or len(orjson.dumps(change.after.data)) <= MAX_DATA_BYTES:
        return None
    return _refuse("DOCUMENT_TOO_LARGE", "", "DOCUMENT_TOO_LARGE", f"has more than {MAX_DATA_BYTES} bytes")


def _check_name(operation: Operation) -> Rejected | None:
    """Refuse a name that no contract can have, without repeating it: it may be a megabyte of anything."""
    match operation:
        case Create(entity_type=name):
            code, what = "ENTITY_TYPE_UNKNOWN", "entity type"
        case RequestTransition(transition=name):
            code, what = "TRANSITION_UNKNOWN", "transition"
        case RunAction(action=name):
            code, what = "ACTION_UNKNOWN", "action"
        case _:
            return None
    return (
        None if NAME.fullmatch(name) else Rejected(code, f"the {what} has a name that no contract can have")
    )


def check_reason(reason: str | None) -> Rejected | None:
    if reason is None:
        return None
    if len(reason) > MAX_REASON_CHARACTERS:
        sentence = f"has more than {MAX_REASON_CHARACTERS} characters"
        return _refuse("FIELDS_INVALID", "/reason", "FIELD_TOO_LONG", sentence)
    problem = find_text_problem(reason)
    return None if problem is None else _refuse("FIELDS_INVALID", "/reason", "FIELD_TEXT_INVALID", problem)


def content_of(operation: Operation) -> Any:
    """Return the content that the operation brings; it may be of any type before it is checked."""
    match operation:
        case Create(data=content) | RunAction(payload=content):
            return content
        case Update(patch=content) | Amend(patch=content) | Correct(patch=content):
            return content
    return {}


def _check_content(operation: Operation) -> Rejected | None:
    if isinstance(content_of(operation), Mapping):
        return None
    within: Within = "payload" if isinstance(operation, RunAction) else "document"
    return _refuse("FIELDS_INVALID", "", "FIELD_TYPE", "wants an object", within)


def _refuse(code: str, pointer: str, mistake: str, sentence: str, within: Within = "body") -> Rejected:
    where = pointer.removeprefix("/") or "the document"
    return Rejected(
        code, f"{where} {sentence}", fields=(FieldError(pointer, mistake, sentence, within=within),)
    )


def find_refused(decided: Sequence[ChangeOrRefusal]) -> Refused | None:
    return next((refused for refused in decided if not isinstance(refused, DocumentChange)), None)


def refuse_all(decided: Sequence[ChangeOrRefusal], first: Refused) -> list[Outcome]:
    """Refuse the changes that could have been done, and name the one that prevents them."""
    index = decided.index(first)
    return [_not_done(index, first) if isinstance(change, DocumentChange) else change for change in decided]


def _not_done(index: int, first: Refused) -> Rejected:
    return Rejected(
        "NOT_DONE",
        f"not done, because number {index} was refused: {first.message}",
        remedy="Mend the one at that index, or let each be done on its own.",
        details={"index": index},
    )


def refuse_unknown(operation: Operation) -> Rejected:
    if isinstance(operation, Create):
        return Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{operation.entity_type}'")
    return Rejected("DOCUMENT_NOT_FOUND", f"there is no document {operation.id}")


def is_refusal(operation: Operation, change: DocumentChange) -> bool:
    """Return whether a request ends without a change of its document: no rule can be against that."""
    is_refused = isinstance(operation, ConcludeTransition) and operation.request_status == "refused"
    return is_refused and not change.writes_document


def list_amendable(operations: Iterable[tuple[Operation, DocumentRow, CompiledContract]]) -> list[UUID]:
    """List the documents whose open amendment an answer depends on."""
    return [
        row.id
        for operation, row, contract in operations
        if may_meet_amendment(operation, contract.contract, row)
    ]


def may_meet_amendment(operation: Operation, contract: Contract, row: DocumentRow) -> bool:
    """Return whether the answer depends on an open amendment, so that it is read."""
    state = contract.states.get(row.status)
    if contract.amendment is None or state is None or not state.settled:
        return False
    if isinstance(operation, Amend) or contract.amendment.while_open == "suspended":
        return True
    window = row.edit_window or state.edit
    return isinstance(operation, Update) and window == "amend_only"
