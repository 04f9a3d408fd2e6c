"""A company with a document that waits for an approval, and a person who wants it approved by their own will.

Each scene hires people of its own. `person` tries, `lawful` may decide, and `clerk` writes and asks. `boss`
is an administrator who has no part in anything.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, LiteralString
from uuid import UUID, uuid4

import psycopg

from signet.core.compiler.node_configurations import Vote
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.approvals.decide import Ballot, VoteResult
from signet.engine.approvals.delegations import Delegations
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Create, Operation, RequestTransition, Update
from signet.engine.documents.mutate import Documents
from signet.engine.tenants.api_keys import ApiKeys
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members, MemberStatus
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.company import VOTER
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

if TYPE_CHECKING:
    from tests.support.ways.involvements import Involvement

# The roles that approvals ask: everybody who tries has the first, the lawful person has both.
FINANCE, BOARD = "finance", "board"
DENIED, SELF = "PERMISSION_DENIED", "SELF_GRANT_REFUSED"
NOT_REFUSED = "done"
_NUMBERS = count()
_NEWEST: LiteralString = "SELECT id FROM approval_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1"
_VOICES: LiteralString = (
    "SELECT x.decided_by, x.on_behalf_of FROM approval_decisions x"
    " JOIN approval_requests r ON r.id = x.request_id WHERE r.document_id = %s AND r.applied"
)


@dataclass(frozen=True)
class Plan:
    """The document that is decided about: its contract, its slots, and the approval that waits."""

    contract: Mapping[str, Any] = field(default_factory=lambda: CONTRACT)
    approval: Mapping[str, Any] = field(default_factory=dict)
    # Nodes of an approval that comes before.
    first: Sequence[Mapping[str, Any]] = ()
    slots: Mapping[str, Any] = field(default_factory=dict)
    # The content of the document.
    data: Mapping[str, Any] = field(default_factory=dict)

    def changed(self, **changes: Any) -> "Plan":
        return replace(self, contract={**self.contract, **changes})


def approvers(*seats: Any, **terms: Any) -> Mapping[str, Any]:
    """Return the configuration of an approval that the first vote decides."""
    return {"approvers": list(seats), "quorum": "any", **terms}


class AuthorityScene:
    def __init__(self, stage: WorkflowStage, involvement: "Involvement") -> None:
        self.stage = stage
        self.involvement = involvement
        self.number = next(_NUMBERS)
        self.person = self.hire("person", FINANCE)
        self.lawful = self.hire("lawful", FINANCE, BOARD)
        # The second holder of the roles that are asked.
        self.roles_of_other: tuple[str, ...] = (FINANCE, BOARD)
        self.other = self.hire("other", *self.roles_of_other)
        self.clerk = self.hire("clerk")
        self.boss = self.hire("boss")
        # The role that is asked, and the caller by which the person acts: themselves, or a key of theirs.
        self.role = FINANCE
        self.hand = self.caller(self.person)
        self.document: Made | None = None

    # --- people ---

    @property
    def database(self) -> Any:
        return self.stage.standing.company.database

    @property
    def tenant_id(self) -> UUID:
        return self.stage.tenant_id

    def named(self, name: str) -> str:
        return f"{name}_{self.number}"

    def hire(self, name: str, *roles: str) -> str:
        """Write a member past every use case; all have the permissions of voters and administrators."""
        user_id = self.named(name)
        member = Member(user_id=user_id, display_name=name, roles=(*roles, "voter", "admin"))
        with self.database.transaction(self.tenant_id) as connection:
            known = tuple(Role(role=each, permissions=VOTER) for each in (FINANCE, BOARD))
            save_roles(connection, self.tenant_id, known, COMMAND_LINE)
            save_members(connection, self.tenant_id, (member,), COMMAND_LINE)
        return user_id

    def caller(self, user_id: str) -> Caller:
        """Return a caller whose token claims every permission."""
        return self.stage.standing.company.caller(user_id, "admin")

    @property
    def command_line(self) -> Caller:
        """Return the caller of a command on the database's address, who claims to be the person."""
        return read_command_line_caller(self.database, self.tenant_id, claimed=self.person)

    def operate_as(self, user_id: str) -> Caller:
        """Return an operator of the deployment, with a token of no role of the tenant."""
        return Caller(Principal(uuid4(), user_id, (), is_operator=True))

    def make_key(self, user_id: str) -> Caller:
        """Return a key of the person, as its use is verified."""
        keys = ApiKeys(self.database)
        made = keys.create(self.caller(user_id), self.named("key"), ("admin",))
        return Caller(keys.verify(made.token).principal, via="test")

    def save(
        self, by: Caller, user_id: str, *roles: str, status: MemberStatus = "active", heir: str | None = None
    ) -> None:
        """Save a member with these roles, as a use case of the caller."""
        member = Member(user_id=user_id, display_name=user_id, roles=(*roles, "voter", "admin"))
        Members(self.database).save(by, member, status, succession=Succession(heir))

    def delegate(self, by: Caller, user_id: str, delegate_id: str, *, entity_type: str | None = None) -> None:
        now = datetime.now(UTC)
        terms: dict[str, Any] = {"from_time": now, "to_time": now + timedelta(days=1)}
        terms["entity_type"] = entity_type
        Delegations(self.database).delegate(by, user_id, delegate_id, **terms)

    # --- documents ---

    def mutate(self, by: Caller, operation: Operation) -> Any:
        return Documents(self.database, self.stage.registry).mutate(by, operation)

    def create(self, entity_type: str, by: Caller, **data: Any) -> Made:
        made = self.mutate(by, Create(entity_type, {"amount": 1, **data}))
        return Made(made.document_id, made.instance_id)

    def edit(self, document: Made, by: Caller, **changes: Any) -> Made:
        """Edit a document; return it, or the new one where the edit amends."""
        version = self.stage.version_of(document.id)
        patch = changes or {"amount": 1 + version}
        edited = self.mutate(by, Update(document.id, version, patch))
        return Made(edited.document_id, edited.instance_id)

    def request(self, document: Made, by: Caller, transition: str = "submit") -> None:
        """Ask for a transition, and let the workflow go on."""
        version = self.stage.version_of(document.id)
        self.mutate(by, RequestTransition(document.id, version, transition, "for once"))
        self.stage.drain()

    def publish(self, plan: Plan) -> str:
        """Publish the contract of a plan and its workflow; return the entity type."""
        look = {"id": "look", "type": "approval", "config": dict(plan.approval or approvers(role(FINANCE)))}
        nodes = [*plan.first, look]
        edges = [{"source": one["id"], "target": following["id"]} for one, following in pairwise(nodes)]
        return self.stage.publish(plan.contract, approval={"nodes": nodes, "edges": edges}, **plan.slots)

    def submit(self, plan: Plan | None = None) -> UUID:
        """Have a document of the plan wait for its approval; the person is involved in it."""
        plan = self.involvement.plan(self, plan or Plan())
        entity_type = self.publish(plan)
        self.document = self.involvement.create(self, entity_type, plan)
        return self.ask()

    def ask(self) -> UUID:
        """Ask for the approval of the document, and involve the person in the request."""
        self.request(self.made, self.involvement.requester(self))
        self.involvement.bind(self)
        return self.newest()

    def ask_again(self) -> UUID:
        """Have the clerk change the document, so that it is asked about again."""
        self.edit(self.made, self.caller(self.clerk))
        self.stage.drain()
        self.involvement.bind(self)
        return self.newest()

    def give_back(self) -> None:
        """Let an administrator who has no part give back what the person took; then go on."""
        self.save(self.caller(self.boss), self.other, *self.roles_of_other)
        self.stage.retry(self.made, self.caller(self.boss))

    @property
    def made(self) -> Made:
        assert self.document is not None
        return self.document

    def newest(self) -> UUID:
        """Return the newest request for approval of the document."""
        (request_id,) = self.stage.standing.row(_NEWEST, self.made.id)
        return UUID(str(request_id))

    # --- attempts ---

    def vote(
        self, by: Caller | str, vote: Vote = "approved", *, about: UUID | None = None, in_bulk: bool = False
    ) -> str:
        """Return why the vote does not count, or the status of the request after it."""
        caller = self.caller(by) if isinstance(by, str) else by
        approvals = Approvals(self.database, self.stage.caches())
        ballot = Ballot(about or self.newest(), vote, "seen")
        if in_bulk:
            outcome: Any = approvals.decide_many(caller, [ballot])[0]
        else:
            outcome = attempt(lambda: approvals.decide(caller, ballot.request_id, ballot.vote, "seen"))
        if isinstance(outcome, VoteResult):
            self.stage.drain()
            return outcome.request_status
        return outcome.code if isinstance(outcome, Rejected) else str(outcome)

    def escalate(self) -> None:
        """Let the time of the escalation come."""
        self.stage.bring_escalation(self.made.id)
        self.stage.wake(self.made.instance_id)
        self.stage.drain()

    # --- the end ---

    @property
    def status(self) -> str:
        return self.stage.status_of(self.made.id)

    def type_of_document(self) -> str:
        (entity_type,) = self.stage.standing.row(
            "SELECT entity_type FROM documents WHERE id = %s", self.made.id
        )
        return str(entity_type)

    def list_voices(self) -> set[str]:
        """List everybody whose approval the gate used, and the people they approved for."""
        rows = self.stage.standing.rows(_VOICES, self.made.id)
        return {voice for row in rows for voice in row if voice is not None}


def attempt(act: Callable[[], Any]) -> Any:
    """Return the code of the refusal, or the result; `done` where there is none."""
    try:
        result = act()
    except Rejected as refused:
        return refused.code
    except psycopg.Error as refused:
        return refused.sqlstate
    return NOT_REFUSED if result is None else result


def refusal(act: Callable[[], Any]) -> str:
    """Return the code of the refusal; `done` where the act is not refused."""
    found = attempt(act)
    return found if isinstance(found, str) else NOT_REFUSED
