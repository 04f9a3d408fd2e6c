"""Corrections: refused where a decision would be used for other content without asking its people again."""

from collections.abc import Iterable

from signet.core.approvals.given_decision import GivenDecision, find_standing
from signet.core.errors import Rejected
from signet.core.runtime.workflow import Workflow

_REMEDY = (
    "Amend it, or ask for a transition that leads it back, so that people decide again."
    " What is held can be retried, or skipped. Where the workflow is the cause, publish another one, move the"
    " instance to it, and retry."
)


def check_correction(
    workflow: Workflow, status: str, given: Iterable[GivenDecision], *, is_amendment: bool
) -> Rejected | None:
    """Refuse to correct what a decision stands for, or what the definition let through in its place."""
    standing = find_standing(given)
    if standing is not None:
        sentence = standing.describe()
    elif workflow.is_approved(status, is_amendment=is_amendment):
        sentence = f"people approved what the document says to come to '{status}'"
    else:
        return None
    return Rejected("CORRECTION_NOT_POSSIBLE", sentence, remedy=_REMEDY)
