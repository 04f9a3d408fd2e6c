"""Signs: what an automation listens to, and what a change of a document shows, as equal texts.

A change is matched by equality alone. So automations that do not match cost a change nothing.
"""

from collections.abc import Collection, Mapping
from typing import Any

CREATED = "create"
CHANGED = "mutation"
_ACTION = "action:"


def list_signs_of_trigger(trigger: Mapping[str, Any]) -> list[str]:
    """List what a compiled trigger listens to: nothing where no change of a document starts it.

    >>> list_signs_of_trigger({"on": "transition", "from": None, "to": "active"})
    ['transition:*>active']
    """
    match trigger["on"]:
        case "create":
            return [CREATED]
        case "transition":
            return [_name_transition(trigger["from"] or "*", trigger["to"] or "*")]
        case "mutation":
            return _list_signs_of_mutation(trigger["action"], trigger.get("fields") or ())
        case _:
            return []


def _list_signs_of_mutation(action: str | None, fields: Collection[str]) -> list[str]:
    acts = f"{_ACTION}{action}" if action is not None else CHANGED
    return [f"{acts}#{name}" for name in fields] or [acts]


def list_signs_of_creation() -> list[str]:
    return [CREATED]


def list_signs_of_change(act: str, status: tuple[str, str], changed_fields: Collection[str]) -> list[str]:
    """List what the change of a document shows.

    `act` is the act as the trail names it, `status` the one before and the one after.

    >>> list_signs_of_change("action:post", ("draft", "draft"), ["amount"])
    ['action:post', 'action:post#amount', 'mutation', 'mutation#amount']
    """
    acts = [f"{_ACTION}{act.removeprefix(_ACTION)}", *([CHANGED] if changed_fields else [])]
    signs = [sign for name in acts for sign in (name, *(f"{name}#{field}" for field in changed_fields))]
    before, after = status
    if before == after:
        return signs
    return [*signs, *(_name_transition(b, a) for b in (before, "*") for a in (after, "*"))]


def _name_transition(before: str, after: str) -> str:
    return f"transition:{before}>{after}"
