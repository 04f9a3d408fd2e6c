"""The origin of a request: the definition of its instance asks it.

Worker processes write requests. A vote is asked of their rows, so it believes none that the control does not
explain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from signet.core.approvals.entitlement import list_voter_permissions
from signet.core.approvals.policy import Policy, policy_of_node
from signet.core.runtime.workflow import Workflow


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """A request as its row says that a node asks it."""

    node_id: str
    # The node of its step, among the steps of its instance; None where there is no such step.
    step_node_id: str | None
    policy: Policy
    chain_name: str | None
    # The policy of that version of the chain; None where it was never published.
    chain_policy: Policy | None
    voter_permissions: Sequence[str]
    # Another step asks at the same node: its request is open, or approved and not used.
    is_double: bool


def find_foreign_request(asked: AskedRequest, workflow: Workflow | None) -> str | None:
    """Return why the definition of its instance does not ask such a request."""
    if workflow is None:
        return "the instance has never run the definition that is said to ask"
    node = workflow.nodes.get(asked.node_id)
    if node is None or node.type.name != "approval":
        return f"the definition asks nobody at {asked.node_id}"
    if asked.step_node_id != asked.node_id:
        return f"no step of the instance asks at {asked.node_id}"
    chain = node.config["chain"]
    policy = policy_of_node(node.config) if chain is None else asked.chain_policy
    if chain != asked.chain_name or policy != asked.policy:
        return f"{asked.node_id} asks by another policy"
    if set(asked.voter_permissions) != set(list_voter_permissions(workflow, asked.node_id, asked.policy)):
        return f"{asked.node_id} wants other permissions of its voters"
    return f"{asked.node_id} is asked twice at once" if asked.is_double else None
