"""What a handler of an acting node is given, and what it answers.

`prepare` finds out what the node would do, and changes nothing: no receipt has been written yet. `act` does
it in the wave's transaction (a mutation, a row in an outbox), never outside of it. `resume` is asked when
something woke the instance while the node's step waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from signet.core.runtime.decisions import Decision, Situation
from signet.core.runtime.execution import Hold, Intent, Journey, Plan
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.approvals.requests import About, WaveApprovals
from signet.engine.documents.commands import Author
from signet.engine.documents.unit_of_work import OpenDocuments
from signet.store.documents.write import DocumentRow
from signet.store.instances.waves import EffectOutcome


@dataclass(frozen=True, slots=True)
class Effect:
    """A call to the outside, to be enqueued with the step that wants it (WF-10)."""

    effect_type: str
    payload: Mapping[str, Any]
    endpoint: str | None = None


@dataclass(frozen=True, slots=True)
class Acted:
    """`decision` is None while the step waits, for its moment or its event."""

    decision: Decision | None
    effect: Effect | None = None
    resume_at: datetime | None = None
    waiting_for_event_key: str | None = None


class Place(Protocol):
    """The instance at a node, as the wave shows it to a handler."""

    @property
    def journey(self) -> Journey: ...

    @property
    def documents(self) -> OpenDocuments: ...

    @property
    def document(self) -> DocumentRow | None: ...

    @property
    def now(self) -> datetime: ...

    def look(self, token: Token) -> Situation: ...

    def author_of(self, node: WorkflowNode, step: Step | None = None) -> Author: ...

    @property
    def approvals(self) -> WaveApprovals: ...

    @property
    def about_instance(self) -> UUID: ...

    def about(self, token: Token) -> About: ...

    def note_performed(self) -> None: ...

    def effect_of(self, step: Step) -> EffectOutcome | None: ...


def describe_delivery(effect: EffectOutcome, *of_body: str) -> dict[str, Any]:
    """Evidence for the step: how it went, and of what was answered only what is named."""
    said = effect.response_json if isinstance(effect.response_json, dict) else {}
    body = said.get("body")
    found = {name: said.get(name) for name in ("status", "duration_ms")}
    if isinstance(body, dict):
        found |= {name: body.get(name) for name in of_body}
    return {name: value for name, value in found.items() if value is not None}


class Handler(Protocol):
    def prepare(self, place: Place, node: WorkflowNode, token: Token) -> Plan | Hold: ...

    def act(self, place: Place, intent: Intent) -> Acted: ...

    def resume(self, place: Place, node: WorkflowNode, step: Step) -> Acted | Hold | None: ...
