"""Notes of acts, and the answer to one: the instance, with what acts again, may have left, and follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from signet.core.explain.instance_record import InstanceStatus
from signet.core.repair.restart_check import Follows
from signet.core.tenants.caller import Caller
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.told_requester import tell_requester
from signet.store.database import Connection
from signet.store.outbox.effect_acts import list_left

# The word of the history for each act; the audit row and the permission name the act itself.
ENTRIES: Mapping[str, str] = {
    "pause": "paused",
    "resume": "resumed",
    "cancel": "cancelled",
    "cancel_token": "token_cancelled",
    "advance": "advanced",
    "retry": "retried",
    "skip": "skipped",
    "go_to": "gone_to",
    "fail": "failed",
    "wake": "woken",
    "rebuild": "rebuilt",
    "requeue": "requeued",
    "discard": "discarded",
    "try_now": "tried_now",
    "withdraw": "effect_withdrawn",
    "move": "moved",
    "correct": "corrected",
    "ask_again": "renewed",
}


# Acts that decide what becomes of a document: the one who asked is told of them.
_TOLD = frozenset(
    {"pause", "resume", "cancel", "cancel_token", "advance", "skip", "go_to", "fail", "correct", "ask_again"}
)
OPERATOR_ACTED = "operator_acted"


@dataclass(frozen=True, slots=True)
class ActNote:
    """An act on an instance, for its history, its audit trail, and the one who asked."""

    instance_id: UUID
    act: str
    reason: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def tell(self, context: InstanceContext, caller: Caller) -> None:
        """Tell the one that the instance acts for, where the act decides what becomes of the document."""
        if self.act in _TOLD:
            said = {"act": self.act, **({} if self.reason is None else {"reason": self.reason})}
            by = caller.principal
            tell_requester(context, OPERATOR_ACTED, said, by.subject, by.responsible)


@dataclass(frozen=True, slots=True)
class InstanceState:
    """An instance after an act; `version` is what the next act must match."""

    id: UUID
    status: InstanceStatus
    version: int
    # Nodes that have acted where it begins again, and act again.
    repeats: Sequence[str] = ()
    # Nodes whose call or message this act withdraws or holds, and that may have left already.
    may_have_left: Sequence[str] = ()
    # Where the act ends it: nodes behind a passed gate that are left undone.
    undone: Sequence[str] = ()
    # Where the act ends it: what follows for its document.
    follows: Follows | None = None


@dataclass(slots=True)
class ActReport:
    """The report of an act beside the instance; it is made in the transaction of the act."""

    repeats: Sequence[str] = ()
    may_have_left: Sequence[str] = ()
    undone: Sequence[str] = ()
    follows: Follows | None = None

    def note_left(self, connection: Connection, context: InstanceContext) -> None:
        """Note what may have left of the steps that the act ends, or that it holds by a pause."""
        execution = context.execution
        is_held = execution.projection.status == "paused" and not execution.projection.is_paused_by_holds
        still = () if is_held else {step.id for step in execution.open.values()}
        ended = [step.id for step in context.open_steps if step.id not in still]
        closed = [
            change.token.hold.seq
            for change in execution.hold_changes
            if not change.is_new and change.token is not None and change.token.hold is not None
        ]
        if ended or closed:
            self.may_have_left = list_left(connection, context.tenant_id, context.row.id, ended, closed)


def state_of(context: InstanceContext, report: ActReport) -> InstanceState:
    projection = context.execution.projection
    return InstanceState(
        context.row.id,
        cast(InstanceStatus, projection.status),
        projection.version,
        report.repeats,
        report.may_have_left,
        report.undone,
        report.follows,
    )
