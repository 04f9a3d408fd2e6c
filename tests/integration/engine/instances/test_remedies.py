"""A remedy in a message is an act that works: each is done as it says."""

from collections.abc import Callable
from typing import LiteralString

import pytest

from signet.core.errors import Rejected
from signet.engine.instances.incidents import IncidentFilter, list_open
from signet.wiring.engine import make_repairs
from tests.support.operated_instances import check, operating_on, status_of, submitted, version
from tests.support.workflow_stage import CALL, WorkflowStage

WAIT = {"id": "wait", "type": "wait_event", "config": {"key": "paid:{entity.number}"}}
RUN = {"id": "run", "type": "action", "config": {"action": "run"}}
TWICE: LiteralString = "SELECT count(*) FROM incidents WHERE instance_id = %s AND node_id = 'usr:checks:run'"


def refuse(act: Callable[[], object]) -> Rejected:
    with pytest.raises(Rejected) as caught:
        act()
    return caught.value


def test_a_wait_whose_key_has_a_hole_is_skipped(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    company = stage.standing.company
    document = submitted(stage, checks={"nodes": [WAIT]})
    wanted = IncidentFilter(instance_id=document.instance_id)
    (incident,) = list_open(company.database, stage.tenant_id, wanted, limit=2)
    assert incident.code == "EVENT_KEY_INVALID" and "skip" in [act.name for act in incident.acts]
    seen, node = version(stage, document), "usr:checks:wait"
    refused = refuse(lambda: instances.advance(olga, document.instance_id, seen, node, "no time"))
    assert (refused.code, "skip what is held" in refused.remedy) == ("INSTANCE_NOT_RUNNING", True)
    make_repairs(company.database).skip(olga, document.instance_id, seen, node, "no time")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_what_is_held_beside_a_running_branch_is_not_advanced_but_retried(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(
        stage,
        checks={
            "nodes": [
                {"id": "fork", "type": "parallel_split"},
                RUN,
                CALL,
                {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
            ],
            "edges": [
                {"id": "a", "source": "fork", "target": "run"},
                {"id": "b", "source": "fork", "target": "call"},
                {"source": "run", "target": "both"},
                {"source": "call", "target": "both"},
            ],
        },
    )
    seen = version(stage, document)
    refused = refuse(lambda: instances.advance(olga, document.instance_id, seen, "usr:checks:run", "why"))
    assert refused.remedy == "Retry it, or skip it where that is listed."
    instances.retry(olga, document.instance_id, seen, "the module is loaded")
    stage.drain()
    assert stage.standing.row(TWICE, document.instance_id) == (2,)


def test_what_is_held_is_not_woken_but_retried(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks={"nodes": [RUN]})
    refused = refuse(lambda: instances.wake(olga, document.instance_id))
    assert refused.remedy.startswith("Retry or skip what is held")
    instances.retry(olga, document.instance_id, version(stage, document), "the module is loaded")
    again = refuse(lambda: instances.retry(olga, document.instance_id, version(stage, document), "again"))
    assert (again.code, again.remedy) == (
        "INSTANCE_NOT_PAUSED",
        "Nothing of it is held. Wake it, where it should go on.",
    )
    assert instances.wake(olga, document.instance_id).status == "running"


def test_a_paused_instance_takes_in_an_edit_when_it_is_resumed(
    stage: WorkflowStage,
) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks={"nodes": [CALL]})
    instances.pause(olga, document.instance_id, version(stage, document), "wait")
    stage.edit(document.id, amount=2)
    stage.drain()
    refused = refuse(lambda: instances.wake(olga, document.instance_id))
    assert (refused.code, refused.remedy) == ("INSTANCE_NOT_RUNNING", "Resume it.")
    instances.resume(olga, document.instance_id, version(stage, document))
    stage.drain()
    assert status_of(stage, document)[:2] == ("running", ["sys:state:draft"])
