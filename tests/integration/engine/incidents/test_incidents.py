"""An incident is open while something is held; it closes with the step that lets it go."""

from typing import Any, LiteralString

import pytest
from psycopg import DatabaseError

from signet.core.errors import Rejected
from signet.core.explain.instance import write_instance
from signet.engine.cache import CompiledCache
from signet.engine.instances.explain import explain
from signet.engine.instances.incidents import IncidentFilter, Incidents
from tests.support.operated_instances import check, operating_on, status_of, submitted, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

INCIDENTS: LiteralString = (
    "SELECT node_id, code, kind, attempts, closing, closed_by FROM incidents"
    " WHERE instance_id = %s ORDER BY id"
)
OPEN: LiteralString = (
    "SELECT count(*) FROM incidents WHERE instance_id = %s AND closed_at IS NULL AND id IS NOT NULL"
)
RUN = {"id": "run", "type": "action", "config": {"action": "run"}}
NOT_LOADED = "ACTION_NOT_LOADED"


def make_block(mode: str) -> dict[str, Any]:
    return {
        "nodes": [
            {"id": "fork", "type": "parallel_split"},
            RUN,
            CALL,
            {"id": "both", "type": "parallel_join", "config": {"mode": mode}},
        ],
        "edges": [
            {"id": "a", "source": "fork", "target": "run"},
            {"id": "b", "source": "fork", "target": "call"},
            {"source": "run", "target": "both"},
            {"source": "call", "target": "both"},
        ],
    }


