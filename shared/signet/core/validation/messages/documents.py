"""Texts of findings in any author file, and in the expressions of one."""

from collections.abc import Mapping

DOCUMENT: Mapping[str, tuple[str, str, str]] = {
    "DOCUMENT_NOT_JSON": (
        "error",
        "The document cannot be written as JSON: {reason}.",
        "Use only text, numbers, true, false, null, lists and objects.",
    ),
    "DOCUMENT_TOO_LARGE": (
        "error",
        "The document is larger than {limit} characters.",
        "Split it into smaller parts.",
    ),
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
    "DOCUMENT_KEY_TOO_LONG": (
        "error",
        "{where}: the key '{key}' is longer than {limit} characters.",
        "Shorten it.",
    ),
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
    "TEXT_UNCLEAR": (
        "warning",
        "The text '{text}' holds characters that nobody sees, or letters of two scripts in one word. It may"
        " not say what you read.",
        "Type it again, if that is not wanted.",
    ),
    "DOCUMENT_TEXT_INVALID": ("error", "{where}: the text {problem}, which cannot be stored.", "Remove it."),
}

EXPRESSION: Mapping[str, tuple[str, str, str]] = {
    "EXPRESSION_INVALID": ("error", "In '{text}' at character {position}: {problem}", "{suggestion}"),
    "TEMPLATE_INVALID": ("error", "In the template at {pointer}: {problem}", "{suggestion}"),
    "EXPRESSION_WRONG_TYPE": ("error", "'{text}' is a {type}; {wanted} is needed here.", "Name {wanted}."),
    "EXPRESSION_NOT_BOOL": (
        "error",
        "The condition '{text}' is a {type}, not a yes or no.",
        "Compare it with something.",
    ),
}

RULE: Mapping[str, tuple[str, str, str]] = {
    "RULE_CONDITION_INVALID": ("error", "The rule's condition: {problem}.", "Correct the condition."),
    "RULE_TEMPLATE_INVALID": ("error", "In the rule's template: {problem}.", "Correct the template."),
    "RULE_FIELD_UNKNOWN": ("error", "'{field}' is no field of the contract.", "Use one of: {fields}."),
    "RULE_ACTION_IN_PHASE": (
        "error",
        "A rule of phase '{phase}' cannot '{kind}'.",
        "In this phase, use one of: {allowed}.",
    ),
}
