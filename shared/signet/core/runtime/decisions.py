"""Decisions of the nodes that do not act: from the document, the variables of the workflow and the request.

Engine and simulator both ask here, without effects and IO; they differ only in where the facts come from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from signet.core.errors import Defect, Rejected
from signet.core.expressions import Compiled, Environment, list_variables
from signet.core.expressions.actors import (
    PersonsBehind,
    find_person_against,
    name_person_behind,
)
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Actor
from signet.core.runtime.result_bounds import check_variables
from signet.core.runtime.workflow import ChosenEdges, Workflow, WorkflowEdge, WorkflowNode
from signet.core.tenants.permissions import grants


@dataclass(frozen=True, slots=True)
class TransitionRequest:
    """An open request of a person for a transition."""

    id: str
    transition: str
    actor: Actor


@dataclass(slots=True)
class DecisionInput:
    """The facts that a decision may read; the environment is made when it is first read."""

    given: Environment | Callable[[], Environment]
    requested: TransitionRequest | None = None
    # `created` or `amended`: an instance begins with either.
    birth: str = "created"
    permissions: Sequence[str] = ()
    # Returns whether all of the tenant's rules of these names hold, with their evidence.
    ask_rules: Callable[[Sequence[str]], tuple[bool, Mapping[str, Any]]] | None = None
    # Why the one that the node runs as cannot act now: they have left, or the account cannot be used.
    actor_problem: str | None = None
    # Why the node may not read what it reads.
    problem: str | None = None
    # How a condition is asked of the persons behind a key; None where the actor is none.
    list_behind: PersonsBehind | None = None
    # Asks the record whether people decide about the document or read it, though its definition asks nobody.
    has_deciders: Callable[[], bool] = lambda: False

    @property
    def env(self) -> Environment:
        if callable(self.given):
            self.given = self.given()
        return self.given


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome with the edges that fire; `outcome` is None while the node waits or cannot go on.

    `reason` says why it cannot go on at all: the token is held with it.
    """

    outcome: str | None
    edges: tuple[WorkflowEdge, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    # A state that a request ends: the request that is served from here on, and its requester.
    request: str | None = None
    actor: Actor | None = None
    # A gate: what it has used of other documents.
    pins: Mapping[str, Any] | None = None


WAITS = Decision(None)
EDGE_NOT_TAKEN = (
    "the edge for errors is not taken: people decide here or by this, and may have brought it about"
)
NOT_APPROVED = "what leads here was rejected or cancelled, and the gate has no way for that"


def decide(workflow: Workflow, token: Token, decision_input: DecisionInput) -> Decision:
    node = workflow.nodes[token.node]
    if decision_input.problem is not None:
        return Decision(None, reason=decision_input.problem)
    decider = _DECIDERS.get(node.type.name)
    if decider is None:
        raise Defect(
            "NODE_NOT_DECIDABLE", f"{node.id} is a {node.type.name}: it acts, it does not only decide"
        )
    return decider(workflow, node, token, decision_input)


def conclude(
    workflow: Workflow,
    node: WorkflowNode,
    outcome: str,
    env: Environment,
    evidence: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> Decision:
    """Return the outcome with the edges that fire after it, and the conditions that made them fire."""
    chosen: ChosenEdges = workflow.choose(node, outcome, env)
    collected = dict(evidence or {})
    if chosen.evidence:
        collected["conditions"] = list(chosen.evidence)
    return Decision(outcome, chosen.edges, collected, variables or {})


def _choose_next_edges(
    workflow: Workflow,
    node: WorkflowNode,
    outcome: str,
    decision_input: DecisionInput,
    evidence: Mapping[str, Any] | None = None,
) -> Decision:
    """Decide for the outcome. The environment is made only where several edges compete."""
    edges = node.edges.get(outcome, ())
    if len(edges) <= 1:
        return Decision(outcome, edges, evidence or {})
    return conclude(workflow, node, outcome, decision_input.env, evidence)


def conclude_error(
    workflow: Workflow, node: WorkflowNode, reason: str, env: Environment, evidence: Mapping[str, Any]
) -> Decision:
    """Conclude with an error of another system. The token is held where no edge takes errors."""
    return replace(conclude(workflow, node, "error", env, evidence), reason=reason)


def conclude_inside(
    workflow: Workflow,
    node: WorkflowNode,
    reason: str,
    decision_input: DecisionInput,
    evidence: Mapping[str, Any],
    outcome: str = "error",
) -> Decision:
    """Conclude with an error that no other system has made: people may have brought it about.

    Where people decide, or may read what the step leaves as it was, its edge is not taken. Who makes a step
    fail would choose the way, and who is asked.
    """
    if node.edges.get(outcome) and (workflow.may_be_decided or decision_input.has_deciders()):
        return Decision(outcome, (), evidence, reason=f"{reason} ({EDGE_NOT_TAKEN})")
    return replace(conclude(workflow, node, outcome, decision_input.env, evidence), reason=reason)


def conclude_refused(
    workflow: Workflow, node: WorkflowNode, refused: Rejected, decision_input: DecisionInput
) -> Decision:
    """Conclude with the refusal of what the node was to do."""
    evidence = {"code": refused.code, "message": refused.message}
    return conclude_inside(workflow, node, f"{refused.code}: {refused.message}", decision_input, evidence)


def check_length(node: WorkflowNode, items: Sequence[Any]) -> Rejected | None:
    """Refuse a list that is longer than its node takes: all items are acted on, or none."""
    limit = node.config["max_items"]
    if len(items) <= limit:
        return None
    sentence = f"the list has {len(items)} items, and {node.id} takes at most {limit} (max_items)"
    remedy = (
        "Shorten the list, or publish the workflow with a larger `max_items` and move the instance to it."
    )
    return Rejected("LIST_TOO_LONG", sentence, remedy=remedy)


def _decide_start(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    return _choose_next_edges(workflow, node, decision_input.birth, decision_input)


def _decide_done(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    return _choose_next_edges(workflow, node, "done", decision_input)


def _decide_end(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    return Decision("done")


def _decide_state(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    """Leave by the open request, else by the automatic exit; else the document stays, or is settled."""
    wanted = decision_input.requested
    if wanted is not None:
        for outcome in ("requested", "interrupted"):
            for edge in node.edges.get(outcome, ()):
                if edge.transition == wanted.transition:
                    evidence = {"request": wanted.transition}
                    return Decision(outcome, (edge,), evidence, request=wanted.id, actor=wanted.actor)
    for outcome in ("automatic", "ended"):
        if outcome in node.edges:
            return Decision(outcome, node.edges[outcome][:1])
    return WAITS


def _decide_join(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    return _choose_next_edges(workflow, node, "rejected" if token.rejected else "done", decision_input)


def _decide_script(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    evaluated = {
        name: node.expressions[f"/set/{name}"].evaluate(decision_input.env) for name in node.config["set"]
    }
    variables = {name: evaluation.value for name, evaluation in evaluated.items()}
    refused = check_variables(node, decision_input.env.get("context", {}), variables)
    if refused is not None:
        return conclude_refused(workflow, node, refused, decision_input)
    evidence = {"set": {name: evaluation.evidence for name, evaluation in evaluated.items()}}
    # Conditions on the script's own edges see what it has just set.
    env = {**decision_input.env, "context": {**decision_input.env.get("context", {}), **variables}}
    return conclude(workflow, node, "done", env, evidence, variables)


def _decide_rule(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    if decision_input.ask_rules is None:
        raise Defect("RULES_ABSENT", f"{node.id} asks rules, and nobody can answer")
    passed, evidence = decision_input.ask_rules(node.config["rules"])
    return _choose_next_edges(
        workflow, node, "passed" if passed else "rejected", decision_input, {"rules": evidence}
    )


def _decide_policy(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    """Decide whether the actor of the action has its permission; the system has every one."""
    wanted = node.config["permission"]
    evidence: dict[str, Any] = {"permission": wanted, "run_as": node.config["run_as"]}
    if decision_input.actor_problem is not None:
        return Decision(None, evidence=evidence, reason=decision_input.actor_problem)
    reason = None
    if node.config["run_as"] != "system" and not grants(decision_input.permissions, wanted):
        reason = f"PERMISSION_DENIED: needs the permission '{wanted}'"
    condition = node.expressions.get("/permission_condition")
    if reason is None and condition is not None:
        evaluation = condition.evaluate(decision_input.env)
        evidence["condition"] = evaluation.evidence
        problem = _find_problem(condition, evaluation.value, decision_input)
        if problem is not None:
            reason = f"PERMISSION_CONDITION: '{wanted}' is given only where {condition.text}{problem}"
    if reason is None:
        return _choose_next_edges(workflow, node, "allowed", decision_input, evidence)
    return conclude_inside(workflow, node, reason, decision_input, evidence, "denied")


def _decide_gate(
    workflow: Workflow, node: WorkflowNode, token: Token, decision_input: DecisionInput
) -> Decision:
    """Decide whether the transition may be performed. The engine performs it, through mutate()."""
    slot = workflow.shut_gates.get(node.id)
    if slot is not None:
        return refuse_gate(node, f"the contract requires approvals in the slot '{slot}', which is empty", {})
    if token.rejected and "rejected" in node.edges:
        return _choose_next_edges(workflow, node, "rejected", decision_input)
    if token.rejected:
        return refuse_gate(node, NOT_APPROVED, {})
    evidence = {}
    wanted = node.config["permission"]
    if node.config["kind"] != "automatic" and not grants(decision_input.permissions, wanted):
        return refuse_gate(node, f"PERMISSION_DENIED: its requester needs the permission '{wanted}'", {})
    for pointer in _conditions_of(node):
        condition = node.expressions.get(pointer)
        if condition is None:
            continue
        evaluation = condition.evaluate(decision_input.env)
        evidence[pointer.removeprefix("/")] = evaluation.evidence
        problem = _find_problem(condition, evaluation.value, decision_input)
        if problem is not None:
            return refuse_gate(node, f"the condition '{condition.text}' does not hold{problem}", evidence)
    return _choose_next_edges(workflow, node, "passed", decision_input, evidence)


def _find_problem(condition: Compiled, value: Any, decision_input: DecisionInput) -> str | None:
    """Return nothing where the condition holds, else the words that name a person behind the key."""
    if value is not True:
        return ""
    if decision_input.list_behind is None:
        return None
    against = find_person_against(condition, decision_input.env, decision_input.list_behind)
    return None if against is None else f" for {name_person_behind(against)}"


def _conditions_of(node: WorkflowNode) -> tuple[str, ...]:
    """Return the conditions that a gate asks. On an automatic one the voters are asked for theirs."""
    condition = node.expressions.get("/permission_condition")
    is_for_voters = (
        node.config["kind"] == "automatic"
        and condition is not None
        and any(name.path[0] == "actor" for name in list_variables(condition.expression))
    )
    return ("/condition",) if is_for_voters else ("/condition", "/permission_condition")


def refuse_gate(node: WorkflowNode, reason: str, evidence: Mapping[str, Any]) -> Decision:
    """Send the document back at a requested gate; any other waits until the reason is gone."""
    edges = node.edges.get("refused", ())
    outcome = "refused" if edges else None
    return Decision(outcome, edges[:1], {**evidence, "reason": reason}, reason=reason)


_DECIDERS: Mapping[str, Callable[[Workflow, WorkflowNode, Token, DecisionInput], Decision]] = {
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
