"""An instance as the sum of its steps: the live row and a rebuilt one are made by one function (WF-15)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from signet.core.errors import Defect
from signet.core.routing import Moves, Position, Token, begin, cancel_all, finish, is_item, jump, wait
from signet.core.workflow import Workflow

CONTROL = "sys:control:"


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the step history, as far as an instance depends on it.

    `seq` is when it was written, `end_seq` when it ended; a step that ended at once has both the same.
    """

    seq: int
    end_seq: int | None
    node: str
    token: str
    status: str
    version: int
    # The document's version when the step had ended.
    version_after: int
    chosen_edge_ids: Sequence[str] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    # Of a control step: the node that tokens are sent to, the reason.
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Projection:
    status: str = "running"
    version: int = 0  # the last seq used
    entity_version: int = 0
    position: Position = field(default_factory=Position)
    context: dict[str, Any] = field(default_factory=dict)

    def tokens(self) -> list[Token]:
        return list(self.position.tokens.values())


def start_projection(node: str, entity_version: int) -> Projection:
    projection = Projection(entity_version=entity_version)
    begin(projection.position, node, entity_version)
    return projection


def project(workflow: Workflow, node: str, entity_version: int, steps: Iterable[Step]) -> Projection:
    """The whole history again, in the order in which things happened."""
    projection = start_projection(node, entity_version)
    happenings: list[tuple[int, int, Step]] = []
    for step in steps:
        if step.end_seq != step.seq:
            happenings.append((step.seq, 0, step))
        if step.end_seq is not None:
            happenings.append((step.end_seq, 1, step))
    for seq, phase, step in sorted(happenings, key=lambda happening: happening[:2]):
        if phase == 0:
            apply_begun(projection, step)
        else:
            apply_ended(workflow, projection, step, seq)
    return projection


def apply_begun(projection: Projection, step: Step) -> None:
    projection.version = max(projection.version, step.seq)
    wait(projection.position, step.token)


def apply_ended(workflow: Workflow, projection: Projection, step: Step, seq: int) -> Moves:
    projection.version = max(projection.version, seq)
    if step.node.startswith(CONTROL):
        return _apply_control(projection, step, seq)
    if step.status == "cancelled":
        return Moves()  # its token died of what another step did
    projection.entity_version = max(projection.entity_version, step.version_after)
    projection.context.update(step.variables)
    if is_item(step.token):
        return Moves()  # the step of the whole list moves its token
    if step.status == "failed" and not step.chosen_edge_ids:
        projection.status = "failed"
        return cancel_all(projection.position)
    ways = [workflow.find_way(edge_id) for edge_id in step.chosen_edge_ids]
    moves = finish(workflow, projection.position, step.token, ways, seq, projection.entity_version)
    if moves.has_ended:
        projection.status = "completed"
    return moves


def _apply_control(projection: Projection, step: Step, seq: int) -> Moves:
    """What people and the engine itself did to the instance from outside its graph."""
    projection.entity_version = max(projection.entity_version, step.version_after)
    match step.node.removeprefix(CONTROL):
        case "paused":
            projection.status = "paused"
            return Moves()
        case "resumed":
            projection.status = "running"
            return Moves()
        case "sent_to":
            return jump(projection.position, step.data["node"], seq, projection.entity_version)
        case "cancelled" | "amended":
            projection.status = "cancelled"
            return cancel_all(projection.position)
        case "failed":
            projection.status = "failed"
            return cancel_all(projection.position)
        case other:
            raise Defect("CONTROL_UNKNOWN", f"no control is called '{other}'")
