"""Publication of steps that run as another than who acts: the publisher passes on only what they have.

Otherwise a person who may publish could have the system do what they may not do themselves.
"""

from collections.abc import Mapping
from typing import Any

from signet.core.compiler.artifact import Artifact
from signet.core.compiler.merge import policy_node
from signet.core.errors import Rejected
from signet.core.previews.compile_report import list_passed_on
from signet.engine.access.admin import AdminTransaction

# The permission to publish a step that runs as the system, or as a service account.
RUN_AS = "definition:run_as"


def require_run_as(act: AdminTransaction, artifact: Artifact) -> None:
    """Require that the publisher may do what the steps may that run as another, and may pass it on."""
    for node_id, config in list_passed_on(artifact):
        _require(act, node_id, config, RUN_AS)
        gate = artifact.content["nodes"].get(policy_node(node_id))
        if gate is not None:
            _require(act, node_id, config, gate["config"]["permission"])


def _require(act: AdminTransaction, node_id: str, config: Mapping[str, Any], permission: str) -> None:
    if act.may(permission):
        return
    runs_as = config.get("service_account") or config["run_as"]
    raise Rejected(
        "RUN_AS_BEYOND_OWN",
        f"'{node_id}' runs as '{runs_as}', and to pass that on needs the permission '{permission}'",
        remedy="Let the step run as the actor, or ask a person to publish it who has the permission.",
    )
