"""What a node decides by itself, from the document, the workflow's variables and who asks. No effect, no IO.

The engine and the simulator both ask here; what differs between them is only where the facts come from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from signet.core.errors import Defect
from signet.core.expressions import Environment
from signet.core.runtime.projection import Actor
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import Choice, Way, Workflow, WorkflowNode
from signet.core.tenants.permissions import grants


@dataclass(frozen=True, slots=True)
class Request:
    """The transition that a person has asked for and that is still open."""

    id: str
    transition: str
    actor: Actor


@dataclass(slots=True)
class Situation:
    """What a decision may look at; the environment is made when somebody does."""

    given: Environment | Callable[[], Environment]
    requested: Request | None = None
    # An instance begins because its document was created, or because it is an amendment.
    birth: str = "created"
    permissions: Sequence[str] = ()
    # The tenant's rules by name: do they all hold? With their evidence.
    ask_rules: Callable[[Sequence[str]], tuple[bool, Mapping[str, Any]]] | None = None

    @property
    def env(self) -> Environment:
        if callable(self.given):
            self.given = self.given()
        return self.given


@dataclass(frozen=True, slots=True)
class Decision:
    """`outcome` is None while the node waits; `reason` says why it cannot go on at all."""

    outcome: str | None
    ways: tuple[Way, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    # Of a state that a person's request ends: what is served from here on, and for whom.
    request: str | None = None
    actor: Actor | None = None


WAITS = Decision(None)
NOT_APPROVED = "what leads here was rejected or cancelled, and the gate has no way for that"


def decide(workflow: Workflow, token: Token, situation: Situation) -> Decision:
    node = workflow.nodes[token.node]
    decider = _DECIDERS.get(node.type.name)
    if decider is None:
        raise Defect(
            "NODE_NOT_DECIDABLE", f"{node.id} is a {node.type.name}: it acts, it does not only decide"
        )
    return decider(workflow, node, token, situation)


def conclude(
    workflow: Workflow,
    node: WorkflowNode,
    outcome: str,
    env: Environment,
    evidence: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> Decision:
    """The outcome with the edges that fire after it, and what made them fire."""
    choice: Choice = workflow.choose(node, outcome, env)
    collected = dict(evidence or {})
    if choice.evidence:
        collected["conditions"] = list(choice.evidence)
    return Decision(outcome, choice.ways, collected, variables or {})


def _go_on(
    workflow: Workflow,
    node: WorkflowNode,
    outcome: str,
    situation: Situation,
    evidence: Mapping[str, Any] | None = None,
) -> Decision:
    """Most nodes have one way on, and nobody needs to look at anything."""
    ways = node.ways.get(outcome, ())
    if len(ways) <= 1:
        return Decision(outcome, ways, evidence or {})
    return conclude(workflow, node, outcome, situation.env, evidence)


def conclude_error(
    workflow: Workflow, node: WorkflowNode, reason: str, env: Environment, evidence: Mapping[str, Any]
) -> Decision:
    """Goes on along the edge for errors that its conditions choose; without one the instance fails."""
    return replace(conclude(workflow, node, "error", env, evidence), reason=reason)


def _decide_start(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    return _go_on(workflow, node, situation.birth, situation)


def _decide_done(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    return _go_on(workflow, node, "done", situation)


def _decide_end(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    return Decision("done")


def _decide_state(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    """An open request goes first, then the automatic exit; else the document stays, or is settled."""
    wanted = situation.requested
    if wanted is not None:
        for outcome in ("requested", "interrupted"):
            for way in node.ways.get(outcome, ()):
                if way.transition == wanted.transition:
                    evidence = {"request": wanted.transition}
                    return Decision(outcome, (way,), evidence, request=wanted.id, actor=wanted.actor)
    for outcome in ("automatic", "ended"):
        if outcome in node.ways:
            return Decision(outcome, node.ways[outcome][:1])
    return WAITS


def _decide_join(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    return _go_on(workflow, node, "rejected" if token.rejected else "done", situation)


def _decide_script(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    evaluated = {
        name: node.expressions[f"/set/{name}"].evaluate(situation.env) for name in node.config["set"]
    }
    variables = {name: evaluation.value for name, evaluation in evaluated.items()}
    evidence = {"set": {name: evaluation.evidence for name, evaluation in evaluated.items()}}
    # Conditions on the script's own edges see what it has just set.
    env = {**situation.env, "context": {**situation.env.get("context", {}), **variables}}
    return conclude(workflow, node, "done", env, evidence, variables)


def _decide_rule(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    if situation.ask_rules is None:
        raise Defect("RULES_ABSENT", f"{node.id} asks rules, and nobody can answer")
    passed, evidence = situation.ask_rules(node.config["rules"])
    return _go_on(workflow, node, "passed" if passed else "rejected", situation, {"rules": evidence})


def _decide_policy(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    """May whoever the action runs as do it? The system may, and the evidence says that it was the system."""
    wanted = node.config["permission"]
    evidence: dict[str, Any] = {"permission": wanted, "run_as": node.config["run_as"]}
    reason = None
    if node.config["run_as"] != "system" and not grants(situation.permissions, wanted):
        reason = f"PERMISSION_DENIED: needs the permission '{wanted}'"
    condition = node.expressions.get("/permission_condition")
    if reason is None and condition is not None:
        evaluation = condition.evaluate(situation.env)
        evidence["condition"] = evaluation.evidence
        if evaluation.value is not True:
            reason = f"PERMISSION_CONDITION: '{wanted}' is given only where {condition.text}"
    if reason is None:
        return _go_on(workflow, node, "allowed", situation, evidence)
    return replace(_go_on(workflow, node, "denied", situation, evidence), reason=reason)


def _decide_gate(workflow: Workflow, node: WorkflowNode, token: Token, situation: Situation) -> Decision:
    """Whether the transition may be performed; performing it is the engine's, through mutate()."""
    if token.rejected and "rejected" in node.ways:
        return _go_on(workflow, node, "rejected", situation)
    if token.rejected:
        return refuse_gate(node, NOT_APPROVED, {})
    evidence = {}
    for pointer in ("/condition", "/permission_condition"):
        condition = node.expressions.get(pointer)
        if condition is None:
            continue
        evaluation = condition.evaluate(situation.env)
        evidence[pointer.removeprefix("/")] = evaluation.evidence
        if evaluation.value is not True:
            return refuse_gate(node, f"the condition '{condition.text}' does not hold", evidence)
    return _go_on(workflow, node, "passed", situation, evidence)


def refuse_gate(node: WorkflowNode, reason: str, evidence: Mapping[str, Any]) -> Decision:
    """A requested gate sends the document back; any other cannot go on until the reason is gone."""
    ways = node.ways.get("refused", ())
    outcome = "refused" if ways else None
    return Decision(outcome, ways[:1], {**evidence, "reason": reason}, reason=reason)


_DECIDERS: Mapping[str, Callable[[Workflow, WorkflowNode, Token, Situation], Decision]] = {
    "start": _decide_start,
    "end": _decide_end,
    "state": _decide_state,
    "slot_in": _decide_done,
    "slot_out": _decide_done,
    "condition": _decide_done,
    "parallel_split": _decide_done,
    "parallel_join": _decide_join,
    "script": _decide_script,
    "rule": _decide_rule,
    "policy_gate": _decide_policy,
    "lifecycle_gate": _decide_gate,
}
