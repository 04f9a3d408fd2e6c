"""One instance in a wave, and what its nodes may look at: the document, who the step acts for, the rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import separation_conflict
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.personal_data import mask_variables
from signet.core.documents.rules import CompiledRule, RejectAction
from signet.core.errors import Defect, Rejected
from signet.core.expressions import Environment
from signet.core.runtime.decisions import DecisionInput, TransitionRequest
from signet.core.runtime.document_changes import DocumentState
from signet.core.runtime.execution import ActionPlan, Blocked, InstanceExecution
from signet.core.runtime.projection import Actor, Projection, Step
from signet.core.runtime.tokens import ROOT, Position, Token, TokenState
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import SERVICE_ROLE, SERVICE_SUBJECT, SYSTEM_SUBJECT, Principal
from signet.engine.approvals.requests import ApprovalRequests, ApprovalSubject
from signet.engine.documents.change import format_moment
from signet.engine.documents.commands import Applied, ConcludeTransition
from signet.engine.documents.references import RefQuery
from signet.engine.documents.unit_of_work import DocumentUnitOfWork
from signet.engine.execution.nodes.registry import HANDLERS
from signet.store.documents.write import DocumentRow
from signet.store.instances.waves import EffectOutcome, InstanceRow, OpenStepRow
from signet.store.outbox.queue import ClaimedEvent

SYSTEM, SERVICE = Actor(SYSTEM_SUBJECT), Actor(SERVICE_SUBJECT, (SERVICE_ROLE,))


@dataclass(frozen=True, slots=True)
class StepWait:
    """What an open step's row says beside the step itself."""

    resume_at: datetime | None = None
    waiting_for_event_key: str | None = None


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
    triggers: list[ClaimedEvent]
    waits: dict[str, StepWait] = field(default_factory=dict)
    # The step that happened last: its number, the row's id.
    last_step: tuple[tuple[int, int], UUID | None] = ((0, 0), None)
    # What was made for the document as it was when last looked at.
    _seen: DocumentRow | None = None
    _env: dict[str, Any] | None = None
    _situations: dict[Actor, DecisionInput] = field(default_factory=dict)
    _follows: bool = False
    # Since it was read: what was approved on the way to a state, and not used, counts no more.
    has_come_to_state: bool = False
    # Whose request a gate has performed since.
    performed_for: str | None = None
    # Of what woke it last; else of what began it.
    trace_id: str | None = None

    def __post_init__(self) -> None:
        self.trace_id = next((t.trace_id for t in reversed(self.triggers) if t.trace_id), self.row.trace_id)
        self.waits = {
            step.token_id: StepWait(step.resume_at, step.waiting_for_event_key) for step in self.open_steps
        }

    def reset(self) -> None:
        """As it was read: what failed halfway through has not happened."""
        self.execution = read_execution(self.execution.workflow, self.row, self.open_steps)
        self._seen, self._env = None, None
        self._situations.clear()
        self.performed_for = None
        self.__post_init__()

    @property
    def document(self) -> DocumentRow | None:
        return self.documents.row(self.row.entity_id) if self.row.entity_id is not None else None

    @property
    def now(self) -> datetime:
        return self.documents.transaction.now

    @property
    def about_instance(self) -> UUID:
        return self.row.id

    def about(self, token: Token) -> ApprovalSubject:
        document = self.document
        if document is None:
            raise Rejected("DOCUMENT_NOT_FOUND", "an approval is about a document, and there is none")
        requester = self._find_requester(document)
        asking = {document.requester_id} if document.requester_id is not None else set()
        return ApprovalSubject(
            self.row.id,
            document,
            self.documents.contract_of(document),
            self.decision_input(token).env,
            self.execution.workflow.hash,
            requester,
            frozenset(asking | {requester}),
            self.trace_id,
        )

    def _find_requester(self, document: DocumentRow) -> str:
        """Whose request is served; else whose brought the document to where it is, whoever asked since."""
        projection = self.execution.projection
        if projection.request is not None:
            return projection.actor.id
        known = self.performed_for or self.approvals.find_last_requester(document.id)
        return known or projection.actor.id

    def note_performed(self) -> None:
        self.performed_for = self.execution.projection.actor.id

    def effect_of(self, step: Step) -> EffectOutcome | None:
        return self.effects.get(step.id)

    def observe(self) -> DocumentState | None:
        document = self.document
        if document is None:
            return None
        request = self._find_request(document)
        deciders = self._list_deciders(document) if request is not None else ()
        return DocumentState(document.version, document.status, request, deciders)

    def _list_deciders(self, document: DocumentRow) -> list[str]:
        """Whose votes stand in what is under way, and who could not have voted as its requester."""
        contract = self.documents.contract_of(document)
        voices = {
            voice
            for request in self.approvals.list_live(self.row.id)
            if request.status in ("open", "approved") and not request.applied
            for seat in request.seats
            for voice in (seat.decided_by, seat.on_behalf_of)
            if voice is not None
        }
        return [voice for voice in sorted(voices) if separation_conflict(contract, None, (voice,))(voice)]

    def decision_input(self, token: Token) -> DecisionInput:
        """What a decision at this token's node may see; made once for an identity and a version."""
        document, identity = self.document, self.identity_of(self.execution.workflow.nodes[token.node])
        # What other documents say may change with any step of the wave.
        if document is not self._seen or self._follows:
            self._seen, self._env = document, None
            self._situations.clear()
        known = self._situations.get(identity)
        if known is None:
            known = self._situations[identity] = self._make_decision_input(document, identity)
        return known

    def _make_decision_input(self, document: DocumentRow | None, identity: Actor) -> DecisionInput:
        return DecisionInput(
            partial(self._make_env, document, identity),
            self._find_request(document) if document is not None else None,
            "amended" if self.row.birth == "amended" else "created",
            self.documents.transaction.permissions_of(identity.roles),
            partial(self._ask_rules, document),
        )

    def identity_of(self, node: WorkflowNode) -> Actor:
        """Whom a step of this node runs as. Nobody has asked for what is automatic."""
        match self.run_as(node):
            case "system":
                return SYSTEM
            case "service_account":
                return SERVICE
            case _:
                return self.execution.projection.actor

    def run_as(self, node: WorkflowNode) -> str:
        if node.type.name == "lifecycle_gate" and node.config["kind"] == "automatic":
            return "system"
        return str(node.config.get("run_as", "actor"))

    def caller_of(self, node: WorkflowNode, step: Step | None = None) -> Caller:
        identity = self.identity_of(node)
        principal = Principal(self.tenant_id, identity.id, tuple(identity.roles))
        return Caller(principal, "workflow", self.trace_id, self.row.id, step.id if step else None)

    def system_caller(self, step_id: UUID | None = None) -> Caller:
        principal = Principal(self.tenant_id, SYSTEM_SUBJECT, ())
        return Caller(principal, "workflow", self.trace_id, self.row.id, step_id)

    def refuse(self, transition: str, reason: str, step_id: UUID | None) -> None:
        """Whoever asked learns why, from the request and from the document's audit trail."""
        document = self.document
        if document is None or document.request_id is None:
            return
        operation = ConcludeTransition(document.id, transition, None, "refused", reason)
        refused = self.documents.execute(self.system_caller(step_id), operation)
        if not isinstance(refused, Applied):
            raise Defect("REFUSAL_REJECTED", f"a request could not be refused: {refused.message}")

    def prepare(self, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        handler = HANDLERS.get(node.type.name)
        if handler is None:
            return Blocked(f"NODE_TYPE_NOT_RUN: this release does not run nodes of type {node.type.name}")
        return handler.prepare(self, node, token)

    def try_gate(self, gate: str, asker: Actor) -> str | None:
        """As whoever asks: nothing of what is under way was asked for by them."""
        projection, node = self.execution.projection, self.execution.workflow.nodes[gate]
        token = Token(ROOT, gate, TokenState.READY, projection.entity_version)
        served, projection.actor = projection.actor, asker
        try:
            found = self.prepare(node, token)
        finally:
            projection.actor = served
        return found.reason if isinstance(found, Blocked) else None

    def void_what_is_left(self) -> None:
        open_steps = {step.id for step in self.execution.open.values()}
        version = self.document.version if self.document is not None else 0
        has_moved_on = self.has_come_to_state or not self.execution.is_live
        self.approvals.void_what_is_left(self.row.id, open_steps, version, has_moved_on=has_moved_on)

    def refuse_what_is_left(self) -> None:
        """Once the instance has ended nobody serves a request any more."""
        projection, document = self.execution.projection, self.document
        has_ended = projection.status not in ("running", "paused")
        if has_ended and document is not None and document.requested is not None:
            reason = projection.reason or f"the workflow has ended: {projection.status}"
            self.refuse(document.requested, reason, self.last_step[1])

    def _find_request(self, document: DocumentRow) -> TransitionRequest | None:
        if document.request_id is None or document.requested is None:
            return None
        actor = Actor(document.requester_id or "", tuple(document.requester_roles or ()))
        return TransitionRequest(str(document.request_id), document.requested, actor)

    def _make_env(self, document: DocumentRow | None, identity: Actor) -> Environment:
        if self._env is None:
            self._env = self._build_env(document)
        actor = {"user_id": identity.id, "roles": list(identity.roles)}
        return {**self._env, "actor": actor, "context": self.execution.projection.context}

    def _build_env(self, document: DocumentRow | None) -> dict[str, Any]:
        if document is None:
            org, now = self.documents.org, format_moment(self.now)
            return {"entity": None, "refs": {}, "org": org, "now": now}
        contract = self.documents.contract_of(document)
        context = self.documents.make_context(
            self.system_caller(), contract, document, self._followed(contract)
        )
        return context.env(context.data, status=document.status, version=document.version)

    def _followed(self, contract: CompiledContract) -> frozenset[str]:
        return self.execution.workflow.followed_refs(contract)

    def list_ref_queries(self) -> Iterator[RefQuery]:
        """Which other documents its expressions will ask for."""
        document = self.document
        if document is not None:
            contract = self.documents.contract_of(document)
            if followed := self._followed(contract):
                self._follows = True
                yield RefQuery(contract, followed, document.data)

    def _ask_rules(
        self, document: DocumentRow | None, names: Sequence[str]
    ) -> tuple[bool, Mapping[str, Any]]:
        """A rule that would reject rejects here too; its other actions are for mutations only."""
        if document is None:
            raise Rejected("RULE_UNKNOWN", "rules are about documents, and there is none")
        contract = self.documents.contract_of(document)
        known = {rule.rule.name: rule for rule in self.documents.rules_of(contract)}
        evidence: dict[str, Any] = {}
        has_passed = True
        for name in names:
            if name not in known:
                raise Rejected("RULE_UNKNOWN", f"the tenant has no rule '{name}'")
            rejects, said = _ask(known[name], self._env_of_rule(document, contract, known[name]))
            said["variables"] = mask_variables(said["variables"], contract.personal_fields)
            evidence[name] = {**said, "rejects": rejects}
            has_passed = has_passed and not rejects
        return has_passed, evidence

    def _env_of_rule(
        self, document: DocumentRow, contract: CompiledContract, rule: CompiledRule
    ) -> Environment:
        env = self._make_env(document, self.execution.projection.actor)
        if not rule.followed:
            return env
        context = self.documents.make_context(self.system_caller(), contract, document, rule.followed)
        followed = context.env(context.data, status=document.status, version=document.version)
        return {**env, "refs": {**env["refs"], **followed["refs"]}}


def _ask(rule: CompiledRule, env: Environment) -> tuple[bool, dict[str, Any]]:
    evaluation = rule.condition.evaluate(env)
    rejecting = any(isinstance(action, RejectAction) for action in rule.rule.actions)
    return rejecting and evaluation.value is True, dict(evaluation.evidence)


def read_execution(workflow: Workflow, row: InstanceRow, steps: Sequence[OpenStepRow]) -> InstanceExecution:
    position = Position({token.id: token for token in map(_read_token, row.active_tokens)})
    projection = Projection(
        status=row.status,
        version=row.version,
        entity_version=row.entity_version,
        position=position,
        context=dict(row.context_json),
        actor=Actor(row.actor_id, tuple(row.actor_roles)),
        request=row.request_id,
        reason=row.reason,
    )
    execution = InstanceExecution(workflow, projection)
    for step in steps:
        execution.open[step.token_id] = Step(
            step.seq,
            None,
            step.node_id,
            step.token_id,
            "running",
            step.entity_version,
            step.version_after,
            id=step.id,
        )
    return execution


def _read_token(found: Mapping[str, Any]) -> Token:
    return Token(**{**found, "state": TokenState(found["state"])})
