"""Signs: what a trigger listens to is equal to what a change shows, exactly where it is meant."""

from typing import Any

import pytest

from signet.core.automations.signs import (
    list_signs_of_change,
    list_signs_of_creation,
    list_signs_of_trigger,
)

ABSENT = {"action": None, "from": None, "to": None}
EDIT = list_signs_of_change("update", ("draft", "draft"), ["amount", "number"])
POST = list_signs_of_change("action:post", ("draft", "draft"), ["is_posted"])
SUBMIT = list_signs_of_change("transition:submit", ("draft", "submitted"), [])
DELETE = list_signs_of_change("delete", ("draft", "draft"), [])


@pytest.mark.parametrize(
    ("trigger", "matched"),
    [
        ({"on": "create"}, "create"),
        ({"on": "mutation"}, "edit post"),
        ({"on": "mutation", "fields": ("amount",)}, "edit"),
        ({"on": "mutation", "fields": ("is_posted", "amount")}, "edit post"),
        ({"on": "mutation", "action": "post"}, "post"),
        ({"on": "mutation", "action": "update"}, "edit"),
        ({"on": "mutation", "action": "post", "fields": ("amount",)}, ""),
        ({"on": "mutation", "action": "post", "fields": ("is_posted",)}, "post"),
        ({"on": "mutation", "action": "delete"}, "delete"),
        ({"on": "transition"}, "submit"),
        ({"on": "transition", "from": "draft"}, "submit"),
        ({"on": "transition", "to": "submitted"}, "submit"),
        ({"on": "transition", "from": "draft", "to": "submitted"}, "submit"),
        ({"on": "transition", "from": "submitted"}, ""),
        ({"on": "manual"}, ""),
        ({"on": "cron"}, ""),
        ({"on": "event"}, ""),
    ],
)
def test_a_trigger_matches_what_it_names(trigger: dict[str, Any], matched: str) -> None:
    shown = {
        "create": list_signs_of_creation(),
        "edit": EDIT,
        "post": POST,
        "submit": SUBMIT,
        "delete": DELETE,
    }
    listened = set(list_signs_of_trigger({**ABSENT, **trigger}))
    assert [name for name, signs in shown.items() if listened & set(signs)] == matched.split()
