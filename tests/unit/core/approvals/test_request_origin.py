"""Requests that the definition of their instance asks, and those that it does not."""

from typing import Any

import pytest

from signet.core.approvals.policy import Policy, policy_of_node
from signet.core.approvals.request_origin import AskedRequest, find_foreign_request
from signet.core.runtime.workflow import Workflow
from tests.support.core.approval_policies import make_policy, make_stage, role, user
from tests.support.core.small_workflows import compile_slot

NODE = "usr:approvals:look"
OWN = {"approvers": [role("finance")]}
OTHER = make_policy(make_stage(user("eve")))


def workflow_of(config: dict[str, Any]) -> Workflow:
    return Workflow(compile_slot("approvals", nodes=[{"id": "look", "type": "approval", "config": config}]))


def make(workflow: Workflow, **changes: Any) -> AskedRequest:
    node = workflow.nodes[NODE]
    policy: Policy = OTHER if node.config["chain"] else policy_of_node(node.config)
    said: dict[str, Any] = {
        "node_id": NODE,
        "step_node_id": NODE,
        "policy": policy,
        "chain_name": node.config["chain"],
        "chain_policy": OTHER if node.config["chain"] else None,
        "voter_permissions": ("invoice:approve",),
        "is_double": False,
    }
    return AskedRequest(**{**said, **changes})


@pytest.mark.parametrize("config", [OWN, {"chain": "large"}])
def test_what_the_definition_asks(config: dict[str, Any]) -> None:
    workflow = workflow_of(config)
    assert find_foreign_request(make(workflow), workflow) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"node_id": "usr:approvals:gone"}, "the definition asks nobody at usr:approvals:gone"),
        ({"node_id": "sys:gate:approve"}, "the definition asks nobody at sys:gate:approve"),
        ({"step_node_id": None}, "no step of the instance asks"),
        ({"policy": OTHER}, "asks by another policy"),
        ({"chain_name": "large"}, "asks by another policy"),
        ({"voter_permissions": ()}, "wants other permissions"),
        ({"is_double": True}, "is asked twice at once"),
    ],
)
def test_what_it_does_not_ask(changes: dict[str, Any], reason: str) -> None:
    workflow = workflow_of(OWN)
    assert reason in str(find_foreign_request(make(workflow, **changes), workflow))


def test_a_definition_that_the_instance_never_ran() -> None:
    assert "has never run" in str(find_foreign_request(make(workflow_of(OWN)), None))


def test_another_version_of_the_chain() -> None:
    workflow = workflow_of({"chain": "large"})
    for chain_policy in (None, make_policy(make_stage(user("zoe")))):
        assert "asks by another policy" in str(
            find_foreign_request(make(workflow, chain_policy=chain_policy), workflow)
        )
