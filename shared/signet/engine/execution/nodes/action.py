"""An action changes a document by name, through mutate(): once, or for each item of a list."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from signet.core.errors import Rejected
from signet.core.runtime.decisions import Decision, conclude, conclude_error
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.commands import Applied, Refused, RunAction
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import HandlerResult

# An output, with what is on record of the run; or why there is none.
_Run = tuple[Any, Mapping[str, Any]] | Refused


class ActionHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        if node.config["for_each"] is None:
            return ActionPlan()
        listed = node.expressions["/for_each"].value(context.decision_input(token).env)
        items = listed[: node.config["max_items"]] if isinstance(listed, list) else []
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
        """In order, each on what the one before left; after a failure the rest is skipped."""
        outputs: list[Any] = []
        failed: Refused | None = None
        for step, item in zip(pending.items, items, strict=True):
            if failed is not None:
                context.execution.end(step, Decision("skipped"), _version(context, step))
                continue
            run = self._run(context, pending.node, step, item)
            if not isinstance(run, tuple):
                failed = run
                ended = Decision("error", reason=_say(run))
                context.execution.end(step, ended, _version(context, step))
            else:
                outputs.append(run[0])
                decision = Decision("done", evidence=run[1])
                context.execution.end(step, decision, _version(context, step))
        if failed is not None:
            return HandlerResult(self._fail(context, pending, failed))
        return HandlerResult(self._save(context, pending, outputs, {}))

    def _run(self, place: InstanceContext, node: WorkflowNode, step: Step, item: Any) -> _Run:
        token = place.execution.token_of(step)
        payload, variables = node.templates["/payload"]({**place.decision_input(token).env, "item": item})
        evidence = {"payload": payload, "variables": variables}
        row = place.document
        if row is None:
            return Rejected("DOCUMENT_NOT_FOUND", f"{node.id} acts on a document, and there is none")
        context = place.execution.projection.context
        operation = RunAction(row.id, None, node.config["action"], payload, context=context)
        outcome = place.documents.execute(place.caller_of(node, step), operation)
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
            evidence["fields"] = [asdict(mistake) for mistake in refused.fields]
        return conclude_error(execution.workflow, pending.node, _say(refused), env, evidence)


def _version(context: InstanceContext, step: Step) -> int:
    return context.document.version if context.document is not None else step.version


def _say(refused: Refused) -> str:
    return f"{refused.code}: {refused.message}"
