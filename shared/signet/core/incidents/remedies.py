"""The remedy for each incident: what removes its cause, before an act lets its token go on.

Every act that a remedy names is one that the server accepts for such an incident.
"""

from collections.abc import Mapping
from types import MappingProxyType

from signet.core.incidents.incident import GATE_HELD, GIVEN_BACK, STEP_FAILED, IncidentKind

_DECIDERS = (
    "Give it people who may decide: add a member, give the role or its permission, or end an absence."
    " Then retry. Where that is not possible, go to an earlier node."
)
_GATE = (
    "Change what it reads: the rule, the setting, another document that a ref names, or the document where it"
    " can be edited. Then retry."
    " Where the document is locked, go to an earlier node at which people may edit or ask again."
)
_SECOND = " With four eyes, the change waits until a second person confirms it."
_SECRET = (
    "Put the secret that the endpoint names where this deployment reads it, or name another secret by PUT"
    " /v1/endpoints/{name}. A server of your own reads secrets only where it is started with"
    " SIGNET_SECRETS_FOLDER. The last attempt sent nothing. Then retry."
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
        "ACTOR_NOT_ACTIVE": (
            "Make the person who asked an active member again, then retry. Where they have left for good, use"
            " cancel_token, where that is listed: another person asks again then."
        ),
        "ADDRESS_REFUSED": (
            "Give the endpoint a URL whose host is on the public internet (PUT /v1/endpoints/{name}). On a"
            " machine of your own, SIGNET_WEBHOOK_ADDRESSES allows an address. The last attempt sent nothing."
            " Then retry." + _SECOND
        ),
        "APPROVAL_ALL_ABSTAINED": (
            "Everybody abstained, so that a retry alone ends the same way. Use ask_again: people are asked at"
            " the same node. Or go to an earlier node. Or reject it by cancel_token, where that is listed."
        ),
        "AMENDMENT_UNASKED": (
            "Publish a definition that asks people about amendments, and move the instance there. Or cancel"
            " the amendment."
        ),
        "ANSWER_UNREADABLE": (
            "The receiver has the call, and what the workflow reads of its answer is lost. Find out what it"
            " said. Then skip the node with an answer that has what is read: a retry alone ends the same way."
            " Or have it answer shortly and in JSON, and go to an earlier node: the call is made again there."
            " Or cancel the workflow."
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
        "CONNECTOR_MISSING": (
            "Switch on in this deployment what delivers such messages: docs/effects.md names the variables."
            " The last attempt sent nothing. Then retry."
        ),
        "DOCUMENT_WITHOUT_WORKFLOW": "A person has ended its workflow, and left it. Restart it.",
        "DONE_BEFORE": (
            "The node has acted since the gate was passed, and nothing is done twice by itself. Find out from"
            " the receiver what it has taken. Then skip the node with the answer."
        ),
        "EDIT_UNASKED": (
            "Put back what it said before, where people may edit it, and ask again. Its requester first"
            " withdraws the request, or an operator cancels the workflow; one that is left is restarted. Or"
            " publish a definition that asks people, move the instance there, and go to an earlier node. Or"
            " withdraw the document for good: ask for the transition that cancels it."
        ),
        "EFFECT_DEAD": (
            "Have the other system answer again, then retry: it knows the call by its webhook-id. Where it"
            " has taken the call, skip it; with the answer where the node saves one."
        ),
        "EFFECT_TIMEOUT": (
            "No answer came in the time that its author gives. Have the other system answer, then retry."
            " Where it has taken the call, skip it; with the answer where the node saves one."
        ),
        "EFFECT_WITHDRAWN": (
            "A person has withdrawn what the step was to send. Retry to send it after all, or skip the step."
        ),
        "ENDPOINT_DISABLED": (
            "Switch the endpoint on again: read it by GET /v1/endpoints/{name}, and send it back by PUT with"
            ' "status": "active". What it holds goes on by itself.' + _SECOND
        ),
        "ENDPOINT_HOST_REFUSED": (
            "Have the host added to the tenant's webhook_hosts (PATCH /v1/tenant), or give the endpoint"
            " another URL. The last attempt sent nothing. Then retry." + _SECOND
        ),
        "ENDPOINT_INVALID": (
            "Give the endpoint a URL with https and one of the ports that the message names (PUT"
            " /v1/endpoints/{name}). On a machine of your own, start Signet with SIGNET_WEBHOOK_ADDRESSES: it"
            " names the addresses that are called by plain HTTP. The last attempt sent nothing. Then retry."
            + _SECOND
        ),
        "ENDPOINT_UNKNOWN": (
            "Make an endpoint of that name (POST /v1/endpoints): what is held goes on by itself. What was"
            " given up before wants a retry." + _SECOND
        ),
        GATE_HELD: _GATE,
        "LIST_TOO_LARGE": (
            "The items together are too much for one step. Correct the list, or what each item reads, where"
            " that is listed. Or publish the workflow with an action that reads or gives back less, move the"
            " instance to it, and retry."
        ),
        "EVENT_KEY_INVALID": (
            "The key that it would wait for has a hole. Give the field its value where the document may be"
            " edited. Or correct it, where that is listed, and retry. Or skip the wait."
        ),
        GIVEN_BACK: (
            "Find what is in its way: the message names what the database answered each time, and the runbook"
            " (Given back) says where to look. Remove it, then retry."
        ),
        "LIST_TOO_LONG": (
            "Nothing of the list is done. Correct the list where that is listed, or go to an earlier node"
            " where people may edit it. Or publish the workflow with a larger `max_items`, move the instance"
            " to it, and retry."
        ),
        "ORIGINAL_GONE": (
            "The document that it amends will never be replaced by it. Withdraw the amendment for good: ask"
            " for the transition that cancels it. Where there is none, cancel its workflow and leave it."
        ),
        "ORIGINAL_MOVED_ON": (
            "The document that it amends has changed since. Go to an earlier node, and edit the amendment"
            " before people decide: that compares it with the original of now. Or correct it, where that is"
            " listed."
        ),
        "PERMISSION_DENIED": (
            "Give the one who asked a role with the permission (PUT /v1/members/{user_id}, with member:edit)."
            " Or give it to a role of theirs (PUT /v1/roles/{role}, with role:edit). Then retry."
        ),
        "READS_ERASED": (
            "People were asked, or decided, when the value was there. Fill it again: a person does where the"
            " document may be edited, and an operator does by correcting it. Or publish a definition"
            " that does not read it, and move the instance there. Behind an approval, send the document"
            " back to where people are asked, or amend it: they then decide without the value."
        ),
        "READS_UNPINNED": (
            "Nobody has approved what it would read. Publish a definition that does not read it, and move the"
            " instance there. Or cancel it, and amend the document: people then decide on what it reads."
        ),
        "RULE_REJECTED": _GATE,
        "RULE_SETS_APPROVED": (
            "Change the rule, or take it out of force, then retry. Or skip the step. For new documents, let"
            " the action set the value."
        ),
        "RULE_UNFIT": (
            "Save the rule again, so that it fits the contract (PUT /v1/rules/{entity_type}/{rule})."
            " Then retry." + _SECOND
        ),
        "RULE_UNKNOWN": "Add the rule (PUT /v1/rules/{entity_type}/{rule}), then retry." + _SECOND,
        "SECRET_MISSING": _SECRET + _SECOND,
        "SECRET_UNREADABLE": _SECRET + _SECOND,
        "SERVICE_ACCOUNT_UNUSABLE": "Enable the service account, or give it an active owner. Then retry.",
        STEP_FAILED: "Remove what the message names, then retry. Or go to an earlier node.",
        "TEMPLATE_TOO_LARGE": (
            "Nothing was sent or written. Correct the document where that is listed, or go to an earlier node"
            " where people may edit it. Or publish the workflow with a template that reads less, move the"
            " instance to it, and retry."
        ),
        "TLS_FAILED": (
            "Have the delivering process trust the certificate of the endpoint (SSL_CERT_FILE), or have the"
            " receiver show one that it trusts. The last attempt sent nothing. Then retry."
        ),
        "TIMER_WITHOUT_MOMENT": (
            "The wait has no date to end at. Give the field one where the document may be edited. Or correct"
            " it, where that is listed, and retry. Or skip the wait."
        ),
        "VARIABLES_TOO_LARGE": (
            "The node has not acted. Publish the workflow so that it keeps less: ids instead of long texts."
            " Then cancel the instance with `then: restart`, which keeps only variables that people approved."
        ),
        "VARIABLE_OUTDATED": (
            "The document was changed after the variable was set. Edit it back to what it said, or correct"
            " it, where that is listed. Or go to an earlier node that sets the variable. Or cancel the"
            " workflow, and let the next one begin there."
        ),
        "ZONE_UNKNOWN": (
            "The tenant names a time zone that does not exist. Name one (PATCH /v1/tenant), such as"
            " Europe/Berlin, then retry."
        ),
        "WORKFLOW_VERSION_DRIFT": (
            "The steps before were decided on other content, so that going on would be wrong. Go to the state"
            " of the document: people decide on what it holds now. Where that is not listed, cancel it with"
            " `then: restart`."
        ),
    }
)
_OF_KIND: Mapping[IncidentKind, str] = MappingProxyType(
    {
        IncidentKind.BUSINESS: (
            "Have what the message names changed: correct the document, or go to an earlier node where people"
            " may edit it, where these are listed. Or change its rule or the other document. Where it names"
            " what the workflow gives, publish one that gives something else, and move the instance."
            " Then retry."
        ),
        IncidentKind.CONFIGURATION: "Set up what the message names, then retry.",
        IncidentKind.OUTSIDE: "Have the other system answer again, then retry.",
        IncidentKind.DEFECT: "Read the log for the cause, mend it, then retry.",
    }
)
_LOCKED_GATE = (
    "The document is locked: correct it, which tries again by itself. Or change the rule, the setting or the"
    " other document that it reads, then retry."
)
_LOCKED = (
    "The document is locked: correct what the message names, which tries again by itself. Or change its"
    " rules, then retry. Where it names what the workflow gives, publish one that gives something else, and"
    " move the instance. Then retry."
)

READ_IN_VAIN = (
    "The workflow gives what the message names, and has read nothing for it; its history says what is there."
    " The whole is at GET /v1/instances/{id}, `context`. Publish a definition that reads what is there, move"
    " the instance to it, and retry. Or skip it."
)


def find_remedy(code: str, kind: str, *, is_correctable: bool = False) -> str:
    """Find what removes the cause of incidents with this code, else of those of its kind.

    `is_correctable` says that nobody may edit the document, and that the server accepts `correct`.
    """
    found = _REMEDIES.get(code)
    if is_correctable and found is _GATE:
        return _LOCKED_GATE
    if is_correctable and found is None and kind == IncidentKind.BUSINESS.value:
        return _LOCKED
    return found or _OF_KIND[IncidentKind(kind)]
