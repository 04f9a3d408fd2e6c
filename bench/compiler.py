"""The compiler beside canonicalising and hashing of its output; its growth; the simulator."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from time import perf_counter
from typing import Any

import rfc8785

from signet.core.compiler.artifact import Artifact
from signet.core.compiler.compiler import compile_effective
from signet.core.compiler.envelope import Envelope, make_envelope
from signet.core.compiler.patch import Patch
from signet.core.contracts.reader import parse_contract
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import WorldScript, simulate
from signet.core.validation.strict_model import parse_strictly

MAX_RATIO = 4.0
MIN_DOCUMENTS_A_SECOND = 5_000
SIZES = (100, 250, 500, 1_000, 1_950)
SECONDS_EACH = 1.0

CONTRACT: dict[str, Any] = {
    "contract": "invoice",
    "fields": {"grand_total": {"type": "decimal", "required": True}, "vendor": {"type": "string"}},
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "submitted": {"edit": "amend_only"},
        "active": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "submitted", "kind": "requested"},
        "approve": {"from": ["submitted"], "to": "active", "kind": "automatic", "rejected_to": "draft"},
    },
    "slots": {"approval": {"transition": "approve"}},
    "amendment": {"from": ["active"]},
}
# Ten nodes as people draw them; the workflow has one such piece after another.
_PIECE = [
    ("amount", "condition", {}),
    ("split", "parallel_split", {}),
    ("finance", "approval", {"approvers": [{"by": "role", "role": "finance_manager"}]}),
    (
        "owner",
        "approval",
        {"approvers": [{"by": "expression", "expression": "entity.vendor", "who": "clerk"}]},
    ),
    ("both", "parallel_join", {"mode": "all"}),
    ("single", "approval", {"approvers": [{"by": "role", "role": "clerk"}], "expire_after": "P3D"}),
    ("rate", "script", {"set": {"rated": "entity.grand_total > 500"}}),
    ("call", "webhook_out", {"endpoint": "erp", "payload": {"vendor": "{entity.vendor}"}}),
    ("told", "notification", {"channel": "email", "to": [{"by": "manager"}], "text": "On {entity.vendor}"}),
    ("last", "condition", {}),
]
_WAYS = [
    ("amount", "last", "entity.grand_total <= 500"),
    ("amount", "split", "entity.grand_total > 10000"),
    ("amount", "single", None),
    ("split", "finance", None),
    ("split", "owner", None),
    ("finance", "both", None),
    ("owner", "both", None),
    ("both", "rate", None),
    ("single", "rate", None),
    ("rate", "call", None),
    ("call", "told", None),
    ("told", "last", None),
]


def make_patch(size: int) -> Patch:
    nodes, edges = [], []
    for piece in range(size // len(_PIECE)):
        nodes += [
            {"id": f"{name}-{piece}", "type": node_type, "config": config}
            for name, node_type, config in _PIECE
        ]
        for source, target, condition in _WAYS:
            edge: dict[str, Any] = {"source": f"{source}-{piece}", "target": f"{target}-{piece}"}
            edges.append(edge if condition is None else {**edge, "condition": condition})
        if piece:
            edges.append({"source": f"last-{piece - 1}", "target": f"amount-{piece}"})
    slots = {"approval": {"nodes": nodes, "edges": edges, "exit": "join"}}
    base = {"entity_type": "invoice", "envelope_version": 1}
    patch, mistakes = parse_strictly(Patch, {"patch": "bench", "base": base, "slots": slots})
    assert patch is not None, mistakes
    return patch


def make_bench_envelope() -> Envelope:
    contract, mistakes = parse_contract(CONTRACT)
    assert contract is not None, mistakes
    return make_envelope(contract)


def measure(seconds: float = SECONDS_EACH, sizes: tuple[int, ...] = SIZES) -> list[str]:
    envelope = make_bench_envelope()
    return [
        *(_compare(envelope, size, seconds) for size in (10, 1_000)),
        _measure_growth(envelope, sizes, seconds),
        _measure_simulator(envelope, seconds),
    ]


def _compare(envelope: Envelope, size: int, seconds: float) -> str:
    patch = make_patch(size)
    artifact = _compile(envelope, patch)
    compiling, hashing = time_in_turn(
        [lambda: _compile(envelope, patch), lambda: sha256(rfc8785.dumps(dict(artifact.content)))], seconds
    )
    return (
        f"compile {size:5} nodes   {compiling * 1e3:8.2f} ms   {compiling / hashing:4.2f} × canonicalising "
        f"and hashing its {len(artifact.text) // 1024} KB by rfc8785 (at most {MAX_RATIO:g})"
    )


def _measure_growth(envelope: Envelope, sizes: tuple[int, ...], seconds: float) -> str:
    patches = [make_patch(size) for size in sizes]
    times = time_in_turn([partial(_compile, envelope, patch) for patch in patches], seconds)
    first, last = sizes[0], sizes[-1]
    expected = last * math.log(last) / (first * math.log(first))
    exponent = math.log(times[-1] / times[0]) / math.log(last / first)
    return (
        f"growth {first} → {last} nodes   {times[-1] / times[0]:5.1f} × the time   n·log n would be "
        f"{expected:.1f} ×   (n^{exponent:.2f})"
    )


def _measure_simulator(envelope: Envelope, seconds: float) -> str:
    """Measure five steps a document: gate, state, gate, state and end."""
    workflow = Workflow(_compile(envelope, None))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    script, document = WorldScript(), {"grand_total": 100, "vendor": "acme"}

    def run() -> int:
        return len(simulate(workflow, document, script, now, node="sys:gate:submit").steps)

    steps = run()
    (taken,) = time_in_turn([run], seconds)
    return (
        f"simulator {steps} steps   {1 / taken:8,.0f} documents/s on one core "
        f"(at least {MIN_DOCUMENTS_A_SECOND:,})   {steps / taken:,.0f} steps/s"
    )


def _compile(envelope: Envelope, patch: Patch | None) -> Artifact:
    compilation = compile_effective(envelope, patch)
    assert compilation.artifact is not None, compilation.findings
    return compilation.artifact


def time_in_turn(functions: list[Callable[[], object]], seconds: float) -> list[float]:
    """Return the best seconds per call of each function.

    They are called in turn, so that a busy machine hurts all alike.
    """
    best = [math.inf] * len(functions)
    started = perf_counter()
    while math.inf in best or perf_counter() - started < seconds * len(functions):
        for index, function in enumerate(functions):
            begun = perf_counter()
            function()
            best[index] = min(best[index], perf_counter() - begun)
    return best
