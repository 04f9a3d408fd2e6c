"""Repeats behind a passed gate: who comes again takes the answer of the first time.

The engine repeats no call by itself, and makes no document twice. Where no answer is on record, or where the
node would say something else now, its token is held.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from signet.core.runtime.execution import Blocked
from signet.core.runtime.go_to_targets import has_lasting_effect, is_behind_gate
from signet.core.runtime.position import Token
from signet.core.runtime.tokens import origin_of
from signet.core.runtime.workflow import Workflow, WorkflowNode

DONE_BEFORE = "DONE_BEFORE"


@dataclass(frozen=True, slots=True)
class EarlierStep:
    """A step that the node has had since the last gate was passed."""

    id: str
    token: str
    # It is of the instance that asks.
    is_own: bool
    # What it did may be known elsewhere.
    may_have_acted: bool
    # It has ended with an answer, of its own or of a person.
    has_answer: bool
    # A person has given the answer, and what would have been said does not matter.
    is_by_hand: bool = False
    # The hash of what it has said.
    content: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)


def is_done_once(workflow: Workflow, token: Token, status: str) -> bool:
    """Return whether the token stands behind a gate, at a node that acts on others."""
    return has_lasting_effect(workflow, token.node) and is_behind_gate(workflow, (token,), status)


def find_done(
    node: WorkflowNode, token: Token, content: str | None, earlier: Iterable[EarlierStep]
) -> EarlierStep | Blocked | None:
    """Find the step whose answer the token takes; None where nothing was done.

    `earlier` has the newest first. Without content nobody can tell what would be repeated.
    A retry goes on for its own step.
    """
    acted = [step for step in earlier if step.may_have_acted and not _is_retried(step, token)]
    if not acted:
        return None
    for step in acted:
        if step.has_answer and (step.is_by_hand or step.content == content):
            return step
    sentence = f"{node.id} has acted since the gate was passed, and is not repeated"
    return Blocked(f"{DONE_BEFORE}: {sentence}", {"code": DONE_BEFORE, "step": acted[0].id})


def _is_retried(step: EarlierStep, token: Token) -> bool:
    origin = origin_of(token.id)
    return step.is_own and origin is not None and origin == (origin_of(step.token) or step.token)
