"""One instance in a wave, and the facts that its nodes may ask for: document, actor, approvals, effects.

A context answers questions; it writes no row and calls no handler.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import (
    ConflictCheck,
    find_people_behind,
    separation_conflict,
)
from signet.core.approvals.entitlement import list_voter_permissions
from signet.core.approvals.pins import Pins, list_pinned_fields, read_pinned
from signet.core.approvals.policy import Policy
from signet.core.automations.chain import Chain, find_chain, parse_chain
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Rejected
from signet.core.expressions import Environment
from signet.core.runtime.decisions import Decision, DecisionInput, TransitionRequest
from signet.core.runtime.document_changes import find_sending_back
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Actor, Step
from signet.core.runtime.tokens import ROOT, root_of
from signet.core.runtime.workflow import WorkflowNode
from signet.core.runtime.workflow_reads import list_careful_nodes
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import (
    KEY_PREFIX,
    SERVICE_ROLE,
    SERVICE_SUBJECT,
    SYSTEM_SUBJECT,
    Principal,
    describe_absence,
)
from signet.engine.approvals.requests import ApprovalRequests
from signet.engine.approvals.subject import ApprovalSubject
from signet.engine.documents.references import RefQuery
from signet.engine.documents.unit_of_work import DocumentUnitOfWork
from signet.engine.execution.nodes.expression_environment import ExpressionEnvironment
from signet.engine.execution.nodes.opened_instance import (
    ActorNow,
    StepWait,
    make_actor_now,
    make_execution,
    make_waits,
)
from signet.engine.execution.nodes.running_accounts import RunningAccounts
from signet.store.approvals.requests import LiveRequest
from signet.store.documents.write import DocumentRow
from signet.store.instances.waves import NO_CAUSE, EffectOutcome, InstanceCause, InstanceRow, OpenStepRow
from signet.store.outbox.queue import ClaimedTrigger

SERVICE = Actor(SERVICE_SUBJECT, (SERVICE_ROLE,))


@dataclass(slots=True, eq=False)
class InstanceContext:
    """An instance while a wave moves it."""

    tenant_id: UUID
    row: InstanceRow
    open_steps: Sequence[OpenStepRow]
    execution: InstanceExecution
    documents: DocumentUnitOfWork
    effects: Mapping[UUID, EffectOutcome]
    approvals: ApprovalRequests
    accounts: RunningAccounts
    triggers: Sequence[ClaimedTrigger]
    cause: InstanceCause = NO_CAUSE
    # The automations that have acted before its steps do.
    chain: Chain = field(init=False)
    # The instance's id as a text, which the key of each step begins with.
    name: str = field(init=False)
    # The newest trigger's trace, else that of the row.
    trace_id: str | None = field(init=False)
    environment: ExpressionEnvironment = field(init=False)
    waits: dict[str, StepWait] = field(init=False)  # by token
    # The step that happened last: its number, and its row's id.
    last_step: tuple[tuple[int, int], UUID | None] = ((0, 0), None)
    # What a step waits for has another moment than its row says.
    has_other_deadline: bool = False
    has_decided: bool = False  # about an event, in the database: the wave cannot go on without it
    # A step of a state was written: approvals given on the way there, and not used, count no more.
    has_come_to_state: bool = False
    # The requester of the transition that a gate of this wave performed last.
    performed_for: Actor | None = None
    _actor_now: ActorNow | None = None
    _kept: tuple[Actor, str] | None = None
    # The document as it was at this revision of the unit of work.
    _document: DocumentRow | None = None
    _revision: int = -1
    _seen: DocumentRow | None = None  # what these were made for
    _inputs: dict[tuple[str, str | None], DecisionInput] = field(default_factory=dict)
    # The nodes whose reads may hold them, by this version of the document's contract.
    _careful: tuple[int, Mapping[str, bool]] | None = None

    def __post_init__(self) -> None:
        self.name = str(self.row.id)
        self.trace_id = next((t.trace_id for t in reversed(self.triggers) if t.trace_id), self.row.trace_id)
        events = [(trigger.event_type, trigger.payload_json) for trigger in self.triggers]
        self.chain = find_chain(events, parse_chain(self.cause.chain))
        payload = self.cause.cause.get("payload", {}) if self.is_automation else None
        self.environment = ExpressionEnvironment(self.documents, self.system_caller(), payload)
        self.waits = make_waits(self.open_steps)
        if self.execution.workflow.service_accounts:
            self.accounts.expect(self.execution.workflow.service_accounts)
        self.use_pins()

    def use_pins(self) -> None:
        """Let what follows read other documents as the last gate has used them."""
        document_id, pins = self.row.entity_id, self.execution.projection.pins
        if document_id is not None and pins != self.documents.pins.of(document_id):
            self.documents.pins.use(document_id, pins)
            self._forget_inputs(None)

    def adopt_changes(self) -> None:
        """Go on from what became of the document: on a way that was left, no approval counts any more."""
        sent_back = find_sending_back(self.execution)
        if sent_back is not None:
            self.approvals.withdraw(self.row.id, self.execution, sent_back)
        self.use_pins()

    def end_step(self, step: Step, decision: Decision, *, has_waited: bool = False) -> None:
        """End a step of an acting node; what its gate has used holds for what follows."""
        version = self.document.version if self.document is not None else step.version
        self.execution.end(step, decision, version, has_waited=has_waited)
        if decision.pins is not None:
            self.use_pins()

    def begin_wait(
        self, step: Step, resume_at: datetime | None, event_keys: Sequence[str], followed: str | None
    ) -> None:
        self.waits[step.token] = StepWait(resume_at, followed or next(iter(event_keys), None), event_keys)

    def wait_until(self, step: Step, moment: datetime | None) -> None:
        """Wait until another moment: that of the stage that is open now."""
        if self.waits[step.token].resume_at != moment:
            self.waits[step.token] = replace(self.waits[step.token], resume_at=moment)
            self.has_other_deadline = True
            self.execution.mark_changed(step)

    def wake_at(self, moment: datetime) -> None:
        """Have the instance looked at again at this moment."""
        self.approvals.wakes.append((self.row.id, moment))

    def reset(self) -> None:
        """Go back to the instance as it was read, after a failure halfway through."""
        self.execution = make_execution(self.execution.workflow, self.row, self.open_steps)
        self.waits = make_waits(self.open_steps)
        self.has_other_deadline = False
        self._forget_inputs(None)
        self.approvals.restore(self.row.id)
        self.performed_for = None
        self.use_pins()

    # --- the document, and what people did to it ---

    @property
    def document(self) -> DocumentRow | None:
        if self._revision != self.documents.revision and self.row.entity_id is not None:
            self._document = self.documents.row(self.row.entity_id)
            self._revision = self.documents.revision
        return self._document

    @property
    def is_automation(self) -> bool:
        return self.row.kind == "automation"

    @property
    def now(self) -> datetime:
        return self.documents.transaction.now

    def may_come_again(self, token: Token) -> bool:
        """Return whether the document may have been at the token's node before, also in another instance."""
        if self.row.birth not in ("reentered", "restarted") and root_of(token.id) == ROOT:
            return False
        # What a gate of this wave has used an approval for was not done before.
        is_used = self.row.id in self.approvals.rows.applied.values()
        return not is_used or any(step.node == token.node for step in self.execution.changed.values())

    def has_trigger(self, event_type: str) -> bool:
        return any(trigger.event_type == event_type for trigger in self.triggers)

    def find_request(self, document: DocumentRow) -> TransitionRequest | None:
        """Find the request that the document's own workflow serves; an automation serves none."""
        if self.is_automation or document.request_id is None or document.requested is None:
            return None
        roles = tuple(document.requester_roles or ())
        actor = Actor(document.requester_id or "", roles, document.requester_responsible)
        return TransitionRequest(str(document.request_id), document.requested, actor)

    # --- what a node may read ---

    def decision_input(self, token: Token) -> DecisionInput:
        """Return what a decision at this token's node may read; made once for an actor and a version."""
        node, document = self.execution.workflow.nodes[token.node], self.document
        if document is not self._seen or self.environment.follows_refs:
            self._forget_inputs(document)
        self._look_up_actor()
        # A hash of the actor takes longer.
        key = node.run_as, node.config.get("service_account")
        known = self._inputs.get(key)
        if known is None:
            known = self._inputs[key] = self._make_decision_input(document, self.actor_of(node))
            known.actor_problem = self.find_actor_problem(node)
        return known

    @property
    def careful_nodes(self) -> Mapping[str, bool]:
        """Return the nodes whose reads may hold them, each with whether it may read other documents."""
        if (document := self.document) is None:
            return {}
        if self._careful is None or self._careful[0] != document.contract_version:
            known = self.execution.workflow, self.documents.contract_of(document)
            self._careful = document.contract_version, list_careful_nodes(*known)
        return self._careful[1]

    def list_ref_queries(self) -> Iterator[RefQuery]:
        return self.environment.list_ref_queries(self.execution.workflow, self.document)

    def _forget_inputs(self, document: DocumentRow | None) -> None:
        self._seen = document
        self._inputs.clear()
        self.environment.clear()

    def _make_decision_input(self, document: DocumentRow | None, actor: Actor) -> DecisionInput:
        return DecisionInput(
            partial(self._make_environment, document, actor),
            self.find_request(document) if document is not None else None,
            "amended" if self.row.birth == "amended" else "created",
            self.documents.transaction.permissions_of(actor.roles),
            partial(self._ask_rules, document),
            list_behind=self.documents.persons.behind(actor.behind) if actor.is_key else None,
            has_deciders=partial(self.environment.has_deciders, self.execution.workflow, document),
        )

    def _make_environment(self, document: DocumentRow | None, actor: Actor) -> Environment:
        workflow, projection = self.execution.workflow, self.execution.projection
        return self.environment.make(workflow, document, actor, projection.context)

    def _ask_rules(
        self, document: DocumentRow | None, names: Sequence[str]
    ) -> tuple[bool, Mapping[str, Any]]:
        workflow, projection = self.execution.workflow, self.execution.projection
        return self.environment.ask_rules(workflow, document, projection.actor, projection.context, names)

    # --- the actor of a step ---

    def actor_of(self, node: WorkflowNode) -> Actor:
        """Return the actor of the node. `run_as` changes what it may do, never who is responsible for it."""
        actor = self._look_up_actor()
        match node.run_as:
            case "system":
                return actor.system
            case "service_account":
                name = node.config.get("service_account")
                account = SERVICE if name is None else self.accounts.find(name).actor
                return Actor(account.id, account.roles, actor.present.responsible)
            case _:
                return actor.present

    def keep_responsible(self, actor: Actor) -> str:
        """Return the hash of the persons behind the actor; most steps have that of the step before."""
        if self._kept is None or self._kept[0] is not actor:
            self._kept = actor, self.documents.keep_responsible(actor.responsible)
        return self._kept[1]

    def present_actor(self) -> Actor:
        """Return the actor with the roles that they have now."""
        return self._look_up_actor().present

    def find_actor_problem(self, node: WorkflowNode) -> str | None:
        """Return why the one that the node runs as cannot act: they have left, or the account is unusable."""
        name = node.config.get("service_account")
        if name is not None:
            return self.accounts.find(name).problem
        actor = self._look_up_actor()
        return describe_absence(actor.present.id) if actor.has_left and node.run_as == "actor" else None

    def _look_up_actor(self) -> ActorNow:
        """Return the actor with the roles that they have now, looked up once for each."""
        actor, now = self.execution.projection.actor, self._actor_now
        if now is None or now.asked is not actor:
            now = self._actor_now = make_actor_now(actor, self._find_member(actor))
            self._inputs.clear()
        return now

    def _find_member(self, actor: Actor) -> Mapping[str, Any] | None:
        """Return the actor's membership as of the opening of this wave; of a key, that of its owner."""
        if actor.id.startswith(KEY_PREFIX):
            return self.accounts.find_key(actor.id)
        if actor.id == self.row.actor_id:
            return self.row.actor_member
        document = self.document
        if document is not None and actor.id == document.requester_id:
            return document.requester_member
        return None

    def caller_of(self, node: WorkflowNode, step: Step | None = None) -> Caller:
        actor = self.actor_of(node)
        principal = Principal(self.tenant_id, actor.id, tuple(actor.roles), behind=actor.behind)
        return self._make_caller(principal, step.id if step else None)

    def system_caller(self, step_id: UUID | None = None) -> Caller:
        behind = self.execution.projection.actor.responsible
        principal = Principal(self.tenant_id, SYSTEM_SUBJECT, (), behind=behind)
        return self._make_caller(principal, step_id)

    def _make_caller(self, principal: Principal, step_id: UUID | None) -> Caller:
        return Caller(principal, "workflow", self.trace_id, self.row.id, step_id, chain=self.chain)

    # --- approvals ---

    def subject_of(
        self, token: Token, policy: Policy, request: LiveRequest | None = None, stage: int | None = None
    ) -> ApprovalSubject:
        """Return what is decided about at this node. An open request keeps what it was pinned to.

        Its first requester stays barred, also after another request for the same.
        """
        document = self.document
        if document is None:
            raise Rejected("DOCUMENT_NOT_FOUND", "an approval is about a document, and there is none")
        contract, requester = self.documents.contract_of(document), self._find_requester(document)
        needed = self._list_voter_permissions(token, policy, request)
        pins = self._make_pins(contract, document, needed, request)
        earlier = self.approvals.list_earlier_requesters
        asked = request.responsible if request is not None else earlier(document)
        counted_stage = stage or (request.stage if request is not None else 1)
        return ApprovalSubject(
            instance_id=self.row.id,
            document=document,
            contract=contract,
            env=self.decision_input(token).env,
            definition_hash=self.execution.workflow.hash,
            requester_id=requester.id,
            responsible=requester.responsible,
            requesters=requester.responsible | asked,
            trace_id=self.trace_id,
            pins=pins,
            node_id=token.node,
            voter_permissions=needed,
            approved_elsewhere=self.approvals.list_approved_voices(
                self.row.id, document.version, policy, request, counted_stage
            ),
            make_voter_env=partial(self.make_voter_env, pins),
        )

    def make_voter_env(self, pins: Pins, person: str, roles: Collection[str]) -> Environment:
        """Return the environment of a condition on a voter."""
        env = self.environment.make(self.execution.workflow, self.document, Actor(person, tuple(roles)), {})
        return {**env, "refs": read_pinned(pins)}

    def _list_voter_permissions(
        self, token: Token, policy: Policy, request: LiveRequest | None
    ) -> Sequence[str]:
        if request is not None:
            return request.voter_permissions or ()
        return list_voter_permissions(self.execution.workflow, token.node, policy)

    def _make_pins(
        self,
        contract: CompiledContract,
        document: DocumentRow,
        needed: Sequence[str],
        request: LiveRequest | None,
    ) -> Pins:
        if request is not None:
            return request.pins or {}
        rules = self.documents.find_rules(contract) if contract.has_readable_refs else ()
        followed = list_pinned_fields(self.execution.workflow, contract, needed, rules)
        return self.documents.refs.pins_of(RefQuery(contract, followed, document.data)) if followed else {}

    def make_conflict_check(self, document: DocumentRow) -> ConflictCheck:
        """Return the check of who may not decide about the document, in or beside an approval."""
        contract, requester = self.documents.contract_of(document), self._find_requester(document)
        pins = self._make_pins(contract, document, (), None)
        asked = requester.responsible | self.approvals.list_earlier_requesters(document)
        return separation_conflict(contract, find_people_behind(document, asked, pins))

    def _find_requester(self, document: DocumentRow) -> Actor:
        """Return who requested what is in progress, or else was performed last, by the rows of requests."""
        projection, request = self.execution.projection, self.find_request(document)
        if request is not None and request.id == projection.request:
            return request.actor
        return self.performed_for or self.approvals.find_last_requester(document.id) or projection.actor
