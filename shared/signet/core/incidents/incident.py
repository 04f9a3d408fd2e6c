"""An incident: the record of a token that is held, or of an instance that the engine has paused.

It opens and closes with steps, so that its history follows from them. Its code and its kind tell people what
to look for, and which incidents have one cause.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from signet.core.runtime.hold_change import HoldChange
from signet.core.runtime.projection import CONTROL, Step

GATE_HELD = "GATE_HELD"
STEP_FAILED = "STEP_FAILED"
ENGINE_FAILED = "ENGINE_FAILED"
# Outages gave its trigger back again and again, and not those of others.
GIVEN_BACK = "GIVEN_BACK"
# The incident of a document, and not of its instance: that has ended, and nothing else leads on.
DOCUMENT_WITHOUT_WORKFLOW = "DOCUMENT_WITHOUT_WORKFLOW"


class IncidentKind(StrEnum):
    """The side that the cause is on."""

    # The document or a decision about it: its people can remove the cause.
    BUSINESS = "business"
    # What an administrator has set up: a role, a chain, an endpoint, a module.
    CONFIGURATION = "configuration"
    # Another system did not answer as it should.
    OUTSIDE = "outside"
    # The engine, or code that it was given.
    DEFECT = "defect"


# Why a call was never sent: what is missing, or refused, is on this side.
UNSENT_CODES = frozenset(
    {
        "ADDRESS_REFUSED",
        "CONNECTOR_MISSING",
        "ENDPOINT_HOST_REFUSED",
        "ENDPOINT_INVALID",
        "ENDPOINT_UNKNOWN",
        "SECRET_MISSING",
        "SECRET_UNREADABLE",
        "TLS_FAILED",
    }
)
_KINDS: Mapping[str, IncidentKind] = MappingProxyType(
    {
        **dict.fromkeys(UNSENT_CODES, IncidentKind.CONFIGURATION),
        "ACTION_NOT_LOADED": IncidentKind.CONFIGURATION,
        "ACTION_UNKNOWN": IncidentKind.CONFIGURATION,
        "ACTOR_NOT_ACTIVE": IncidentKind.CONFIGURATION,
        "AMENDMENT_UNASKED": IncidentKind.CONFIGURATION,
        "ANSWER_UNREADABLE": IncidentKind.OUTSIDE,
        "APPROVAL_ALL_ABSTAINED": IncidentKind.BUSINESS,
        "APPROVAL_APPROVER_MISSING": IncidentKind.CONFIGURATION,
        "APPROVAL_CHAIN_UNKNOWN": IncidentKind.CONFIGURATION,
        "APPROVAL_NOBODY_ELIGIBLE": IncidentKind.CONFIGURATION,
        "APPROVAL_NOBODY_FOUND": IncidentKind.CONFIGURATION,
        "APPROVAL_QUORUM_UNREACHABLE": IncidentKind.CONFIGURATION,
        "APPROVAL_SAME_PERSON": IncidentKind.BUSINESS,
        "APPROVAL_STALE": IncidentKind.BUSINESS,
        "APPROVAL_TOO_MANY_SEATS": IncidentKind.CONFIGURATION,
        "DONE_BEFORE": IncidentKind.BUSINESS,
        "EDIT_UNASKED": IncidentKind.BUSINESS,
        "EFFECT_DEAD": IncidentKind.OUTSIDE,
        "EFFECT_TIMEOUT": IncidentKind.OUTSIDE,
        "EFFECT_WITHDRAWN": IncidentKind.BUSINESS,
        "ENDPOINT_DISABLED": IncidentKind.CONFIGURATION,
        "EVENT_KEY_INVALID": IncidentKind.BUSINESS,
        "GATE_HELD": IncidentKind.BUSINESS,
        "LIST_TOO_LARGE": IncidentKind.BUSINESS,
        GIVEN_BACK: IncidentKind.OUTSIDE,
        "LIST_TOO_LONG": IncidentKind.BUSINESS,
        "ORIGINAL_GONE": IncidentKind.BUSINESS,
        "ORIGINAL_MOVED_ON": IncidentKind.BUSINESS,
        "READS_ERASED": IncidentKind.BUSINESS,
        "READS_UNPINNED": IncidentKind.CONFIGURATION,
        "RULE_SETS_APPROVED": IncidentKind.CONFIGURATION,
        "RULE_UNFIT": IncidentKind.CONFIGURATION,
        "RULE_UNKNOWN": IncidentKind.CONFIGURATION,
        "SERVICE_ACCOUNT_UNUSABLE": IncidentKind.CONFIGURATION,
        "TEMPLATE_TOO_LARGE": IncidentKind.BUSINESS,
        "TIMER_WITHOUT_MOMENT": IncidentKind.BUSINESS,
        "VARIABLES_TOO_LARGE": IncidentKind.BUSINESS,
        "VARIABLE_OUTDATED": IncidentKind.BUSINESS,
        "ZONE_UNKNOWN": IncidentKind.CONFIGURATION,
    }
)
# Codes of answers to a caller that an author's definition may lead to: the document is not as it should be.
_DEFECTS = frozenset({ENGINE_FAILED, "ACTION_FAILED", "APPROVAL_UNPROVEN", "WORKFLOW_VERSION_DRIFT"})
# The codes that figures name. An author's action may fail with any other.
COUNTED_CODES = frozenset(
    {*_KINDS, *_DEFECTS, STEP_FAILED, DOCUMENT_WITHOUT_WORKFLOW, "PERMISSION_DENIED", "RULE_REJECTED"}
)


def code_of(hold: str | None, node_type: str | None) -> str:
    """Return the code of the hold, else one for the type of the node."""
    if hold is not None:
        return hold
    if node_type == "lifecycle_gate":
        return GATE_HELD
    return ENGINE_FAILED if node_type is None else STEP_FAILED


def kind_of(code: str) -> IncidentKind:
    """Return the kind of a code. One that no table has is an answer to the author's own steps."""
    if code in _DEFECTS:
        return IncidentKind.DEFECT
    return _KINDS.get(code, IncidentKind.BUSINESS)


