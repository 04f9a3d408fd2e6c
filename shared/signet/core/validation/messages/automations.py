"""Findings about what starts automations, and what they start in turn."""

from collections.abc import Mapping

AUTOMATION: Mapping[str, tuple[str, str, str]] = {
    "AUTOMATIONS_IN_CIRCLE": (
        "warning",
        "These automations may start each other in a circle: {names}. Such a start is stopped.",
        "Let one of them change what the next does not listen to, or narrow a trigger.",
    ),
    "TRIGGER_FOLLOWS_REF": (
        "error",
        "The condition of a trigger follows a reference, and it reads the document alone.",
        "Let a condition node behind the start follow it.",
    ),
    "TRIGGER_NAMES_NOTHING": (
        "error",
        "The contract has no {what} '{name}'.",
        "Name one that the contract has.",
    ),
    "TRIGGER_TAKES_NO": (
        "error",
        "A trigger with 'on: {on}' takes no '{name}'.",
        "Leave '{name}' out, or choose what it belongs to.",
    ),
    "TRIGGER_WITHOUT_TYPE": (
        "error",
        "A trigger with 'on: {on}' listens to documents of a type, and the automation names none.",
        "Add 'entity_type'.",
    ),
}
