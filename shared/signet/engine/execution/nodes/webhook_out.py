"""A call to an endpoint, or an event on the bus: enqueued here, delivered elsewhere, and waited for."""

from typing import Any

from signet.core.runtime.decisions import conclude, conclude_error
from signet.core.runtime.execution import Hold, Intent, Plan
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.execution.nodes.handler import Acted, Effect, Place, describe_delivery


class WebhookOut:
    def prepare(self, place: Place, node: WorkflowNode, token: Token) -> Plan | Hold:
        return Plan()

    def act(self, place: Place, intent: Intent) -> Acted:
        node = intent.node
        payload, _ = node.templates["/payload"](place.look(place.journey.token_of(intent.step)).env)
        event, document = node.config.get("event"), place.document
        if event is None:
            return Acted(None, Effect("webhook", {"payload": payload}, node.config["endpoint"]))
        said = {"event": event, "payload": payload}
        if document is not None:
            said["subject"] = f"{document.entity_type}/{document.id}"
        return Acted(None, Effect("integration", said))

    def resume(self, place: Place, node: WorkflowNode, step: Step) -> Acted | None:
        """Delivered, with what the receiver answered; or given up, which takes the way for errors."""
        effect = place.effect_of(step)
        if effect is None:
            return None
        journey = place.journey
        env = place.look(journey.token_of(step)).env
        delivery = describe_delivery(effect, *(["event_id"] if "event" in node.config else []))
        if effect.status == "dead_letter":
            reason = f"EFFECT_DEAD: {effect.error or 'the call was given up'}"
            evidence = {"error": reason, **delivery}
            return Acted(conclude_error(journey.workflow, node, reason, env, evidence))
        saved: dict[str, Any] = {}
        if node.config["save_as"]:
            saved = {node.config["save_as"]: effect.response_json}
        env = {**env, "context": {**journey.projection.context, **saved}}
        return Acted(conclude(journey.workflow, node, "delivered", env, delivery, saved))