class Closing(StrEnum):
    """The event that has closed an incident."""

    RETRIED = "retried"
    RESUMED = "resumed"
    SKIPPED = "skipped"
    # Its token went on by an act on it, or by itself.
    ADVANCED = "advanced"
    REJECTED = "rejected"
    WENT_ON = "went_on"
    # Its block has ended without it.
    OVERTAKEN = "overtaken"
    # The way that it was on was left: by an edit, a request, or a rejection in another branch.
    WITHDRAWN = "withdrawn"
    # The instance has ended, or its document needs none any more.
    ENDED = "ended"
    # A new instance of the document has begun.
    RESTARTED = "restarted"


_OF_CONTROL: Mapping[str, Closing] = MappingProxyType(
    {
        "retried": Closing.RETRIED,
        "renewed": Closing.RETRIED,
        "skipped": Closing.SKIPPED,
        "gone_to": Closing.WITHDRAWN,
        "resumed": Closing.RESUMED,
        "token_cancelled": Closing.REJECTED,
        "sent_to": Closing.WITHDRAWN,
        "cancelled": Closing.ENDED,
        "amended": Closing.ENDED,
        "deleted": Closing.ENDED,
        "failed": Closing.ENDED,
    }
)


def name_closing(change: HoldChange) -> Closing:
    step = change.step
    if step.is_control:
        control = step.node.removeprefix(CONTROL)
        if control == "token_cancelled" and change.token is not None:
            is_own = step.data["token"] == change.token.id
            return Closing.REJECTED if is_own else Closing.WITHDRAWN
        return _OF_CONTROL.get(control, Closing.WITHDRAWN)
    if change.token is None or step.token == change.token.id:
        return Closing.ADVANCED if _is_advanced(step) else Closing.WENT_ON
    return Closing.WITHDRAWN if step.outcome in ("rejected", "refused", "expired") else Closing.OVERTAKEN


def _is_advanced(step: Step) -> bool:
    return "advanced_by" in step.evidence
