"""The English of every finding: code → (severity, sentence, remedy), with the finding's parameters in braces."""

from collections.abc import Mapping
from types import MappingProxyType

_DOCUMENT = {
    "DOCUMENT_NOT_JSON": ("error", "The document cannot be said in JSON: {reason}.", "Use only text, numbers, true, false, null, lists and objects."),
    "DOCUMENT_TOO_LARGE": ("error", "The document is larger than {limit} characters.", "Split it into smaller parts."),
    "FIELD_INVALID": ("error", "At {place}: {problem}.", "Correct this entry."),
    "DOCUMENT_UNREADABLE": (
        "error",
        "{where} cannot be read: {reason}.",
        "Name a file that exists and may be read.",
    ),
    "DOCUMENT_FORMAT_UNKNOWN": (
        "error",
        "{where} is neither YAML nor JSON by its name.",
        "Name it .yaml, .yml or .json.",
    ),
    "DOCUMENT_NOT_UTF8": ("error", "{where}: the byte {byte} is not UTF-8.", "Save the file as UTF-8."),
    "DOCUMENT_CHARACTER_INVALID": (
        "error",
        "{where}: the character {character} may not stand in a file.",
        "Remove it.",
    ),
    "DOCUMENT_SYNTAX": ("error", "{where}: {problem}.", "Correct the {format}."),
    "DOCUMENT_EMPTY": ("error", "{where} is empty.", "Write the document into it."),
    "DOCUMENT_SEVERAL": (
        "error",
        "{where}: a second document begins.",
        "Put each document into a file of its own.",
    ),
    "DOCUMENT_TAG": (
        "error",
        "{where}: the tag '{tag}' asks for a type by name.",
        "Remove the tag; types follow from the values.",
    ),
    "DOCUMENT_ANCHOR": (
        "error",
        "{where}: '{anchor}' is an anchor or an alias.",
        "Write the value out where it is used.",
    ),
    "DOCUMENT_MERGE_KEY": ("error", "{where}: '<<' would merge another mapping.", "Write the entries out."),
    "DOCUMENT_KEY_TWICE": ("error", "{where}: the key '{key}' stands twice.", "Remove one of the two."),
    "DOCUMENT_KEY_NOT_TEXT": ("error", "{where}: the key {key} is not a text.", "Put it in quotes."),
    "DOCUMENT_TOO_DEEP": (
        "error",
        "{where}: this is nested deeper than {limit} levels.",
        "Flatten the document.",
    ),
    "DOCUMENT_NUMBER_INVALID": (
        "error",
        "{where}: not every reader of JSON would keep the number {number}.",
        "Use a number between ±(2^53 - 1), or put it in quotes.",
    ),
    "DOCUMENT_TEXT_INVALID": ("error", "{where}: the text {problem}, which cannot be stored.", "Remove it."),
}

_EXPRESSION = {
    "EXPRESSION_INVALID": ("error", "In '{text}' at character {position}: {problem}", "{suggestion}"),
    "TEMPLATE_INVALID": ("error", "In the template at {pointer}: {problem}", "{suggestion}"),
    "EXPRESSION_WRONG_TYPE": ("error", "'{text}' is a {type}; here stands {wanted}.", "Name {wanted}."),
    "EXPRESSION_NOT_BOOL": ("error", "The condition '{text}' is a {type}, not a yes or no.", "Compare it with something."),
}

