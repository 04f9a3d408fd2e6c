"""The action node: it changes its document by a named action, once or for each item of a list."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from signet.core.errors import Rejected
from signet.core.repair.kept_items import name_kept
from signet.core.runtime.decisions import Decision, check_length, conclude, conclude_inside
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.result_bounds import ListBudget, render
from signet.core.runtime.workflow import WorkflowNode
from signet.core.runtime.workflow_reads import followed_by, reads_variables
from signet.engine.documents.commands import Applied, Refused, RunAction
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_decided_way
from signet.engine.execution.nodes.done_once import find_done_before, find_kept, read_kept
from signet.engine.execution.nodes.handler import HandlerResult
from signet.engine.execution.nodes.unpinned_reads import (
    find_unpinned_read,
    find_unpinned_way,
    follows_refs_behind,
)
from signet.store.documents.write import DocumentRow

# The output with its evidence, or the refusal.
_Run = tuple[Any, Mapping[str, Any]] | Refused


class ActionHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        done = find_done_before(context, node, token) if context.may_come_again(token) else None
        if done is not None:
            return done if isinstance(done, Blocked) else ActionPlan(done)
        env = context.decision_input(token).env
        if node.config["for_each"] is None:
            given = _resolve(node, env, None)
            return ActionPlan(given, given=None if isinstance(given, Rejected) else given)
        value = node.expressions["/for_each"].value(env)
        items = value if isinstance(value, list) else []
        refused = check_length(node, items)
        if refused is not None:
            return ActionPlan(refused, given={"item_count": len(items)})
        return ActionPlan(items, len(items), given={"items": items})

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        if isinstance(pending.plan, Rejected):
            return HandlerResult(self._fail(context, pending, pending.plan))
        if pending.node.config["for_each"] is not None:
            return self._act_for_each(context, pending, pending.plan)
        run = self._run_once(context, pending)
        if not isinstance(run, tuple):
            return HandlerResult(self._fail(context, pending, run))
        return HandlerResult(self._save(context, pending, *run))

    def resume(self, context: InstanceContext, node: WorkflowNode, step: Step) -> HandlerResult | None:
        return None

    def _run_once(self, context: InstanceContext, pending: PendingAction) -> _Run:
        """Run the action. It is undone where a condition behind it would follow a ref that it has pointed."""
        if not follows_refs_behind(context, pending.node):
            return self._run(context, pending.node, pending.step, pending.plan)
        context.documents.begin_undoable()
        run = self._run(context, pending.node, pending.step, pending.plan)
        problem = find_unpinned_way(context, pending.node)
        context.documents.end_undoable(undo=problem is not None)
        return _refuse_unpinned(problem) if problem is not None else run

    def _act_for_each(
        self, context: InstanceContext, pending: PendingAction, items: Sequence[Any]
    ) -> HandlerResult:
        """Run the items in order, each on the document as the last one left it.

        All of them are done, or none: where one fails, those before it are undone, and a retry does nothing
        twice. With `each: keep` what is done stays, and a retry runs only the others.
        """
        if pending.node.config.get("each") == "keep":
            return self._keep_each(context, pending, items)
        runs: list[tuple[_Run, int]] = []
        budget = ListBudget(pending.node)
        context.documents.begin_undoable()
        for step, item in zip(pending.items, items, strict=True):
            ran = self._run_within(budget, context, pending.node, step, item)
            run = budget.refused or ran
            runs.append((run, _version(context, step)))
            if not isinstance(run, tuple):
                break
        failed = runs[-1][0] if runs and not isinstance(runs[-1][0], tuple) else None
        context.documents.end_undoable(undo=failed is not None)
        if failed is not None:
            index = len(runs) - 1
            self._end_undone(context, pending, failed, index)
            return HandlerResult(self._fail(context, pending, failed, index))
        for step, (run, version) in zip(pending.items, runs, strict=True):
            assert isinstance(run, tuple)
            context.execution.end(step, Decision("done", evidence=run[1]), version)
        outputs = [run[0] for run, _ in runs if isinstance(run, tuple)]
        return HandlerResult(self._save(context, pending, outputs, {}))

    def _end_undone(
        self, context: InstanceContext, pending: PendingAction, failed: Refused, index: int
    ) -> None:
        """End the items of a list of which nothing is done: the one that failed, and all others."""
        for position, step in enumerate(pending.items):
            undone = Decision("skipped", evidence={"undone": True} if position < index else {})
            ended = Decision("error", reason=_describe(failed)) if position == index else undone
            context.execution.end(step, ended, _version(context, step))

    def _keep_each(
        self, context: InstanceContext, pending: PendingAction, items: Sequence[Any]
    ) -> HandlerResult:
        """Run every item, and keep what is done; a retry runs those that are not done in this round."""
        execution, name = context.execution, name_kept(pending.node.id)
        kept = read_kept(context, pending.node, pending.step.token, items)
        first: tuple[Refused, int] | None = None
        budget = ListBudget(pending.node)
        for index, (step, item) in enumerate(zip(pending.items, items, strict=True)):
            before = find_kept(context, pending.node, execution.token_of(step), kept, index, item)
            if before is not None:
                budget.take(None, before.output, 0)
                ended = Decision("skipped", evidence={"done_before": True})
                execution.end(step, ended, _version(context, step))
                continue
            run = self._run_within(budget, context, pending.node, step, item)
            if isinstance(run, tuple):
                kept.add(index, run[1]["payload"], run[0])
                ended = Decision("done", evidence=run[1])
            else:
                first = first or (run, index)
                ended = Decision("error", reason=_describe(run))
            execution.end(step, ended, _version(context, step))
        if first is None:
            saved = self._save(context, pending, kept.outputs(), {})
            if execution.projection.context.get(name) is not None:
                saved = replace(saved, variables={**saved.variables, name: None})
            return HandlerResult(saved)
        failed = _with_pins(context, self._fail(context, pending, *first))
        # Only a retry reads what is done: an author's edge for errors leads elsewhere.
        return HandlerResult(failed if failed.edges else replace(failed, variables={name: kept.to_json()}))

    def _run_within(
        self, budget: ListBudget, context: InstanceContext, node: WorkflowNode, step: Step, item: Any
    ) -> _Run:
        """Run one item, unless those before it are too large already."""
        if budget.refused is not None:
            return budget.refused
        versions = context.documents.batch.versions
        before = len(versions)
        run = self._run_item(context, node, step, item)
        if isinstance(run, tuple):
            written = sum(len(row["snapshot"]) for row in context.documents.batch.versions[before:])
            budget.take(run[1], run[0], written)
        return run

    def _run_item(self, context: InstanceContext, node: WorkflowNode, step: Step, item: Any) -> _Run:
        """Run one item, whose payload may read what the items before it have changed."""
        problem = find_unpinned_read(context, node)
        if problem is not None:
            return _refuse_unpinned(problem)
        env = context.decision_input(context.execution.token_of(step)).env
        given = _resolve(node, env, item)
        return given if isinstance(given, Rejected) else self._run(context, node, step, given)

    def _run(
        self, context: InstanceContext, node: WorkflowNode, step: Step, given: Mapping[str, Any]
    ) -> _Run:
        row = context.document
        if row is None:
            return Rejected("DOCUMENT_NOT_FOUND", f"{node.id} acts on a document, and there is none")
        workflow, saved = context.execution.workflow, context.execution.projection.context
        operation = RunAction(
            row.id,
            row.version,  # the wave holds it locked, so that there is no other
            node.config["action"],
            given["payload"],
            context=saved,
            sources=followed_by(workflow, context.documents.contract_of(row), node),
            reads_variables=reads_variables(workflow, node),
            is_approved=partial(_is_approved, context, row),
        )
        outcome = context.documents.execute(context.caller_of(node, step), operation)
        if not isinstance(outcome, Applied):
            return outcome
        return dict(outcome.output or {}), given

    def _save(
        self, context: InstanceContext, pending: PendingAction, result: Any, evidence: Mapping[str, Any]
    ) -> Decision:
        node, execution = pending.node, context.execution
        saved = {node.config["save_as"]: result} if node.config["save_as"] else {}
        env = {
            **context.decision_input(execution.token_of(pending.step)).env,
            "context": {**execution.projection.context, **saved},
        }
        return _with_pins(context, conclude(execution.workflow, node, "done", env, evidence, saved))

    def _fail(
        self, context: InstanceContext, pending: PendingAction, refused: Refused, index: int | None = None
    ) -> Decision:
        """Conclude with the refusal; of a list it names the item, counted from 0, as the steps do."""
        execution = context.execution
        decision_input = context.decision_input(execution.token_of(pending.step))
        evidence: dict[str, Any] = {"code": refused.code, "message": refused.message}
        if index is not None:
            evidence["item"] = index
        if refused.fields:
            evidence["fields"] = [asdict(error) for error in refused.fields]
        reason = _describe(refused, index)
        return conclude_inside(execution.workflow, pending.node, reason, decision_input, evidence)


def _is_approved(context: InstanceContext, row: DocumentRow) -> bool:
    """Return whether people have approved the document, or could not but do so, on its way to its status."""
    workflow = context.execution.workflow
    is_amendment = row.amended_from_id is not None
    return workflow.is_approved(row.status, is_amendment=is_amendment) or read_decided_way(context).is_decided


def _resolve(node: WorkflowNode, env: Mapping[str, Any], item: Any) -> dict[str, Any] | Rejected:
    """Resolve what the action is given, with what was read for it."""
    rendered = render(node, "/payload", {**env, "item": item})
    if isinstance(rendered, Rejected):
        return rendered
    return {"payload": rendered[0], "variables": rendered[1]}


def _with_pins(context: InstanceContext, decision: Decision) -> Decision:
    """Keep with the step where it has pointed refs behind a gate."""
    document = context.document
    pins = context.documents.pins.of(document.id) if document is not None else {}
    return decision if pins == context.execution.projection.pins else replace(decision, pins=pins)


def _refuse_unpinned(problem: str) -> Rejected:
    code, _, sentence = problem.partition(": ")
    return Rejected(code, sentence)


def _version(context: InstanceContext, step: Step) -> int:
    return context.document.version if context.document is not None else step.version


def _describe(refused: Refused, index: int | None = None) -> str:
    """Say what is wrong, with the first field that is not as it should be; of an item also which one."""
    field = next((f": {error.pointer} {error.message}" for error in refused.fields), "")
    if index is None:
        return f"{refused.code}: {refused.message}{field}"
    return f"{refused.code}: item {index} of the list: {refused.message}{field}"
