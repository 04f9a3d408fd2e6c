"""Texts of findings in patches, automations and the graphs that they make."""

from collections.abc import Mapping

GRAPH: Mapping[str, tuple[str, str, str]] = {
    "NODE_ID_TWICE": ("error", "The node id '{place}' stands twice.", "Give each node an id of its own."),
    "NODE_ID_OUT_OF_SCOPE": (
        "error",
        "The node '{place}' does not belong to slot '{slot}'.",
        "Name it with a slug, or in full usr:{slot}:<slug>.",
    ),
    "NODE_ID_RESERVED": (
        "error",
        "A node may not be called '{place}': that is an end of its slot.",
        "Choose another id.",
    ),
    "NODE_TYPE_UNKNOWN": (
        "error",
        "The node '{place}' has the unknown type '{type}'.",
        "Use one of: {allowed}.",
    ),
    "NODE_TYPE_RESERVED": (
        "error",
        "The node '{place}' has the type '{type}', which only the envelope may have.",
        "Use one of: {allowed}.",
    ),
    "NODE_CONFIG_INVALID": (
        "error",
        "The configuration of '{place}' is wrong at {pointer}: {problem}.",
        "Correct the configuration.",
    ),
    "SERVICE_ACCOUNT_MISSING": (
        "error",
        "'{place}' runs as a service account, and does not say as which.",
        "Name one beside it, as in 'service_account: erp_posting'.",
    ),
    "SERVICE_ACCOUNT_UNEXPECTED": (
        "error",
        "'{place}' names the service account '{account}', and does not run as it.",
        "Set 'run_as: service_account', or leave the name out.",
    ),
    "SERVICE_ACCOUNT_UNUSABLE": (
        "error",
        "'{place}' runs as the service account '{account}', and {problem}.",
        "Name an active account of an active member, or have one made.",
    ),
    "EDGE_ID_TWICE": (
        "error",
        "Two edges have the id '{place}'.",
        "Give one of them an id of its own (parallel edges differ by 'id').",
    ),
    "EDGE_END_UNKNOWN": (
        "error",
        "The edge {place} names '{end}', which is no node of its slot.",
        "Name a node of the same slot, 'in' or 'out'.",
    ),
    "EDGE_END_OUT_OF_SCOPE": (
        "error",
        "The edge {place} reaches '{end}' outside its slot '{slot}'.",
        "Connect nodes of the slot only; its ends are called 'in' and 'out'.",
    ),
    "EDGE_INTO_IN": (
        "error",
        "The edge {place} leads back to where the slot begins.",
        "Only the envelope returns to a state: reject, or leave through 'out'.",
    ),
    "EDGE_FROM_OUT": (
        "error",
        "The edge {place} begins where the slot ends.",
        "Begin it at a node of the slot.",
    ),
    "EDGE_OUTCOME_UNKNOWN": (
        "error",
        "The edge {place} waits for '{outcome}', which a {type} never gives.",
        "Use one of: {allowed}.",
    ),
    "EDGE_CONDITION_ON_SPLIT": (
        "error",
        "The edge {place} leaves a parallel split under a condition.",
        "A split goes along every edge; put a condition node on the branch.",
    ),
    "OUTCOME_WITHOUT_EDGE": (
        "error",
        "Nothing follows '{outcome}' of '{place}'.",
        "Draw an edge for '{outcome}'.",
    ),
    "EVENT_SCHEMA_INVALID": (
        "error",
        "The schema at {place} {problem}.",
        "Write a schema of the keywords that docs/authoring.md lists.",
    ),
    "OUTCOME_NEVER_COMES": (
        "error",
        "'{place}' has an edge for '{outcome}', which never comes without '{setting}'.",
        "Set '{setting}' in its configuration, or remove the edge.",
    ),
    "SEVERAL_EDGES_WITHOUT_CHOICE": (
        "error",
        "'{place}' has {count} edges for '{outcome}' without a condition.",
        "Give all but one a condition, or use a parallel split.",
    ),
    "BRANCH_WITHOUT_DEFAULT": (
        "error",
        "When no condition at '{place}' ({outcome}) holds, there is no way on.",
        "Add an edge without a condition.",
    ),
    "LIST_MAY_BE_TOO_LONG": (
        "warning",
        "'{text}' may hold {most} items, and '{place}' takes at most {limit}: a longer list is held there.",
        "Set 'max_items: {most}' at the node, or give the field a smaller one.",
    ),
    "CONDITIONS_LEAVE_GAP": (
        "warning",
        "At '{place}' no condition covers {variable} = {example}: it takes the default edge.",
        "Check that the default is meant for {variable} = {example}.",
    ),
    "CONDITIONS_OVERLAP": (
        "warning",
        "At '{place}' more than one condition covers {variable} = {example}: the first by priority wins.",
        "Make the conditions exclude each other, or rely on the priorities knowingly.",
    ),
}

