"""States and edit windows behind approvals, in small artifacts."""

from collections.abc import Mapping
from typing import Any

from signet.core.runtime.behind_approvals import list_states_behind, list_windows_behind

KINDS = {
    "look": "approval",
    "go": "lifecycle_gate",
    "post": "lifecycle_gate",
    "call": "webhook_out",
    "sys:end": "end",
}
LOCKED = {"active", "call"}


def make(*edges: str) -> dict[str, Any]:
    """Make an artifact of edges like 'look>go:approved'; names that are not in KINDS are states."""
    listed: dict[str, Mapping[str, str]] = {}
    for edge in ("sys:start>draft:created", *edges):
        (source, target), on = edge.split(">"), edge.split(":")[-1]
        listed[edge] = {"source": source, "target": target.removesuffix(f":{on}"), "on": on}
    names = {edge["source"] for edge in listed.values()} | {edge["target"] for edge in listed.values()}
    kinds = {"sys:start": "start"} | {name: KINDS.get(name, "state") for name in names - {"sys:start"}}
    return {
        "nodes": {name: {"type": kind, "config": {"state": name}} for name, kind in kinds.items()},
        "edges": listed,
        "adjacency": {name: [edge for edge in listed if edge.startswith(f"{name}>")] for name in names},
        "edit_windows": {name: "locked" if name in LOCKED else "editable" for name in names},
    }


ASKED = ("draft>look:requested", "look>go:approved", "look>draft:rejected", "go>active:passed")


def test_what_only_an_approval_leads_to_is_behind_it() -> None:
    content = make(*ASKED, "active>post:requested", "post>paid:passed")
    assert list_states_behind(content) == {"active", "paid"}
    assert list_windows_behind(content) == {"locked", "editable"}


def test_a_state_that_a_free_way_leads_to_is_not() -> None:
    content = make(
        *ASKED, "draft>post:requested", "post>active:passed", "active>call:automatic", "call>paid:done"
    )
    assert list_states_behind(content) == frozenset()


def test_a_way_that_the_definition_lets_through_to_the_gate_counts_as_approved() -> None:
    assert list_states_behind(make(*ASKED, "draft>go:automatic")) == {"active"}


def test_the_beginning_and_rejections_are_not_behind() -> None:
    content = make(*ASKED, "active>post:requested", "post>draft:passed")
    assert list_states_behind(content) == {"active"}
    assert list_windows_behind(content) == {"locked"}


def test_an_approval_behind_a_gate_leads_to_the_next_state() -> None:
    content = make("draft>post:requested", "post>look:passed", "look>active:approved", "active>sys:end:ended")
    assert list_states_behind(content) == {"active"}
    assert list_windows_behind(content) == {"locked", "editable"}


def test_without_an_approval_nothing_is_behind() -> None:
    content = make("draft>go:requested", "go>active:passed")
    assert list_states_behind(content) == frozenset()
    assert list_windows_behind(content) == frozenset()
