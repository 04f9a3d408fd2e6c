"""Documents that wander, one of them with its amendments, and what changes around them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any, LiteralString
from uuid import UUID

from signet.authoring.actions import ActionInput, ActionResult, NewDocument
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.tenant_file import Member
from signet.engine.integrations.endpoints import Endpoints, EndpointTerms
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.outbound.connector import Delivery, OutboundMessage
from tests.support.repair.scene import MAX_TRIES, RepairScene
from tests.support.repair.strikes import archives_chain_of, publishes_chain_of
from tests.support.wandering.definitions import DEFINITIONS, PIECE, renew
from tests.support.workflow_stage import Made, WorkflowStage

LINES = ("A1", "B2", "C3")
PAUSED_BY_HAND = "by hand"
CHAIN, CHAIN_TERMS = "brief", {"expire_after": "P14D"}
ROLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "anna": ("bench", "voter"),
        "ben": ("bench", "voter"),
        "carl": ("clerk", "admin"),
        # The tenant keeps an administrator while the others leave.
        "dora": ("admin",),
    }
)
# The step of what is being delivered, as it is at that moment.
LEAVING: LiteralString = (
    "SELECT e.id, s.node_id, s.status, i.status, e.withdrawn_at IS NOT NULL"
    " FROM workflow_side_effects_outbox e JOIN workflow_step_executions s"
    " ON (s.tenant_id, s.id) = (e.tenant_id, e.step_execution_id)"
    " JOIN workflow_instances i ON (i.tenant_id, i.id) = (e.tenant_id, e.instance_id)"
    " WHERE e.status = 'processing' AND coalesce(e.first_id, e.id) = %s"
)
# Deadlines are hours away; what is tried again comes within minutes.
SOON: LiteralString = (
    "UPDATE workflow_events_outbox SET due_at = now()"
    " WHERE status IN ('pending', 'failed') AND due_at < now() + interval '30 minutes'"
)
UNDONE: LiteralString = (
    "SELECT count(*)::int FROM workflow_events_outbox"
    " WHERE status IN ('pending', 'failed') AND due_at < now() + interval '30 minutes'"
)
LATE: tuple[LiteralString, ...] = (
    "UPDATE approval_requests SET expire_at = now() WHERE status = 'open' AND expire_at IS NOT NULL",
    "UPDATE workflow_step_executions SET resume_at = now() - interval '1 second'"
    " WHERE status = 'running' AND resume_at IS NOT NULL",
    "UPDATE workflow_events_outbox SET due_at = now() WHERE status IN ('pending', 'failed')",
)


@dataclass
class Outside:
    """The receiver of all calls and messages. It may take a message and lose its answer."""

    stage: WorkflowStage
    delivery: Delivery = field(default_factory=lambda: Delivery(200, None, {"ok": True}))
    is_answer_lost: bool = False
    # The ids of what was accepted, by which a receiver knows what comes again.
    accepted: list[UUID] = field(default_factory=list)
    # The effects whose answer has come. In front of a gate another step may call again, under the same id.
    answered: set[UUID] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def deliver(self, message: OutboundMessage) -> Delivery:
        sent = self.stage.standing.rows(LEAVING, message.id)
        for effect, node, step, instance, is_withdrawn in sent:
            if is_withdrawn or step in ("cancelled", "skipped") or instance in ("cancelled", "failed"):
                self.wrong.append(f"{node} is {step} in an instance that is {instance}, and its effect left")
            if effect in self.answered:
                self.wrong.append(f"{effect} was sent again though its answer had come")
        if self.is_answer_lost:
            self._accept(message.id)
            return Delivery(None, "TIMED_OUT: no answer")
        if self.delivery.is_delivered:
            self._accept(message.id)
            self.answered.update(effect for effect, *_ in sent)
        return self.delivery

    def _accept(self, message_id: UUID) -> None:
        """Take a message once, however often it comes."""
        if message_id not in self.accepted:
            self.accepted.append(message_id)


@dataclass
class World:
    scene: RepairScene
    number: int
    entity_type: str = ""
    piece_type: str = ""
    documents: list[Made] = field(default_factory=list)
    bad_lines: set[str] = field(default_factory=set)
    # What was changed around the documents, and is to be changed back for the next example.
    changed: set[str] = field(default_factory=set)
    chance: Random = field(default_factory=Random)
    operators: int = 0

    def __post_init__(self) -> None:
        self.stage = self.scene.stage
        self.outside = Outside(self.stage)

    def publish(self) -> None:
        self.scene.hire()
        self.scene.seat_bench()
        self.piece_type = self.stage.publish(PIECE)
        self.entity_type = name = self.stage.publish(self.contract, **self.slots)
        self.stage.registry.action(name, "run")(self._run)
        self.stage.registry.action(name, "make_piece")(self._make_piece)
        self.scene.entity_type, self.scene.contract = name, self.contract
        archives_chain_of(self.scene, CHAIN)
        publishes_chain_of(self.scene, CHAIN, CHAIN_TERMS)
        for user_id in ROLES:
            self.staff(user_id)

    def begin(self, seed: int) -> None:
        """Make the document of an example, in a world where nothing is broken."""
        self.mend()
        if "definition" in self.changed:
            self.stage.publish_next(self.entity_type, 1, **self.slots)
            self.changed.discard("definition")
        self.chance, self.outside = Random(seed), Outside(self.stage)
        lines = [{"code": code} for code in LINES]
        self.documents = [self.stage.create(self.entity_type, lines=lines)]
        self.settle()

    @property
    def contract(self) -> Mapping[str, Any]:
        return DEFINITIONS[self.number][0]

    @property
    def slots(self) -> Mapping[str, Any]:
        return DEFINITIONS[self.number][1]

    @property
    def ids(self) -> list[UUID]:
        return [document.id for document in self.documents]

    def operator(self) -> Caller:
        """Return an operator who has had no part in any document."""
        self.operators += 1
        return self.stage.standing.company.caller(f"operator_{self.operators}")

    # --- time ---

    def settle(self) -> None:
        """Let everything that is tried again be tried for the last time."""
        for _ in range(2 * MAX_TRIES):
            self.stage.standing.run(SOON)
            self.stage.drain()
            if self.stage.standing.row(UNDONE) == (0,):
                return

    def be_late(self) -> None:
        """Let every deadline pass."""
        for statement in LATE:
            self.stage.standing.run(statement)
        for document in self.documents:
            if (live := self.scene.live(document)) is not None:
                self.stage.wake(live)
        self.settle()

    def deliver(self, delivery: Delivery, *, is_answer_lost: bool = False) -> None:
        self.outside.delivery, self.outside.is_answer_lost = delivery, is_answer_lost
        self.scene.send(self.outside)
        self.settle()

    # --- the surroundings ---

    def mend(self) -> None:
        """Remove each cause."""
        self.scene.is_broken, self.bad_lines = False, set()
        for name in sorted(self.changed - {"definition"}):
            if name in ROLES:
                self.staff(name)
            else:
                MENDS[name](self)
        self.changed &= {"definition"}

    def staff(self, user_id: str) -> None:
        self._save(user_id, ROLES[user_id], "active")

    def dismiss(self, user_id: str) -> None:
        self._save(user_id, ROLES[user_id], "disabled")
        self.changed.add(user_id)

    def take_roles(self, user_id: str) -> None:
        self._save(user_id, (), "active")
        self.changed.add(user_id)

    def _save(self, user_id: str, roles: tuple[str, ...], status: Any) -> None:
        member = Member(user_id=user_id, display_name=user_id.title(), roles=roles)
        members, succession = Members(self.scene.database), Succession() if status == "disabled" else None
        members.save(self.operator(), member, status, reason="for once", succession=succession)
        self.settle()

    def switch_endpoint(self, status: Any) -> None:
        endpoints, caller = Endpoints(self.scene.database, lambda url, hosts: None), self.operator()
        found = endpoints.read(caller.principal, "erp")
        if found.status != status:
            endpoints.replace(
                caller, "erp", found.version, EndpointTerms(found.url, found.secret_refs, status)
            )
        self.changed.add("endpoint")
        self.settle()

    def lose_chain(self) -> None:
        archives_chain_of(self.scene, CHAIN)
        self.changed.add("chain")

    def forbid_booking(self) -> None:
        if "rule" not in self.changed:
            self.stage.add_rule(self.entity_type, "closed", "entity.status == 'active'", on="transition")
        self.changed.add("rule")

    def republish(self) -> None:
        if "definition" not in self.changed:
            self.stage.publish_next(self.entity_type, 1, **renew(self.slots))
        self.changed.add("definition")

    def _run(self, given: ActionInput) -> ActionResult:
        if self.scene.is_broken:
            raise ValueError("the bureau does not answer")
        return ActionResult(output={"total": 1})

    def _make_piece(self, given: ActionInput) -> ActionResult:
        code = given.payload["code"]
        if code in self.bad_lines:
            raise ValueError(f"there is no {code}")
        piece = NewDocument(self.piece_type, {"code": code, "of": str(given.document.id)})
        return ActionResult(creates=[piece], output={"made": code})


def _allow_booking(world: World) -> None:
    world.stage.standing.run("DELETE FROM rules WHERE name = 'closed'")


def _find_chain(world: World) -> None:
    archives_chain_of(world.scene, CHAIN)
    publishes_chain_of(world.scene, CHAIN, CHAIN_TERMS)


MENDS: Mapping[str, Callable[[World], None]] = MappingProxyType(
    {
        "endpoint": lambda world: world.switch_endpoint("active"),
        "chain": _find_chain,
        "rule": _allow_booking,
    }
)


def attempt(do: Callable[[], object]) -> str | None:
    """Return the code by which an act is refused, if it is."""
    try:
        do()
    except Rejected as rejected:
        return rejected.code
    return None
