"""Random histories: nodes give all their possible answers, in any order, with people interfering."""

from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from signet.core.runtime.operator_actions import check_cancel
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.projection import (
    CONTROL,
    Projection,
    Step,
    apply_begun,
    apply_ended,
    start_projection,
)
from signet.core.runtime.tokens import TokenChanges
from signet.core.runtime.workflow import Workflow, WorkflowEdge, WorkflowNode

MAX_EVENTS = 250


@dataclass
class Event:
    """One happening: the step as it was then, and its changes of the tokens."""

    seq: int
    step: Step
    before: dict[str, Token]
    changes: TokenChanges
    after: Projection


@dataclass
class History:
    workflow: Workflow
    rng: Random
    interferes: bool = False
    projection: Projection = field(default_factory=lambda: start_projection("sys:start", 1))
    steps: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def live(self) -> dict[str, Token]:
        return dict(self.projection.position.tokens)

    def run(self) -> "History":
        while self.live() and len(self.events) < MAX_EVENTS:
            if self.interferes and self.rng.random() < 0.1:
                self._interfere()
            elif self.projection.status == "paused" and not self.projection.is_paused_by_holds:
                self._control("resumed")
            else:
                self._advance()
        return self

    def _advance(self) -> None:
        states = (TokenState.READY, TokenState.WAITING)
        able = [t for t in self.live().values() if t.state in states and t.hold is None]
        if not able:
            return self._retry()
        if self.interferes and self.rng.random() < 0.05:
            held = self.rng.choice(able)
            return self._control("held", {"token": held.id, "node": held.node, "reason": "not now"})
        if all(self._is_stuck_at_gate(token) for token in able):
            return self._control("failed")
        able = [token for token in able if not self._is_stuck_at_gate(token)]
        token = self.rng.choice(able)
        node = self.workflow.nodes[token.node]
        if token.state is TokenState.READY and node.type.waits and self.rng.random() < 0.7:
            self._begin(token)
        else:
            self._end(token, node)

    def _retry(self) -> None:
        held = self.projection.position.held()
        assert held, f"stuck: {self.live()}"
        able = [token for token in held if check_cancel(self.workflow, token) is None]
        if able and self.rng.random() < 0.6:
            return self._cancel_token(self.rng.choice(able))
        self._control("retried", {"tokens": [token.id for token in self.rng.sample(held, k=1)]})

    def _is_stuck_at_gate(self, token: Token) -> bool:
        """Return whether the token waits at a gate without an edge for what was cancelled before it."""
        node = self.workflow.nodes[token.node]
        return token.rejected and node.type.name == "lifecycle_gate" and "rejected" not in node.edges

    def _next(self) -> int:
        return self.projection.version + 1

    def _begin(self, token: Token) -> None:
        step = Step(self._next(), None, token.node, token.id, "running", token.version, token.version)
        self.steps.append(step)
        before = self.live()
        apply_begun(self.workflow, self.projection, step)
        self.events.append(Event(step.seq, step, before, TokenChanges(), deepcopy(self.projection)))

    def _end(self, token: Token, node: WorkflowNode) -> None:
        if node.type.name == "action" and node.config["for_each"] is not None:
            for index in range(self.rng.randint(0, 2)):
                self._apply(
                    Step(
                        self._next(),
                        self._next(),
                        node.id,
                        f"{token.id}/{node.id}#{index}",
                        "completed",
                        token.version,
                        self._new_version(node),
                    )
                )
        outcome, edges = self._answer(token, node)
        begun = next((s for s in self.steps if s.token == token.id and s.end_seq is None), None)
        seq = self._next()
        step = Step(
            seq if begun is None else begun.seq,
            seq,
            node.id,
            token.id,
            "failed" if outcome in ("error", "denied") else "completed",
            token.version,
            self._new_version(node),
            tuple(edge.id for edge in edges),
            {f"x{self.rng.randint(0, 3)}": seq} if self.rng.random() < 0.3 else {},
        )
        step.is_held = step.status == "failed" and not edges
        if begun is not None:
            self.steps.remove(begun)
        self._apply(step)

    def _fails(self, node: WorkflowNode) -> bool:
        """Return whether the node fails without an edge that takes it: often where people interfere."""
        return "error" not in node.edges and self.rng.random() < (0.6 if self.interferes else 0.02)

    def _new_version(self, node: WorkflowNode) -> int:
        changes = node.type.name in ("lifecycle_gate", "action") and self.rng.random() < 0.7
        return self.projection.entity_version + changes

    def _answer(self, token: Token, node: WorkflowNode) -> tuple[str, tuple[WorkflowEdge, ...]]:
        match node.type.name:
            case "end":
                return "done", ()
            case "parallel_split":
                return "done", node.edges["done"]
            case "parallel_join" | "lifecycle_gate" if token.rejected:
                return "rejected", node.edges.get("rejected", ())[:1]
            case "parallel_join":
                return "done", (self.rng.choice(node.edges["done"]),)
            case "lifecycle_gate":
                outcome = self.rng.choice([on for on in node.edges if on != "rejected"])
            case "policy_gate" | "webhook_out" | "action" | "notification" if self._fails(node):
                return ("denied" if node.type.name == "policy_gate" else "error"), ()
            case _:
                outcome = self.rng.choice(sorted(node.edges))
        return outcome, (self.rng.choice(node.edges[outcome]),)

    def _apply(self, step: Step) -> None:
        self.steps.append(step)
        before = self.live()
        seq = step.end_seq or step.seq
        changes = apply_ended(self.workflow, self.projection, step, seq)
        for token in changes.cancelled:
            for index, other in enumerate(self.steps):
                if other.token == token.id and other.end_seq is None:
                    self.steps[index] = replace(other, end_seq=seq, status="cancelled")
        self.events.append(Event(seq, step, before, changes, deepcopy(self.projection)))

    def _interfere(self) -> None:
        chance = self.rng.random()
        able = [t for t in self.live().values() if check_cancel(self.workflow, t) is None]
        if chance < 0.5 and able:
            self._cancel_token(self.rng.choice(able))
        elif chance < 0.6:
            self._control("paused")
        elif chance < 0.9:
            self._control(
                "sent_to",
                {
                    "node": self.rng.choice(
                        sorted(
                            n
                            for n in self.workflow.nodes
                            if self.workflow.nodes[n].type.name in ("state", "lifecycle_gate", "start")
                        )
                    )
                },
            )
        else:
            self._control(self.rng.choice(["cancelled", "amended", "failed"]))

    def _cancel_token(self, token: Token) -> None:
        begun = any(step.token == token.id and step.end_seq is None for step in self.steps)
        self._control("token_cancelled", {"token": token.id, "node": token.node, "reason": "no"})
        seq = self.projection.version
        for index, other in enumerate(self.steps):
            if other.token == token.id and other.end_seq is None:
                self.steps[index] = replace(other, end_seq=seq, status="cancelled")
        if not begun and token.state is TokenState.READY:
            seq, version = self._next(), token.version
            self._apply(Step(seq, seq, token.node, token.id, "cancelled", version, version))

    def _control(self, name: str, data: dict[str, Any] | None = None) -> None:
        seq, version = self._next(), self.projection.entity_version
        self._apply(Step(seq, seq, f"{CONTROL}{name}", "", "completed", version, version, data=data or {}))
