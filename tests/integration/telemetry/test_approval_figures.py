"""Figures of approvals: proof that is missing, votes that lapsed, and instances that want people."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from signet.core.approvals.seats.assignment import Deadlock
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.execution.worker import Worker
from signet.engine.telemetry import OTHER_PAUSE, PEOPLE_CODES, WaveStats
from signet.store.tenants.tenants import save_members
from signet.telemetry.fan_out import TelemetryFanOut
from signet.telemetry.log import Log
from signet.telemetry.metrics import Metrics
from tests.scenarios.authority.acts import newest
from tests.support.core.approval_policies import role, user
from tests.support.drained_waves import drain
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage, stopped


@dataclass(frozen=True)
class Watched:
    """A stage whose waves are observed."""

    stage: WorkflowStage
    telemetry: TelemetryFanOut
    stream: io.StringIO

    def ask(self, *nodes: dict[str, Any]) -> Made:
        edges = [
            {"source": one["id"], "target": other["id"], "on": "approved"} for one, other in pairwise(nodes)
        ]
        return self.submit({"nodes": list(nodes), "edges": edges})

    def submit(self, slot: dict[str, Any]) -> Made:
        document = self.stage.create(self.stage.publish(approval=slot))
        self.stage.ask(document.id, "submit", "carl")
        self.work()
        return document

    def vote(self, document: Made, person: str) -> None:
        company = self.stage.standing.company
        approvals = Approvals(company.database, self.stage.caches())
        approvals.decide(company.caller(person), newest(self.stage, document.id), "approved", "seen")
        self.work()

    def work(self) -> None:
        worker = Worker(self.stage.database, self.stage.caches(), CompiledCache(), stopped, self.telemetry)
        drain(worker, [self.stage.tenant_id])

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def total(self, metric: str) -> float:
        return float(sum(line[metric][0] for line in self.lines() if metric in line))

    def paused(self) -> list[tuple[Any, ...]]:
        return [
            (line["level"], line["instance_id"], line["code"])
            for line in self.lines()
            if line.get("message") == "instance paused"
        ]

    def samples(self, name: str) -> dict[Any, float]:
        (figure,) = [figure for figure in self.telemetry.list_figures() if figure.name == name]
        return {labels.get("code"): value for _, labels, value in figure.samples}


@pytest.fixture
def watched(server_url: str) -> Iterator[Watched]:
    stream, service = io.StringIO(), f"test-{uuid4()}"
    telemetry = TelemetryFanOut(Log(service, "INFO", stream), Metrics("signet-test", service, stream))
    with standing_stage(server_url) as stage:
        members = [Member(user_id=name, display_name=name, roles=("voter",)) for name in ("app1", "app2")]
        members += [Member(user_id="carl", display_name="carl", roles=("clerk", "admin"))]
        with stage.standing.company.database.transaction(stage.tenant_id) as connection:
            save_members(connection, stage.tenant_id, tuple(members), COMMAND_LINE)
        yield Watched(stage, telemetry, stream)


def look(name: str, *approvers: Any) -> dict[str, Any]:
    return {"id": name, "type": "approval", "config": {"approvers": list(approvers)}}


def test_an_approval_that_was_written_past_the_api_is_told_at_once(watched: Watched) -> None:
    document = watched.ask(look("first", role("voter")))
    assert watched.total("ApprovalsUnproven") == 0
    watched.stage.standing.run(
        "UPDATE approval_requests SET status = 'approved', applied = false, ended_at = now()"
    )
    watched.stage.wake(document.instance_id)
    watched.work()
    assert watched.total("ApprovalsUnproven") == 1
    assert watched.total("PausesForPeople") == 0
    assert watched.paused() == [("ERROR", str(document.instance_id), "APPROVAL_UNPROVEN")]
    (told,) = [line for line in watched.lines() if line.get("message") == "instance paused"]
    assert told["tenant_id"] == str(watched.stage.tenant_id)
    assert watched.samples("signet_pauses_total") == {"APPROVAL_UNPROVEN": 1}


def test_votes_that_lapse_are_counted(watched: Watched) -> None:
    document = watched.ask(look("first", role("voter")), look("second", role("voter")))
    watched.vote(document, "app1")
    watched.stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'app1'")
    watched.vote(document, "app2")
    assert watched.total("VotesLapsed") == 1
    assert watched.samples("signet_votes_lapsed_total") == {None: 1}
    # The other one has approved already, and counts once.
    assert watched.paused() == [("WARNING", str(document.instance_id), "APPROVAL_NOBODY_ELIGIBLE")]


def test_an_instance_without_people_is_counted_once(watched: Watched) -> None:
    document = watched.ask(look("first", user("carl")))
    assert watched.paused() == [("WARNING", str(document.instance_id), "APPROVAL_NOBODY_ELIGIBLE")]
    assert watched.total("PausesForPeople") == 1
    watched.stage.wake(document.instance_id)
    watched.work()
    assert watched.total("PausesForPeople") == 1, "it was paused before"


def test_a_branch_without_people_is_counted_while_another_runs(watched: Watched) -> None:
    document = watched.submit(
        {
            "nodes": [
                {"id": "fork", "type": "parallel_split"},
                look("first", user("carl")),
                look("second", role("voter")),
                {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
            ],
            "edges": [
                {"id": "a", "source": "fork", "target": "first"},
                {"id": "b", "source": "fork", "target": "second"},
                {"source": "first", "target": "both", "on": "approved"},
                {"source": "second", "target": "both", "on": "approved"},
            ],
        }
    )
    status = "SELECT status FROM workflow_instances WHERE id = %s"
    assert watched.stage.standing.row(status, document.instance_id) == ("running",)
    assert watched.paused() == [("WARNING", str(document.instance_id), "APPROVAL_NOBODY_ELIGIBLE")]
    assert watched.total("PausesForPeople") == 1


def test_codes_are_of_a_closed_set() -> None:
    stats = WaveStats()
    for code in ("ACTOR_NOT_ACTIVE", "HUNTER_2", "STEP_FAILED"):
        stats.count_pause(uuid4(), code)
    assert [paused.code for paused in stats.paused] == ["ACTOR_NOT_ACTIVE", OTHER_PAUSE, OTHER_PAUSE]
    assert {deadlock.value for deadlock in Deadlock} <= PEOPLE_CODES
