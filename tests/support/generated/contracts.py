"""Random contracts that are valid by construction: chains with side states, interrupts and amendments."""

from itertools import pairwise
from random import Random
from typing import Any

WINDOWS = ("editable", "amend_only", "locked")
FIELDS: dict[str, Any] = {
    "amount": {"type": "decimal", "required": True},
    "count": {"type": "int"},
    "name": {"type": "string"},
    "urgent": {"type": "bool"},
    "due": {"type": "date"},
    "seen": {"type": "timestamp"},
    "colour": {"type": "enum", "values": ["red", "green", "blue"]},
    "tags": {"type": "list", "of": {"type": "string"}},
    "partner": {"type": "ref", "entity_type": "partner", "reads": {"limit": {"type": "int"}}},
    "lines": {"type": "list", "of": {"type": "object", "fields": {"sku": {"type": "string"}}}},
}
ACTIONS: dict[str, Any] = {
    "mark": {"kind": "update", "set": {"urgent": True}},
    "count_up": {
        "kind": "update",
        "payload": {"to": {"type": "int", "required": True}},
        "output": {"count": {"type": "int"}},
        "set": {"count": {"$expr": "payload.to"}},
    },
    "spawn": {"kind": "create", "entity_type": "task", "set": {"title": "for {entity.name}"}},
    "call": {"kind": "python", "output": {"total": {"type": "int"}}, "permission": "thing:anything"},
}


def make_contract(rng: Random) -> dict[str, Any]:
    chain = [f"s{index}" for index in range(rng.randint(2, 4))]
    contract: dict[str, Any] = {
        "contract": "thing",
        "version": rng.randint(1, 9),
        "fields": FIELDS,
        "states": _make_states(rng, chain),
        "transitions": _make_chain(rng, chain),
        "actions": ACTIONS,
    }
    _add_side_state(rng, contract, chain)
    _add_interrupts(rng, contract, chain)
    _add_amendment(rng, contract, chain)
    contract["slots"] = _make_slots(rng, contract)
    if rng.random() < 0.3:
        contract["conditions"] = {
            "thing:t1": "actor.user_id != 'nobody'",
            "thing:anything": "now > entity.seen",
        }
    for transition in contract["transitions"].values():
        if rng.random() < 0.1:
            transition["condition"] = "entity.amount >= 0"
    return contract


def _make_states(rng: Random, chain: list[str]) -> dict[str, Any]:
    states: dict[str, Any] = {name: {"edit": rng.choice(WINDOWS)} for name in chain}
    states["s0"] = {"edit": "editable", "initial": True}
    states[chain[-1]] = {"edit": "locked", rng.choice(["settled", "final"]): True}
    return states


def _make_chain(rng: Random, chain: list[str]) -> dict[str, Any]:
    transitions: dict[str, Any] = {}
    for index, (source, target) in enumerate(pairwise(chain), start=1):
        kind = "requested" if index == 1 else rng.choice(["requested", "automatic"])
        transition = {"from": [source], "to": target, "kind": kind}
        if rng.random() < 0.6 and index > 1:
            transition["rejected_to"] = "s0"
        transitions[f"t{index}"] = transition
    return transitions


def _add_side_state(rng: Random, contract: dict[str, Any], chain: list[str]) -> None:
    """Add a state beside the chain, from which people go back to an earlier or on to a later one."""
    states, transitions = contract["states"], contract["transitions"]
    sources = [name for name in chain if not states[name].get("final")]
    if rng.random() < 0.5:
        states["parked"] = {"edit": rng.choice(WINDOWS)}
        transitions["park"] = {"from": rng.sample(sources, rng.randint(1, len(sources)))}
        transitions["park"] |= {"to": "parked", "kind": "requested"}
        if rng.random() < 0.5:
            transitions["unpark"] = {"from": ["parked"], "to": rng.choice(chain), "kind": "requested"}
        elif transitions["t1"]["to"] != "parked":
            transitions["t1"]["from"] = ["s0", "parked"]
    if rng.random() < 0.3 and not states[chain[-1]].get("final"):
        transitions["renew"] = {"from": [chain[-1]], "to": chain[-1], "kind": "requested"}
    if rng.random() < 0.3:
        states["refused"] = {"edit": "locked", "final": True}
        transitions["t1"]["rejected_to"] = "refused"


def _add_interrupts(rng: Random, contract: dict[str, Any], chain: list[str]) -> None:
    states, transitions = contract["states"], contract["transitions"]
    sources = [name for name, state in states.items() if not state.get("final")]
    if rng.random() < 0.6:
        states["cancelled"] = {"edit": "locked", "final": True}
        transitions["cancel"] = {"from": rng.sample(sources, rng.randint(1, len(sources)))}
        transitions["cancel"] |= {"to": "cancelled", "kind": "interrupting"}
    if rng.random() < 0.3:
        later = [name for name in sources if name != "s0"]
        if later:
            transitions["recall"] = {"from": later, "to": "s0", "kind": "interrupting"}


def _add_amendment(rng: Random, contract: dict[str, Any], chain: list[str]) -> None:
    is_needed = any(state["edit"] == "amend_only" for state in contract["states"].values())
    if is_needed or rng.random() < 0.3:
        settled = [name for name, state in contract["states"].items() if state.get("settled")]
        contract["amendment"] = {"from": settled}


def _make_slots(rng: Random, contract: dict[str, Any]) -> dict[str, Any]:
    slots: dict[str, Any] = {}
    for name, transition in contract["transitions"].items():
        if rng.random() < 0.7:
            slots[f"after_{name}"] = {"transition": name, "position": "after"}
            _tighten(rng, contract, slots[f"after_{name}"], contract["states"][transition["to"]]["edit"])
        if transition["kind"] == "interrupting":
            continue
        sources = list(transition["from"])
        if "amendment" in contract and transition["kind"] == "requested" and "s0" in sources:
            sources.append("amended")
        for source in sources:
            if rng.random() < 0.8:
                slot = {"transition": name, "from": source}
                slots[f"before_{name}_{source}"] = slot
                window = "editable" if source == "amended" else contract["states"][source]["edit"]
                _tighten(rng, contract, slot, window)
    return slots or {"after_t1": {"transition": "t1", "position": "after"}}


def _tighten(rng: Random, contract: dict[str, Any], slot: dict[str, Any], window: str) -> None:
    stricter = [w for w in WINDOWS[WINDOWS.index(window) :] if w != "amend_only" or "amendment" in contract]
    if rng.random() < 0.3:
        slot["edit"] = rng.choice(stricter)
    if rng.random() < 0.2 and slot.get("edit", window) != "editable":
        slot["stable"] = rng.random() < 0.5
