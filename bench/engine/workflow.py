"""The benchmark's workflow: ten steps from created to completed, two of them gates, on a document of 1 KB."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from signet.authoring.files import read_document
from signet.core.canonical_json import canonical_bytes
from signet.core.compiler.compiler import compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.patch import Patch
from signet.core.contracts.reader import parse_contract
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import SimulatedStep, WorldScript, simulate
from signet.core.validation.strict_model import parse_strictly

ENTITY_TYPE = "parcel"
STEPS, GATES = 10, 2
DOCUMENT_BYTES = 1_024
_FOLDER = Path(__file__).parent
# A text that does not compress.
_NOTE = " ".join(f"{number * 7919 % 9973:04}" for number in range(300))


def read_contract_file() -> Any:
    return _read("contract.yaml")


def read_patch_file() -> Any:
    return _read("patch.yaml")


def _read(name: str) -> Any:
    document, findings = read_document(_FOLDER / name)
    assert findings == (), findings
    return document


def make_data(number: int) -> dict[str, Any]:
    """Make a document's data, of 1 KB as canonical JSON."""
    data: dict[str, Any] = {"number": f"P-{number:08}", "amount": 10_000, "note": ""}
    return {**data, "note": _NOTE[: DOCUMENT_BYTES - len(canonical_bytes(data))]}


def compile_workflow() -> Workflow:
    contract, findings = parse_contract(read_contract_file())
    patch, mistakes = parse_strictly(Patch, read_patch_file())
    assert contract is not None and patch is not None, (findings, mistakes)
    compilation = compile_effective(make_envelope(contract), patch)
    assert compilation.artifact is not None, compilation.findings
    return Workflow(compilation.artifact)


def simulate_steps(workflow: Workflow, data: Mapping[str, Any]) -> Sequence[SimulatedStep]:
    """Return the steps of one document. Raise if the workflow is not what the benchmark says it is."""
    simulation = simulate(workflow, data, WorldScript(), datetime(2026, 1, 1, tzinfo=UTC))
    gates = [
        step for step in simulation.steps if workflow.nodes[step.step.node].type.name == "lifecycle_gate"
    ]
    if (simulation.status, len(simulation.steps), len(gates)) != ("completed", STEPS, GATES):
        raise RuntimeError(
            f"{simulation.status} after {len(simulation.steps)} steps with {len(gates)} gates, "
            f"not completed after {STEPS} with {GATES}"
        )
    return simulation.steps
