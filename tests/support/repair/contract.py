"""The contract and the nodes of the documents that the rows of repair strand."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from tests.support.workflow_stage import CALL

RUN: Mapping[str, Any] = {"id": "run", "type": "action", "config": {"action": "run"}}
TELL: Mapping[str, Any] = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "email", "to": [{"by": "role", "role": "bench"}], "text": "Look", "await": True},
}
PAUSE: Mapping[str, Any] = {"id": "pause", "type": "wait_event", "config": {"key": "paid:{entity.total}"}}
JUDGE: Mapping[str, Any] = {"id": "judge", "type": "rule", "config": {"rules": ["of_tomorrow"]}}
LOOK: Mapping[str, Any] = {
    "id": "look",
    "type": "approval",
    "config": {"approvers": [{"by": "user", "user": "anna"}]},
}
LOOK_OF_BENCH: Mapping[str, Any] = {
    "id": "look",
    "type": "approval",
    "config": {"approvers": [{"by": "role", "role": "bench"}]},
}
CONTRACT: Mapping[str, Any] = {
    "version": 1,
    "fields": {
        "number": {"type": "string"},
        "amount": {"type": "int"},
        "total": {"type": "int"},
    },
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "review": {"edit": "locked"},
        "approved": {"edit": "locked"},
        "active": {"edit": "locked", "settled": True},
        "closed": {"edit": "locked", "final": True},
        "voided": {"edit": "locked", "final": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "review", "kind": "requested"},
        "approve": {"from": ["review"], "to": "approved", "kind": "automatic", "rejected_to": "draft"},
        "book": {"from": ["approved"], "to": "active", "kind": "automatic"},
        "close": {"from": ["active"], "to": "closed", "kind": "requested"},
        "void": {"from": ["draft", "review", "active"], "to": "voided", "kind": "interrupting"},
    },
    "slots": {
        "checks": {"transition": "submit"},
        "approval": {"transition": "approve"},
        "booking": {"transition": "book"},
        "filing": {"transition": "book", "position": "after"},
        "archive": {"transition": "close", "position": "after"},
    },
    "actions": {"run": {"kind": "python", "output": {"total": {"type": "int"}}}},
    "deletable_in": ["draft"],
}


def slot(*nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a slot whose nodes follow each other."""
    edges = [{"source": before["id"], "target": after["id"]} for before, after in pairwise(nodes)]
    return {"nodes": list(nodes), "edges": edges}


def chain_of(name: str) -> dict[str, Any]:
    return {"id": "look", "type": "approval", "config": {"chain": name}}


# A call beside an approval; both must be done.
BLOCK: Mapping[str, Any] = {
    "nodes": [
        {"id": "fork", "type": "parallel_split"},
        CALL,
        LOOK,
        {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
    ],
    "edges": [
        {"id": "a", "source": "fork", "target": "call"},
        {"id": "b", "source": "fork", "target": "look"},
        {"source": "call", "target": "both"},
        {"source": "look", "target": "both"},
    ],
}


def changed(**parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contract with more, or other, entries in these parts."""
    return {**CONTRACT, **{name: {**CONTRACT[name], **entries} for name, entries in parts.items()}}


# Variants: left by itself from the first status on, with a stable region, and one that may be amended.
BY_ITSELF = changed(
    transitions={
        "submit": {"from": ["draft"], "to": "review", "kind": "automatic"},
        "approve": {"from": ["review"], "to": "approved", "kind": "automatic"},
    },
)
AMENDABLE = {**CONTRACT, "amendment": {"from": ["active"]}}
STABLE = changed(slots={"approval": {"transition": "approve", "edit": "locked", "stable": True}})
