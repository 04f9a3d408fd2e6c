"""The times of approvals in explanations: a voided request leaves its triggers, and they are not told."""

from collections.abc import Iterator

import pytest

from signet.core.explain.instance import write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.instances.explain import explain
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, submit
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        voter = Member(user_id="app1", display_name="app1", roles=("voter",))
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, (voter,), COMMAND_LINE)
        yield made


def count_times(stage: WorkflowStage, document: Made) -> int:
    company, instance_id = stage.standing.company, stage.instance_of(document.id)
    explained = explain(company.database, stage.caches().contracts, stage.tenant_id, instance_id)
    return "\n".join(write_instance(explained)).count("The trigger continue")


def test_only_the_times_of_the_open_request_are_told(stage: WorkflowStage) -> None:
    config = {"approvers": [role("voter")], "escalate": {"after": "P1D", "to": role("admin")}}
    config |= {"expire_after": "P9D"}
    node = {"id": "look", "type": "approval", "config": config}
    document = stage.create(stage.publish(approval={"nodes": [node]}), "carl")
    submit(stage, document, "carl")
    assert count_times(stage, document) == 2
    for number in ("X", "Y"):
        edit(stage, document, "carl", number=number)
        stage.drain()
    assert stage.standing.row("SELECT count(*) FROM approval_requests WHERE status = 'voided'") == (2,)
    assert stage.standing.row("SELECT count(*) FROM workflow_events_outbox WHERE due_at > now()") == (6,)
    assert count_times(stage, document) == 2
