"""Stranded documents: each row strands as many as it has acts, and says what came of each act."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID

from signet.authoring.actions import ActionInput, ActionResult
from signet.core.compiler.node_configurations import Vote
from signet.core.contracts.contract import AMENDED
from signet.core.errors import Rejected
from signet.core.explain.instance import write_instance
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.corrections import Corrections
from signet.engine.instances.document_restarts import Restarts
from signet.engine.instances.explain import explain
from signet.engine.instances.moves import InstanceMoves
from signet.engine.instances.repairs import Repairs
from signet.outbound.connector import Connector, Delivery, OutboundMessage
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.effects import Answering, come_due, effects
from tests.support.repair.contract import CONTRACT
from tests.support.workflow_stage import Made, WorkflowStage

# After so many the engine gives up a trigger that fails.
MAX_TRIES = 5
NEWEST: LiteralString = (
    "SELECT id FROM approval_requests WHERE document_id = %s AND status = 'open' ORDER BY id DESC LIMIT 1"
)
OPEN_CODES: LiteralString = (
    "SELECT DISTINCT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL ORDER BY code"
)


@dataclass
class Receiver(Answering):
    """A receiver that keeps the ids of what it has accepted."""

    accepted: list[UUID] = field(default_factory=list)

    def deliver(self, message: OutboundMessage) -> Delivery:
        if self.delivery.is_delivered:
            self.accepted.append(message.id)
        return super().deliver(message)


@dataclass
class RepairScene:
    stage: WorkflowStage
    entity_type: str = ""
    contract: Mapping[str, Any] = field(default_factory=lambda: CONTRACT)
    is_broken: bool = False
    # The receiver of calls and messages.
    receiver: Receiver = field(default_factory=Receiver)

    def hire(self) -> None:
        """Write the people: anna decides, vera may only submit, nobody sits on the bench."""
        people = {"anna": ("voter",), "vera": ("starter",), "ben": ("voter",)}
        with self.database.transaction(self.stage.tenant_id) as connection:
            roles = (
                Role(role="starter", permissions=("*:submit", "*:create")),
                Role(role="bench", permissions=("*:approve",)),
            )
            save_roles(connection, self.stage.tenant_id, roles, COMMAND_LINE)
            members = [Member(user_id=name, display_name=name, roles=held) for name, held in people.items()]
            save_members(connection, self.stage.tenant_id, tuple(members), COMMAND_LINE)

    def publish(self, contract: Mapping[str, Any], slots: Mapping[str, Any]) -> None:
        self.contract = contract
        self.entity_type = self.stage.publish(contract, **slots)
        self.stage.registry.action(self.entity_type, "run")(self._run)

    def publish_repaired(self) -> None:
        """Publish the next definition: what the rows strand at is not in it."""
        note = {"id": "note", "type": "script", "config": {"set": {"noted": "1"}}}
        self.stage.publish_next(self.entity_type, 1, checks={"nodes": [note]})

    def settle(self) -> None:
        """Let everything that is tried again be tried for the last time."""
        for _ in range(MAX_TRIES):
            self.stage.make_due()
            self.stage.drain()

    def _run(self, given: ActionInput) -> ActionResult:
        if self.is_broken:
            raise ValueError("the bureau does not answer")
        return ActionResult(output={"total": 1})

    # --- people and their use cases ---

    @property
    def database(self) -> Any:
        return self.stage.standing.company.database

    @property
    def olga(self) -> Caller:
        return self.stage.standing.company.caller("olga")

    @property
    def instances(self) -> Instances:
        return Instances(self.database, self.stage.caches(), CompiledCache())

    @property
    def repairs(self) -> Repairs:
        return Repairs(self.database, self.stage.caches(), CompiledCache())

    @property
    def restarts(self) -> Restarts:
        return Restarts(self.database, self.stage.caches(), CompiledCache())

    @property
    def corrections(self) -> Corrections:
        return Corrections(self.database, self.stage.caches(), CompiledCache())

    @property
    def moves(self) -> InstanceMoves:
        return InstanceMoves(self.database, self.stage.caches(), CompiledCache())

    def seat_bench(self) -> None:
        """Give anna the role that nobody holds."""
        self.stage.standing.run(
            "INSERT INTO member_roles (tenant_id, user_id, role) VALUES (%s, 'anna', 'bench')"
            " ON CONFLICT DO NOTHING",
            self.stage.tenant_id,
        )

    def vote(self, document: Made, vote: Vote = "approved") -> None:
        (request_id,) = self.stage.standing.row(NEWEST, document.id)
        self.decide(request_id, vote, "anna")

    def decide(self, request_id: UUID, vote: Vote, user_id: str) -> None:
        approvals = Approvals(self.database, self.stage.caches())
        approvals.decide(self.stage.standing.company.caller(user_id, "voter"), request_id, vote, "seen")

    # --- the world outside ---

    def deliver(self, delivery: Delivery | None = None) -> None:
        """Try everything that is on its way out once, and let the workflows take the answers."""
        self.receiver.delivery = delivery or Delivery(200, None, {"ok": True})
        self.send(self.receiver)
        self.stage.make_due()
        self.stage.drain()

    def send(self, receiver: Connector) -> None:
        """Try everything that is on its way out once."""
        come_due(self.stage)
        self.stage.standing.run("UPDATE endpoints SET rests_until = NULL, failures = 0")
        worker = effects(self.stage, webhook=receiver, email=receiver)
        while worker.work(self.stage.tenant_id):
            pass

    # --- a document ---

    def live(self, document: Made) -> UUID | None:
        """Return the live instance of the document, if it has one."""
        rows = self.stage.standing.rows(
            "SELECT id FROM workflow_instances WHERE entity_id = %s AND status IN ('running', 'paused')",
            document.id,
        )
        return UUID(str(rows[0][0])) if rows else None

    def row_of(self, document: Made) -> Mapping[str, Any]:
        return self.stage.instance(self.live(document) or document.instance_id)

    def token_of(self, document: Made) -> str:
        """Return the token that is held, else one that waits; of a document that rests, any."""
        tokens = self.row_of(document)["active_tokens"]
        held = [token for token in tokens if token.get("hold")]
        waiting = [token for token in tokens if token["state"] == "waiting"]
        chosen = [*held, *waiting, *tokens]
        return str(chosen[0]["id"]) if chosen else "T"

    def describe(self, document: Made) -> str:
        """Say where the document is, and what keeps it there."""
        status = self.stage.status_of(document.id)
        codes = ", ".join(code for (code,) in self.stage.standing.rows(OPEN_CODES, document.id))
        if codes:
            return f"{status}, held: {codes}"
        instance_id = self.live(document)
        if instance_id is None:
            if status == AMENDED:
                return status
            state = self.contract["states"][status]
            is_over = state.get("final", False) or state.get("settled", False)
            return status if is_over else f"{status}, no workflow"
        row = self.stage.instance(instance_id)
        if row["status"] == "paused":
            return f"{status}, paused"
        waits = [node for node in row["current_nodes"] if not node.startswith("sys:state:")]
        return f"{status}, waits at {' and '.join(waits)}" if waits else status

    def list_named(self, document: Made) -> Mapping[str, str]:
        """Return the acts that the explanation names now, each with its request."""
        instance_id = self.row_of(document)["id"]
        contracts = self.stage.caches().contracts
        explained = explain(self.database, contracts, self.stage.tenant_id, instance_id)
        acts = [*explained.acts, *(act for incident in explained.incidents for act in incident.acts)]
        text = "\n".join(write_instance(explained))
        assert all(act.request in text and act.command in text for act in acts)
        return {act.name: act.request for act in acts}

    def attempt(self, document: Made, act: "Act") -> str:
        """Return where the act leads, or the code by which it is refused."""
        try:
            refused = act(self, document)
        except Rejected as rejected:
            return rejected.code
        if refused is not None:
            return refused
        self.settle()
        return self.describe(document)


# It returns a code where it is refused by an answer, and not by an error.
Act = Callable[[RepairScene, Made], str | None]
