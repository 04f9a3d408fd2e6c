"""The report of a simulation, made and written where it runs. The evidence in it is bounded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from signet.core.compiler.artifact import Artifact
from signet.core.errors import Rejected
from signet.core.explain.vocabulary import escape
from signet.core.simulation import SimulatedStep, Simulation, WorldScript, simulate_artifact

MAX_EVIDENCE_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class StepReport:
    """A simulated step; `evidence` is null once all of it together is too large."""

    seq: int
    end_seq: int | None
    node_id: str
    token: str
    status: str
    outcome: str | None
    chosen_edge_ids: Sequence[str]
    waited_for: str
    evidence: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class AskedPeople:
    node_id: str
    people: str


@dataclass(frozen=True, slots=True)
class WaitingNode:
    node_id: str
    waits_for: str


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """The result of a simulation; `reason` says why it stopped or paused.

    `refused` are transitions that could not be requested at that point.
    """

    hash: str
    status: str
    document_status: str
    document: Mapping[str, Any]
    steps: Sequence[StepReport]
    asked: Sequence[AskedPeople]
    waiting: Sequence[WaitingNode]
    refused: Sequence[str]
    reason: str | None


def write_simulation_report(
    artifact: Artifact, document: Mapping[str, Any], script: WorldScript, now: datetime, max_steps: int
) -> str:
    """Simulate, and return the report as JSON."""
    simulated = simulate_artifact(artifact, document, script, now, max_steps)
    if isinstance(simulated, list):
        sentence = "the script does not fit the workflow"
        raise Rejected("FIELDS_INVALID", sentence, fields=tuple(simulated))
    return orjson.dumps(_show(artifact.hash, simulated), default=dict).decode()


def _show(artifact_hash: str, simulation: Simulation) -> SimulationReport:
    return SimulationReport(
        hash=artifact_hash,
        status=simulation.status,
        document_status=simulation.document_status,
        document=simulation.document,
        steps=_show_steps(simulation.steps),
        asked=[AskedPeople(asked.node, escape(asked.people)) for asked in simulation.asked],
        waiting=[WaitingNode(waiting.node, escape(waiting.shown)) for waiting in simulation.waiting],
        refused=simulation.refused,
        reason=simulation.reason,
    )


def _show_steps(steps: Sequence[SimulatedStep]) -> list[StepReport]:
    shown, size = [], 0
    for simulated in steps:
        step = simulated.step
        size += len(orjson.dumps(simulated.evidence, default=str))
        report = StepReport(
            seq=step.seq,
            end_seq=step.end_seq,
            node_id=step.node,
            token=step.token,
            status=step.status,
            outcome=simulated.outcome,
            chosen_edge_ids=step.chosen_edge_ids,
            waited_for=escape(simulated.shown),
            evidence=simulated.evidence if size <= MAX_EVIDENCE_BYTES else None,
        )
        shown.append(report)
    return shown
