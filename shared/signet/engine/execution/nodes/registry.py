"""The handlers of acting nodes, by type. What a pure node decides stands in `core/runtime/decisions.py`."""

from collections.abc import Mapping

from signet.engine.execution.nodes.action import ActionHandler
from signet.engine.execution.nodes.approval import ApprovalHandler
from signet.engine.execution.nodes.handler import NodeHandler
from signet.engine.execution.nodes.lifecycle_gate import LifecycleGate
from signet.engine.execution.nodes.notification import Notification
from signet.engine.execution.nodes.webhook_out import WebhookOut

HANDLERS: Mapping[str, NodeHandler] = {
    "lifecycle_gate": LifecycleGate(),
    "action": ActionHandler(),
    "approval": ApprovalHandler(),
    "webhook_out": WebhookOut(),
    "notification": Notification(),
}
