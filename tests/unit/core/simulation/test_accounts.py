"""Steps of a simulation that run as a service account."""

from typing import Any

import pytest

from signet.core.simulation import SimulatedAccount, Simulation
from tests.unit.core.simulation.test_run import TELL, chain, run

ACCOUNT = {"run_as": "service_account", "service_account": "posting"}


def post_as_account(**accounts: SimulatedAccount) -> Simulation:
    config = {"action": "post", "payload": {"at": "2026-01-01"}, **ACCOUNT}
    return run(chain(("post", "action", config)), permissions=("invoice:submit",), accounts=accounts or None)


def test_a_step_runs_with_the_permissions_of_its_account() -> None:
    done = post_as_account(posting=SimulatedAccount(("machine",), ("invoice:post",)))
    assert (done.document["posted"], done.status) == (True, "completed")
    denied = post_as_account(posting=SimulatedAccount(("machine",), ("invoice:read",)))
    assert denied.status == "paused"
    assert denied.reason == "PERMISSION_DENIED: needs the permission 'invoice:post'"


def test_expressions_of_a_step_read_its_account_as_the_actor() -> None:
    told: dict[str, Any] = {**TELL, "text": "{actor.user_id} {actor.roles}", **ACCOUNT}
    accounts = {"posting": SimulatedAccount(("machine",), ())}
    simulated = run(chain(("tell", "notification", told)), accounts=accounts)
    (step,) = [step for step in simulated.steps if step.step.node.endswith(":tell")]
    assert "service:posting" in step.evidence["text"] and "machine" in step.evidence["text"]


@pytest.mark.parametrize("node_type", ["action", "notification"])
def test_a_simulation_pauses_where_the_account_cannot_be_used(node_type: str) -> None:
    config: dict[str, Any] = {**TELL, **ACCOUNT}
    if node_type == "action":
        config = {"action": "post", "payload": {"at": "2026-01-01"}, **ACCOUNT}
    slot = chain(("p", node_type, config))
    other = run(slot, accounts={"other": SimulatedAccount()})
    missing = "SERVICE_ACCOUNT_UNUSABLE: the tenant has no service account 'posting'"
    assert (other.status, other.reason) == ("paused", missing)
    problem = "SERVICE_ACCOUNT_UNUSABLE: it is disabled"
    disabled = run(slot, accounts={"posting": SimulatedAccount(problem=problem)})
    assert (disabled.status, disabled.reason) == ("paused", problem)


def test_without_the_tenants_accounts_a_step_runs_by_the_script() -> None:
    assert run(chain(("tell", "notification", {**TELL, **ACCOUNT}))).status == "completed"
    assert post_as_account().status == "paused", "the script gives no permission to post"
