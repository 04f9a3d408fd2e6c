"""An action changes a document by name, through mutate(): once, or for each item of a list."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from signet.core.errors import Rejected
from signet.core.runtime.decisions import Decision, conclude, conclude_error
from signet.core.runtime.execution import Hold, Intent, Plan
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.documents.commands import Applied, Refused, RunAction
from signet.engine.execution.nodes.handler import Acted, Place

# An output, with what is on record of the run; or why there is none.
_Run = tuple[Any, Mapping[str, Any]] | Refused


class Action:
    def prepare(self, place: Place, node: WorkflowNode, token: Token) -> Plan | Hold:
        if node.config["for_each"] is None:
            return Plan()
        listed = node.expressions["/for_each"].value(place.look(token).env)
        items = listed[: node.config["max_items"]] if isinstance(listed, list) else []
        return Plan(items, len(items))

    def act(self, place: Place, intent: Intent) -> Acted:
        if intent.plan is not None:
            return self._act_for_each(place, intent, intent.plan)
        run = self._run(place, intent.node, intent.step, None)
        if not isinstance(run, tuple):
            return Acted(self._fail(place, intent, run))
        return Acted(self._save(place, intent, *run))

    def resume(self, place: Place, node: WorkflowNode, step: Step) -> Acted | None:
        return None

    def _act_for_each(self, place: Place, intent: Intent, items: Sequence[Any]) -> Acted:
        """In order, each on what the one before left; after a failure the rest is skipped."""
        outputs: list[Any] = []
        failed: Refused | None = None
        for step, item in zip(intent.items, items, strict=True):
            if failed is not None:
                place.journey.end_item(step, "skipped", _version(place, step), Decision("skipped"))
                continue
            run = self._run(place, intent.node, step, item)
            if not isinstance(run, tuple):
                failed = run
                ended = Decision("error", reason=_say(run))
                place.journey.end_item(step, "failed", _version(place, step), ended)
            else:
                outputs.append(run[0])
                place.journey.end_item(
                    step, "completed", _version(place, step), Decision("done", evidence=run[1])
                )
        if failed is not None:
            return Acted(self._fail(place, intent, failed))
        return Acted(self._save(place, intent, outputs, {}))

    def _run(self, place: Place, node: WorkflowNode, step: Step, item: Any) -> _Run:
        token = place.journey.token_of(step)
        payload, variables = node.templates["/payload"]({**place.look(token).env, "item": item})
        evidence = {"payload": payload, "variables": variables}
        row = place.document
        if row is None:
            return Rejected("DOCUMENT_NOT_FOUND", f"{node.id} acts on a document, and there is none")
        context = place.journey.projection.context
        operation = RunAction(row.id, None, node.config["action"], payload, context=context)
        outcome = place.documents.perform(place.author_of(node, step), operation)
        if not isinstance(outcome, Applied):
            return outcome
        return dict(outcome.output or {}), evidence

    def _save(self, place: Place, intent: Intent, result: Any, evidence: Mapping[str, Any]) -> Decision:
        node, journey = intent.node, place.journey
        saved = {node.config["save_as"]: result} if node.config["save_as"] else {}
        env = {
            **place.look(journey.token_of(intent.step)).env,
            "context": {**journey.projection.context, **saved},
        }
        return conclude(journey.workflow, node, "done", env, evidence, saved)

    def _fail(self, place: Place, intent: Intent, refused: Refused) -> Decision:
        journey = place.journey
        env = place.look(journey.token_of(intent.step)).env
        evidence: dict[str, Any] = {"code": refused.code, "message": refused.message}
        if refused.fields:
            evidence["fields"] = [asdict(mistake) for mistake in refused.fields]
        return conclude_error(journey.workflow, intent.node, _say(refused), env, evidence)


def _version(place: Place, step: Step) -> int:
    return place.document.version if place.document is not None else step.version


def _say(refused: Refused) -> str:
    return f"{refused.code}: {refused.message}"
