"""The check of a script before it runs: an answer has the shape that the engine would save."""

from collections.abc import Mapping
from typing import Any

from signet.core.errors import FieldError
from signet.core.runtime.hand_answers import check_response
from signet.core.runtime.workflow import Workflow
from signet.core.simulation.nodes import name_receiver


def find_wrong_answers(workflow: Workflow, outputs: Mapping[str, Any]) -> list[FieldError]:
    """Find the answers to calls that no receiver could give in this shape, by the name of the receiver."""
    calls = [node for node in workflow.nodes.values() if node.type.name == "webhook_out"]
    receivers = sorted({name_receiver(node) for node in calls if node.config["save_as"]} & outputs.keys())
    found = (check_response(outputs[name], f"/outputs/{name}") for name in receivers)
    return [mistake for mistake in found if mistake is not None]
