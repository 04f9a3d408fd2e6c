"""The gate: it performs its transition through mutate(), or sends the document back."""

from dataclasses import dataclass
from typing import Literal

from signet.core.errors import Defect
from signet.core.runtime.decisions import Decision, decide, refuse_gate
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.commands import ConcludeTransition
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import HandlerResult


@dataclass(frozen=True, slots=True)
class _GatePassage:
    """The plan of a gate: what it decided, and the change that carries it out."""

    decision: Decision
    operation: ConcludeTransition
    change: DocumentChange


class LifecycleGateHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        """Plan the passage, also by the tenant's rules. A blocked gate leaves no step, to be tried again."""
        decision = decide(context.execution.workflow, token, context.decision_input(token))
        if decision.outcome is None:
            return Blocked(decision.reason or "the gate cannot be passed", decision.evidence)
        stale = _find_stale(context) if _uses_approvals(node, decision) else None
        if stale is not None:
            evidence = {"approved": stale, "version": context.document.version if context.document else None}
            return Blocked("APPROVAL_STALE: what was approved is another version of the document", evidence)
        operation = self._conclude(context, node, decision)
        change = context.documents.decide(context.caller_of(node), operation)
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
        passage: _GatePassage = pending.plan
        change, caller = passage.change, context.caller_of(pending.node, pending.step)
        if change.before is not context.document:
            # Another step of this wave has changed the document since.
            decided = context.documents.decide(caller, passage.operation)
            if not isinstance(decided, DocumentChange):
                raise Defect("GATE_OVERTAKEN", f"{pending.node.id} could pass, and then could not: {decided}")
            change = decided
        change.caller = caller
        context.documents.apply(change)
        if passage.decision.outcome == "passed" and pending.node.config["kind"] != "automatic":
            context.note_performed()
        if _uses_approvals(pending.node, passage.decision):
            context.approvals.consume(context.row.id)
        return HandlerResult(passage.decision)

    def resume(self, context: InstanceContext, node: WorkflowNode, step: Step) -> HandlerResult | None:
        return None

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
        reason = None if has_passed else decision.reason or str(decision.outcome)
        status: Literal["performed", "refused"] = "performed" if has_passed else "refused"
        return ConcludeTransition(row.id, node.config["transition"], target, status, reason)


def _uses_approvals(node: WorkflowNode, decision: Decision) -> bool:
    """Return whether the passage uses up approvals. An interrupt leaves the path that they were given on."""
    return decision.outcome == "passed" and node.config["kind"] != "interrupting"


def _find_stale(context: InstanceContext) -> int | None:
    """Return the version of an unused approval that is not the document's: it does not count (WF-03)."""
    version = context.document.version if context.document is not None else 0
    unused = context.approvals.list_unused(context.row.id)
    return next((r.document_version for r in unused if r.document_version != version), None)
