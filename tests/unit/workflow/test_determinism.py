"""The same contract and patch give the same bytes in any order, process or machine."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given

from signet.core.canonical_json import content_hash, hash_bytes
from signet.core.compiler.artifact import parse_artifact
from signet.core.compiler.compiler import compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.contracts.reader import parse_contract
from signet.core.errors import Rejected
from signet.core.runtime.workflow import Workflow
from signet.core.validation.finding import Severity
from tests.unit.workflow.random_workflows import WorkflowCase
from tests.unit.workflow.strategies import compile_seed, fuzz, make, numbers, seeds

ROOT = Path(__file__).resolve().parents[3]
BATCH = 40


def shuffle(value: Any, rng: Random) -> Any:
    """Return the document with its keys, nodes and edges in another order.

    Other lists keep their order, which has a meaning.
    """
    if isinstance(value, list):
        return [shuffle(item, rng) for item in value]
    if not isinstance(value, dict):
        return value
    keys = rng.sample(list(value), len(value))
    shuffled = {key: shuffle(value[key], rng) for key in keys}
    for name in ("nodes", "edges"):
        if isinstance(shuffled.get(name), list):
            rng.shuffle(shuffled[name])
    return shuffled


def shuffle_case(case: WorkflowCase, rng: Random) -> WorkflowCase:
    return replace(case, contract=shuffle(case.contract, rng), patch=shuffle(case.patch, rng))


@fuzz(60)
@given(seeds, numbers)
def test_wf_12_every_order_of_the_input_gives_the_same_bytes(seed: int, other: int) -> None:
    shuffled = shuffle_case(make(seed), Random(other)).compile().artifact
    assert shuffled is not None
    assert shuffled.text == compile_seed(seed).text
    assert shuffled.hash == compile_seed(seed).hash


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_wf_12_another_process_with_another_hash_seed_gives_the_same_hashes(hash_seed: str) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "tests.unit.workflow.print_hashes", str(BATCH)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.split() == [compile_seed(seed).hash for seed in range(BATCH)]


@fuzz(60)
@given(seeds)
def test_wf_13_the_order_is_topological_and_smaller_ids_come_first(seed: int) -> None:
    content = compile_seed(seed).content
    order = content["topological_order"]
    assert sorted(order) == sorted(content["nodes"])
    onward = [edge for edge in content["edges"].values() if edge["role"] != "return"]
    waits_for = {node: {e["source"] for e in onward if e["target"] == node} for node in order}
    done: set[str] = set()
    for node in order:
        assert node == min(n for n, before in waits_for.items() if n not in done and before <= done)
        done.add(node)


@fuzz(60)
@given(seeds)
def test_wf_06_a_patch_stays_inside_its_slot(seed: int) -> None:
    content = compile_seed(seed).content
    slot_map = content["slot_map"]
    for node in content["nodes"]:
        if node.startswith("usr:"):
            assert node.split(":")[1] == slot_map[node]
    for name, edge in content["edges"].items():
        if name.startswith("usr:"):
            slot = name.split(":")[1]
            assert edge["provenance"] == slot
            assert slot_map[edge["source"]] == slot_map[edge["target"]] == slot


@fuzz(40)
@given(seeds)
def test_wf_07_what_is_stored_is_what_was_compiled(seed: int) -> None:
    artifact = compile_seed(seed)
    assert hash_bytes(artifact.text.encode()) == artifact.hash == content_hash(artifact.content)
    stored = parse_artifact(artifact.text, artifact.hash)
    assert stored.content == json.loads(json.dumps(artifact.content))
    assert Workflow(stored).nodes.keys() == Workflow(artifact).nodes.keys()


def test_wf_07_altered_bytes_and_other_compilers_are_refused() -> None:
    artifact = compile_seed(1)
    with pytest.raises(Rejected, match="does not match its hash") as altered:
        parse_artifact(artifact.text.replace("sys:start", "sys:begin"), artifact.hash)
    assert altered.value.code == "WORKFLOW_HASH_MISMATCH"
    old = artifact.text.replace('"compiler_version":"1"', '"compiler_version":"0"')
    with pytest.raises(Rejected, match="compiled by compiler 0") as stale:
        parse_artifact(old, hash_bytes(old.encode()))
    assert stale.value.code == "WORKFLOW_COMPILER_STALE"


@fuzz(60)
@given(seeds)
def test_wf_08_the_envelope_is_whole_in_every_workflow(seed: int) -> None:
    content, case = compile_seed(seed).content, make(seed)
    assert content["system_gate_integrity"]["valid"]
    if case.is_automation:
        return
    contract, _ = parse_contract(case.contract)
    assert contract is not None
    envelope = make_envelope(contract)
    place = {node: index for index, node in enumerate(content["topological_order"])}
    for node in envelope.graph.nodes.values():
        kept = content["nodes"][node.id]
        assert (kept["type"], kept["config"]) == (node.type, dict(node.config))
        assert content["edit_windows"][node.id] == node.window
    for edge in envelope.graph.edges.values():
        if edge.role != "return":
            assert place[edge.source] < place[edge.target]
    for name in case.patch["slots"]:
        declared = envelope.slots[name].window.strictness
        windows = [w for n, w in content["edit_windows"].items() if content["slot_map"].get(n) == name]
        assert all(["editable", "amend_only", "locked"].index(window) >= declared for window in windows)


@fuzz(30)
@given(seeds)
def test_wf_08_every_action_is_behind_its_policy_gate(seed: int) -> None:
    content = compile_seed(seed).content
    for node, described in content["nodes"].items():
        if described["type"] == "action":
            into = {content["edges"][edge]["source"] for edge in content["reverse_adjacency"][node]}
            assert into == {f"sys:policy:{node}"}


@fuzz(30)
@given(seeds)
def test_the_bare_envelope_of_every_contract_compiles(seed: int) -> None:
    contract, _ = parse_contract(make(seed).contract)
    assert contract is not None
    compilation = compile_effective(make_envelope(contract))
    assert compilation.artifact is not None, compilation.findings
    assert compilation.artifact.content["kind"] == "envelope"
    assert all(finding.severity is Severity.WARNING for finding in compilation.findings)
