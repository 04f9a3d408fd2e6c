"""Requesters are told of what operators and colleagues do, and of nothing that they do themselves."""

from collections.abc import Callable
from typing import Any, LiteralString

import pytest

from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.engine.instances.repairs import Repairs
from tests.support.operated_instances import submitted, version
from tests.support.workflow_stage import Made, WorkflowStage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "role", "role": "voter"}]}}
WHY, LOOK_ID = "ask Otto", "usr:approval:look"
TOLD: LiteralString = (
    "SELECT user_id, kind, data FROM notifications WHERE data ->> 'document_id' = %s"
    " AND kind IN ('operator_acted', 'workflow_interrupted') ORDER BY id"
)
Acts = Callable[[Instances, Repairs, Caller, Made, int], Any]
ACTS: dict[str, Acts] = {
    "pause": lambda acts, repairs, by, made, seen: acts.pause(by, made.instance_id, seen, WHY),
    "cancel": lambda acts, repairs, by, made, seen: acts.cancel(by, made.instance_id, seen, WHY, "leave"),
    "cancel_token": lambda acts, repairs, by, made, seen: acts.cancel_token(
        by, made.instance_id, seen, LOOK_ID, WHY
    ),
    "go_to": lambda acts, repairs, by, made, seen: repairs.go_to(
        by, made.instance_id, seen, "sys:state:submitted", WHY
    ),
}


@pytest.fixture(autouse=True)
def voter(stage: WorkflowStage) -> None:
    stage.add_member("vera")


def act(stage: WorkflowStage, made: Made, name: str, person: str) -> None:
    company = stage.standing.company
    database, caches = company.database, stage.caches()
    instances, repairs = (
        Instances(database, caches, CompiledCache()),
        Repairs(database, caches, CompiledCache()),
    )
    ACTS[name](instances, repairs, company.caller(person, "admin"), made, version(stage, made))


def told(stage: WorkflowStage, made: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(TOLD, str(made.id))


@pytest.mark.parametrize("name", ACTS)
def test_who_asked_is_told_of_an_operators_act_with_its_reason(stage: WorkflowStage, name: str) -> None:
    made = submitted(stage, approval={"nodes": [LOOK]})
    act(stage, made, name, "olga")
    ((person, kind, data),) = told(stage, made)
    assert (person, kind) == ("carl", "operator_acted")
    assert data == {
        "act": name,
        "reason": WHY,
        "by": "olga",
        "entity_type": data["entity_type"],
        "document_id": str(made.id),
        "instance_id": str(made.instance_id),
    }


def test_nobody_is_told_of_their_own_act(stage: WorkflowStage) -> None:
    made = submitted(stage, approval={"nodes": [LOOK]})
    act(stage, made, "pause", "carl")
    assert told(stage, made) == []


def test_nobody_is_told_of_an_act_that_only_wakes(stage: WorkflowStage) -> None:
    made, company = submitted(stage, approval={"nodes": [LOOK]}), stage.standing.company
    instances = Instances(company.database, stage.caches(), CompiledCache())
    instances.wake(company.caller("olga", "admin"), made.instance_id)
    instances.pause(
        company.caller("olga", "admin"), made.instance_id, version(stage, made), WHY, dry_run=True
    )
    assert told(stage, made) == []


@pytest.mark.parametrize(("colleague", "people"), [("dora", ["carl"]), ("carl", [])])
def test_who_asked_is_told_that_a_colleague_ended_it(
    stage: WorkflowStage, colleague: str, people: list[str]
) -> None:
    stage.add_member("dora")
    made = submitted(stage, approval={"nodes": [LOOK]})
    stage.ask(made.id, "cancel", colleague)
    stage.drain()
    assert stage.status_of(made.id) == "cancelled"
    found = told(stage, made)
    assert [(person, kind) for person, kind, _ in found] == [
        (name, "workflow_interrupted") for name in people
    ]
    for _, _, data in found:
        assert (data["transition"], data["by"]) == ("cancel", "dora")


def test_who_has_left_is_told_nothing(stage: WorkflowStage) -> None:
    stage.add_member("lea")
    made = stage.create(stage.publish(None, approval={"nodes": [LOOK]}), "lea")
    stage.ask(made.id, "submit", "lea")
    stage.drain()
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'lea'")
    act(stage, made, "go_to", "olga")
    stage.drain()
    stage.ask(made.id, "cancel", "carl")
    stage.drain()
    assert stage.status_of(made.id) == "cancelled"
    assert told(stage, made) == []


@pytest.mark.parametrize("how", ["go_to", "cancel"])
def test_of_a_key_the_owners_who_are_still_here_are_told(stage: WorkflowStage, how: str) -> None:
    """Carl acts, and is an owner too: nobody is told of what they did themselves."""
    for name in ("kim", "gone"):
        stage.add_member(name)
    made = submitted(stage, approval={"nodes": [LOOK]})
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'gone'")
    stage.standing.run(
        "INSERT INTO responsible_sets (tenant_id, hash, persons)"
        " VALUES (%s, sha256(convert_to(E'carl\ngone\nkim', 'UTF8')), '{carl,gone,kim}')"
        " ON CONFLICT DO NOTHING",
        stage.tenant_id,
    )
    stage.standing.run(
        "UPDATE workflow_instances SET actor_id = 'key:it',"
        " responsible = sha256(convert_to(E'carl\ngone\nkim', 'UTF8')) WHERE id = %s",
        made.instance_id,
    )
    if how == "cancel":
        stage.ask(made.id, how, "carl")
        stage.drain()
    else:
        act(stage, made, how, "carl")
    assert [person for person, _, _ in told(stage, made)] == ["kim"]
