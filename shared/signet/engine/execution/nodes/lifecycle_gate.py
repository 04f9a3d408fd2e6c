"""The gate: it performs its transition through mutate(), or sends the document back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal
from uuid import UUID

from signet.core.approvals.pins import Pins, carry_pins
from signet.core.approvals.proof import LapsedVote
from signet.core.documents.amendments import MOVEMENTS
from signet.core.errors import Defect, Rejected
from signet.core.runtime.decisions import Decision, decide, refuse_gate
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.required_approvals import count_missing
from signet.core.runtime.workflow import WorkflowNode
from signet.core.tenants.principal import describe_absence
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.commands import ConcludeTransition
from signet.engine.execution.nodes.approval_progress import move_request, next_moment_of
from signet.engine.execution.nodes.approval_proof import check_approvals, find_absent_requester
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import find_unasked_passage
from signet.engine.execution.nodes.handler import HandlerResult
from signet.engine.execution.nodes.request_pins import decide_by_request
from signet.engine.execution.nodes.told_requester import tell_requester
from signet.engine.execution.nodes.variable_sources import keep_deciders
from signet.store.approvals.requests import LiveRequest

INTERRUPTED = "workflow_interrupted"
# The transaction that holds the original is about to end.
ORIGINAL_HELD_DELAY = timedelta(milliseconds=50)


@dataclass(frozen=True, slots=True)
class _VotesLapsed:
    """The plan of a gate that may not use some votes: their seats are asked again."""

    by_request: Mapping[UUID, Sequence[LapsedVote]]


@dataclass(frozen=True, slots=True)
class _VariablesChanged:
    """The plan of a gate whose wave has changed what was approved: the next wave asks people again."""


@dataclass(frozen=True, slots=True)
class _OriginalHeld:
    """The plan of a gate whose amendment settles while its original is held: a later wave tries again."""


@dataclass(frozen=True, slots=True)
class _GatePassage:
    """The plan of a gate: what it decided, and the change that carries it out."""

    decision: Decision
    operation: ConcludeTransition
    change: DocumentChange


class LifecycleGateHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        """Plan the passage, also by the tenant's rules. A blocked gate leaves no step, to be tried again.

        A member must stand behind it, but for a rejection.
        """
        problem = None if token.rejected else context.find_actor_problem(node)
        if problem is not None:
            return Blocked(problem)
        decision = decide(context.execution.workflow, token, context.decision_input(token))
        if decision.outcome is None:
            return Blocked(decision.reason or "the gate cannot be passed", decision.evidence)
        requests = context.approvals.list_unused(context.row.id) if _uses_approvals(node, decision) else ()
        unproven = _find_unproven(context, node, requests) if _uses_approvals(node, decision) else None
        if unproven is not None:
            return unproven
        is_free = decision.outcome == "passed" and not requests
        unasked = find_unasked_passage(context, node) if is_free else None
        if unasked is not None:
            return Blocked(unasked)
        if requests and context.approvals.list_changed_variables(context.row.id, context.execution):
            return ActionPlan(_VariablesChanged())
        if requests:
            checked = _check_requests(context, node, requests)
            if isinstance(checked, Blocked) or checked:
                return checked if isinstance(checked, Blocked) else ActionPlan(_VotesLapsed(checked))
            before = context.execution.projection.pins
            decision = replace(decision, pins=carry_pins(before, _join_pins(requests)))
        if decision.outcome == "passed" and _is_decided_by_request(context, node):
            decision = decide_by_request(context, node, decision)
            if decision.outcome is None:
                return Blocked(decision.reason or "", decision.evidence)
        return self._plan_passage(context, node, decision)

    def _plan_passage(
        self, context: InstanceContext, node: WorkflowNode, decision: Decision
    ) -> ActionPlan | Blocked:
        operation = self._conclude(context, node, decision)
        if not _holds_original(context, operation):
            return ActionPlan(_OriginalHeld())
        change = context.documents.decide(context.caller_of(node), operation)
        if isinstance(change, Rejected) and change.code in MOVEMENTS:
            return Blocked(change.message, {**decision.evidence, "code": change.code})
        if not isinstance(change, DocumentChange) and decision.outcome == "passed":
            decision = refuse_gate(node, change.message, {**decision.evidence, "code": change.code})
            if decision.outcome is None:
                return Blocked(change.message, decision.evidence)
            operation = self._conclude(context, node, decision)
            change = context.documents.decide(context.caller_of(node), operation)
        if not isinstance(change, DocumentChange):
            return Blocked(change.message, {**decision.evidence, "code": change.code})
        return ActionPlan(_GatePassage(decision, operation, change))

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        if isinstance(pending.plan, _VotesLapsed):
            return _reopen(context, pending.plan.by_request)
        if isinstance(pending.plan, _VariablesChanged):
            return _wait_for_next_wave(context)
        if isinstance(pending.plan, _OriginalHeld):
            return _wait_for_next_wave(context, ORIGINAL_HELD_DELAY)
        return self._pass(context, pending.node, pending.step, pending.plan)

    def _pass(
        self, context: InstanceContext, node: WorkflowNode, step: Step, passage: _GatePassage
    ) -> HandlerResult:
        change, caller = passage.change, context.caller_of(node, step)
        if change.before is not context.document:
            # Another step of this wave has changed the document since.
            decided = context.documents.decide(caller, passage.operation)
            if not isinstance(decided, DocumentChange):
                raise Defect("GATE_OVERTAKEN", f"{node.id} could pass, and then could not: {decided}")
            change = decided
        for part in change.parts:
            part.caller = caller
        # Who wrote what its condition has read stands behind the status, too.
        keep_deciders(context, node)
        change.before = context.document
        context.documents.apply(change)
        if passage.decision.outcome == "passed" and node.config["kind"] != "automatic":
            context.performed_for = context.execution.projection.actor
        if passage.decision.outcome == "passed" and node.config["kind"] == "interrupting":
            asker = context.execution.projection.actor
            said = {"transition": node.config["transition"]}
            tell_requester(context, INTERRUPTED, said, asker.id, asker.responsible)
        if _uses_approvals(node, passage.decision):
            context.approvals.consume(context.row.id)
        return HandlerResult(passage.decision)

    def resume(
        self, context: InstanceContext, node: WorkflowNode, step: Step
    ) -> HandlerResult | Blocked | None:
        """Go on when the seats that were asked again have answered."""
        token = context.execution.token_of(step)
        requests = context.approvals.list_live(context.row.id)
        for request in requests:
            blocked = move_request(context, request, token) if request.status == "open" else None
            if blocked is not None:
                return blocked
        if any(request.status == "open" for request in requests):
            return HandlerResult(None, resume_at=next_moment_of(requests))
        if _has_rejected(context, requests):
            token = replace(token, rejected=True)
        planned = self.prepare(context, node, token)
        if isinstance(planned, Blocked):
            return planned
        pending = PendingAction(node, step, planned.content, ())
        return self.act(context, pending)

    def _conclude(
        self, context: InstanceContext, node: WorkflowNode, decision: Decision
    ) -> ConcludeTransition:
        target = node.config["to"] if decision.outcome == "passed" else None
        if decision.outcome == "rejected" and decision.edges:
            target = context.execution.workflow.nodes[decision.edges[0].target].config["state"]
        row = context.document
        if row is None:
            raise Defect("DOCUMENT_ABSENT", f"{node.id} is a gate of an instance without a document")
        has_passed = decision.outcome == "passed"
        reason = None if has_passed else decision.reason or _name_end(context, decision)
        status: Literal["performed", "refused"] = "performed" if has_passed else "refused"
        return ConcludeTransition(row.id, node.config["transition"], target, status, reason)


def _name_end(context: InstanceContext, decision: Decision) -> str:
    """Name what sends the document back: a person who said no, or the time in which nobody said anything."""
    version = context.document.version if context.document is not None else 0
    ends = {r.status for r in context.approvals.list_live(context.row.id) if r.document_version == version}
    if "expired" in ends and "rejected" not in ends:
        return "expired: nobody decided in time"
    return str(decision.outcome)


def _is_decided_by_request(context: InstanceContext, node: WorkflowNode) -> bool:
    row = context.document
    duties = context.documents.contract_of(row).contract.separation_of_duties if row is not None else None
    return duties is not None and node.config["transition"] in duties.deciding


def _uses_approvals(node: WorkflowNode, decision: Decision) -> bool:
    """Return whether the passage uses up approvals. An interrupt leaves the path that they were given on."""
    return decision.outcome == "passed" and node.config["kind"] != "interrupting"


def _find_unproven(
    context: InstanceContext, node: WorkflowNode, requests: Sequence[LiveRequest]
) -> Blocked | None:
    """Return why fewer approvals are there than on every way to this gate."""
    workflow = context.execution.workflow
    if not requests and node.id in workflow.guarded_gates:
        return Blocked("APPROVAL_UNPROVEN: each way to this gate asks for an approval, and none is there")
    missing = count_missing(workflow, node, {request.node_id for request in requests})
    if not missing:
        return None
    return Blocked(
        "APPROVAL_UNPROVEN: the contract requires approvals that are not there", {"missing": missing}
    )


def _check_requests(
    context: InstanceContext, node: WorkflowNode, requests: Sequence[LiveRequest]
) -> Blocked | Mapping[UUID, Sequence[LapsedVote]]:
    """Return why the approvals cannot be used, or which of their votes may not be used any more."""
    stale = _find_stale(context)
    if stale is not None:
        evidence = {"approved": stale, "version": context.document.version if context.document else None}
        return Blocked("APPROVAL_STALE: what was approved is another version of the document", evidence)
    # A requested gate is passed in the name of who asks for it now, and is judged by them.
    absent = find_absent_requester(context) if node.config["kind"] == "automatic" else None
    return Blocked(describe_absence(absent)) if absent is not None else check_approvals(context, requests)


def _reopen(context: InstanceContext, by_request: Mapping[UUID, Sequence[LapsedVote]]) -> HandlerResult:
    """Ask the seats again; the step waits at the gate for their answer."""
    lapsed = [one for one in context.approvals.list_unused(context.row.id) if one.id in by_request]
    for request in lapsed:
        context.approvals.reopen(request, by_request[request.id])
    return HandlerResult(None, resume_at=next_moment_of(lapsed))


def _wait_for_next_wave(context: InstanceContext, delay: timedelta = timedelta(0)) -> HandlerResult:
    moment = context.now + delay
    context.approvals.wakes.append((context.row.id, moment))
    return HandlerResult(None, resume_at=moment)


def _holds_original(context: InstanceContext, operation: ConcludeTransition) -> bool:
    """Return whether what the passage ends besides is locked: the original of an amendment that settles."""
    row = context.document
    if row is None or row.amended_from_id is None:
        return True
    return context.documents.originals.hold(context.documents.contract_of(row), row, operation.to)


def _has_rejected(context: InstanceContext, requests: Sequence[LiveRequest]) -> bool:
    """Return whether a seat that this gate asked again has answered no, or nobody has answered in time.

    What was rejected in an earlier round, or in a branch that lost its join, says nothing here.
    """
    version = context.document.version if context.document is not None else 0
    newest = {request.node_id: request for request in requests}
    return any(
        request.is_reopened
        and request.document_version == version
        and request.status in ("rejected", "expired")
        for request in newest.values()
    )


def _join_pins(requests: Sequence[LiveRequest]) -> Pins:
    return {
        ref: {**pin, "approval": str(request.id)}
        for request in requests
        for ref, pin in (request.pins or {}).items()
    }


def _find_stale(context: InstanceContext) -> int | None:
    """Return the version of an unused approval that is not the document's: it does not count (WF-03)."""
    version = context.document.version if context.document is not None else 0
    unused = context.approvals.list_unused(context.row.id)
    return next((r.document_version for r in unused if r.document_version != version), None)