SLOT: Mapping[str, tuple[str, str, str]] = {
    "SLOT_UNKNOWN": ("error", "The envelope has no slot '{place}'.", "Use one of: {allowed}."),
    "SLOT_EMPTY_ENTRY": (
        "error",
        "In slot '{place}' every node has something before it, so nothing begins.",
        "Leave one node without an incoming edge, or draw an edge from 'in'.",
    ),
    "SLOT_SEVERAL_ENTRIES": (
        "error",
        "In slot '{place}' several nodes could begin: {nodes}.",
        "Draw one edge from 'in', or use entry: branch with conditions.",
    ),
    "SLOT_SERIAL_BRANCHES": (
        "error",
        "Slot '{place}' has entry: serial but {count} edges from 'in'.",
        "Use entry: branch, with conditions and a default.",
    ),
    "SLOT_SEVERAL_EXITS": (
        "error",
        "In slot '{place}' several ways end: {nodes}.",
        "Use exit: join, or lead them to one last node.",
    ),
    "SLOT_NO_EXIT": ("error", "No way leads out of slot '{place}'.", "Draw an edge to 'out'."),
    "WINDOW_LOOSER": (
        "error",
        "Slot '{place}' is {default}; a patch cannot loosen it to {override}.",
        "Remove 'edit', or choose a stricter window.",
    ),
    "WINDOW_NEEDS_AMENDMENT": (
        "error",
        "Slot '{place}' is amend_only, but the contract has no amendment for an edit to make.",
        "Choose 'locked', or add an 'amendment' to the contract.",
    ),
    "ENVELOPE_VERSION_MISMATCH": (
        "error",
        "The patch is pinned to envelope {pinned} of '{entity_type}'; this is version {actual}.",
        "{rebase}",
    ),
    "ENVELOPE_ENTITY_MISMATCH": (
        "error",
        "The patch is for '{pinned}', the envelope is of '{actual}'.",
        "Compile it with the contract of '{pinned}'.",
    ),
    "REJECTION_UNHANDLED": (
        "error",
        "'{place}' can be rejected, and slot '{slot}' has no gate after it that takes a rejection.",
        "Draw an edge for 'rejected'.",
    ),
    "REJECTION_NOT_TAKEN": (
        "error",
        "A rejection may come along {place} to the gate '{gate}', which has nowhere to send it.",
        "Set 'rejected_to' on its transition, or lead the rejection to an approval first.",
    ),
    "ACTION_UNKNOWN": (
        "error",
        "'{place}' runs the action '{action}', which the contract does not have.",
        "Use one of: {allowed}.",
    ),
    "ACTION_PAYLOAD_UNKNOWN": (
        "error",
        "'{place}' gives '{field}' to the action '{action}', which does not take it.",
        "Use one of: {allowed}.",
    ),
    "ACTION_PAYLOAD_MISSING": (
        "error",
        "'{place}' does not give '{field}', which the action '{action}' requires.",
        "Add '{field}' to the payload.",
    ),
    "ACTION_BESIDE_APPROVAL": (
        "error",
        "'{place}' changes the document while '{approval}' asks people about it.",
        "Move the action before the approval, or after the gate.",
    ),
    "ACTION_AFTER_APPROVAL": (
        "error",
        "'{place}' changes the document between '{approval}' and the gate that uses its decision.",
        "Move the action before the approval, or into a slot after the gate.",
    ),
    "ACTION_AFTER_REQUEST": (
        "warning",
        "'{place}' changes the document after a person has decided by asking for '{transition}'. Where it"
        " changes anything, the request is refused.",
        "Move the action into a slot after the gate, or before the person asks.",
    ),
    "LIMIT_EXCEEDED": (
        "error",
        "There are {count} {what}, more than the {limit} that a workflow may have.",
        "Split the workflow.",
    ),
}

