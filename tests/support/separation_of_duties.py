"""People barred by separation of duties, and the paths by which they try all the same (docs/approvals.md).

Each path sets its scene and yields the attempts. The table by which ways (`tests/support/ways`) has those of
the people themselves; here are their delegates, further people, and what happens to a request.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, LiteralString
from uuid import UUID

from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.chains import ApprovalChains, ChainVersion, PublishedChain
from signet.engine.approvals.delegations import Delegations
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import RequestTransition, Update
from signet.engine.instances.actions import Instances
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.company import VOTER
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

BARRED, NOT_ASKED, OVER = "SEPARATION_OF_DUTIES", "APPROVAL_NOT_YOURS", "APPROVAL_CLOSED"
EVERYBODY = ("creator", "editor", "requester")
AMENDABLE = {
    **CONTRACT,
    "states": {**CONTRACT["states"], "submitted": {"edit": "amend_only"}},
    "amendment": {},
}
_NUMBERS = count()


@dataclass(frozen=True)
class Who:
    """A barred person: their part in the document, their roles, and whether a delegate clicks for them."""

    part: str
    roles: tuple[str, ...] = ("finance",)
    has_delegate: bool = False


WHO: Mapping[str, Who] = {
    "creator": Who("creator"),
    "editor": Who("editor"),
    "requester": Who("requester"),
    "admin": Who("creator", ("finance", "admin")),
    "delegate of the creator": Who("creator", has_delegate=True),
    "delegate of the editor": Who("editor", has_delegate=True),
    "delegate of the requester": Who("requester", has_delegate=True),
    "delegate of an admin": Who("creator", ("finance", "admin"), has_delegate=True),
    "second role": Who("creator", ("finance", "board")),
}


@dataclass(frozen=True)
class Attempt:
    """A person's decision about a request, and the code that answers it."""

    request_id: UUID
    person: str
    code: str = BARRED


@dataclass
class Scene:
    """A company with people of its own for each scene."""

    stage: WorkflowStage
    who: Who
    # The barred people that the contract lets decide all the same.
    may_decide: tuple[str, ...] = ()
    document: Made = field(init=False)
    _number: int = field(default_factory=lambda: next(_NUMBERS))

    def __post_init__(self) -> None:
        self.approvals = Approvals(self.database, self.stage.caches())
        self.barred = self.hire("barred", *self.who.roles)
        self.lawful = self.hire("lawful", "finance")
        self.clerk = self.hire("clerk")
        self.other = self.hire("other")
        self.voter = self.barred
        if self.who.has_delegate:
            self.voter = self.hire("delegate")
            self.delegate(self.barred, self.voter)

    @property
    def database(self) -> Any:
        return self.stage.standing.company.database

    def hire(self, name: str, *roles: str) -> str:
        user_id = name if name.endswith(f"_{self._number}") else f"{name}_{self._number}"
        member = Member(
            user_id=user_id, display_name=name, roles=(*dict.fromkeys((*roles, "voter", "admin")),)
        )
        tenant_id = self.stage.tenant_id
        with self.database.transaction(tenant_id) as connection:
            known = tuple(Role(role=each, permissions=VOTER) for each in ("finance", "board", "voter"))
            save_roles(connection, tenant_id, known, COMMAND_LINE)
            save_members(connection, tenant_id, (member,), COMMAND_LINE)
        return user_id

    def author(self, user_id: str) -> Caller:
        """Return a caller whose token claims every permission."""
        return self.stage.standing.company.caller(user_id, "admin")

    def delegate(self, user_id: str, delegate_id: str) -> None:
        now = datetime.now(UTC)
        Delegations(self.database).delegate(
            self.author(user_id),
            user_id,
            delegate_id,
            from_time=now,
            to_time=now + timedelta(days=1),
        )

    def submit(self, contract: Mapping[str, Any] = CONTRACT, **config: Any) -> UUID:
        """Submit a document in which the barred person took part; return the request that waits."""
        duties = {"separation_of_duties": {"may_decide": list(self.may_decide)}}
        node = {"id": "look", "type": "approval", "config": config or self.everybody()}
        entity_type = self.stage.publish({**contract, **duties}, approval={"nodes": [node]})
        creator = self.barred if self.who.part == "creator" else self.clerk
        self.document = self.stage.create(entity_type, creator)
        if self.who.part == "editor":
            self.edit(self.barred)
        return self.ask()

    def everybody(self) -> dict[str, Any]:
        """Return the configuration of an approval of everybody, which the first vote decides."""
        people = [user(self.barred), role("finance"), role("board"), user(self.lawful)]
        return {"approvers": people, "quorum": "any"}

    def edit(self, user_id: str) -> UUID:
        """Edit the document; return its id, or the id of the new document where the edit amends."""
        document_id = self.document.id
        version = self.stage.version_of(document_id)
        return self.stage.mutate(Update(document_id, version, {"amount": 1 + version}), user_id).document_id

    def ask(self) -> UUID:
        requester = self.barred if self.who.part == "requester" else self.clerk
        version = self.stage.version_of(self.document.id)
        self.stage.mutate(RequestTransition(self.document.id, version, "submit", "for once"), requester)
        return self.look()

    def look(self) -> UUID:
        """Run the worker; return the newest request about the document."""
        self.stage.drain()
        query: LiteralString = (
            "SELECT id FROM approval_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1"
        )
        (request_id,) = self.stage.standing.row(query, self.document.id)
        return UUID(str(request_id))

    def count_decisions(self) -> tuple[int, int]:
        """Return how many decisions are written about the document, and how many seats are filled."""
        query: LiteralString = (
            "SELECT (SELECT count(*) FROM approval_decisions x JOIN approval_requests r"
            " ON r.id = x.request_id WHERE r.document_id = %(id)s),"
            " (SELECT count(*) FROM approval_seats s JOIN approval_requests r ON r.id = s.request_id"
            " WHERE r.document_id = %(id)s AND s.decided_by IS NOT NULL)"
        )
        found = self.stage.standing.admin.execute(query, {"id": self.document.id}).fetchone()
        assert found is not None
        return int(found[0]), int(found[1])


