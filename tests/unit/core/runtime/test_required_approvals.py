"""The approvals that a contract requires, counted by what was approved before the gate."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from signet.core.runtime.required_approvals import count_missing
from signet.core.runtime.workflow import Workflow, WorkflowNode

GATE = cast(WorkflowNode, SimpleNamespace(id="g"))
ROLE = {"by": "role", "role": "finance"}


def config(**changes: Any) -> dict[str, Any]:
    return {"chain": None, "approvers": [ROLE], "quorum": "all", "escalate": None, **changes}


def make(requires: dict[str, Any] | None, *sources: str, **configs: dict[str, Any]) -> Workflow:
    """Make a workflow whose gate is reached from these nodes; what has a configuration stands in slot `s`."""
    content: dict[str, Any] = {
        "edges": {f"{source}>g": {"source": source, "target": "g"} for source in sources},
        "reverse_adjacency": {"g": [f"{source}>g" for source in sources]},
        "slot_map": {"out": "s", **dict.fromkeys(configs, "s")},
    }
    if requires is not None:
        content["requires"] = {"s": {"approvals": 1, "distinct": False, "role": None, **requires}}
    nodes = {name: SimpleNamespace(config=each) for name, each in configs.items()}
    return cast(Workflow, SimpleNamespace(content=content, nodes=nodes))


@pytest.mark.parametrize(
    ("approved", "missing"), [((), 2), (("a",), 1), (("a", "b"), 0), (("a", "elsewhere"), 1)]
)
def test_each_required_approval_is_there_or_missing(approved: tuple[str, ...], missing: int) -> None:
    workflow = make({"approvals": 2}, "out", a=config(), b=config())
    assert count_missing(workflow, GATE, approved) == missing


def test_nothing_is_missing_where_nothing_is_required() -> None:
    assert count_missing(make(None, "out"), GATE, ()) == 0
    # Another way to the gate requires nothing.
    assert count_missing(make({}, "out", "state"), GATE, ()) == 0
    assert count_missing(make({}), GATE, ()) == 0


def test_an_approval_of_another_role_counts_for_nothing() -> None:
    workflow = make({"role": "board"}, "out", a=config())
    assert count_missing(workflow, GATE, ("a",)) == 1


def test_chains_prove_one_together_where_persons_must_differ() -> None:
    workflow = make({"approvals": 2, "distinct": True}, "out", a=config(chain="x"), b=config(chain="y"))
    assert count_missing(workflow, GATE, ("a", "b")) == 1
