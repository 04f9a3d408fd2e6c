"""An instance under way: its projection, its open steps, and its steps that changed since the last writing.

Engine and simulator move an instance through this, so that both write the same steps in the same order.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from signet.core.errors import Defect
from signet.core.runtime.decisions import Decision, DecisionInput, decide
from signet.core.runtime.hold_change import HoldChange
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.projection import CONTROL, Actor, Projection, Step, apply_begun, apply_ended
from signet.core.runtime.result_bounds import check_room
from signet.core.runtime.tokens import is_item, name_item
from signet.core.runtime.workflow import Workflow, WorkflowNode

PAUSED = f"{CONTROL}paused"
# The controls after which no pause of the whole is left.
_ENDS_PAUSE = frozenset(
    f"{CONTROL}{name}" for name in ("resumed", "retried", "cancelled", "amended", "deleted", "failed")
)
# Every circle has a state in it that waits: only a broken graph goes on like this.
MAX_CHAIN_STEPS = 10_000
# The status of a step by its outcome; every other outcome completes it.
_STATUSES: Mapping[str | None, str] = {
    "error": "failed",
    "denied": "failed",
    # Items of a list: those behind one that failed, and those that were withdrawn before they acted.
    "skipped": "skipped",
    None: "cancelled",
}


@dataclass(frozen=True, slots=True)
class Blocked:
    """The reason why a node cannot act now: its token is held, and the step can be tried again."""

    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """The plan of an acting node, found out without acting; for each of so many items.

    `given` is what the node is given. It goes on record with the step.
    """

    content: Any = None
    item_count: int = 0
    given: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class PendingAction:
    """An acting node that a token has reached. Its step is begun; it acts when the receipt is written."""

    node: WorkflowNode
    step: Step
    plan: Any
    items: Sequence[Step]


ReadDecisionInput = Callable[[Token], DecisionInput]
Prepare = Callable[[WorkflowNode, Token], ActionPlan | Blocked]


@dataclass(slots=True)
class InstanceExecution:
    """The one way in which an instance moves: steps begin, end and are cancelled here."""

    workflow: Workflow
    projection: Projection
    # Steps that have begun and not ended, by token.
    open: dict[str, Step] = field(default_factory=dict)
    # Steps that were begun, ended or cancelled since they were last written, by number.
    changed: dict[int, Step] = field(default_factory=dict)
    # Tokens whose node cannot act in this round; what was begun beside them still acts.
    blocked: dict[str, Blocked] = field(default_factory=dict)
    # What was held and what was let go since it was last written, in order.
    hold_changes: list[HoldChange] = field(default_factory=list)
    # People have decided about the document on its way there, as its record says. Who asks for that sets it.
    is_decided: bool = False
    set_now: set[str] = field(default_factory=set)  # The variables that its steps have set by now.
    # The tokens that are held: none of most instances, so that their steps need not look.
    _held: Sequence[Token] = field(init=False)

    def __post_init__(self) -> None:
        self._held = self.projection.position.held()

    @property
    def is_live(self) -> bool:
        return self.projection.status in ("running", "paused")

    @property
    def is_running(self) -> bool:
        return self.projection.status == "running"

    @property
    def takes_changes(self) -> bool:
        """Return whether an edit or a request can reach it: held tokens do not shut it, a pause does."""
        return self.is_running or self.projection.is_paused_by_holds

    @property
    def agrees_with_steps(self) -> bool:
        """Return whether each waiting token has an open step at its node, and no other step is open."""
        tokens = self.projection.position.tokens.values()
        waiting = {(token.id, token.node) for token in tokens if token.state is TokenState.WAITING}
        return waiting == {(step.token, step.node) for step in self.open.values()}

    def find_passed_gate(self, among: Collection[str] | None = None) -> int:
        """Return the number of the last changed step that has passed one of these gates, or any; else 0."""
        passed = (step for step in self.changed.values() if self._has_passed_gate(step))
        return max((step.seq for step in passed if among is None or step.node in among), default=0)

    # --- moving on ---

    def run_pure_nodes(self, read_input: ReadDecisionInput, prepare: Prepare) -> list[PendingAction]:
        """Move every ready token on until it acts, waits or ends, one step each in turn."""
        pending_actions: list[PendingAction] = []
        limit = self.projection.version + MAX_CHAIN_STEPS
        while self.is_running and (ready := self.list_ready()):
            if self.projection.version > limit:
                raise Defect("CHAIN_ENDLESS", f"more than {MAX_CHAIN_STEPS} steps without a wait")
            for token in ready:
                if self._may_go_on(token):
                    self._execute(token, read_input, prepare, pending_actions)
        return pending_actions

    def is_due(self, pending: PendingAction) -> bool:
        """Return whether the step may still act; a parallel token may have cancelled it in this round."""
        if self.is_running and self.open.get(pending.step.token) is pending.step:
            return True
        for item in pending.items:
            self.end(item, Decision(None), item.version_after)
        return False

    def end_round(self) -> None:
        """Hold the tokens whose node could not act, unless they have been withdrawn since."""
        blocked, self.blocked = self.blocked, {}
        for token_id, reason in blocked.items():
            if token_id in self.projection.position.tokens:
                self.hold(token_id, reason)

    def list_ready(self) -> list[Token]:
        return [token for token in self.projection.position.ready() if token.id not in self.blocked]

    def _may_go_on(self, token: Token) -> bool:
        """Return False where another token of the round has withdrawn this one, or stopped the instance."""
        return self.is_running and self.projection.position.tokens.get(token.id) is token

    def _execute(
        self,
        token: Token,
        read_input: ReadDecisionInput,
        prepare: Prepare,
        pending_actions: list[PendingAction],
    ) -> None:
        node = self.workflow.nodes[token.node]
        if not node.type.is_decided:
            full = check_room(node, self.projection.context)
            prepared = prepare(node, token) if full is None else Blocked(f"{full.code}: {full.message}")
            if isinstance(prepared, Blocked):
                self.blocked[token.id] = prepared
            else:
                step = self._begin(token)
                step.given = prepared.given
                items = self._begin_items(step, prepared.item_count)
                pending_actions.append(PendingAction(node, step, prepared.content, items))
            return
        decision = decide(self.workflow, token, read_input(token))
        if decision.outcome is None and decision.reason is not None:
            self.blocked[token.id] = Blocked(decision.reason, decision.evidence)
        elif decision.outcome is None:
            self._begin(token)
        else:
            self.end(self._make_step(token), decision)

    def _has_passed_gate(self, step: Step) -> bool:
        return step.outcome == "passed" and self.workflow.nodes[step.node].type.name == "lifecycle_gate"

    # --- steps ---

    def end(
        self,
        step: Step,
        decision: Decision,
        version_after: int | None = None,
        *,
        has_waited: bool = False,
        is_skipped: bool = False,
    ) -> None:
        """End a step, also one that was never open or an item's, and move its token.

        `version_after` is the document's version, where the step may have changed it. A step that ends before
        another number is used keeps its start number, unless it has waited. One that is skipped did not act.
        """
        if step.end_seq is not None:
            raise KeyError(f"step {step.seq} of {step.token} has ended")
        projection = self.projection
        self.open.pop(step.token, None)
        self.changed[step.seq] = step
        seq = projection.version
        step.end_seq = end_seq = seq if seq == step.seq and not has_waited else seq + 1
        step.status = "skipped" if is_skipped else _STATUSES.get(decision.outcome, "completed")
        step.version_after = projection.entity_version if version_after is None else version_after
        step.chosen_edge_ids = tuple([edge.id for edge in decision.edges])
        step.variables = decision.variables
        self.set_now.update(decision.variables)
        step.outcome, step.evidence = decision.outcome, decision.evidence
        step.error = decision.reason or decision.outcome if step.status == "failed" else None
        step.is_held = step.status == "failed" and not decision.edges and not is_item(step.token)
        step.request, step.actor, step.pins = decision.request, decision.actor, decision.pins
        self._apply(step, end_seq)

    def mark_changed(self, step: Step) -> None:
        """Have the step's row written again, in the place that the step has already."""
        self.changed[step.seq] = step

    def take_new(self) -> list[Step]:
        """Return the changed steps that have no row yet, which is for the caller to write."""
        new = [step for step in self.changed.values() if step.id is None]
        for step in new:
            del self.changed[step.seq]
        return new

    def token_of(self, step: Step) -> Token:
        """Return the token of a step; an item of a list runs for its list's token."""
        name = step.token.partition(f"/{step.node}#")[0] if is_item(step.token) else step.token
        return self.projection.position.tokens[name]

    def find_waiting_states(self) -> list[Token]:
        return [
            token
            for token in self.projection.position.tokens.values()
            if token.state is TokenState.WAITING
            and self.workflow.nodes[token.node].type.name == "state"
            and token.id in self.open
        ]

    def _begin(self, token: Token) -> Step:
        step = self._make_step(token)
        self.open[token.id] = self.changed[step.seq] = step
        apply_begun(self.workflow, self.projection, step)
        return step

    def _begin_items(self, step: Step, count: int) -> list[Step]:
        items = []
        for index in range(count):
            seq = self._next_seq()
            name = name_item(step.token, step.node, index)
            item = Step(seq, None, step.node, name, "running", step.version, step.version)
            self.changed[seq] = item
            apply_begun(self.workflow, self.projection, item)
            items.append(item)
        return items

    def _make_step(self, token: Token) -> Step:
        step = Step(self._next_seq(), None, token.node, token.id, "running", token.version, token.version)
        if token.node in self.workflow.joins:
            step.epoch = token.epoch
        return step

    def _apply(self, step: Step, seq: int) -> None:
        changes = apply_ended(self.workflow, self.projection, step, seq)
        if self._held or step.is_held or step.is_control:
            self._note_holds(step)
        for token in changes.cancelled:
            self._cancel(token, seq)

    def _note_holds(self, step: Step) -> None:
        before, self._held = self._held, self.projection.position.held()
        held = {token.hold: token for token in self._held}
        known = {token.hold for token in before}
        ended = [HoldChange(token, step, is_new=False) for token in before if token.hold not in held]
        new = [HoldChange(token, step, is_new=True) for hold, token in held.items() if hold not in known]
        self.hold_changes += [*ended, *new]
        if step.node == PAUSED and step.actor is None:
            self.hold_changes.append(HoldChange(None, step, is_new=True))
        elif step.node in _ENDS_PAUSE:
            self.hold_changes.append(HoldChange(None, step, is_new=False))

    def _cancel(self, token: Token, seq: int) -> None:
        """End the open step of a withdrawn token; one that was ready gets a cancelled step of its own."""
        waiting = self.open.pop(token.id, None)
        if waiting is not None:
            waiting.status, waiting.end_seq = "cancelled", seq
            self.changed[waiting.seq] = waiting
        elif token.state is TokenState.READY:
            step = self._make_step(token)
            step.status, step.end_seq = "cancelled", step.seq
            self.changed[step.seq] = step
            self.projection.version = step.seq

    def _next_seq(self) -> int:
        return self.projection.version + 1

    # --- control: what people and the engine do from outside the graph ---

    def control(
        self,
        name: str,
        data: Mapping[str, Any],
        *,
        version_after: int | None = None,
        request: str | None = None,
        actor: Actor | None = None,
    ) -> Step:
        seq, before = self._next_seq(), self.projection.entity_version
        after = before if version_after is None else version_after
        step = Step(seq, seq, f"{CONTROL}{name}", "", "completed", before, after, data=data, outcome=name)
        step.request, step.actor = request, actor
        self.changed[seq] = step
        self._apply(step, seq)
        return step

    def leave_document(self, name: str, data: Mapping[str, Any], actor: Actor | None = None) -> Step:
        """End the instance, and leave its document without one: an incident of the document says so."""
        step = self.control(name, {**data, "then": "leave"}, actor=actor)
        self.hold_changes.append(HoldChange(None, step, is_new=True))
        return step

    def pause(self, blocked: Blocked) -> None:
        self.control("paused", {**blocked.evidence, "reason": blocked.reason})

    def hold(self, token_id: str, blocked: Blocked) -> None:
        """Hold one token; the others go on. What is held by the same reason stays as it is."""
        token = self.projection.position.tokens[token_id]
        if token.hold is not None and token.hold.reason == blocked.reason:
            return
        node = token.node
        self.control("held", {**blocked.evidence, "token": token_id, "node": node, "reason": blocked.reason})

    def let_go(self, token_id: str) -> None:
        """Let a held token go on where its wait is in order again."""
        token = self.projection.position.tokens[token_id]
        if token.hold is not None:
            self.control("resumed", {"tokens": [token_id]})

    def resume(self, name: str, tokens: Sequence[Token], reason: str | None, actor: Actor) -> Step:
        """End the pause, and let the held tokens go on."""
        data: dict[str, Any] = {} if reason is None else {"reason": reason}
        if tokens:
            data["tokens"] = [token.id for token in tokens]
        return self.control(name, data, actor=actor)

    def skip(
        self, token: Token, decision: Decision, reason: str, actor: Actor, claimed: str | None = None
    ) -> None:
        """End the node of a held token as if it had acted, with an answer given by hand.

        One that is held while it waits ends its own step; one that failed has a new one. `claimed` is the
        person that a command line claims to be.
        """
        known = self.projection.position.tokens.keys() - {token.id}
        self._control_by_hand("skipped", token.id, token.node, reason, actor, claimed)
        (again,) = self.projection.position.tokens.keys() - known
        waiting = self.open.get(again)
        step = waiting or self._make_step(self.projection.position.tokens[again])
        self.end(step, decision, has_waited=waiting is not None, is_skipped=True)

    def go_to(self, node_id: str, reason: str, actor: Actor, version_after: int | None = None) -> None:
        """Withdraw every token, and begin again at this node in the name of the same person as before.

        `version_after` is the version of a document that has got another status by it.
        """
        data = {"node": node_id, "reason": reason}
        self.control("gone_to", data, version_after=version_after, actor=actor)

    def ask_again(self, token: Token, reason: str, actor: Actor) -> None:
        """End what people are asked at the token's node, and let it ask them again."""
        self.control("renewed", {"token": token.id, "node": token.node, "reason": reason}, actor=actor)

    def cancel_token(self, token: Token, reason: str, actor: Actor) -> None:
        """Cancel the token's step; the token goes the way of a rejection that has no edge of its own."""
        data = {"token": token.id, "node": token.node, "reason": reason}
        step = self.control("token_cancelled", data, actor=actor)
        if self.workflow.nodes[token.node].type.name != "lifecycle_gate":
            self._cancel(token, step.seq)

    def advance(
        self, step: Step, decision: Decision, reason: str, actor: Actor, claimed: str | None = None
    ) -> None:
        """End a step's wait by hand. The instance goes on in the name of the same person as before.

        `claimed` is the person that a command line claims to be.
        """
        self._control_by_hand("advanced", step.token, step.node, reason, actor, claimed)
        self.end(step, decision, has_waited=True)

    def _control_by_hand(
        self, name: str, token_id: str, node: str, reason: str, actor: Actor, claimed: str | None
    ) -> None:
        data = {"token": token_id, "node": node, "reason": reason}
        if claimed is not None:
            data["claimed"] = claimed
        self.control(name, data, actor=actor)
