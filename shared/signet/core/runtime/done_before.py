"""Repeats behind an approval: who comes again takes the answer of the first time.

The engine repeats no delivered call by itself, and makes no document twice. Where no answer is on record, or
where the node would say something else now, its token is held. So it is where the way of the node has been
gone to its end since, and nobody has decided again. A call that has failed goes on under its first id.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from signet.core.canonical_json import content_hash
from signet.core.errors import Rejected
from signet.core.expressions import Environment
from signet.core.runtime.decisions import Decision, conclude, conclude_error
from signet.core.runtime.execution import Blocked
from signet.core.runtime.go_to_targets import has_lasting_effect
from signet.core.runtime.operator_actions import OUTCOME_OF_SKIPPED
from signet.core.runtime.position import Token
from signet.core.runtime.result_bounds import render
from signet.core.runtime.tokens import origin_of
from signet.core.runtime.workflow import Workflow, WorkflowNode

DONE_BEFORE = "DONE_BEFORE"
# What a node does, as its author defined it. How patiently, and what it keeps, is no part of it.
_TASK = ("endpoint", "event", "action", "payload", "for_each")


@dataclass(frozen=True, slots=True)
class EarlierStep:
    """A step that the node has had since people decided last."""

    id: str
    token: str
    # It is of the instance that asks.
    is_own: bool
    # What it did may be known elsewhere.
    may_have_acted: bool
    # It has ended with an answer, of its own or of a person, or by the edge for errors.
    has_answer: bool
    # Its slot has been gone to the end since.
    is_finished: bool = False
    # The first id of its call, where that is known to have failed.
    failed_id: UUID | None = None
    # The hash of what it has said, or of what a person has answered for.
    content: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)
    # The reason why it took the edge for errors.
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Resent:
    """A call that has failed, and is sent again under its first id."""

    first_id: UUID


def find_done(
    node: WorkflowNode, token: Token, content: str, earlier: Iterable[EarlierStep]
) -> EarlierStep | Resent | Blocked | None:
    """Find the step whose answer the token takes; None where nothing was done.

    `earlier` has the newest first. A retry goes on for its own step.
    """
    acted = [step for step in earlier if step.may_have_acted and not _is_retried(node, step, token)]
    if not acted:
        return None
    same = [step for step in acted if step.content == content and not step.is_finished]
    for step in same:
        if step.has_answer:
            return step
    if len(same) == len(acted) and all(step.failed_id is not None for step in same):
        return Resent(next(step.failed_id for step in reversed(same) if step.failed_id is not None))
    sentence = f"{node.id} has acted since people decided, and is not repeated"
    return Blocked(f"{DONE_BEFORE}: {sentence}", {"code": DONE_BEFORE, "step": acted[0].id})


@dataclass(frozen=True, slots=True)
class StepElsewhere:
    """A step of another node that has acted for the same decision, under another definition."""

    id: UUID
    node: str
    # The definition that it ran under, where it is known.
    workflow: Workflow | None
    # The hash of what it has said.
    content: str


def find_done_elsewhere(
    workflow: Workflow, node: WorkflowNode, content: str, acted: Iterable[StepElsewhere]
) -> Blocked | None:
    """Block the node where others have acted for the same decision, and it may be one of them.

    `acted` has the newest first. Nobody but a person knows.
    """
    done: dict[str, UUID] = {}
    for step in acted:
        if _has_lasted(step) and _may_be(workflow, node, content, step):
            done.setdefault(step.node, step.id)
    if not done:
        return None
    names = ", ".join(sorted(done))
    sentence = f"{names} acted since people decided, under another definition, and {node.id} may be the same"
    return Blocked(f"{DONE_BEFORE}: {sentence}", {"code": DONE_BEFORE, "step": str(done[min(done)])})


def does_alike(older: Workflow, newer: Workflow, node_id: str) -> bool:
    """Return whether both definitions have the node, and let it do the same. An id alone says nothing."""
    is_in_both = node_id in older.nodes and node_id in newer.nodes
    return is_in_both and _describe_task(older, node_id) == _describe_task(newer, node_id)


def _may_be(workflow: Workflow, node: WorkflowNode, content: str, step: StepElsewhere) -> bool:
    """Return whether the node may do again what a step of another one has done.

    What both definitions draw alike is two things for both. Else it may be what has said the same. Or it may
    be the other one, which is gone: by a new name, by a name that did something else, or on another way.
    """
    older = step.workflow
    if older is None:
        return True
    is_known = _is_drawn_alike(older, workflow, node.id)
    is_kept = does_alike(older, workflow, step.node)
    if is_known and is_kept:
        return False
    return step.content == content or not (is_known or is_kept)


def _is_drawn_alike(older: Workflow, newer: Workflow, node_id: str) -> bool:
    return does_alike(older, newer, node_id) and _list_ways(older, node_id) == _list_ways(newer, node_id)


def _has_lasted(step: StepElsewhere) -> bool:
    older = step.workflow
    return older is None or step.node not in older.nodes or has_lasting_effect(older, step.node)


def _describe_task(workflow: Workflow, node_id: str) -> dict[str, Any]:
    described = workflow.content["nodes"][node_id]
    config = described["config"]
    does = workflow.content["actions"].get(config.get("action"))
    return {"type": described["type"], "does": does, **{name: config.get(name) for name in _TASK}}


def _list_ways(workflow: Workflow, node_id: str) -> set[tuple[Any, ...]]:
    """List the edges at which the way through the node's slot parts."""
    slots = workflow.content["slot_map"]
    edges = [
        edge for edge in workflow.content["edges"].values() if slots.get(edge["source"]) == slots.get(node_id)
    ]
    count = Counter(edge["source"] for edge in edges)
    return {
        (edge["source"], edge["on"], edge["target"], edge.get("condition", {}).get("text"))
        for edge in edges
        if count[edge["source"]] > 1
    }


def _is_retried(node: WorkflowNode, step: EarlierStep, token: Token) -> bool:
    """Return whether the token goes on for the step; for an item of a list its list's token does."""
    origin, before = origin_of(token.id), step.token.partition(f"/{node.id}#")[0]
    return step.is_own and origin is not None and origin == (origin_of(before) or before)


def conclude_earlier(workflow: Workflow, node: WorkflowNode, done: EarlierStep, env: Environment) -> Decision:
    """Conclude as the step ended the first time, with what it has kept."""
    evidence = {"done_before": done.id}
    if done.error is not None:
        return conclude_error(workflow, node, done.error, env, {**evidence, "error": done.error})
    env = {**env, "context": {**env["context"], **done.variables}}
    outcome = OUTCOME_OF_SKIPPED[node.type.name]
    return conclude(workflow, node, outcome, env, evidence, dict(done.variables))


def hash_said(node: WorkflowNode, env: Environment) -> str | None:
    """Hash what the node would say now: a call with its receiver, or what an action is given.

    None stands for a template that gives too much. Of a list it is the items. What the engine made of them
    cannot be compared: each item changes the next.
    """
    if node.config.get("for_each") is not None:
        return content_hash({"items": node.expressions["/for_each"].value(env)})
    rendered = render(node, "/payload", {**env, "item": None})
    if isinstance(rendered, Rejected):
        return None
    payload = rendered[0]
    if node.type.name != "webhook_out":
        return content_hash(payload)
    event = node.config.get("event")
    endpoint = None if event is not None else node.config["endpoint"]
    return content_hash(describe_call(endpoint, event, payload))


def describe_call(endpoint: str | None, event: str | None, payload: Any) -> dict[str, Any]:
    """Describe a call without how often it is tried."""
    return {"endpoint": endpoint, "event": event, "payload": payload}
