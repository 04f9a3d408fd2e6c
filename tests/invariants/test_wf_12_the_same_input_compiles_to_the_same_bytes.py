"""WF-12: the same input compiles to the same bytes, on every machine and in every order.

`tests/unit/workflow/test_determinism.py` does this with random contracts, patches and automations.
"""

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from signet.core.canonical_json import content_hash, hash_bytes
from signet.core.compiler.artifact import Artifact
from tests.unit.workflow.valid_workflow import CONTRACT, PATCH, compile_patch, read_envelope

ROOT = Path(__file__).resolve().parents[2]
PRINT_HASH = (
    "from tests.unit.workflow.valid_workflow import PATCH, compile_patch;"
    "print(compile_patch(PATCH).artifact.hash)"
)


def compile_both(contract: dict[str, Any] = CONTRACT, patch: dict[str, Any] = PATCH) -> Artifact:
    artifact = compile_patch(patch, read_envelope(contract)).artifact
    assert artifact is not None
    return artifact


def shuffle(value: Any, rng: Random) -> Any:
    """Shuffle the keys of every object, and all nodes and edges; the order of other lists has a meaning."""
    if isinstance(value, list):
        return [shuffle(item, rng) for item in value]
    if not isinstance(value, dict):
        return value
    shuffled = {key: shuffle(value[key], rng) for key in rng.sample(list(value), len(value))}
    for name in ("nodes", "edges"):
        if name in shuffled:
            rng.shuffle(shuffled[name])
    return shuffled


def test_wf_12_the_same_input_twice_is_the_same_workflow() -> None:
    first, second = compile_both(), compile_both()
    assert (first.text, first.hash) == (second.text, second.hash)
    assert first.hash == hash_bytes(first.text.encode()) == content_hash(first.content)


@pytest.mark.parametrize("seed", range(10))
def test_wf_12_the_order_of_the_input_does_not_matter(seed: int) -> None:
    rng = Random(seed)
    contract, patch = shuffle(CONTRACT, rng), shuffle(PATCH, rng)
    nodes = patch["slots"]["approval"]["nodes"]
    assert nodes != PATCH["slots"]["approval"]["nodes"], "else nothing is tried"
    assert compile_both(contract, patch).text == compile_both().text


@pytest.mark.parametrize("hash_seed", ["0", "1", "4711"])
def test_wf_12_another_process_compiles_to_the_same_hash(hash_seed: str) -> None:
    """Compile in a process in which sets of strings have another order."""
    printed = subprocess.run(
        [sys.executable, "-c", PRINT_HASH],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.split() == [compile_both().hash]


def test_wf_12_another_input_is_another_workflow() -> None:
    """Expect another hash, so that no constant passes the tests above."""
    changed = {**CONTRACT, "version": 4}
    patch = {**PATCH, "base": {**PATCH["base"], "envelope_version": 4}}
    assert compile_both(changed, patch).hash != compile_both().hash
