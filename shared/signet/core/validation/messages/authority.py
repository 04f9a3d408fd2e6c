"""Texts of findings about who decides: lost approvals, seats, requirements, and names that do not exist."""

from collections.abc import Mapping

AUTHORITY: Mapping[str, tuple[str, str, str]] = {
    "APPROVAL_CAN_BE_LOST": (
        "error",
        "The approval '{approval}' can be lost: {cause} and cancels it before anybody decides.",
        "Let all branches meet (mode: all), or put the approval before the split or after '{place}'."
        " To accept the loss, name '{join}' in the slot's accepts: {{approval_can_be_lost: [...]}}.",
    ),
    "ACCEPTANCE_UNUSED": (
        "error",
        "'{name}' is accepted as a join where an approval can be lost, and it is none.",
        "Remove it from 'accepts'.",
    ),
    "ACTION_OPEN_BEFORE_APPROVAL": (
        "warning",
        "Steps run the action '{action}' behind an approval alone. Who has '{permission}' may run it by hand"
        " before: it goes through in every status.",
        "Put a condition on entity.status into 'conditions' under '{permission}'. Or give the permission to"
        " nobody, and let a step run the action as the system.",
    ),
    "ACTIONS_OF_ONE_TYPE": (
        "warning",
        "The actions {actions} make documents of '{entity_type}'. Behind an approval, people may run each by"
        " hand once, where no step runs it.",
        "Leave one of them, or let steps of the workflow run them.",
    ),
    "ACTOR_IS_SYSTEM": (
        "error",
        "The condition '{text}' asks who acts, and {where} nobody but the system does.",
        "{way}",
    ),
    "ACTOR_NOT_ASKED_YET": (
        "warning",
        "The condition '{text}' is asked of each person who votes on '{transition}', and nobody votes.",
        "Publish a patch that puts an approval into the slot '{place}'.",
    ),
    "NOBODY_ASKED_YET": (
        "warning",
        "The transition '{transition}' happens by itself, and nobody is asked before it yet: there is no"
        " voter whose permission '{permission}' counts.",
        "Publish a patch that puts an approval into the slot '{slot}' before documents are created."
        " A document keeps the definition that it begins with.",
    ),
    "APPROVAL_ON_ONE_WAY": (
        "warning",
        "'{state}' is reached by {free} without an approval, and by {asking} with one.",
        "Put an approval on each way, if nobody is to go around it: an amendment has a slot of its own.",
    ),
    "READS_UNPINNED_LATER": (
        "warning",
        "It reads {read}, which no approval under {named} has pinned.",
        "A step that reads it is held for documents approved before (READS_UNPINNED). Have its slot ask"
        " people, or read what the document says itself.",
    ),
    "ERROR_EDGE_NOT_TAKEN": (
        "warning",
        "The edge for errors of '{place}' is not taken: nothing outside fails there, and people decide about"
        " the document, about what it makes, or about what may read it.",
        "Remove the edge: what fails there is held until a person brings it on. To lead a case to people,"
        " draw a condition before it.",
    ),
    "ERROR_EDGE_READ": (
        "warning",
        "The edges for errors of {nodes} in the workflow of '{entity_type}' are not taken any more: this"
        " contract reads such documents, and nothing outside fails there.",
        "Remove the edges: what fails there is held until a person brings it on. Take `reads` out of the ref"
        " where nobody needs it.",
    ),
    "ERROR_EDGE_PASSES_APPROVAL": (
        "warning",
        "The edge for errors of '{place}' leads past {passed}, which the other way asks. A receiver may"
        " refuse what a person has typed, and the edge takes that too.",
        "Draw the same approvals behind the edge. Or let it lead to an approval of other people: its view"
        " names the call (`failed_calls`), and so does the document to those whose request decides.",
    ),
    "NODE_ID_USED_AGAIN": (
        "warning",
        "{nodes} did something else under {named}.",
        "Give a node another id where it does something else. For documents that were approved before, it is"
        " held where another node has acted that may be the same (DONE_BEFORE).",
    ),
    "NODE_RENAMED": (
        "warning",
        "{gone} of {named} acts outside or makes documents, and is gone. {added} is new, and may be the"
        " same.",
        "For a document that was approved before, a new one is held where a gone one has acted (DONE_BEFORE)."
        " Keep the id of a node that does the same.",
    ),
    "OLDER_RUN_ON": (
        "warning",
        "{count} live document(s) of '{entity_type}' go on under older definitions, which ask for other"
        " approvals: {named}.",
        "Cancel the instance of each that nobody was asked about yet: the next request begins under the"
        " newest definition. A move to it also helps, where one person may choose who is asked.",
    ),
    "SEAT_NOT_LOCKED": (
        "error",
        "'{text}' says who decides, and {name} can be set by the person who asks.",
        "{way}",
    ),
    "AFTER_APPROVAL_UNUSED": (
        "error",
        "'after_approval' lets people edit in '{state}', which is {window} for edits.",
        "Remove it.",
    ),
    "EDITABLE_BEHIND_REQUIRED": (
        "error",
        "The contract requires approvals on the way to '{state}', and an edit there changes what was approved"
        " without asking anybody.",
        "Declare it amend_only or locked. To accept such edits, say after_approval: editable in that state.",
    ),
    "EDITABLE_BEHIND_APPROVAL": (
        "warning",
        "People approve on each way to '{state}', or decide by their request. An edit there changes that"
        " without asking anybody.",
        "Declare it amend_only or locked. To accept such edits, say after_approval: editable in that state.",
    ),
    "EDITABLE_WHEN_MADE": (
        "warning",
        "The action '{action}' of '{maker}' makes '{made}' behind approvals. People may edit that in"
        " {states}, and a way from there asks nobody.",
        "A value that they change there is held (EDIT_UNASKED). Declare these states amend_only or locked, or"
        " have each way ask people. To accept such edits, say after_approval: editable in these states.",
    ),
    "REJECTION_PASSES_REQUIRED": (
        "error",
        "A rejection of '{transition}' leads on to {reached}, where its slot requires approvals.",
        "Let 'rejected_to' name a state before the approvals, or one that nothing leads on from.",
    ),
    "REJECTION_LEADS_ON": (
        "warning",
        "A rejection of '{transition}', or one that has expired, leads on to {reached}.",
        "Let 'rejected_to' name a state before the approvals, unless that is wanted.",
    ),
    "REQUIRED_AFTER_GATE": (
        "error",
        "The slot '{slot}' stands after the gate, which uses no approval that is given there.",
        "Put 'requires' on a slot before the gate.",
    ),
    "REQUIRED_ELSEWHERE_FREE": (
        "warning",
        "The transition '{transition}' also begins at {sources}, where no slot requires an approval.",
        "Declare a slot with 'requires' for each source, if nobody is to go around this one.",
    ),
    "REQUIRED_APPROVALS_MISSING": (
        "error",
        "The contract requires {wanted} in slot '{place}', and a path through it proves {proven}.",
        "On every path, ask by 'approvers' with a number as 'quorum', or by more nodes. 'quorum: all' lets"
        " people abstain and proves one, like a chain; an escalation proves one by those it goes to.",
    ),
    "REQUIRED_SLOT_EMPTY": (
        "error",
        "The contract requires {wanted} in slot '{place}', which nothing fills.",
        "Fill the slot with steps that ask for them.",
    ),
    "REQUIRED_SLOT_WAITS": (
        "warning",
        "The contract requires {wanted} in slot '{place}': its gate stays shut until a patch asks for them.",
        "Publish a patch that fills the slot.",
    ),
    "REQUIRED_DISTINCT": (
        "error",
        "'{place}' allows the same person, and the contract requires distinct persons in slot '{slot}'.",
        "Remove 'same_person'.",
    ),
    "ROLE_UNKNOWN": (
        "error",
        "'{place}' names the role '{name}', which the tenant does not have.",
        "Save the role first, or name one that exists.",
    ),
    "MEMBER_UNKNOWN": (
        "error",
        "'{place}' names the user '{name}', who is no member of the tenant.",
        "Name a member, or add this one first.",
    ),
    "CHAIN_UNKNOWN": (
        "error",
        "'{place}' names the approval chain '{name}', of which no version is published.",
        "Publish the chain first, or name one that is published.",
    ),
    "ENDPOINT_UNKNOWN": (
        "error",
        "'{place}' names the endpoint '{name}', which the tenant does not have.",
        "Make the endpoint first, or name one that exists.",
    ),
    "CALENDAR_UNKNOWN": (
        "error",
        "'{place}' counts in the calendar '{name}', which the tenant does not have.",
        "Save the calendar first, or name one that exists.",
    ),
    "CALENDAR_UNNAMED": (
        "error",
        "'{place}' names no calendar, and the tenant's settings name none that exists.",
        "Name a calendar, or set `calendar` in the tenant's settings.",
    ),
    "RULE_NOWHERE": (
        "warning",
        "'{place}' asks the rule '{name}', which the tenant does not have, or has switched off.",
        "Save the rule before a document comes there: each is held with RULE_UNKNOWN.",
    ),
    "ACTION_NOT_LOADED_HERE": (
        "warning",
        "'{place}' runs the Python action '{name}', and this process has loaded no function for it.",
        "Name its module in SIGNET_EXTENSIONS: until then each document is held with ACTION_NOT_LOADED.",
    ),
    "ACTION_NOWHERE": (
        "error",
        "'{place}' runs the action '{name}', which is neither of the contract nor of this release.",
        "Declare an action in the contract, and run that.",
    ),
    "FALLS_BACK": (
        "warning",
        "New documents of '{entity_type}' will run '{name}', version {version}.",
        "Archive this only if that is wanted.",
    ),
    "ASKS_NOBODY": (
        "warning",
        "New documents of '{entity_type}' will ask nobody: no approval is left.",
        "Keep the approvals in a patch that is in force, unless that is wanted.",
    ),
    "PATCH_OUT_OF_FORCE": (
        "warning",
        "New documents of '{entity_type}' no longer run the patch '{name}', version {version}.",
        "Publish this with replaces: {name}, if that is wanted; one patch of a type is in force at a time.",
    ),
}