_GRAPH = {
    "NODE_ID_TWICE": ("error", "The node id '{place}' stands twice.", "Give each node an id of its own."),
    "NODE_ID_OUT_OF_SCOPE": ("error", "The node '{place}' does not belong to slot '{slot}'.", "Name it with a slug, or in full usr:{slot}:<slug>."),
    "NODE_TYPE_UNKNOWN": ("error", "The node '{place}' has the unknown type '{type}'.", "Use one of: {allowed}."),
    "NODE_TYPE_RESERVED": ("error", "The node '{place}' has the type '{type}', which only the envelope may have.", "Use one of: {allowed}."),
    "NODE_CONFIG_INVALID": ("error", "The configuration of '{place}' is wrong at {pointer}: {problem}.", "Correct the configuration."),
    "EDGE_ID_TWICE": ("error", "Two edges have the id '{place}'.", "Give one of them an id of its own (parallel edges differ by 'id')."),
    "EDGE_END_UNKNOWN": ("error", "The edge {place} names '{end}', which is no node of its slot.", "Name a node of the same slot, 'in' or 'out'."),
    "EDGE_END_OUT_OF_SCOPE": ("error", "The edge {place} reaches '{end}' outside its slot '{slot}'.", "Connect nodes of the slot only; its ends are called 'in' and 'out'."),
    "EDGE_INTO_IN": ("error", "The edge {place} leads back to where the slot begins.", "Returning to a state is the envelope's: reject, or leave through 'out'."),
    "EDGE_FROM_OUT": ("error", "The edge {place} begins where the slot ends.", "Begin it at a node of the slot."),
    "EDGE_OUTCOME_UNKNOWN": ("error", "The edge {place} waits for '{outcome}', which a {type} never gives.", "Use one of: {allowed}."),
    "EDGE_CONDITION_ON_SPLIT": ("error", "The edge {place} leaves a parallel split under a condition.", "A split goes along every edge; put a condition node on the branch."),
    "OUTCOME_WITHOUT_EDGE": ("error", "Nothing follows '{outcome}' of '{place}'.", "Draw an edge for '{outcome}'."),
    "SEVERAL_EDGES_WITHOUT_CHOICE": ("error", "'{place}' has {count} edges for '{outcome}' without a condition.", "Give all but one a condition, or use a parallel split."),
    "BRANCH_WITHOUT_DEFAULT": ("error", "When no condition at '{place}' ({outcome}) holds, there is no way on.", "Add an edge without a condition."),
    "DEFAULT_NOT_LAST": ("error", "The default edge {edge} of '{place}' comes before edges with a condition, which never get their turn.", "Give it the highest priority number."),
    "CONDITIONS_LEAVE_GAP": ("warning", "At '{place}' no condition covers {variable} = {example}: it takes the default edge.", "Check that the default is meant for {variable} = {example}."),
    "CONDITIONS_OVERLAP": ("warning", "At '{place}' more than one condition covers {variable} = {example}: the first by priority wins.", "Make the conditions exclude each other, or rely on the priorities knowingly."),
}

_SLOT = {
    "SLOT_UNKNOWN": ("error", "The envelope has no slot '{place}'.", "Use one of: {allowed}."),
    "SLOT_EMPTY_ENTRY": ("error", "In slot '{place}' every node has something before it, so nothing begins.", "Leave one node without an incoming edge, or draw an edge from 'in'."),
    "SLOT_SEVERAL_ENTRIES": ("error", "In slot '{place}' several nodes could begin: {nodes}.", "Draw one edge from 'in', or use entry: branch with conditions."),
    "SLOT_SERIAL_BRANCHES": ("error", "Slot '{place}' has entry: serial but {count} edges from 'in'.", "Use entry: branch, with conditions and a default."),
    "SLOT_SEVERAL_EXITS": ("error", "In slot '{place}' several ways end: {nodes}.", "Use exit: join, or lead them to one last node."),
    "SLOT_NO_EXIT": ("error", "No way leads out of slot '{place}'.", "Draw an edge to 'out'."),
    "WINDOW_LOOSER": ("error", "Slot '{place}' is {default}; a patch cannot loosen it to {override}.", "Remove 'edit', or choose a stricter window."),
    "ENVELOPE_VERSION_MISMATCH": ("error", "The patch is pinned to version {pinned} of the envelope of '{entity_type}'; this is version {actual}.", "{rebase}"),
    "ENVELOPE_ENTITY_MISMATCH": ("error", "The patch is for '{pinned}', the envelope is of '{actual}'.", "Compile it with the contract of '{pinned}'."),
    "REJECTION_UNHANDLED": ("error", "'{place}' can be rejected, and slot '{slot}' has no gate after it to take that.", "Draw an edge for 'rejected'."),
    "ACTION_UNKNOWN": ("error", "'{place}' runs the action '{action}', which the contract does not have.", "Use one of: {allowed}."),
    "ACTION_PAYLOAD_UNKNOWN": ("error", "'{place}' gives '{field}' to the action '{action}', which does not take it.", "Use one of: {allowed}."),
    "ACTION_PAYLOAD_MISSING": ("error", "'{place}' does not give '{field}', which the action '{action}' requires.", "Add '{field}' to the payload."),
    "ACTION_BESIDE_APPROVAL": ("error", "'{place}' changes the document while '{approval}' asks people about it.", "Move the action before the approval, or after the gate."),
    "ACTION_AFTER_APPROVAL": ("error", "'{place}' changes the document between '{approval}' and the gate that uses its decision.", "Move the action before the approval, or into a slot after the gate."),
    "LIMIT_EXCEEDED": ("error", "There are {count} {what}, more than the {limit} that a workflow may have.", "Split the workflow."),
}

