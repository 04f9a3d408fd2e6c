"""Requests that the definition of their instance asks, and those that it does not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from signet.core.approvals.entitlement import find_foreign_request
from signet.core.approvals.policy import Policy, policy_of_node
from signet.core.runtime.workflow import Workflow
from tests.support.core.approval_policies import make_policy, make_stage, role, user
from tests.support.core.small_workflows import compile_slot

NODE = "usr:approvals:look"
OWN = {"approvers": [role("finance")]}
OTHER = make_policy(make_stage(user("eve")))
STEPS = [stage.to_json() for stage in OTHER.stages]


def workflow_of(config: dict[str, Any]) -> Workflow:
    return Workflow(compile_slot("approvals", nodes=[{"id": "look", "type": "approval", "config": config}]))


@dataclass(frozen=True)
class Written:
    node_id: str = NODE
    chain_name: str | None = None
    voter_permissions: Sequence[str] | None = ("invoice:approve",)
    origin: Mapping[str, Any] | None = None


def find(workflow: Workflow, policy: Policy | None = None, **changes: Any) -> str | None:
    """Return why the request is foreign: as the workflow asks it, with these changes."""
    config = workflow.nodes[NODE].config
    chain = None if config["chain"] is None else {"steps": STEPS, "same_person": None, "permission": None}
    origin = {"step_node_id": NODE, "chain": chain, "is_double": False}
    said = {name: changes.pop(name) for name in ("step_node_id", "chain", "is_double") if name in changes}
    own = OTHER if config["chain"] else policy_of_node(config)
    written = Written(**{"chain_name": config["chain"], "origin": origin | said, **changes})
    return find_foreign_request(written, policy or own, workflow)


@pytest.mark.parametrize("config", [OWN, {"chain": "large"}])
def test_what_the_definition_asks(config: dict[str, Any]) -> None:
    assert find(workflow_of(config)) is None


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
    assert reason in str(find(workflow_of(OWN), **changes))


def test_a_definition_that_the_instance_never_ran() -> None:
    written = Written(origin={"step_node_id": NODE})
    assert "has never run" in str(find_foreign_request(written, OTHER, None))


@pytest.mark.parametrize("steps", [None, [make_stage(user("zoe")).to_json()]])
def test_another_version_of_the_chain(steps: list[Any] | None) -> None:
    chain = None if steps is None else {"steps": steps, "same_person": None, "permission": None}
    assert "asks by another policy" in str(find(workflow_of({"chain": "large"}), chain=chain))


def test_a_row_of_an_older_release_wants_no_permissions() -> None:
    assert "wants other permissions" in str(find(workflow_of(OWN), voter_permissions=None))
