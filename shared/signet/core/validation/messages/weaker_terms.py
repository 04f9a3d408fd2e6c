"""Texts of findings about a contract that holds people to less than the published one."""

from collections.abc import Mapping

_LOOK = "Publish this only if that is wanted."

WEAKENING: Mapping[str, tuple[str, str, str]] = {
    "REQUIRES_LESS": (
        "warning",
        "The slot '{slot}' required {before}, and requires {after} now.",
        "Keep 'requires' as it was, or publish this only if that is wanted.",
    ),
    "SLOT_GONE": (
        "warning",
        "The slot '{slot}' is gone, and with it the approvals that a patch asks for there.",
        "Keep the slot, or publish this only if that is wanted.",
    ),
    "FIELD_GONE": ("warning", "The field '{field}' is gone, with what it held documents to.", _LOOK),
    "FIELD_CHANGED": (
        "warning",
        "The field '{field}' was {before}, and is {after} now: what is there may mean something else.",
        _LOOK,
    ),
    "FIELD_LOOSER": ("warning", "The field '{field}' {words}.", _LOOK),
    "DEFAULT_CHANGED": (
        "warning",
        "The field '{field}' is {value!r} where nobody enters it.",
        "See what is done with that value, or publish this only if that is wanted.",
    ),
    "MAY_DECIDE_WIDER": (
        "warning",
        "People may decide about documents of their own now, as {parts}.",
        "Leave it out of 'may_decide', or publish this only if that is wanted.",
    ),
    "DECIDING_DROPPED": (
        "warning",
        "A request for '{transition}' is no decision any more: people of the document may ask for it.",
        "Keep it in 'deciding', or publish this only if that is wanted.",
    ),
    "CONDITION_DROPPED": ("warning", "The condition '{condition}' on {subject} is gone.", _LOOK),
    "CONDITION_CHANGED": (
        "warning",
        "The condition on {subject} was '{condition}', and is '{now}' now.",
        "Compare them: Signet cannot say which is stricter.",
    ),
    "PERMISSION_CHANGED": (
        "warning",
        "The {subject} needed the permission '{permission}', and needs '{now}' now.",
        "See who has the new permission.",
    ),
    "REASON_DROPPED": ("warning", "The transition '{transition}' needs no reason any more.", _LOOK),
    "EDIT_WIDER": ("warning", "The {subject} was {before} for edits, and is {after} now.", _LOOK),
    "DELETE_WIDER": ("warning", "Documents may be deleted in '{state}' now.", _LOOK),
    "WAY_ADDED": ("warning", "The transition '{transition}' leads from '{state}' to '{to}' now.", _LOOK),
    "REJECTION_WAY_CHANGED": (
        "warning",
        "A rejection of '{transition}' leads to '{to}' now, and led to '{before}'.",
        "See what people may ask for there, or publish this only if that is wanted.",
    ),
    "ACTION_ADDED": ("warning", "People and steps may run the action '{action}' now.", _LOOK),
    "REPEATS_ALLOWED": (
        "warning",
        "People may run the action '{action}' again behind an approval now, and nobody is asked again.",
        _LOOK,
    ),
    "ACTION_CHANGED": ("warning", "The action '{action}' does something else now.", "Compare both versions."),
}
