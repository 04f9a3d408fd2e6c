"""A rejection that leads to a step is told as one up to the gate, in a definition and in what happened."""

from dataclasses import replace
from typing import Any

import pytest

from signet.core.compiler.artifact import Artifact
from signet.core.explain.definition import explain, write_explanation
from signet.core.explain.instance import explain_instance
from tests.support.core.instance_records import CONTRACT, record, step
from tests.support.core.small_workflows import compile_slot

ASK = {"id": "ask", "type": "approval", "config": {"approvers": [{"by": "role", "role": "clerk"}]}}
TELL = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "in_app", "to": [{"by": "role", "role": "clerk"}], "text": "Look"},
}
AGAIN = {**ASK, "id": "again"}
GATE = 'the gate "Approval"'


def compile_edges(nodes: list[dict[str, Any]], *edges: tuple[str, str, str]) -> Artifact:
    drawn = [{"source": source, "on": on, "target": target} for source, on, target in edges]
    return compile_slot("approvals", exit="join", nodes=nodes, edges=drawn)


TOLD = compile_edges([ASK, TELL], ("ask", "approved", "out"), ("ask", "rejected", "tell"))
EITHER = compile_edges([ASK, TELL], ("ask", "approved", "tell"), ("ask", "rejected", "tell"))
ASKED_AGAIN = compile_edges(
    [ASK, TELL, AGAIN], ("ask", "rejected", "tell"), ("tell", "done", "again"), ("again", "approved", "out")
)


def read(artifact: Artifact) -> str:
    return " ".join(" ".join(write_explanation(explain(artifact, CONTRACT))).split())


@pytest.mark.parametrize(
    ("artifact", "sentence"),
    [
        (TOLD, f"a) Then: {GATE} (3.3), still rejected."),
        (EITHER, f"a) Then: {GATE} (3.3); what was rejected before is still rejected."),
        # What an approval said ends it.
        (ASKED_AGAIN, f"If approved: {GATE} (3.3)."),
    ],
)
def test_a_definition_says_what_becomes_of_a_rejection(artifact: Artifact, sentence: str) -> None:
    assert sentence in read(artifact)


def test_a_rejection_is_one_at_a_join() -> None:
    split, join = {"id": "split", "type": "parallel_split"}, {"id": "join", "type": "parallel_join"}
    artifact = compile_edges(
        [split, ASK, AGAIN, TELL, {**join, "config": {"mode": "all"}}],
        ("split", "done", "ask"),
        ("split", "done", "again"),
        ("ask", "approved", "join"),
        ("ask", "rejected", "tell"),
        ("tell", "done", "join"),
        ("again", "approved", "join"),
    )
    assert '"tell" [usr:approvals:tell]' in read(artifact)
    assert 'Then: "join" (4.6), still rejected.' in read(artifact)
    # A join goes on with what was not rejected, and has an edge of its own for the rest.
    assert read(artifact).count("still rejected") == 1


def test_behind_a_gate_a_rejection_has_ended() -> None:
    assert "still rejected" not in read(compile_slot("posting", nodes=[TELL]))


def tell_steps(artifact: Artifact, *passed: tuple[str, str, str]) -> list[str]:
    """Return what is said of the steps: of each its node, its outcome, and the node that it led to."""
    edges = artifact.content["edges"]
    steps = []
    for number, (node, outcome, target) in enumerate(passed, start=2):
        chosen = [
            edge_id
            for edge_id, edge in edges.items()
            if (edge["source"], edge["on"], edge["target"]) == (node, outcome, target)
        ]
        output = {"outcome": outcome, "chosen_edge_ids": chosen}
        steps.append(replace(step(node, "approval", output_json=output), seq=number, end_seq=number))
    return [happened.text for happened in explain_instance(artifact, CONTRACT, record(steps=steps)).happened]


SLOT_END, ASK_ID, TELL_ID = "sys:slot:approvals:out", "usr:approvals:ask", "usr:approvals:tell"


def test_what_happened_says_that_it_is_still_rejected() -> None:
    rejected = (ASK_ID, "rejected", TELL_ID), (TELL_ID, "done", SLOT_END)
    approved = (ASK_ID, "approved", TELL_ID), (TELL_ID, "done", SLOT_END)
    assert tell_steps(TOLD, *rejected)[1].endswith(f"done. On to {GATE}, still rejected.")
    assert tell_steps(EITHER, *rejected)[1].endswith(f"done. On to {GATE}, still rejected.")
    assert tell_steps(EITHER, *approved)[1].endswith(f"done. On to {GATE}.")
    # A second round begins from there.
    assert tell_steps(EITHER, *rejected, *approved)[3].endswith(f"done. On to {GATE}.")


def test_a_later_approval_ends_the_rejection() -> None:
    again = "usr:approvals:again"
    said = tell_steps(
        ASKED_AGAIN,
        (ASK_ID, "rejected", TELL_ID),
        (TELL_ID, "done", again),
        (again, "approved", SLOT_END),
    )
    assert not any("still rejected" in line for line in said)
