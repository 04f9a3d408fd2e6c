"""Acts of operators on many instances at once, each with an outcome of its own.

None of them is about a token, since a token is named by an operator who looks at one instance. A dry run says
of each what would follow, and writes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from signet.core.errors import Rejected, Transient
from signet.core.runtime.operator_actions import Sequel
from signet.core.tenants.caller import Caller
from signet.engine.instances.actions import Instances, InstanceState

MAX_IN_BULK = 100
BulkAct = Literal["pause", "resume", "retry", "cancel", "fail", "wake", "rebuild"]
# An error of these codes for one of many refuses them all.
_FOR_ALL = frozenset({"PERMISSION_DENIED", "TENANT_INACTIVE"})


@dataclass(frozen=True, slots=True)
class Seen:
    """An instance as the operator saw it, without a version where the act needs none."""

    id: UUID
    version: int | None = None


@dataclass(frozen=True, slots=True)
class BulkOrder:
    """An act on each of these instances; `then` is that of `cancel` and `fail`."""

    act: BulkAct
    seen: Sequence[Seen]
    reason: str = ""
    then: Sequel | None = None
    dry_run: bool = False


def act_on_many(
    instances: Instances, caller: Caller, order: BulkOrder
) -> list[InstanceState | Rejected | Transient]:
    """Act on each instance in a transaction of its own, so that a refusal of one stops no other."""
    seen = order.seen
    if len(seen) > MAX_IN_BULK:
        raise Rejected("BATCH_TOO_LARGE", f"at most {MAX_IN_BULK} instances at a time, not {len(seen)}")
    # In one order for every caller: under an idempotency key all of them stay locked until the end.
    indexes = sorted(range(len(seen)), key=lambda index: seen[index].id)
    outcomes = {index: _try(instances, caller, order, seen[index]) for index in indexes}
    return [outcomes[index] for index in range(len(seen))]


def _try(
    instances: Instances, caller: Caller, order: BulkOrder, one: Seen
) -> InstanceState | Rejected | Transient:
    try:
        return _act(instances, caller, order, one)
    except (Rejected, Transient) as error:
        if error.code in _FOR_ALL:
            raise
        return error


def _act(instances: Instances, caller: Caller, order: BulkOrder, one: Seen) -> InstanceState:
    dry_run = order.dry_run
    match order.act:
        case "wake":
            return instances.wake(caller, one.id, dry_run=dry_run)
        case "rebuild":
            return instances.rebuild(caller, one.id, dry_run=dry_run).state
    if one.version is None:
        sentence = "the request does not say which version was seen"
        raise Rejected("VERSION_MISSING", sentence, remedy="Send it with the instance's id.")
    if order.act == "resume":
        return instances.resume(caller, one.id, one.version, dry_run=dry_run)
    if order.act in ("pause", "retry"):
        do = instances.pause if order.act == "pause" else instances.retry
        return do(caller, one.id, one.version, order.reason, dry_run=dry_run)
    end = instances.cancel if order.act == "cancel" else instances.fail
    return end(caller, one.id, one.version, order.reason, order.then, dry_run=dry_run)
