"""Waits for events in a simulation: what fits, and keys with a hole."""

from datetime import UTC, datetime
from typing import Any

from signet.core.compiler.compiler import compile_effective
from signet.core.compiler.envelope import make_envelope
from signet.core.compiler.patch import Patch
from signet.core.contracts.reader import parse_contract
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import Simulation, WorldScript, simulate
from signet.core.validation.strict_model import parse_strictly
from tests.support.core.valid_workflow import CONTRACT, SETTINGS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DOCUMENT = {"grand_total": 900, "vendor": "acme"}


def chain(node: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    name, node_type, config = node
    return {"nodes": [{"id": name, "type": node_type, "config": config}]}


def run(slot: dict[str, Any], **script: Any) -> Simulation:
    """Simulate the document up to the approval's gate and through it."""
    read, mistakes = parse_contract(CONTRACT)
    assert read is not None, mistakes
    base = {"entity_type": read.contract, "envelope_version": read.version}
    patch, found = parse_strictly(Patch, {"patch": "p", "base": base, "slots": {"approval": slot}})
    assert patch is not None, found
    artifact = compile_effective(make_envelope(read), patch, SETTINGS).artifact
    assert artifact is not None
    return simulate(Workflow(artifact), DOCUMENT, WorldScript(requests=["submit"], **script), NOW)


def waits(simulation: Simulation) -> list[str]:
    return [f"{waiting.node}: {waiting.shown}" for waiting in simulation.waiting]


def test_an_event_that_does_not_fit_keeps_the_wait() -> None:
    checked = {
        "any_of": ["paid-{entity.vendor}", "waived"],
        "schema": {"type": "object", "required": ["sum"]},
        "condition": "event.sum >= entity.grand_total",
        "save_as": "payment",
    }
    slot = chain(("paid", "wait_event", checked))
    assert waits(run(slot)) == ["usr:approval:paid: event 'paid-acme' or 'waived'"]
    for unfit in (7, {}, {"sum": 1}):
        assert run(slot, events={"paid-acme": unfit}).projection.context == {}
    enough = {"sum": 10**9}
    assert run(slot, events={"paid-acme": 7, "waived": enough}).projection.context == {"payment": enough}


def test_a_key_with_a_hole_is_refused() -> None:
    slot = chain(("paid", "wait_event", {"key": "paid-{entity.posted}"}))
    assert str(run(slot).projection.reason).startswith("EVENT_KEY_INVALID: key of usr:approval:paid reads")
    long = chain(("paid", "wait_event", {"key": "x" * 501}))
    assert "gives no key" in str(run(long).projection.reason)