_SOUNDNESS = {
    "CYCLE": ("error", "The way goes in a circle: {path}.", "Take out one of these edges; returning to a state is the envelope's."),
    "UNREACHABLE": ("error", "Nothing leads to '{place}'.", "Draw an edge to it, or remove it."),
    "DEAD_END": ("error", "From '{place}' no way leads to the end.", "Draw an edge from it."),
    "SPLIT_WITHOUT_JOIN": ("error", "The branches of '{place}' do not meet in one join.", "Let every branch end in the same parallel join."),
    "SPLIT_TOO_FEW": ("error", "The split '{place}' has {count} branches.", "Give it at least two."),
    "JOIN_WITHOUT_SPLIT": ("error", "'{place}' joins what no split parted, and would wait for ever.", "Put a parallel split before it, or remove it."),
    "JOIN_NEVER_SATISFIED": ("error", "The join '{place}' waits for a branch of '{split}' that cannot arrive ({branch}).", "Let the branch reach the join, or make it mode: any."),
    "BLOCK_ENTERED_SIDEWAYS": ("error", "The edge {place} enters the parallel block of '{split}' from outside.", "Enter a block through its split only."),
    "BLOCK_LEFT_SIDEWAYS": ("error", "The edge {place} leaves the parallel block of '{split}' before its join.", "Lead it to the join, or mark it role: exit, which cancels the other branches."),
    "EXIT_OUTSIDE_BLOCK": ("error", "The edge {place} has role: exit, but is in no parallel block.", "Remove the role."),
    "RETURN_NEVER_WAITS": ("error", "The return to '{place}' comes round again by itself: {path}.", "Let a state on the way wait for a request."),
    "WINDOW_UNASSIGNED": ("error", "'{place}' has no edit window.", "Recompile; this is a fault of the compiler."),
    "SYSTEM_NODE_ALTERED": ("error", "The system node '{place}' is missing or altered.", "The envelope cannot be edited; recompile from contract and patch."),
    "SYSTEM_ORDER_ALTERED": ("error", "The system node '{place}' no longer comes where the envelope puts it.", "The envelope cannot be edited; recompile from contract and patch."),
    "POLICY_GATE_MISSING": ("error", "The action '{place}' has no policy gate before it.", "The compiler puts it there; recompile from contract and patch."),
}

# What a contract may say that no other part may make sense of; see contract_checks.
_CONTRACT = {
    "NAME_RESERVED": (
        "error",
        "The {what} may not be called '{name}': Signet uses that name.",
        "Choose another name.",
    ),
    "ENTRY_TWICE": ("error", "'{entry}' stands twice in this list.", "Remove one of the two."),
    "FIELD_LIMITS_CROSSED": (
        "error",
        "No value of the field '{field}' can keep both of its limits.",
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
        "'{flag}' means nothing for '{field}', which is no field of the document itself.",
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
        "Index only what lists are searched and sorted by.",
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
        "The transition '{transition}' leaves '{state}' by itself, which is settled.",
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
        "A rejection of '{transition}' leads to '{state}' as passing it does.",
        "Send a rejection to another state.",
    ),
    "INTERRUPT_REJECTED": (
        "error",
        "Nothing can reject the interrupting transition '{transition}'.",
        "Remove 'rejected_to'.",
    ),
    "SLOT_FROM_MISSING": (
        "error",
        "The slot '{slot}' does not say on which way to '{transition}' it stands.",
        "Set 'from' to one of: {allowed}.",
    ),
    "SLOT_FROM_UNKNOWN": (
        "error",
        "The slot '{slot}' begins at '{state}', where its transition does not.",
        "Set 'from' to one of: {allowed}.",
    ),
    "SLOT_BEFORE_INTERRUPT": (
        "error",
        "The slot '{slot}' stands before an interruption, which has no way to it.",
        "Use position: after.",
    ),
    "SLOT_FROM_AT_INTERRUPT": (
        "error",
        "The slot '{slot}' has 'from', but '{transition}' has one gate for all sources.",
        "Remove 'from'.",
    ),
    "SLOT_PLACE_TAKEN": (
        "error",
        "The slot '{slot}' stands where '{first}' stands.",
        "Remove one of them, or set another transition, position or 'from'.",
    ),
    "SLOT_WINDOW_LOOSER": (
        "error",
        "The slot '{slot}' is {window} where the state is {default}.",
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
        "Amending is asked for in '{state}', which is not settled.",
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
    "ACTION_ENTITY_TYPE_MISSING": (
        "error",
        "The action '{action}' does not say what it makes.",
        "Add 'entity_type'.",
    ),
    "ACTION_ENTITY_TYPE_UNUSED": (
        "error",
        "The action '{action}' of kind {kind} makes no document.",
        "Remove 'entity_type', or use kind: create.",
    ),
    "CONDITION_NEVER_ASKED": (
        "warning",
        "The condition on '{permission}' never counts: nothing in '{contract}' asks for that permission.",
        "Use the permission of a transition, an action, or {contract}:edit.",
    ),
}

TEXTS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {**_DOCUMENT, **_EXPRESSION, **_GRAPH, **_SLOT, **_SOUNDNESS, **_CONTRACT}
)