Path = Callable[[Scene], Iterator[Attempt]]


def decide_directly(scene: Scene) -> Iterator[Attempt]:
    yield Attempt(scene.submit(), scene.voter)


def give_a_delegation(scene: Scene) -> Iterator[Attempt]:
    """Let a delegate try for the barred person; a delegate's own delegate is not even asked."""
    request_id, second = scene.submit(), scene.hire("second")
    scene.delegate(scene.voter, second)
    yield Attempt(request_id, second, NOT_ASKED if scene.who.has_delegate else BARRED)


def take_a_delegation(scene: Scene) -> Iterator[Attempt]:
    """Let the barred person try as the delegate of a lawful person.

    A delegate of that delegate is not asked.
    """
    request_id = scene.submit(approvers=[user(scene.lawful)])
    yield Attempt(request_id, scene.voter, NOT_ASKED)
    scene.delegate(scene.lawful, scene.barred)
    yield Attempt(request_id, scene.voter, NOT_ASKED if scene.who.has_delegate else BARRED)


def be_escalated_to(scene: Scene) -> Iterator[Attempt]:
    escalation = {"after": "P1D", "to": role("finance")}
    request_id = scene.submit(approvers=[user(scene.other)], escalate=escalation)
    yield Attempt(request_id, scene.voter, NOT_ASKED)
    scene.stage.bring_escalation(scene.document.id)
    scene.stage.wake(scene.document.instance_id)
    assert scene.look() == request_id
    yield Attempt(request_id, scene.voter)


def have_it_tried_again(scene: Scene) -> Iterator[Attempt]:
    """Try after an operator has paused, resumed, rebuilt and retried the instance."""
    request_id, instance_id = scene.submit(), scene.document.instance_id
    instances = Instances(scene.database, scene.stage.caches(), CompiledCache())
    operator = scene.author(scene.barred)

    def version() -> int:
        return int(scene.stage.instance(instance_id)["version"])

    instances.pause(operator, instance_id, version(), "a look")
    instances.resume(operator, instance_id, version())
    instances.rebuild(operator, instance_id)
    fail_once(scene, request_id)
    instances.retry(operator, instance_id, version(), "mended")
    assert scene.look() == request_id
    assert scene.stage.instance(instance_id)["status"] == "running"
    yield Attempt(request_id, scene.voter)
    instances.pause(operator, instance_id, version(), "another look")
    yield Attempt(request_id, scene.voter)
    instances.resume(operator, instance_id, version())


