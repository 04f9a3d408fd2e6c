"""Texts of findings in contracts."""

from collections.abc import Mapping

# One part of a contract contradicts another; see `core/contracts/reader.py`.
CONTRACT: Mapping[str, tuple[str, str, str]] = {
    "NAME_RESERVED": (
        "error",
        "The {what} may not be called '{name}': Signet uses that name.",
        "Choose another name.",
    ),
    "ENTRY_TWICE": ("error", "'{entry}' stands twice in this list.", "Remove one of the two."),
    "FIELD_LIMITS_CROSSED": (
        "error",
        "No value of the field '{field}' is within both of its limits.",
        "Let the lower limit be at most the upper one.",
    ),
    "FIELD_ENUM_BLANK": (
        "error",
        "A value of the enum '{field}' is empty or begins or ends with a space.",
        "Write the value without spaces around it.",
    ),
    "FIELD_DEFAULT_INVALID": (
        "error",
        "The default of the field '{field}' {problem}.",
        "Give a default that the field would accept.",
    ),
    "FIELD_FLAG_MEANINGLESS": (
        "error",
        "'{flag}' means nothing for '{field}', which lies inside another field.",
        "Remove it, or set it on the outermost field.",
    ),
    "FIELD_TOO_DEEP": (
        "error",
        "The field '{field}' holds fields deeper than {limit} levels.",
        "Flatten it, or make it a document of its own with a ref.",
    ),
    "FIELD_INDEX_TYPE": (
        "error",
        "The field '{field}' is a {type}, which cannot be indexed.",
        "Index one of these types: {allowed}.",
    ),
    "FIELD_INDEX_TOO_MANY": (
        "error",
        "{count} fields of the types {types} are indexed; a document has room for {limit}.",
        "Index only the fields that lists are filtered or sorted by.",
    ),
    "FIELD_INDEX_TOO_LONG": (
        "error",
        "The field '{field}' is indexed or unique and may be longer than an index can hold.",
        "Set max_length to at most {limit}.",
    ),
    "FIELD_UNIQUE_TYPE": (
        "error",
        "The field '{field}' is a {type}, which cannot be unique.",
        "Make a field of one of these types unique: {allowed}.",
    ),
    "FIELD_UNIQUE_OPTIONAL": (
        "error",
        "The field '{field}' is unique but may be absent.",
        "Set required: true, or remove 'unique'.",
    ),
    "FIELD_UNIQUE_DEFAULT": (
        "error",
        "The field '{field}' is unique and has a default, which only one document could have.",
        "Remove the default.",
    ),
    "SUMMARY_FIELD_UNKNOWN": (
        "error",
        "The summary names '{field}', which is no field of the contract.",
        "Name a field of this contract.",
    ),
    "SUMMARY_FIELD_TYPE": (
        "error",
        "The summary names the field '{field}', a {type}, which does not fit there.",
        "Name a field of one of these types: {allowed}.",
    ),
    "SUMMARY_FIELD_PERSONAL": (
        "error",
        "The summary names the field '{field}', which is personal and can be erased.",
        "Name a field that is not personal.",
    ),
    "FIELD_PERSONAL_REF": (
        "error",
        "The field '{field}' refers to a document and cannot be erased as personal.",
        "Mark the personal fields of that document.",
    ),
    "FIELD_PERSONAL_INDEXED": (
        "error",
        "The field '{field}' is personal, and an index would keep what is erased.",
        "Remove 'personal', or 'indexed' and 'unique'.",
    ),
    "INITIAL_MISSING": (
        "error",
        "No state is the initial one, so no document can begin.",
        "Set initial: true on one state.",
    ),
    "INITIAL_SEVERAL": (
        "error",
        "The state '{state}' is initial, and so is '{first}'.",
        "Leave one initial state.",
    ),
    "INITIAL_FINAL": (
        "error",
        "The state '{state}' is initial and final, so nothing could ever happen.",
        "Remove 'final', or use 'settled'.",
    ),
    "SETTLED_AND_FINAL": (
        "error",
        "The state '{state}' is both settled and final.",
        "Keep 'settled' if it can still be left, else 'final'.",
    ),
    "FINAL_NOT_LOCKED": (
        "error",
        "The state '{state}' is final but {window}, so it could still change.",
        "Set edit: locked.",
    ),
    "FINAL_HAS_EXIT": (
        "error",
        "The transition '{transition}' leaves '{state}', which is final.",
        "Make the state settled, or remove it from 'from'.",
    ),
    "SETTLED_HAS_AUTOMATIC_EXIT": (
        "error",
        "The automatic transition '{transition}' leaves '{state}', which is settled.",
        "Remove 'settled', or make the transition requested.",
    ),
    "STATE_RESERVED": (
        "error",
        "The state '{state}' cannot be declared: amendments make it.",
        "Add 'amendment' instead; a slot may say from: amended.",
    ),
    "STATE_UNKNOWN": ("error", "There is no state '{state}'.", "Use one of: {allowed}."),
    "STATE_UNREACHABLE": (
        "error",
        "No transition leads to the state '{state}'.",
        "Add a transition to it, or remove it.",
    ),
    "STATE_WITHOUT_EXIT": (
        "error",
        "Nothing leads out of the state '{state}', which is neither settled nor final.",
        "Mark it final or settled, or add a transition.",
    ),
    "STATE_NEVER_ENDS": (
        "error",
        "From the state '{state}' no way leads to a settled or final state.",
        "Mark a state after it final or settled.",
    ),
    "TRANSITION_UNKNOWN": ("error", "There is no transition '{transition}'.", "Use one of: {allowed}."),
    "TRANSITION_TO_ITSELF": (
        "error",
        "The {kind} transition '{transition}' leads from '{state}' to itself.",
        "Remove '{state}' from 'from'.",
    ),
    "AUTOMATIC_SEVERAL": (
        "error",
        "Both '{first}' and '{transition}' leave the state '{state}' by themselves.",
        "Make one of them requested.",
    ),
    "AUTOMATIC_WITH_REASON": (
        "error",
        "Nobody is there to give a reason for the automatic transition '{transition}'.",
        "Remove 'reason_required'.",
    ),
    "REJECTED_TO_TARGET": (
        "error",
        "Passing '{transition}' leads to '{state}', and a rejection leads there too.",
        "Send a rejection to another state.",
    ),
    "INTERRUPT_REJECTED": (
        "error",
        "Nothing can reject the interrupting transition '{transition}'.",
        "Remove 'rejected_to'.",
    ),
    "SLOT_FROM_MISSING": (
        "error",
        "'{transition}' leaves several states; the slot '{slot}' does not say which of them it follows.",
        "Set 'from' to one of: {allowed}.",
    ),
    "SLOT_FROM_UNKNOWN": (
        "error",
        "The slot '{slot}' begins at '{state}', but its transition does not.",
        "Set 'from' to one of: {allowed}.",
    ),
    "SLOT_BEFORE_INTERRUPT": (
        "error",
        "The slot '{slot}' stands before an interrupting transition, which waits for no steps.",
        "Use position: after.",
    ),
    "SLOT_FROM_AT_INTERRUPT": (
        "error",
        "The slot '{slot}' has 'from', but '{transition}' has one gate for all sources.",
        "Remove 'from'.",
    ),
    "SLOT_PLACE_TAKEN": (
        "error",
        "The slot '{slot}' stands in the same place as '{first}'.",
        "Remove one of them, or set another transition, position or 'from'.",
    ),
    "SLOT_WINDOW_LOOSER": (
        "error",
        "The slot '{slot}' is {window}, but its state is {default}, which is stricter.",
        "Remove 'edit', or choose a stricter window.",
    ),
    "SLOT_STABLE_EDITABLE": (
        "error",
        "The slot '{slot}' is stable, yet editable.",
        "Set edit: amend_only or locked, or remove 'stable'.",
    ),
    "AMENDMENT_MISSING": (
        "error",
        "'{name}' is amend_only, but the contract does not say who may amend.",
        "Add 'amendment'.",
    ),
    "AMENDMENT_FROM_NOT_SETTLED": (
        "error",
        "The amendment names '{state}', which is not settled.",
        "Name settled states only; elsewhere an edit amends by itself.",
    ),
    "AMENDMENT_WITHOUT_REQUEST": (
        "error",
        "An amendment could never be submitted: no requested transition leaves '{state}'.",
        "Add a requested transition from '{state}'.",
    ),
    "ACTION_NAMED_LIKE_TRANSITION": (
        "error",
        "'{action}' is both an action and a transition, with one permission for both.",
        "Rename the action.",
    ),
    "ACTION_SET_MISSING": (
        "error",
        "The action '{action}' of kind {kind} does not say which fields it sets.",
        "Add 'set'.",
    ),
    "ACTION_SET_UNUSED": (
        "error",
        "The action '{action}' is written in Python and does not read 'set'.",
        "Remove 'set'.",
    ),
    "ACTION_FIELD_UNKNOWN": (
        "error",
        "The action '{action}' sets '{field}', which is no field.",
        "Use one of: {allowed}.",
    ),
    "ACTION_FIELD_MISSING": (
        "error",
        "The action '{action}' makes a document without its required field '{field}'.",
        "Set '{field}' as well.",
    ),
    "ACTION_OUTPUT_UNKNOWN": (
        "error",
        "The action '{action}' cannot give back '{field}': it is unknown, personal or of another type.",
        "An update gives back fields of the document that are not personal, each with its own type.",
    ),
    "ACTION_OUTPUT_UNUSED": (
        "error",
        "The action '{action}' creates a document: it gives back document_id and version, and no 'output'.",
        "Remove 'output'.",
    ),
    "ACTION_ENTITY_TYPE_MISSING": (
        "error",
        "The action '{action}' does not say which type of document it makes.",
        "Add 'entity_type'.",
    ),
    "ACTION_ENTITY_TYPE_UNUSED": (
        "error",
        "The action '{action}' of kind {kind} makes no document.",
        "Remove 'entity_type', or use kind: create.",
    ),
    "SCALE_DIFFERS": (
        "warning",
        "The action '{action}' copies a number of scale {scale} into '{field}', which has scale {other}: the"
        " same digits mean another amount there.",
        "Declare one scale, or compute the amount (entity.amount * 100).",
    ),
    "ACTION_REPEATS_UNUSED": (
        "error",
        "The action '{action}' only sets fields: an edit window holds it, and nothing is done twice by it.",
        "Remove 'repeats'.",
    ),
    "DECIDING_AUTOMATIC": (
        "error",
        "'{transition}' is automatic: nobody asks for it, so nobody can be barred from deciding.",
        "Name transitions that are asked for: {allowed}.",
    ),
    "CONDITION_WITHOUT_USE": (
        "error",
        "A condition on '{permission}' is never asked: who has the permission may read every document.",
        "Give the permission to fewer people, or keep what they may not read in an entity type of its own."
        " Or name one permission, as that of an action.",
    ),
    "CONDITION_NEVER_ASKED": (
        "warning",
        "The condition on '{permission}' counts only where the policy of an approval names that permission:"
        " nothing else in '{contract}' asks for it.",
        "Name it as 'permission' of an approval or a chain. Or use the permission of a transition, an action,"
        " or {contract}:edit.",
    ),
}
