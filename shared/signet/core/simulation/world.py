"""The plain objects that a simulation runs on: the script of the world, and the world itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from signet.core.approvals.decided_way import StatusRun
from signet.core.calendars.business_calendar import BusinessCalendar
from signet.core.contracts.contract import Contract
from signet.core.runtime.decisions import DecisionInput, TransitionRequest
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.graph.guarded_gates import may_be_decided
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Projection, Step
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.tenants.principal import SERVICE_PREFIX
from signet.core.tenants.service_accounts import UNUSABLE, find_account_problem


@dataclass(frozen=True, slots=True)
class SimulatedWait:
    """The wait of a step, and the moment that ends it."""

    shown: str
    due: datetime | None = None
    due_outcome: str = ""
    # Of events, any of which ends it.
    keys: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SimulatedAccount:
    """A service account of the tenant; `problem` says why no step can run as it."""

    roles: Sequence[str] = ()
    permissions: Sequence[str] = ()
    problem: str | None = None


def find_only_utc(name: str) -> tzinfo:
    return UTC


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
    # Without the tenant's accounts, steps that run as one have the permissions of the script.
    accounts: Mapping[str, SimulatedAccount] | None = None
    # Of the document. Without it, what actions are given and write is not checked.
    contract: Contract | None = None
    # Core opens no files. Without the zones of a caller, every name is UTC.
    find_zone: Callable[[str], tzinfo] = find_only_utc
    # The tenant's calendars by name; the one without a name is that of its settings.
    calendars: Mapping[str, BusinessCalendar] = field(default_factory=dict)


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
    # What its templates have given until now, as JSON.
    rendered_bytes: int = 0
    # The statuses that the document has had; and whether people have approved what no gate has used.
    runs: list[StatusRun] = field(default_factory=list)
    has_approved: bool = False
    asked: list[SimulatedRequest] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def projection(self) -> Projection:
        return self.execution.projection

    def find_account(self, node: WorkflowNode | None) -> SimulatedAccount | None:
        """Return the service account that the node runs as; None where it is not known, or is none."""
        name = node.config.get("service_account") if node is not None else None
        if name is None or self.script.accounts is None:
            return None
        missing = SimulatedAccount(problem=f"{UNUSABLE}: {find_account_problem(name, None, None, None)}")
        return self.script.accounts.get(name, missing)

    def env(self, node: WorkflowNode | None = None) -> dict[str, Any]:
        """Return what expressions read, with the one that the node runs as for its actor."""
        script, projection, account = self.script, self.projection, self.find_account(node)
        actor = script.actor
        if node is not None and account is not None:
            name = node.config["service_account"]
            actor = {"user_id": f"{SERVICE_PREFIX}{name}", "roles": list(account.roles)}
        entity = {**self.document, "status": self.status, "version": self.version}
        return {
            "entity": entity,
            "refs": script.refs,
            "actor": actor,
            "org": script.org,
            "now": self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "context": projection.context,
            "payload": script.payload,
        }

    def decision_input(self, token: Token) -> DecisionInput:
        script, node = self.script, self.workflow.nodes[token.node]
        account = self.find_account(node)
        return DecisionInput(
            self.env(node),
            self.request,
            script.birth,
            script.permissions if account is None else account.permissions,
            self.ask_rules,
            None if account is None else account.problem,
            has_deciders=self.has_deciders,
        )

    def has_deciders(self) -> bool:
        return may_be_decided(self.workflow.content, self.script.contract)

    def ask_rules(self, names: Sequence[str]) -> tuple[bool, Mapping[str, Any]]:
        answers = {name: self.script.rules.get(name, True) for name in names}
        return all(answers.values()), answers
