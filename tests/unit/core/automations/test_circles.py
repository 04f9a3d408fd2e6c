"""Circles: the automations that an action may start, and the way back to the first."""

from typing import Any

from signet.core.automations.circles import MAX_LOOKED_AT, find_circle, list_caused_signs

ACTIONS: dict[str, Any] = {
    "post": {"kind": "update", "entity_type": None, "set": {"fixed": {"posted": True}}},
    "name": {"kind": "update", "entity_type": None, "set": {"members": {"number": {"text": []}}}},
    "pay": {"kind": "create", "entity_type": "payment", "set": {"fixed": {"amount": 1}}},
    "ask": {"kind": "python", "entity_type": None, "set": {"fixed": {}}},
}


def caused_by(*names: str, entity_type: str | None = "invoice") -> list[tuple[str, Any]]:
    nodes = {name: {"type": "action", "config": {"action": name}} for name in names}
    nodes["wait"] = {"type": "wait_timer", "config": {}}
    return list(list_caused_signs({"nodes": nodes, "actions": ACTIONS, "entity_type": entity_type}))


def test_an_action_shows_what_it_sets() -> None:
    assert caused_by("post") == [
        ("invoice", ["action:post", "action:post#posted", "mutation", "mutation#posted"])
    ]
    assert "mutation#number" in caused_by("name")[0][1]
    assert caused_by("pay") == [("payment", ["create"])]
    assert caused_by("ask") == [("invoice", ["action:ask"])]
    assert caused_by("unknown") == []
    assert caused_by("post", entity_type=None) == []


def test_the_way_back_is_found() -> None:
    started = {"a": ["b", "c"], "b": ["c"], "c": ["d", "b"], "d": ["a"]}
    assert find_circle("a", started.__getitem__) == ["a", "c", "d"]
    assert find_circle("a", {"a": ["a"]}.__getitem__) == ["a"]
    assert find_circle("a", {"a": ["b"], "b": ["b"]}.__getitem__) == []


def test_it_is_looked_for_among_so_many() -> None:
    def next_of(name: str) -> list[str]:
        return [str(int(name) + 1)]

    assert find_circle("0", next_of) == []
    assert MAX_LOOKED_AT == 100
