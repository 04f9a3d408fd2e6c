"""Checks that come before an act of an operator on an instance, each with its remedy."""

from signet.core.errors import FieldError, Rejected
from signet.core.runtime.operator_actions import check_retry, find_token
from signet.core.runtime.position import Token
from signet.engine.documents.command_checks import check_reason
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.instances.operator_transaction import OperatorTransaction

# What ends the pause of an instance whose document was changed where nobody may change it.
TAKE_DRIFT = (
    "Send it to the state of its document by go_to, where its incident lists that. Else cancel it with"
    " `then: restart`."
)


def require_version(context: InstanceContext, expected: int) -> None:
    if context.row.version != expected:
        raise Rejected(
            "INSTANCE_VERSION_CONFLICT",
            f"the instance is at version {context.row.version}, not {expected}",
            remedy="Read it again, and decide on what it does now.",
            details={"current_version": context.row.version},
        )


def require_running(context: InstanceContext, act: str) -> None:
    if context.row.status != "running":
        sentence = f"the instance is {context.row.status}: only a running one can be {act}"
        raise Rejected("INSTANCE_NOT_RUNNING", sentence, remedy=_end_pause(context))


def _end_pause(context: InstanceContext) -> str:
    """Return what ends the pause, if it is paused."""
    if context.row.status != "paused":
        return ""
    projection = context.execution.projection
    if projection.is_paused_by_holds:
        return "Retry or skip what is held: its explanation gives the commands."
    return TAKE_DRIFT if projection.has_drifted else "Resume it."


def require_retriable(transaction: OperatorTransaction, context: InstanceContext) -> None:
    pause = transaction.read_pause(context.row.id) if context.row.status == "paused" else None
    is_by_person = pause is not None and pause.is_by_person
    raise_if(check_retry(context.execution, is_paused_by_person=is_by_person))


def require_repairable(context: InstanceContext) -> None:
    """Require that the instance runs, or that only its tokens are held."""
    require_live(context)
    if not context.execution.takes_changes:
        status = context.row.status
        sentence = f"the instance is {status}: it can be repaired while it runs, or is held"
        raise Rejected("INSTANCE_NOT_RUNNING", sentence, remedy=_end_pause(context))


def has_drifted(transaction: OperatorTransaction, context: InstanceContext) -> bool:
    """Return whether the engine has paused it for a change of its document where nobody may change it."""
    if not context.execution.projection.has_drifted:
        return False
    pause = transaction.read_pause(context.row.id)
    return pause is not None and not pause.is_by_person


def require_live(context: InstanceContext) -> None:
    if not context.execution.is_live:
        raise Rejected("INSTANCE_ENDED", f"the instance is {context.row.status} already")


def require_current(context: InstanceContext) -> None:
    """Refuse while an edit is not yet taken in, since it may send the instance elsewhere."""
    document = context.document
    if document is not None and document.version != context.row.entity_version:
        sentence = "the document was edited, and the instance has not taken that in yet"
        act = "wake" if context.execution.is_running else "resume"
        remedy = f"Read it again in a moment; {act} it if it stays."
        if context.execution.projection.has_drifted:
            remedy = TAKE_DRIFT
        raise Rejected("INSTANCE_BEHIND", sentence, remedy=remedy)


def require_token(context: InstanceContext, name: str) -> Token:
    token = find_token(context.execution, name)
    if isinstance(token, Rejected):
        raise token
    return token


def raise_if(rejected: Rejected | None) -> None:
    if rejected is not None:
        raise rejected


def require_reason(reason: str) -> None:
    rejected = check_reason(reason)
    if rejected is not None:
        raise rejected
    if not reason.strip():
        mistake = FieldError("/reason", "REASON_REQUIRED", "wants a reason")
        raise Rejected("FIELDS_INVALID", "this act needs a reason", fields=(mistake,))
