"""WF-06: a tenant's nodes and edges stay inside one declared slot.

`tests/unit/workflow/test_breakage.py` has every other way to break a patch; `test_determinism.py` checks the
same of random patches.
"""

from copy import deepcopy
from typing import Any

import pytest

from tests.unit.workflow.valid_workflow import (
    PATCH,
    add_edge,
    add_node,
    break_patch,
    compile_patch,
    edge,
    node,
    read_envelope,
    slot,
)

SYSTEM_NODES = sorted(read_envelope().graph.nodes)
IN_FULL = {"in": "sys:slot:approval:in", "out": "sys:slot:approval:out"}


def errors(change: Any) -> set[tuple[str, str]]:
    return {(finding.code, finding.place) for finding in break_patch(change) if finding.severity == "error"}


def test_wf_06_every_node_and_edge_of_a_tenant_is_inside_its_slot() -> None:
    artifact = compile_patch(PATCH).artifact
    assert artifact is not None
    slot_of, own = artifact.content["slot_map"], 0
    for node_id in artifact.content["nodes"]:
        if node_id.startswith("usr:"):
            assert node_id.startswith(f"usr:{slot_of[node_id]}:")
    for edge_id, compiled in artifact.content["edges"].items():
        if edge_id.startswith("usr:"):
            home = edge_id.split(":")[1]
            assert slot_of[compiled["source"]] == slot_of[compiled["target"]] == home
            own += 1
    assert own == sum(len(part.get("edges", ())) for part in PATCH["slots"].values())


@pytest.mark.parametrize("node_id", ["usr:checks:told", "usr:nowhere:told", "sys:told", "sys:gate:approve"])
def test_wf_06_a_node_outside_of_its_slots_names_does_not_compile(node_id: str) -> None:
    assert ("NODE_ID_OUT_OF_SCOPE", node_id) in errors(lambda patch: node(patch, "told").update(id=node_id))


@pytest.mark.parametrize("target", [*SYSTEM_NODES, "sys:slot:checks:out", "sys:policy:usr:checks:stamp"])
def test_wf_06_no_edge_leads_to_a_system_node(target: str) -> None:
    assert errors(lambda patch: edge(patch, "tell").update(target=target)) == {
        ("EDGE_END_OUT_OF_SCOPE", f"both → {target}")
    }


@pytest.mark.parametrize("source", [*SYSTEM_NODES, "sys:slot:checks:in"])
def test_wf_06_no_edge_comes_from_a_system_node(source: str) -> None:
    assert errors(lambda patch: add_edge(patch, source, "told")) == {
        ("EDGE_END_OUT_OF_SCOPE", f"{source} → told")
    }


def test_wf_06_no_edge_reaches_into_another_slot() -> None:
    foreign = "usr:checks:known"
    assert errors(lambda patch: edge(patch, "tell").update(target=foreign)) == {
        ("EDGE_END_OUT_OF_SCOPE", f"both → {foreign}")
    }
    assert errors(lambda patch: add_edge(patch, foreign, "told")) == {
        ("EDGE_END_OUT_OF_SCOPE", f"{foreign} → told")
    }


def test_wf_06_only_declared_slots_are_filled() -> None:
    found = errors(lambda patch: patch["slots"].update(elsewhere=patch["slots"]["posting"]))
    assert found == {("SLOT_UNKNOWN", "elsewhere")}


@pytest.mark.parametrize("node_type", ["start", "end", "state", "lifecycle_gate", "policy_gate", "slot_in"])
def test_wf_06_no_patch_brings_a_node_of_the_envelopes_kinds(node_type: str) -> None:
    found = errors(lambda patch: add_node(patch, "mine", node_type))
    assert ("NODE_TYPE_RESERVED", "usr:approval:mine") in found


def test_wf_06_the_attachments_of_the_own_slot_are_open() -> None:
    """Accept the own slot's attachments by full name: the tests above refuse foreign ends, not `sys:`."""

    def write_in_full(patch: dict[str, Any]) -> None:
        for drawn in slot(patch)["edges"]:
            drawn.update({end: IN_FULL[drawn[end]] for end in ("source", "target") if drawn[end] in IN_FULL})

    renamed = deepcopy(PATCH)
    write_in_full(renamed)
    assert renamed != PATCH
    short, full = compile_patch(PATCH).artifact, compile_patch(renamed).artifact
    assert short is not None and full is not None and short.hash == full.hash
