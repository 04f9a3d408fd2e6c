"""An instance as the sum of its steps: one function makes the live row and a rebuilt one (WF-15)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from signet.core.errors import Defect
from signet.core.runtime.position import Hold, Position, Token, find_code
from signet.core.runtime.tokens import (
    TokenChanges,
    ask_again,
    begin,
    cancel_all,
    finish,
    hold,
    hold_failed,
    is_item,
    mark_waiting,
    reject,
    restart_at,
    retry,
)
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.principal import KEY_PREFIX, responsible_of
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons

CONTROL = "sys:control:"
# The reason of a pause: the document was changed where nobody may change it.
DRIFT = "WORKFLOW_VERSION_DRIFT"
# The instance goes on under another definition, which the step names.
MOVED = f"{CONTROL}moved"
# Of a pin: the document that the pinned one was made of, whose approval it is of.
INHERITED = "inherited_from"
# Of a pin: a step has pointed the ref to this document behind a gate. Nobody has approved what it lacks.
POINTED_BEHIND = "pointed_behind_gate"
# Begins the name of a pin of a document that no ref leads to: what is made of this one may refer to it.
CARRIED = "document:"


@dataclass(frozen=True, slots=True)
class Actor:
    """The person that an instance's steps act for, with their roles at the time of the request."""

    id: str
    roles: tuple[str, ...] = ()
    # The persons behind a key, the system or a service account; a person stands for themselves.
    behind: ResponsiblePersons = NOBODY

    @property
    def responsible(self) -> ResponsiblePersons:
        return responsible_of(self.id, self.behind)

    @property
    def is_key(self) -> bool:
        return self.id.startswith(KEY_PREFIX)

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "roles": list(self.roles), "responsible": sorted(self.responsible)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Actor":
        """Parse an actor; one that was stored before persons were kept stands for themselves."""
        return cls(stored["id"], tuple(stored["roles"]), frozenset(stored.get("responsible", ())))


