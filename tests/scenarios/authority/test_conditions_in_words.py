"""Refusals by a condition: they say it in words, with the labels of the contract (A4)."""

from collections.abc import Iterator

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import newest, submit
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, WorkflowStage, standing_stage


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        voters = [Member(user_id=name, display_name=name, roles=("voter",)) for name in ("app1", "app2")]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(voters), COMMAND_LINE)
        yield made


def test_a_vote_and_a_request_are_refused_in_words(stage: WorkflowStage) -> None:
    amount = {**CONTRACT["fields"]["amount"], "label": "Grand total"}
    approve = {**CONTRACT["transitions"]["approve"], "permission": "thing:approve"}
    submitting = {**CONTRACT["transitions"]["submit"], "permission": "thing:submit"}
    contract = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "amount": amount},
        "transitions": {**CONTRACT["transitions"], "approve": approve, "submit": submitting},
        "conditions": {
            "thing:approve": "entity.amount <= 10 || actor.user_id != 'app1'",
            "thing:submit": "entity.amount <= 20",
        },
    }
    node = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
    entity_type, company = stage.publish(contract, approval={"nodes": [node]}), stage.standing.company
    large, larger = (stage.create(entity_type, "carl", amount=amount) for amount in (11, 21))
    submit(stage, large, "carl")
    approvals = Approvals(company.database, stage.caches())
    with pytest.raises(Rejected, match='"Grand total" is at most 10') as refused:
        approvals.decide(company.caller("app1"), newest(stage, large.id), "approved", "seen")
    assert refused.value.code == "PERMISSION_CONDITION"
    assert "(entity.amount <= 10 || actor.user_id" in refused.value.message
    with pytest.raises(Rejected, match='"Grand total" is at most 20'):
        stage.ask(larger.id, "submit", "carl")
