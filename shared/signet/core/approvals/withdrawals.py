"""The reasons for which approvals count no more: a code for the store, and a sentence for people."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from signet.core.runtime.document_changes import (
    ANOTHER_REQUEST,
    CORRECTED,
    EDITED,
    REQUEST_WITHDRAWN,
    SENT_BY_OPERATOR,
    SendingBack,
)
from signet.core.runtime.workflow import Workflow

# `asked_again`: its people are asked again before anything goes on, so that it bars nobody.
# `moved_on`: no gate had used it, and its document came to another state or was edited behind it.
# `step_withdrawn`: people were still asked.
# `instance_ended`: its document ended the instance.
VoidCode = Literal["asked_again", "moved_on", "step_withdrawn", "instance_ended"]


@dataclass(frozen=True, slots=True)
class Void:
    """The reason for which an approval counts no more."""

    code: VoidCode
    reason: str


STEP_WITHDRAWN = Void("step_withdrawn", "its step was withdrawn")
MOVED_ON = Void("moved_on", "the document went another way, or was edited")
# Stands among changed refs for a request that has pinned none.
OLDER_RELEASE = "*"
# Begins the name of a variable there.
OF_VARIABLES = "context."


def withdraw(
    workflow: Workflow,
    node_id: str,
    sent: SendingBack,
    changed_refs: Collection[str],
    erased_fields: Collection[str],
) -> Void:
    """Withdraw what was asked at a node of an instance that is sent elsewhere.

    In front of a gate people are asked again before it passes. Behind a gate they are where the instance is
    sent to the beginning of their slot.
    """
    is_behind = bool(workflow.list_behind_gates([node_id]))
    is_past = is_behind and workflow.return_state_of(node_id) != sent.node
    reason = describe_withdrawal(sent.because, changed_refs, erased_fields)
    return Void("moved_on" if is_past else "asked_again", reason)


def describe_withdrawal(because: str, changed_refs: Collection[str], erased_fields: Collection[str]) -> str:
    """Describe why an instance was sent back, and what has changed."""
    if because == EDITED:
        return "the document was edited"
    if because == SENT_BY_OPERATOR:
        return "an operator has sent the workflow back"
    if because in (REQUEST_WITHDRAWN, CORRECTED):
        return because
    if because == ANOTHER_REQUEST:
        return "a new request begins the way again"
    variables = sorted(name for name in changed_refs if name.startswith(OF_VARIABLES))
    refs = sorted(set(changed_refs) - {OLDER_RELEASE, *variables})
    parts = []
    if refs:
        parts.append(f"what the document refers to has changed: {', '.join(refs)}")
    if variables:
        parts.append(f"variables of the workflow have changed: {', '.join(variables)}")
    if erased_fields:
        parts.append(f"personal values were erased: {', '.join(sorted(erased_fields))}")
    return "; ".join(parts) or "it was asked by an older release"
