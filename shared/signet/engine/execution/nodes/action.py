"""The action node: it changes its document by a named action, once or for each item of a list."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from signet.core.errors import Rejected
from signet.core.runtime.decisions import Decision, conclude, conclude_error
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.commands import Applied, Refused, RunAction
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import HandlerResult

# The output with its evidence, or the refusal.
_Run = tuple[Any, Mapping[str, Any]] | Refused


class ActionHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        if node.config["for_each"] is None:
            return ActionPlan()
        value = node.expressions["/for_each"].value(context.decision_input(token).env)
        items = value[: node.config["max_items"]] if isinstance(value, list) else []
        return ActionPlan(items, len(items))

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        if pending.plan is not None:
            return self._act_for_each(context, pending, pending.plan)
        run = self._run(context, pending.node, pending.step, None)
        if not isinstance(run, tuple):
            return HandlerResult(self._fail(context, pending, run))
        return HandlerResult(self._save(context, pending, *run))

    def resume(self, context: InstanceContext, node: WorkflowNode, step: Step) -> HandlerResult | None:
        return None

    def _act_for_each(
        self, context: InstanceContext, pending: PendingAction, items: Sequence[Any]
    ) -> HandlerResult:
        """Run the items in order, each on the document as the last one left it. A failure skips the rest."""
        outputs: list[Any] = []
        failed: Refused | None = None
        for step, item in zip(pending.items, items, strict=True):
            if failed is not None:
                context.execution.end(step, Decision("skipped"), _version(context, step))
                continue
            run = self._run(context, pending.node, step, item)
            if not isinstance(run, tuple):
                failed = run
                ended = Decision("error", reason=_describe(run))
                context.execution.end(step, ended, _version(context, step))
            else:
                outputs.append(run[0])
                decision = Decision("done", evidence=run[1])
                context.execution.end(step, decision, _version(context, step))
        if failed is not None:
            return HandlerResult(self._fail(context, pending, failed))
        return HandlerResult(self._save(context, pending, outputs, {}))

    def _run(self, context: InstanceContext, node: WorkflowNode, step: Step, item: Any) -> _Run:
        token = context.execution.token_of(step)
        payload, variables = node.templates["/payload"]({**context.decision_input(token).env, "item": item})
        evidence = {"payload": payload, "variables": variables}
        row = context.document
        if row is None:
            return Rejected("DOCUMENT_NOT_FOUND", f"{node.id} acts on a document, and there is none")
        saved = context.execution.projection.context
        sources = context.execution.workflow.followed_by(context.documents.contract_of(row), node)
        operation = RunAction(row.id, None, node.config["action"], payload, context=saved, sources=sources)
        outcome = context.documents.execute(context.caller_of(node, step), operation)
        if not isinstance(outcome, Applied):
            return outcome
        return dict(outcome.output or {}), evidence

    def _save(
        self, context: InstanceContext, pending: PendingAction, result: Any, evidence: Mapping[str, Any]
    ) -> Decision:
        node, execution = pending.node, context.execution
        saved = {node.config["save_as"]: result} if node.config["save_as"] else {}
        env = {
            **context.decision_input(execution.token_of(pending.step)).env,
            "context": {**execution.projection.context, **saved},
        }
        return conclude(execution.workflow, node, "done", env, evidence, saved)

    def _fail(self, context: InstanceContext, pending: PendingAction, refused: Refused) -> Decision:
        execution = context.execution
        env = context.decision_input(execution.token_of(pending.step)).env
        evidence: dict[str, Any] = {"code": refused.code, "message": refused.message}
        if refused.fields:
            evidence["fields"] = [asdict(error) for error in refused.fields]
        return conclude_error(execution.workflow, pending.node, _describe(refused), env, evidence)


def _version(context: InstanceContext, step: Step) -> int:
    return context.document.version if context.document is not None else step.version


def _describe(refused: Refused) -> str:
    return f"{refused.code}: {refused.message}"
