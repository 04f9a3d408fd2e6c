"""The messages that a vote and a gate cost, counted on the wire.

Before people were asked for permissions, and votes counted again, a vote that ends its approval took 14
statements, and the wave behind it 21. A vote takes no more now, and a gate one more: it reads the votes.
"""

from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest

from bench.counting import count_wire
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.store.database import Database, PoolSettings
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import newest, submit
from tests.support.core.approval_policies import user
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.workflow_stage import WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [user("anna")], "quorum": "any"}}
STATEMENTS_OF_A_VOTE, STATEMENTS_OF_THE_WAVE_BEHIND = 14, 20


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = [
            Member(user_id=name, display_name=name, roles=("voter", "clerk", "admin"))
            for name in ("anna", "carl")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(people), COMMAND_LINE)
        yield made


def test_a_vote_costs_no_statement_more_and_a_gate_one(stage: WorkflowStage) -> None:
    entity_type = stage.publish(approval={"nodes": [LOOK]})
    url, one = stage.standing.admin_url, PoolSettings(size=1)
    with (
        closing(Database(as_role(url, "signet_api"), one)) as api,
        closing(Database(as_role(url, "signet_worker"), one)) as workers,
    ):
        approvals, worker = Approvals(api, stage.caches()), stage.worker(database=workers)
        voter = stage.standing.company.caller("anna", "voter")
        counted = []
        for _ in range(3):
            document = stage.create(entity_type)
            submit(stage, document, "carl")
            request_id = newest(stage, document.id)
            vote = count_wire(api, partial(approvals.decide, voter, request_id, "approved", "so"))
            wave = count_wire(workers, partial(drain, worker, [stage.tenant_id]))
            counted.append((vote.statements, wave.statements))
            assert stage.status_of(document.id) == "active"
    # The first of a process reads contract and definition, and writes the sets of persons that are new to it.
    assert counted[1:] == [(STATEMENTS_OF_A_VOTE, STATEMENTS_OF_THE_WAVE_BEHIND + 1)] * 2
    assert counted[0] == (STATEMENTS_OF_A_VOTE + 3, STATEMENTS_OF_THE_WAVE_BEHIND + 4)
