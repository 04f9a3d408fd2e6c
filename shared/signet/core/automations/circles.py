"""Circles among automations: their steps may start each other, as far as their texts say."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from signet.core.automations.signs import list_signs_of_change, list_signs_of_creation

# So many automations are looked at for one publication.
MAX_LOOKED_AT = 100
Signs = tuple[str, Sequence[str]]


def list_caused_signs(content: Mapping[str, Any]) -> Iterator[Signs]:
    """Yield what the actions of a compiled automation may show, each with its entity type.

    What a function in Python changes is not known: it counts as the act alone.
    """
    names = {node["config"]["action"] for node in content["nodes"].values() if node["type"] == "action"}
    for name in sorted(names):
        action = content["actions"].get(name)
        if action is None:
            continue
        if action["entity_type"] is not None:
            yield action["entity_type"], list_signs_of_creation()
        elif content["entity_type"] is not None:
            written = action["set"]
            fields = sorted(written.get("members") or written.get("fixed") or ())
            yield content["entity_type"], list_signs_of_change(f"action:{name}", ("", ""), fields)


def find_circle(name: str, list_started: Callable[[str], Sequence[str]]) -> list[str]:
    """Find a way from an automation back to itself: the names on it, or nothing.

    >>> find_circle("a", {"a": ["b", "c"], "b": [], "c": ["a"]}.__getitem__)
    ['a', 'c']
    """
    ways, seen = [[name]], {name}
    while ways and len(seen) <= MAX_LOOKED_AT:
        way = ways.pop(0)
        for started in list_started(way[-1]):
            if started == name:
                return way
            if started not in seen:
                seen.add(started)
                ways.append([*way, started])
    return []
