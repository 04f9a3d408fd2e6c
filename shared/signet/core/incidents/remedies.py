"""The remedy for each incident: what removes its cause, before an act lets its token go on.

Every act that a remedy names is one that the server accepts for such an incident.
"""

from collections.abc import Mapping
from types import MappingProxyType

from signet.core.incidents.incident import GATE_HELD, STEP_FAILED, IncidentKind

_DECIDERS = (
    "Give it people who may decide: add a member, give the role or its permission, or end an absence."
    " Then retry. Where that is not possible, go to an earlier node."
)
_GATE = (
    "Change what it reads: the rule, the setting, or the document where it can be edited. Then retry."
    " Where the document is locked, go to an earlier node at which people may edit or ask again."
)
_PROOF = (
    "The votes on record do not prove the approval. Keep the database as it is, and find the writer first."
    " Then go to an earlier node, so that people decide again."
)
_REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "ACTION_FAILED": "Mend the action's code and start the worker with it, then retry. Or skip it.",
        "ACTION_NOT_LOADED": "Start the worker with the action's module (SIGNET_EXTENSIONS), then retry.",
        "ACTION_UNKNOWN": "Its contract does not declare the action. Skip it, or go to an earlier node.",
        "ACTOR_NOT_ACTIVE": "Make the person who asked an active member again, then retry.",
        "APPROVAL_ALL_ABSTAINED": (
            "Everybody abstained, so that a retry alone ends the same way. Go to an earlier node: people are"
            " asked again. Or reject it by cancel_token, where that is listed."
        ),
        "APPROVAL_APPROVER_MISSING": _DECIDERS,
        "APPROVAL_CHAIN_UNKNOWN": "Publish the approval chain, then retry.",
        "APPROVAL_NOBODY_ELIGIBLE": _DECIDERS,
        "APPROVAL_NOBODY_FOUND": _DECIDERS,
        "APPROVAL_QUORUM_UNREACHABLE": _DECIDERS,
        "APPROVAL_SAME_PERSON": (
            "One person's approval would count twice. Go to an earlier node, and let another person decide."
        ),
        "APPROVAL_STALE": "What was approved has changed. Go to an earlier node: people are asked again.",
        "APPROVAL_TOO_MANY_SEATS": "Take people out of the asked role, then retry. Or go to an earlier node.",
        "APPROVAL_UNPROVEN": _PROOF,
        "DOCUMENT_WITHOUT_WORKFLOW": "A person has ended its workflow, and left it. Restart it.",
        "DONE_BEFORE": (
            "The node has acted since the gate was passed, and nothing is done twice by itself. Find out from"
            " the receiver what it has taken. Then skip the node with the answer."
        ),
        "EFFECT_DEAD": (
            "Have the other system answer again, then retry: it knows the call by its webhook-id. Where it"
            " has taken the call, skip it with the answer."
        ),
        "EFFECT_TIMEOUT": (
            "No answer came in the time that its author gives. Have the other system answer, then retry."
            " Where it has taken the call, skip it with the answer."
        ),
        "EFFECT_WITHDRAWN": (
            "A person has withdrawn what the step was to send. Retry to send it after all, or skip the step."
        ),
        "ENDPOINT_DISABLED": "Switch the endpoint on again: what it holds goes on by itself.",
        "ENDPOINT_UNKNOWN": "Make an endpoint of that name, then retry.",
        GATE_HELD: _GATE,
        "NODE_TYPE_NOT_RUN": (
            "No process runs nodes of this type, so that a retry ends the same way. Skip it with the answer"
            " that it waits for, or go to an earlier node."
        ),
        "ORIGINAL_MOVED_ON": (
            "The document that it amends has changed since. Go to an earlier node and edit the amendment:"
            " that compares it with the original of now."
        ),
        "PERMISSION_DENIED": "Give the one who asked a role with the permission, then retry.",
        "RULE_REJECTED": _GATE,
        "RULE_UNKNOWN": "Add the rule, then retry.",
        "SERVICE_ACCOUNT_UNUSABLE": "Enable the service account, or give it an active owner. Then retry.",
        STEP_FAILED: "Remove what the message names, then retry. Or go to an earlier node.",
        "WORKFLOW_VERSION_DRIFT": (
            "The steps before were decided on other content, so that going on would be wrong. Go to the state"
            " of the document: people decide on what it holds now. Where that is not listed, cancel it with"
            " `then: restart`."
        ),
    }
)
_OF_KIND: Mapping[IncidentKind, str] = MappingProxyType(
    {
        IncidentKind.BUSINESS: "Change what the message names, in the document or its rules. Then retry.",
        IncidentKind.CONFIGURATION: "Set up what the message names, then retry.",
        IncidentKind.OUTSIDE: "Have the other system answer again, then retry.",
        IncidentKind.DEFECT: "Read the log for the cause, mend it, then retry.",
    }
)


def find_remedy(code: str, kind: str) -> str:
    """Find what removes the cause of incidents with this code, else of those of its kind."""
    return _REMEDIES.get(code) or _OF_KIND[IncidentKind(kind)]