def incidents_of(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(INCIDENTS, document.instance_id)


def count_open(stage: WorkflowStage, document: Made) -> int:
    (count,) = stage.standing.row(OPEN, document.instance_id)
    return int(count)


def test_a_failed_step_is_an_incident_until_it_is_retried(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks={"nodes": [CALL]})
    stage.answer(document.instance_id, error="gone")
    stage.drain()
    open_one = ("usr:checks:call", "EFFECT_DEAD", "outside", 1, None, None)
    assert incidents_of(stage, document) == [open_one]
    instances.retry(olga, document.instance_id, version(stage, document), "the bureau is back")
    assert incidents_of(stage, document) == [(*open_one[:4], "retried", "olga")]
    stage.drain()
    stage.answer(document.instance_id, error="gone again")
    stage.drain()
    assert incidents_of(stage, document)[1] == ("usr:checks:call", "EFFECT_DEAD", "outside", 2, None, None)
    instances.retry(olga, document.instance_id, version(stage, document), "once more")
    stage.drain()
    stage.answer(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "active" and count_open(stage, document) == 0
    check(stage, document)


def test_a_held_branch_lets_the_other_run_on(stage: WorkflowStage) -> None:
    document = submitted(stage, checks=make_block("all"))
    assert status_of(stage, document)[0] == "running"
    assert incidents_of(stage, document) == [("usr:checks:run", NOT_LOADED, "configuration", 1, None, None)]
    stage.answer(document.instance_id)
    stage.drain()
    status, nodes, reason = status_of(stage, document)
    assert (status, nodes) == ("paused", ["usr:checks:run"]) and reason.startswith(NOT_LOADED)
    check(stage, document)


def test_a_block_that_ends_without_the_held_branch_overtakes_it(stage: WorkflowStage) -> None:
    document = submitted(stage, checks=make_block("any"))
    stage.answer(document.instance_id)
    stage.drain()
    assert [row[4] for row in incidents_of(stage, document)] == ["overtaken"]
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_an_edit_withdraws_what_is_held(stage: WorkflowStage) -> None:
    document = submitted(stage, checks={"nodes": [CALL]})
    stage.answer(document.instance_id, error="gone")
    stage.drain()
    stage.edit(document.id, amount=2)
    stage.drain()
    assert [(row[4], row[5]) for row in incidents_of(stage, document)] == [("withdrawn", "signet:system")]
    assert status_of(stage, document)[:2] == ("running", ["sys:state:draft"])
    check(stage, document)


@pytest.mark.parametrize("act", ["cancel", "fail"])
def test_the_end_of_an_instance_closes_its_incidents(stage: WorkflowStage, act: str) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks=make_block("all"))
    do = {"cancel": instances.cancel, "fail": instances.fail}[act]
    do(olga, document.instance_id, version(stage, document), "not wanted")
    assert [(row[4], row[5]) for row in incidents_of(stage, document)] == [("ended", "olga")]


def test_a_held_gate_is_an_incident_of_business(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    entity_type = stage.publish()
    stage.add_rule(entity_type, "closed", "entity.status == 'active'", on="transition")
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    assert incidents_of(stage, document) == [("sys:gate:approve", "RULE_REJECTED", "business", 1, None, None)]
    stage.standing.run("DELETE FROM rules WHERE name = 'closed'")
    instances.retry(olga, document.instance_id, version(stage, document), "the rule is gone")
    stage.drain()
    assert [row[4] for row in incidents_of(stage, document)] == ["retried"]
    assert stage.status_of(document.id) == "active"


def test_a_gate_that_a_rule_holds_says_what_the_rule_read(stage: WorkflowStage) -> None:
    entity_type = stage.publish()
    stage.add_rule(entity_type, "closed", "entity.status == 'active'", on="transition")
    made = stage.create(entity_type)
    stage.ask(made.id, "submit")
    stage.drain()
    kept = stage.standing.rows(
        "SELECT rule, operation, actor_id, origin, instance_id FROM rule_executions"
        " WHERE is_rejection AND document_id = %s",
        made.id,
    )
    assert kept == [("closed", "transition", "signet:system", {"via": "workflow"}, made.instance_id)]
    company = stage.standing.company
    contracts = stage.caches().contracts
    explained = explain(company.database, contracts, stage.tenant_id, made.instance_id)
    (rejection,) = explained.rejections
    assert (rejection.rule, rejection.operation) == ("closed", "transition")
    assert rejection.condition.variables == {"entity.status": "active"}
    lines = write_instance(explained)
    assert "What rules have rejected, the newest first" in lines


def test_a_dead_trigger_is_an_incident_of_the_whole(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    rule = {"id": "checks", "type": "rule", "config": {"rules": ["credit"]}}
    entity_type = stage.publish(checks={"nodes": [rule]})
    document = stage.create(entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.standing.run("UPDATE workflow_events_outbox SET max_attempts = 1 WHERE status = 'pending'")
    stage.drain()
    assert incidents_of(stage, document) == [(None, "RULE_UNKNOWN", "configuration", 1, None, None)]
    instances.retry(olga, document.instance_id, version(stage, document), "there is a rule now")
    assert count_open(stage, document) == 0


def test_a_pause_by_a_person_is_no_incident(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks={"nodes": [CALL]})
    instances.pause(olga, document.instance_id, version(stage, document), "the supplier is being checked")
    assert incidents_of(stage, document) == []


def test_a_closed_incident_stays_as_it_is(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks={"nodes": [RUN]})
    instances.retry(olga, document.instance_id, version(stage, document), "why not")
    assert [row[4] for row in incidents_of(stage, document)] == ["retried"]
    with pytest.raises(DatabaseError, match="is closed"):
        stage.standing.run(
            "UPDATE incidents SET closing = 'ended' WHERE instance_id = %s", document.instance_id
        )


def acts_offered(stage: WorkflowStage, document: Made) -> list[str]:
    instances, olga = operating_on(stage)
    incidents = Incidents(stage.standing.company.database, CompiledCache(), instances)
    wanted = IncidentFilter(instance_id=document.instance_id)
    (incident,) = incidents.list_newest(olga.principal, wanted, before=None, limit=10)
    return [act.name for act in incident.acts]


def test_an_incident_offers_no_retry_where_a_person_has_paused_the_instance(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks=make_block("all"))
    assert acts_offered(stage, document)[0] == "retry"
    instances.pause(olga, document.instance_id, version(stage, document), "the supplier is being checked")
    assert acts_offered(stage, document) == ["resume", "cancel", "fail"]
    with pytest.raises(Rejected) as caught:
        instances.retry(olga, document.instance_id, version(stage, document), "once more")
    assert caught.value.code == "INSTANCE_PAUSED_BY_PERSON"


def test_to_resume_lifts_the_pause_and_leaves_what_is_held(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks=make_block("all"))
    instances.pause(olga, document.instance_id, version(stage, document), "the supplier is being checked")
    instances.resume(olga, document.instance_id, version(stage, document))
    stage.drain()
    assert status_of(stage, document)[0] == "running"
    ((_, code, _, attempts, closing, _),) = incidents_of(stage, document)
    assert (code, attempts, closing) == (NOT_LOADED, 1, None)
    assert acts_offered(stage, document)[0] == "retry"
    check(stage, document)
    # With its other branch answered nothing goes on: only a retry lets it go, and says why.
    stage.answer(document.instance_id)
    stage.drain()
    assert status_of(stage, document)[0] == "paused"
    with pytest.raises(Rejected) as caught:
        instances.resume(olga, document.instance_id, version(stage, document))
    assert (caught.value.code, caught.value.remedy) == ("INSTANCE_NOT_PAUSED", "Retry it, and say why.")
    instances.retry(olga, document.instance_id, version(stage, document), "once more")
    assert [row[4] for row in incidents_of(stage, document)] == ["retried"]


def test_many_are_retried_from_the_oldest_on(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Come to those behind it with the next act: an incident that fails again is a new one."""
    monkeypatch.setattr("signet.engine.instances.incidents.MAX_RETRIED", 1)
    instances, olga = operating_on(stage)
    contract = stage.publish(checks={"nodes": [RUN]})
    held = [stage.create(contract) for _ in range(2)]
    for document in held:
        stage.ask(document.id, "submit")
        stage.drain()
    incidents = Incidents(stage.standing.company.database, CompiledCache(), instances)
    wanted = IncidentFilter(True, NOT_LOADED, entity_type=contract)
    tried = []
    for _ in range(3):
        ((instance_id, _outcome),) = incidents.retry_many(olga, wanted, "is it loaded?")
        tried.append(instance_id)
        stage.drain()
    assert tried == [held[0].instance_id, held[1].instance_id, held[0].instance_id]