@dataclass(slots=True)
class Step:
    """One row of the step history. The columns that an instance depends on come first.

    `seq` is its number when it was written, `end_seq` when it ended. A step that ended at once has the same.
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
    # The node that a control step sends tokens to, and its reason.
    data: Mapping[str, Any] = field(default_factory=dict)
    # The reason of its failure; the hold of its token has the same.
    error: str | None = None
    # Its failure holds its token. One of an older release ended its instance.
    is_held: bool = False
    # The request that the instance serves from here on, and its requester.
    request: str | None = None
    actor: Actor | None = None
    # What a gate has used of other documents; steps behind it read this.
    pins: Mapping[str, Any] | None = None
    outcome: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    # A join has the number of the split whose branches it joins; it fires once for each (WF-16).
    epoch: int | None = None
    # What an acting node was given; it is written once, with the row.
    given: Mapping[str, Any] | None = None
    # The id of its row; None until that is written.
    id: Any = None
    # Asked five times of each step, so that it is worked out once.
    is_control: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_control = self.node.startswith(CONTROL)

    def to_output(self) -> dict[str, Any]:
        """Make `output_json`: the evidence, and all that a rebuild needs beside the columns."""
        if self.is_control:
            output = dict(self.data)
        else:
            # The chosen edges are always there, even when none.
            output = {"outcome": self.outcome, "chosen_edge_ids": list(self.chosen_edge_ids)}
            if self.evidence:
                output["evidence"] = dict(self.evidence)
            if self.variables:
                output["variables"] = dict(self.variables)
            if self.pins is not None:
                output["pins"] = dict(self.pins)
            if self.is_held:
                output["held"] = True
        if self.request is not None:
            output["request"] = self.request
        if self.actor is not None:
            output["actor"] = self.actor.to_json()
        return output

    def parse_output(self, output: Mapping[str, Any]) -> None:
        """Set the fields from `output_json`. Refuse a step that ended without naming its edges."""
        actor = output.get("actor")
        self.actor = Actor.from_json(actor) if actor else None
        self.request = output.get("request")
        if self.is_control:
            self.data = output
            return
        if "chosen_edge_ids" not in output:
            raise Defect("CHOSEN_EDGES_MISSING", f"the step of {self.node} does not say which edges it fired")
        self.outcome = output["outcome"]
        self.chosen_edge_ids = tuple(output["chosen_edge_ids"])
        self.evidence = output.get("evidence", {})
        self.variables = output.get("variables", {})
        self.pins = output.get("pins")
        self.is_held = output.get("held", False)


@dataclass(slots=True)
class Projection:
    status: str = "running"
    version: int = 0  # the last seq used
    entity_version: int = 0
    position: Position = field(default_factory=Position)
    context: dict[str, Any] = field(default_factory=dict)
    actor: Actor = Actor("")
    request: str | None = None
    # What a gate used last of other documents, also in the last instance, until the document is edited.
    pins: Mapping[str, Any] = field(default_factory=dict)
    # The reason of a pause, a failure or a cancellation.
    reason: str | None = None

    @property
    def is_paused_by_holds(self) -> bool:
        """Return whether it is paused because all of its tokens are held, by no act of its own.

        A pause says why it was made: what is paused for drift stays so, also where all of it is held.
        """
        is_held = self.status == "paused" and self.position.is_held
        return is_held and self.reason == _reason_of_holds(self.position)

    @property
    def has_drifted(self) -> bool:
        """Return whether it is paused because its document was changed where nobody may change it."""
        return self.status == "paused" and self.reason == DRIFT

    def tokens(self) -> list[Token]:
        return list(self.position.tokens.values())


def start_projection(
    node: str,
    entity_version: int,
    actor: Actor = Actor(""),
    pins: Mapping[str, Any] = MappingProxyType({}),
    context: Mapping[str, Any] = MappingProxyType({}),
) -> Projection:
    projection = Projection(
        entity_version=entity_version, actor=actor, pins=dict(pins), context=dict(context)
    )
    begin(projection.position, node, entity_version)
    return projection


def project(
    workflow: Workflow,
    node: str,
    entity_version: int,
    steps: Iterable[Step],
    actor: Actor = Actor(""),
    moved_to: Mapping[int, Workflow] = MappingProxyType({}),
    pins: Mapping[str, Any] = MappingProxyType({}),
    watch: Callable[[Projection], None] | None = None,
    context: Mapping[str, Any] = MappingProxyType({}),
) -> Projection:
    """Apply the whole history, in the order in which steps began and ended.

    `moved_to` holds the workflow of each step that moved the instance, by the step's number. `pins` and
    `context` are those that it began with. `watch` sees the projection before each event.
    """
    projection = start_projection(node, entity_version, actor, pins, context)
    events: list[tuple[int, int, Step]] = []
    for step in steps:
        if step.end_seq != step.seq:
            events.append((step.seq, 0, step))
        if step.end_seq is not None:
            events.append((step.end_seq, 1, step))
    for seq, phase, step in sorted(events, key=lambda event: event[:2]):
        if watch is not None:
            watch(projection)
        if phase == 0:
            apply_begun(workflow, projection, step)
        else:
            apply_ended(workflow, projection, step, seq)
        if step.node == MOVED:
            workflow = moved_to[seq]
    return projection


def apply_begun(workflow: Workflow, projection: Projection, step: Step) -> None:
    projection.version = max(projection.version, step.seq)
    if is_item(step.token):
        return
    mark_waiting(projection.position, step.token)
    if workflow.nodes[step.node].type.name == "state":
        projection.request = None  # the document has come to rest: no request is served any more


def apply_ended(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    projection.version = max(projection.version, seq)
    if projection.is_paused_by_holds:
        projection.status, projection.reason = "running", None
    changes = (
        _apply_control(workflow, projection, step, seq)
        if step.is_control
        else _apply_step(workflow, projection, step, seq)
    )
    if projection.status == "running" and projection.position.is_held:
        projection.status, projection.reason = "paused", _reason_of_holds(projection.position)
    return changes


def _reason_of_holds(position: Position) -> str:
    holds = [token.hold for token in position.held() if token.hold is not None]
    return min(holds, key=lambda hold: hold.seq).reason


def _apply_step(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    if step.status == "cancelled":
        return TokenChanges()  # another step has ended its token
    projection.entity_version = max(projection.entity_version, step.version_after)
    projection.context.update(step.variables)
    if step.pins is not None:
        projection.pins = step.pins
    _take_request(workflow, projection, step)
    if is_item(step.token):
        return TokenChanges()  # the step of the whole list moves its token
    if step.status == "failed" and step.is_held:
        error = step.error or ""
        hold_failed(projection.position, step.token, Hold(seq, error, find_code(error, step.evidence)))
        return TokenChanges()
    if step.status == "failed" and not step.chosen_edge_ids:
        projection.status, projection.reason = "failed", step.error
        return cancel_all(projection.position)
    edges = [workflow.find_edge(edge_id) for edge_id in step.chosen_edge_ids]
    changes = finish(workflow, projection.position, step.token, edges, seq, projection.entity_version)
    if changes.has_ended:
        projection.status = "completed"
    return changes


def _take_request(workflow: Workflow, projection: Projection, step: Step) -> None:
    if step.request is not None or workflow.nodes[step.node].type.name == "state":
        projection.request = step.request
    if step.actor is not None:
        projection.actor = step.actor


def _apply_control(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    """Apply what people and the engine did to the instance from outside its graph."""
    projection.entity_version = max(projection.entity_version, step.version_after)
    control = step.node.removeprefix(CONTROL)
    apply = CONTROLS.get(control)
    if apply is None:
        raise Defect("CONTROL_UNKNOWN", f"no control is called '{control}'")
    return apply(workflow, projection, step, seq)


def _reason_of(step: Step) -> str:
    return str(step.data.get("reason", step.node.removeprefix(CONTROL)))


def _pause(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    projection.status, projection.reason = "paused", _reason_of(step)
    return TokenChanges()


def _resume(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    projection.status, projection.reason = "running", None
    tokens = step.data.get("tokens", ())
    return retry(projection.position, tokens, seq, projection.entity_version)


def _hold(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    reason = _reason_of(step)
    hold(projection.position, step.data["token"], Hold(seq, reason, find_code(reason, step.data)))
    return TokenChanges()


def _skip(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    """Let the token go; the step that is skipped moves it."""
    return retry(projection.position, (step.data["token"],), seq, projection.entity_version)


def _forget_pins(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    """Forget what gates have used of other documents, but for what the edit keeps, or no ref names."""
    kept, pins = step.data.get("keeps", ()), projection.pins
    projection.pins = {ref: pins[ref] for ref in pins if ref in kept or ref.startswith(CARRIED)}
    return TokenChanges()


def _note(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    """Move no token; one that is advanced moves with its own step."""
    return TokenChanges()


def _cancel_token(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    return reject(workflow, projection.position, step.data["token"], seq, projection.entity_version)


def _ask_again(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    """Serve another request from here on; the tokens lead there already."""
    projection.request = step.request
    projection.actor = step.actor or projection.actor
    return TokenChanges()


def _send(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    _ask_again(workflow, projection, step, seq)
    return restart_at(projection.position, step.data["node"], seq, projection.entity_version)


def _go_to(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    """Begin again at a node in the name of the same person; at a state no request is served any more."""
    if workflow.nodes[step.data["node"]].type.name == "state":
        projection.request = None
    return restart_at(projection.position, step.data["node"], seq, projection.entity_version)


def _ask_people_again(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    return ask_again(projection.position, step.data["token"], seq, projection.entity_version)


def _end(workflow: Workflow, projection: Projection, step: Step, seq: int) -> TokenChanges:
    projection.status = "failed" if step.node == f"{CONTROL}failed" else "cancelled"
    projection.reason = _reason_of(step)
    return cancel_all(projection.position)


CONTROLS: Mapping[str, Callable[[Workflow, Projection, Step, int], TokenChanges]] = MappingProxyType(
    {
        "paused": _pause,
        "resumed": _resume,
        "retried": _resume,
        "held": _hold,
        "skipped": _skip,
        "edited": _forget_pins,
        "references_changed": _note,
        # A wait that follows has another moment.
        "rescheduled": _note,
        "refused": _note,
        "advanced": _note,
        "moved": _note,
        "token_cancelled": _cancel_token,
        "asked_again": _ask_again,
        "renewed": _ask_people_again,
        "sent_to": _send,
        "gone_to": _go_to,
        "cancelled": _end,
        "amended": _end,
        "deleted": _end,
        "failed": _end,
    }
)
