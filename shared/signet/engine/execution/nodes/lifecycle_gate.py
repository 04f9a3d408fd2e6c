"""A gate performs its transition through mutate(), or sends the document back."""

from dataclasses import dataclass
from typing import Literal

from signet.core.errors import Defect
from signet.core.runtime.decisions import Decision, decide, refuse_gate
from signet.core.runtime.execution import Hold, Intent, Plan
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.change import Change
from signet.engine.documents.commands import ConcludeTransition
from signet.engine.execution.nodes.handler import Acted, Place


@dataclass(frozen=True, slots=True)
class _Passage:
    decision: Decision
    operation: ConcludeTransition
    change: Change


class LifecycleGate:
    def prepare(self, place: Place, node: WorkflowNode, token: Token) -> Plan | Hold:
        """With what the tenant's rules say: a gate that is held leaves no step, and can be tried again."""
        decision = decide(place.journey.workflow, token, place.look(token))
        if decision.outcome is None:
            return Hold(decision.reason or "the gate cannot be passed", decision.evidence)
        stale = _find_stale(place) if _uses_approvals(node, decision) else None
        if stale is not None:
            evidence = {"approved": stale, "version": place.document.version if place.document else None}
            return Hold("APPROVAL_STALE: what was approved is another version of the document", evidence)
        operation = self._conclude(place, node, decision)
        change = place.documents.decide(place.author_of(node), operation)
        if not isinstance(change, Change) and decision.outcome == "passed":
            decision = refuse_gate(node, change.message, {**decision.evidence, "code": change.code})
            if decision.outcome is None:
                return Hold(change.message, decision.evidence)
            operation = self._conclude(place, node, decision)
            change = place.documents.decide(place.author_of(node), operation)
        if not isinstance(change, Change):
            return Hold(change.message, {**decision.evidence, "code": change.code})
        return Plan(_Passage(decision, operation, change))

    def act(self, place: Place, intent: Intent) -> Acted:
        passage: _Passage = intent.plan
        change, author = passage.change, place.author_of(intent.node, intent.step)
        if change.row is not place.document:
            # Another step of this wave has changed the document since.
            decided = place.documents.decide(author, passage.operation)
            if not isinstance(decided, Change):
                raise Defect("GATE_OVERTAKEN", f"{intent.node.id} could pass, and then could not: {decided}")
            change = decided
        change.author = author
        place.documents.keep(change)
        if passage.decision.outcome == "passed" and intent.node.config["kind"] != "automatic":
            place.note_performed()
        if _uses_approvals(intent.node, passage.decision):
            place.approvals.consume(place.about_instance)
        return Acted(passage.decision)

    def resume(self, place: Place, node: WorkflowNode, step: Step) -> Acted | None:
        return None

    def _conclude(self, place: Place, node: WorkflowNode, decision: Decision) -> ConcludeTransition:
        target = node.config["to"] if decision.outcome == "passed" else None
        if decision.outcome == "rejected" and decision.ways:
            target = place.journey.workflow.nodes[decision.ways[0].target].config["state"]
        row = place.document
        if row is None:
            raise Defect("DOCUMENT_ABSENT", f"{node.id} is a gate of an instance without a document")
        has_passed = decision.outcome == "passed"
        reason = None if has_passed else decision.reason or str(decision.outcome)
        status: Literal["performed", "refused"] = "performed" if has_passed else "refused"
        return ConcludeTransition(row.id, node.config["transition"], target, status, reason)


def _uses_approvals(node: WorkflowNode, decision: Decision) -> bool:
    """An interrupt leaves the way on which they were given."""
    return decision.outcome == "passed" and node.config["kind"] != "interrupting"


def _find_stale(place: Place) -> int | None:
    """An approval counts for the version that it was given for, and for no other (WF-03)."""
    version = place.document.version if place.document is not None else 0
    unused = place.approvals.list_unused(place.about_instance)
    return next((r.document_version for r in unused if r.document_version != version), None)
