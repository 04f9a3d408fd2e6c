"""Corrections: refused where a decision would be used for other content without asking its people again."""

from collections.abc import Collection, Iterable

from signet.core.approvals.given_decision import GivenDecision, find_standing
from signet.core.errors import Rejected
from signet.core.runtime.graph.guarded_gates import list_states_let_past
from signet.core.runtime.workflow import Workflow

_REMEDY = (
    "Amend it, or ask for a transition that leads it back, so that people decide again."
    " What is held can be retried, or skipped. Where the workflow is the cause, publish another one, move the"
    " instance to it, and retry."
)


def check_correction(
    workflow: Workflow,
    status: str,
    given: Iterable[GivenDecision],
    *,
    is_amendment: bool,
    deciding: Collection[str],
) -> Rejected | None:
    """Refuse to correct what a decision stands for, or what the definition let through in its place.

    `deciding` names the transitions whose requests decide.
    """
    standing = find_standing(given)
    let_past = list_states_let_past(workflow.content, deciding)
    if standing is not None:
        sentence = standing.describe()
    elif workflow.is_approved(status, is_amendment=is_amendment):
        sentence = (
            f"a document comes to '{status}' by an approval, or past it where the definition asks nobody"
            " because of what it says"
        )
    elif status in let_past:
        sentence = (
            f"the condition of '{let_past[status]}' lets a document past an approval because of what it says"
        )
    else:
        return None
    return Rejected("CORRECTION_NOT_POSSIBLE", sentence, remedy=_REMEDY)
