"""An instance under way: its projection, its open steps, and what was recorded since the last writing.

Engine and simulator move an instance through this, so that both write the same steps in the same order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from signet.core.errors import Defect
from signet.core.runtime.decisions import Decision, DecisionInput, decide
from signet.core.runtime.projection import CONTROL, Actor, Projection, Step, apply_begun, apply_ended
from signet.core.runtime.tokens import Token, TokenState, is_item, name_item
from signet.core.runtime.workflow import Workflow, WorkflowNode

# Every circle has a state in it that waits: only a broken graph goes on like this.
MAX_CHAIN_STEPS = 10_000
FAILING = frozenset({"error", "denied"})


@dataclass(frozen=True, slots=True)
class Blocked:
    """An acting node that cannot act now, and why: the instance pauses, and the step can be tried again."""

    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """What an acting node is going to do, found out without doing it; for each of so many items."""

    content: Any = None
    item_count: int = 0


@dataclass(frozen=True, slots=True)
class PendingAction:
    """An acting node that a token has come to. Its step is begun; what it does waits for its receipt."""

    node: WorkflowNode
    step: Step
    plan: Any
    items: Sequence[Step]


ReadDecisionInput = Callable[[Token], DecisionInput]
Prepare = Callable[[WorkflowNode, Token], ActionPlan | Blocked]


@dataclass(slots=True)
class InstanceExecution:
    workflow: Workflow
    projection: Projection
    # By token: begun and not ended.
    open: dict[str, Step] = field(default_factory=dict)
    # Begun, ended or cancelled since they were last written; each once.
    recorded: list[Step] = field(default_factory=list)
    # Where a node of this round cannot act, and why; what was begun beside it still acts.
    blocked: dict[str, Blocked] = field(default_factory=dict)

    @property
    def is_live(self) -> bool:
        return self.projection.status in ("running", "paused")

    @property
    def is_running(self) -> bool:
        return self.projection.status == "running"

    @property
    def agrees_with_steps(self) -> bool:
        """Each token that waits has an open step at its node, and no step is open for anything else."""
        tokens = self.projection.position.tokens.values()
        waiting = {(token.id, token.node) for token in tokens if token.state is TokenState.WAITING}
        return waiting == {(step.token, step.node) for step in self.open.values()}

    def begin(self, token: Token) -> Step:
        step = self._record(token)
        self.open[token.id] = step
        apply_begun(self.workflow, self.projection, step)
        return step

    def end(self, token: Token, decision: Decision) -> Step:
        """Of what is over at once."""
        step = self._record(token)
        self._complete(step, step.seq, decision, self.projection.entity_version)
        return step

    def end_open(
        self, step: Step, decision: Decision, version_after: int, *, has_waited: bool = False
    ) -> None:
        del self.open[step.token]
        self.touch(step)
        self._complete(step, self._end_seq_of(step, has_waited), decision, version_after)

    def end_item(self, item: Step, status: str, version_after: int, output: Decision) -> None:
        """Of one item of a list: it stands in the history, and moves nothing."""
        self.touch(item)
        item.status, item.version_after = status, version_after
        item.end_seq = self._end_seq_of(item, has_waited=False)
        item.outcome, item.evidence, item.error = output.outcome, output.evidence, output.reason
        self._apply(item, item.end_seq)

    def _record(self, token: Token) -> Step:
        step = Step(self._next_seq(), None, token.node, token.id, "running", token.version, token.version)
        if token.node in self.workflow.joins:
            step.epoch = token.epoch
        self.recorded.append(step)
        return step

    def _begin_items(self, step: Step, count: int) -> list[Step]:
        items = []
        for index in range(count):
            seq = self._next_seq()
            name = name_item(step.token, step.node, index)
            item = Step(seq, None, step.node, name, "running", step.version, step.version)
            apply_begun(self.workflow, self.projection, item)
            items.append(item)
        self.recorded.extend(items)
        return items

    def _end_seq_of(self, step: Step, has_waited: bool) -> int:
        """What ended as it began, with nothing between, has one number for both."""
        seq = self.projection.version
        return seq if seq == step.seq and not has_waited else seq + 1

    def _complete(self, step: Step, end_seq: int, decision: Decision, version_after: int) -> None:
        step.end_seq = end_seq
        step.status = "failed" if decision.outcome in FAILING else "completed"
        step.version_after = version_after
        step.chosen_edge_ids = tuple(edge.id for edge in decision.edges)
        step.variables = decision.variables
        step.outcome, step.evidence = decision.outcome, decision.evidence
        step.error = decision.reason if step.status == "failed" else None
        step.request, step.actor = decision.request, decision.actor
        self._apply(step, end_seq)

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
        self.recorded.append(step)
        self._apply(step, seq)
        return step

    def pause(self, blocked: Blocked) -> None:
        self.control("paused", {**blocked.evidence, "reason": blocked.reason})

    def cancel_token(self, token: Token, reason: str, actor: Actor) -> None:
        """Its step comes to nothing; it goes the way of a rejection that nobody drew an edge for."""
        data = {"token": token.id, "node": token.node, "reason": reason}
        step = self.control("token_cancelled", data, actor=actor)
        self._cancel(token, step.seq)

    def advance(self, step: Step, decision: Decision, reason: str, actor: Actor) -> None:
        """A person ends its wait. The instance goes on for whom it acted before."""
        data = {"token": step.token, "node": step.node, "reason": reason}
        self.control("advanced", data, actor=actor)
        self.end_open(step, decision, self.projection.entity_version, has_waited=True)

    def end_round(self) -> None:
        """The instance pauses where a node could not act, unless what ran beside it has withdrawn that."""
        tokens = self.projection.position.tokens
        still = [blocked for token_id, blocked in self.blocked.items() if token_id in tokens]
        self.blocked.clear()
        if still and self.is_running:
            self.pause(still[0])

    def list_ready(self) -> list[Token]:
        return [token for token in self.projection.position.ready() if token.id not in self.blocked]

    def _may_go_on(self, token: Token) -> bool:
        """Another token of the same round may have withdrawn it, or stopped the instance."""
        return self.is_running and self.projection.position.tokens.get(token.id) is token

    def run_chains(self, read_input: ReadDecisionInput, prepare: Prepare) -> list[PendingAction]:
        """Every ready token goes on until it acts, waits or ends, one step each in turn."""
        pending_actions: list[PendingAction] = []
        limit = self.projection.version + MAX_CHAIN_STEPS
        while self.is_running and (ready := self.list_ready()):
            if self.projection.version > limit:
                raise Defect("CHAIN_ENDLESS", f"more than {MAX_CHAIN_STEPS} steps without a wait")
            for token in ready:
                if self._may_go_on(token):
                    self._execute(token, read_input, prepare, pending_actions)
        return pending_actions

    def _execute(
        self,
        token: Token,
        read_input: ReadDecisionInput,
        prepare: Prepare,
        pending_actions: list[PendingAction],
    ) -> None:
        node = self.workflow.nodes[token.node]
        if not node.type.is_decided:
            prepared = prepare(node, token)
            if isinstance(prepared, Blocked):
                self.blocked[token.id] = prepared
            else:
                step = self.begin(token)
                items = self._begin_items(step, prepared.item_count)
                pending_actions.append(PendingAction(node, step, prepared.content, items))
            return
        decision = decide(self.workflow, token, read_input(token))
        if decision.outcome is None:
            self.begin(token)
        else:
            self.end(token, decision)

    def is_due(self, pending: PendingAction) -> bool:
        """What ran beside it may have cancelled its step before it could act."""
        if self.is_running and self.open.get(pending.step.token) is pending.step:
            return True
        for item in pending.items:
            self.end_item(item, "cancelled", item.version_after, Decision(None))
        return False

    def token_of(self, step: Step) -> Token:
        """An item of a list runs for its list's token."""
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

    def _apply(self, step: Step, seq: int) -> None:
        changes = apply_ended(self.workflow, self.projection, step, seq)
        for token in changes.cancelled:
            if token.id != step.token:
                self._cancel(token, seq)

    def _cancel(self, token: Token, seq: int) -> None:
        """The waiting step of a withdrawn token ends with what withdrew it; one not yet begun never will."""
        waiting = self.open.pop(token.id, None)
        if waiting is not None:
            waiting.status, waiting.end_seq = "cancelled", seq
            self.touch(waiting)
        elif token.state is TokenState.READY:
            step = self._record(token)
            step.status, step.end_seq = "cancelled", step.seq
            self.projection.version = step.seq

    def touch(self, step: Step) -> None:
        if not any(one is step for one in self.recorded):
            self.recorded.append(step)

    def _next_seq(self) -> int:
        return self.projection.version + 1