def fail_once(scene: Scene, request_id: UUID) -> None:
    """Make one wave fail: it finds the policy altered and gives up."""
    standing, instance_id = scene.stage.standing, scene.document.instance_id
    turn: LiteralString = (
        "UPDATE approval_requests SET policy_hash = reverse(policy_hash) WHERE id = %s AND status = 'open'"
    )
    standing.run_unguarded(turn, request_id)
    last: LiteralString = "UPDATE workflow_events_outbox SET max_attempts = 1 WHERE id = %s"
    standing.run(last, scene.stage.wake(instance_id))
    scene.stage.drain()
    assert "APPROVAL_POLICY_ALTERED" in scene.stage.instance(instance_id)["reason"]
    standing.run_unguarded(turn, request_id)


def change_the_chain(scene: Scene) -> Iterator[Attempt]:
    """Publish a chain that asks the barred person.

    The open request keeps its version; the next one asks in vain.
    """
    chains, name = ApprovalChains(scene.database), f"{scene.barred}_chain"

    def publish(step: dict[str, Any]) -> None:
        saved = chains.save(scene.author(scene.barred), {"name": name, "steps": [step]})
        assert isinstance(saved, ChainVersion), saved
        published = chains.publish(scene.author(scene.barred), name, saved.version)
        assert isinstance(published, PublishedChain), published

    publish({"approvers": [user(scene.lawful)]})
    request_id = scene.submit(chain=name)
    publish(scene.everybody())
    yield Attempt(request_id, scene.voter, NOT_ASKED)
    scene.edit(scene.clerk)
    assert scene.look() != request_id
    yield Attempt(scene.look(), scene.voter)


def be_given_a_role(scene: Scene) -> Iterator[Attempt]:
    """Give the barred person a role while the request waits for those who hold it."""
    roles = scene.who.roles
    scene.hire(scene.barred)
    approvers = [role("finance"), role("board"), user(scene.lawful)]
    request_id = scene.submit(approvers=approvers, quorum="any")
    yield Attempt(request_id, scene.voter, NOT_ASKED)
    scene.hire(scene.barred, *roles)
    yield Attempt(request_id, scene.voter)


def have_it_amended(scene: Scene) -> Iterator[Attempt]:
    """Have another person amend the document; its other content still comes from the barred person."""
    request_id = scene.submit(AMENDABLE)
    original, amended = scene.document, scene.edit(scene.other)
    yield Attempt(request_id, scene.voter, OVER)
    scene.stage.drain()
    assert amended != original.id
    scene.document = Made(amended, scene.stage.instance_of(amended))
    yield Attempt(scene.ask(), scene.voter)


# These happen to a request: the answer's code, and the reason.
FURTHER_WAYS: Mapping[str, tuple[str, str]] = {
    "is escalated to": (BARRED, "a wider circle is judged like the first"),
    "has it tried again": (BARRED, "a request stays as it is, no matter what becomes of its instance"),
    "changes the chain": (
        NOT_ASKED,
        "a request keeps the policy that it began with; the next one is judged like any other",
    ),
}
PATHS: Mapping[str, Path] = {
    "decides": decide_directly,
    "decides in bulk": decide_directly,
    "gives a delegation": give_a_delegation,
    "takes a delegation": take_a_delegation,
    "is given a role": be_given_a_role,
    "has it amended": have_it_amended,
    "is escalated to": be_escalated_to,
    "has it tried again": have_it_tried_again,
    "changes the chain": change_the_chain,
}
# The table by which ways has the other paths of these people.
CASES = [(who, path) for who in WHO for path in PATHS if who not in EVERYBODY or path in FURTHER_WAYS]


def write_further_people() -> Iterator[str]:
    yield from (f"- {who}" for who in WHO if who not in EVERYBODY)


def write_further_ways() -> Iterator[str]:
    yield "| a barred person | and is answered | because |"
    yield "|---|---|---|"
    for path, (code, reason) in FURTHER_WAYS.items():
        yield f"| {path} | `{code}` | {reason} |"
