"""The handlers of acting nodes, by type. What a pure node decides stands in `core/decisions.py`."""

from collections.abc import Mapping

from signet.engine.nodes.action import Action
from signet.engine.nodes.approval import Approval
from signet.engine.nodes.handler import Handler
from signet.engine.nodes.lifecycle_gate import LifecycleGate
from signet.engine.nodes.notification import Notification
from signet.engine.nodes.webhook_out import WebhookOut

HANDLERS: Mapping[str, Handler] = {
    "lifecycle_gate": LifecycleGate(),
    "action": Action(),
    "approval": Approval(),
    "webhook_out": WebhookOut(),
    "notification": Notification(),
}