SOUNDNESS: Mapping[str, tuple[str, str, str]] = {
    "CYCLE": (
        "error",
        "The way goes in a circle: {path}.",
        "Remove one of these edges; only the envelope returns to a state.",
    ),
    "UNREACHABLE": ("error", "Nothing leads to '{place}'.", "Draw an edge to it, or remove it."),
    "DEAD_END": ("error", "From '{place}' no way leads to the end.", "Draw an edge from it."),
    "SPLIT_WITHOUT_JOIN": (
        "error",
        "The branches of '{place}' do not meet in one join.",
        "Let every branch end in the same parallel join.",
    ),
    "SPLIT_TOO_FEW": ("error", "The split '{place}' has {count} branches.", "Give it at least two."),
    "JOIN_WITHOUT_SPLIT": (
        "error",
        "'{place}' joins branches that no split has begun, and would wait for ever.",
        "Put a parallel split before it, or remove it.",
    ),
    "JOIN_NEVER_SATISFIED": (
        "error",
        "The join '{place}' waits for a branch of '{split}' that cannot arrive ({branch}).",
        "Let the branch reach the join, or remove the branch.",
    ),
    "BLOCK_ENTERED_SIDEWAYS": (
        "error",
        "The edge {place} enters the parallel block of '{split}' from outside.",
        "Enter a block through its split only.",
    ),
    "BLOCK_LEFT_SIDEWAYS": (
        "error",
        "The edge {place} leaves the parallel block of '{split}' before its join.",
        "Lead it to the join. Only where no approval stands beside it, mark it role: exit.",
    ),
    "EXIT_OUTSIDE_BLOCK": (
        "error",
        "The edge {place} has role: exit, but is in no parallel block.",
        "Remove the role.",
    ),
    "EXIT_FROM_SPLIT": (
        "error",
        "The edge {place} begins a branch and leaves its block at once.",
        "Remove role: exit, or put a node on the branch.",
    ),
    "RETURN_NEVER_WAITS": (
        "error",
        "A document that returns to '{place}' comes back there by itself, without end: {path}.",
        "Let a state on the way wait for a request.",
    ),
    "WINDOW_UNASSIGNED": (
        "error",
        "'{place}' has no edit window.",
        "Recompile; this is a fault of the compiler.",
    ),
    "SYSTEM_NODE_ALTERED": (
        "error",
        "The system node '{place}' is missing or altered.",
        "The envelope cannot be edited; recompile from contract and patch.",
    ),
    "SYSTEM_EDGE_ALTERED": (
        "error",
        "The system edge '{place}' is missing or altered.",
        "The envelope cannot be edited; recompile from contract and patch.",
    ),
    "SYSTEM_SLOT_ALTERED": (
        "error",
        "The slot '{place}' is not the one that the contract declares.",
        "The envelope cannot be edited; recompile from contract and patch.",
    ),
    "SYSTEM_ORDER_ALTERED": (
        "error",
        "The system node '{place}' is no longer where the envelope puts it.",
        "The envelope cannot be edited; recompile from contract and patch.",
    ),
    "POLICY_GATE_MISSING": (
        "error",
        "The action '{place}' has no policy gate before it.",
        "The compiler puts it there; recompile from contract and patch.",
    ),
}
