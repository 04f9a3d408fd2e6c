"""The answer to an act: the instance afterwards, with what acts again, may have left, and follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from signet.core.explain.instance_record import InstanceStatus
from signet.core.repair.restart_check import Follows
from signet.engine.execution.nodes.context import InstanceContext
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
