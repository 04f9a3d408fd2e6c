"""Repeats behind an approval: who comes again takes the answer of the first time.

The engine repeats no delivered call by itself, and makes no document twice. Where no answer is on record, or
where the node would say something else now, its token is held. So it is where the way of the node has been
gone to its end since, and nobody has decided again. A call that has failed goes on under its first id.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from signet.core.canonical_json import content_hash
from signet.core.errors import Rejected
from signet.core.expressions import Environment
from signet.core.runtime.decisions import Decision, conclude, conclude_error
from signet.core.runtime.execution import Blocked
from signet.core.runtime.operator_actions import OUTCOME_OF_SKIPPED
from signet.core.runtime.position import Token
from signet.core.runtime.result_bounds import render
from signet.core.runtime.tokens import origin_of
from signet.core.runtime.workflow import Workflow, WorkflowNode

DONE_BEFORE = "DONE_BEFORE"


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


def find_done_elsewhere(node: WorkflowNode, done: Mapping[str, UUID]) -> Blocked | None:
    """Block the node where others have acted for the same decision, which its definition does not have.

    It may be one of them by a new name. Nobody but a person knows.
    """
    if not done:
        return None
    names = ", ".join(sorted(done))
    sentence = f"{names} acted since people decided, under another definition, and {node.id} may be the same"
    return Blocked(f"{DONE_BEFORE}: {sentence}", {"code": DONE_BEFORE, "step": str(done[min(done)])})


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
