"""The plain objects that a simulation runs on: the script of the world, and the world itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from signet.core.runtime.decisions import DecisionInput, TransitionRequest
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.projection import Projection, Step
from signet.core.runtime.workflow import Workflow


@dataclass(frozen=True, slots=True)
class SimulatedWait:
    """The wait of a step, and the moment that ends it."""

    shown: str
    due: datetime | None = None
    due_outcome: str = ""
    key: str | None = None


@dataclass(frozen=True)
class WorldScript:
    """The acts of the world. Nodes are named by their id or its last part; `*` is every other node."""

    requests: Sequence[str] = ()
    approvals: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, Any] = field(default_factory=dict)
    effects: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, bool] = field(default_factory=dict)
    actor: Mapping[str, Any] = field(default_factory=lambda: {"user_id": "simulated", "roles": []})
    permissions: Sequence[str] = ("*:*",)
    org: Mapping[str, Any] = field(default_factory=dict)
    refs: Mapping[str, Any] = field(default_factory=dict)
    payload: Any = None
    birth: str = "created"


@dataclass(slots=True)
class SimulatedStep:
    """A row as the engine would write it; the projection reads `step`."""

    step: Step
    outcome: str | None
    evidence: Mapping[str, Any]
    shown: str = ""


@dataclass(frozen=True, slots=True)
class SimulatedRequest:
    """An approval node and the people that it asked."""

    node: str
    people: str


@dataclass(frozen=True, slots=True)
class SimulationRest:
    """A node where the simulation rests, and what it waits for."""

    node: str
    shown: str


@dataclass
class SimulatedWorld:
    """The instance and its document while the simulation runs."""

    workflow: Workflow
    script: WorldScript
    document: dict[str, Any]
    status: str
    now: datetime
    execution: InstanceExecution
    # The wait of each open step, by token.
    waits: dict[str, SimulatedWait] = field(default_factory=dict)
    # The text that a reader is shown of each step, by its number.
    shown: dict[int, str] = field(default_factory=dict)
    request: TransitionRequest | None = None
    version: int = 1
    asked: list[SimulatedRequest] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def projection(self) -> Projection:
        return self.execution.projection

    def env(self) -> dict[str, Any]:
        script, projection = self.script, self.projection
        entity = {**self.document, "status": self.status, "version": self.version}
        return {
            "entity": entity,
            "refs": script.refs,
            "actor": script.actor,
            "org": script.org,
            "now": self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "context": projection.context,
            "payload": script.payload,
        }

    def decision_input(self) -> DecisionInput:
        script = self.script
        return DecisionInput(self.env(), self.request, script.birth, script.permissions, self.ask_rules)

    def ask_rules(self, names: Sequence[str]) -> tuple[bool, Mapping[str, Any]]:
        answers = {name: self.script.rules.get(name, True) for name in names}
        return all(answers.values()), answers
