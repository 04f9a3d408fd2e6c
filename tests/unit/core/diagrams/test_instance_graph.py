"""The graph of an instance: each node in the state that tokens and steps say."""

from typing import Any

import pytest

from signet.core.diagrams.instance_graph import GraphDrawing, Visit, draw_instance

NODES = {
    "sys:start": {"type": "start", "config": {}},
    "usr:review:check": {"type": "webhook_out", "config": {}, "label": "Ask the bureau"},
    "sys:end": {"type": "end", "config": {}},
}
EDGES = {
    "b": {
        "source": "usr:review:check",
        "target": "sys:end",
        "on": "delivered",
        "role": "forward",
        "priority": 5,
        "label": "fine",
        "condition": {"text": "entity.total > 1", "tree": {}},
        "transition": "submit",
    },
    "a": {
        "source": "sys:start",
        "target": "usr:review:check",
        "on": "created",
        "role": "forward",
        "priority": 100,
    },
}
CONTENT: dict[str, Any] = {
    "nodes": NODES,
    "edges": EDGES,
    "topological_order": list(NODES),
    "slot_map": {"usr:review:check": "review"},
    "edit_windows": dict.fromkeys(NODES, "locked"),
}
CHECK = "usr:review:check"


def draw(
    *visits: Visit, tokens: tuple[tuple[str, str], ...] = (), canvas: dict[str, Any] | None = None
) -> GraphDrawing:
    standing = [{"node": node, "state": state} for node, state in tokens]
    return draw_instance(CONTENT, standing, visits, {"a": 2}, canvas or {})


def state_of_check(*visits: Visit, tokens: tuple[tuple[str, str], ...] = ()) -> str:
    return next(node.state for node in draw(*visits, tokens=tokens).nodes if node.id == CHECK)


def test_what_the_compiled_workflow_says() -> None:
    drawing = draw()
    assert [node.id for node in drawing.nodes] == list(NODES)
    assert [(node.label, node.slot, node.visits) for node in drawing.nodes] == [
        ("start", None, 0),
        ("Ask the bureau", "review", 0),
        ("end", None, 0),
    ]
    assert {node.edit_window for node in drawing.nodes} == {"locked"}
    first, second = drawing.edges
    assert (first.id, first.taken, first.label, first.condition, first.transition) == ("a", 2, "", None, None)
    assert (second.id, second.taken, second.label) == ("b", 0, "fine")
    assert (second.condition, second.transition, second.priority) == ("entity.total > 1", "submit", 5)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("completed", "done"),
        ("failed", "failed"),
        ("skipped", "cancelled"),
        ("cancelled", "cancelled"),
        ("pending", "live"),
        ("running", "waiting"),
    ],
)
def test_how_it_was_left(status: str, state: str) -> None:
    assert state_of_check(Visit(CHECK, status, 3)) == state
    assert state_of_check(Visit("sys:control:paused", status, 1)) == "not_reached"


@pytest.mark.parametrize(
    ("token", "state"),
    [("ready", "live"), ("waiting", "waiting"), ("joined", "waiting"), ("parted", "done")],
)
def test_where_a_token_stands(token: str, state: str) -> None:
    assert state_of_check(Visit(CHECK, "completed", 1), tokens=((CHECK, token),)) == state


def test_what_is_to_be_done_goes_before_what_waits() -> None:
    for order in (("joined", "ready", "joined"), ("ready", "joined")):
        assert state_of_check(tokens=tuple((CHECK, state) for state in order)) == "live"


@pytest.mark.parametrize(
    ("canvas", "position"),
    [
        ({CHECK: [1, 2.5]}, (1, 2.5)),
        ({"check": [3, 4]}, (3, 4)),
        ({CHECK: [1, 2], "check": [3, 4]}, (1, 2)),
        ({"check": [3]}, None),
        ({"check": {"x": 3}}, None),
        ({"other": [3, 4]}, None),
    ],
)
def test_where_an_editor_has_it(canvas: dict[str, Any], position: Any) -> None:
    found = {node.id: node.position for node in draw(canvas=canvas | {"start": [9, 9]}).nodes}
    assert found[CHECK] == position
    # A node of the system has no author's short name.
    assert found["sys:start"] is None
