"""People are told of what is held: once for each cause, with the transaction that opens the incident."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.integrations.notifications import Notifications
from signet.ids import make_id
from signet.store.database import Connection
from signet.store.tenants.tenants import save_members
from tests.support.named_things import supply_names
from tests.support.operated_instances import operating_on
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

RUN = {"id": "run", "type": "action", "config": {"action": "run"}}
NOTICES: LiteralString = (
    "SELECT user_id, role, data FROM notifications"
    " WHERE kind = 'incident_opened' AND data ->> 'entity_type' = %s ORDER BY id"
)
PAUSED: LiteralString = (
    "SELECT id, version FROM workflow_instances WHERE entity_type = %s AND status = 'paused'"
)
OPEN: LiteralString = (
    "INSERT INTO incidents (tenant_id, id, instance_id, seq, entity_type, entity_id, code, kind, message,"
    " requester_id, attempts, opened_at)"
    " VALUES (%s, %s, %s, 99, %s, %s, 'STEP_FAILED', 'business', 'no', 'carl', 1, now())"
)
CARETAKERS = "caretaker"


def publish(stage: WorkflowStage) -> str:
    """Publish documents whose first slot is held; a role is told of it."""
    company = stage.standing.company
    supply_names(company.database, stage.tenant_id, roles=[CARETAKERS])
    contract = {**CONTRACT, "on_incident": {"role": CARETAKERS}}
    return stage.publish(contract, checks={"nodes": [RUN]})


def held(stage: WorkflowStage, entity_type: str, person: str = "carl") -> Made:
    document = stage.create(entity_type, person)
    stage.ask(document.id, "submit", person)
    stage.drain()
    return document


def told(stage: WorkflowStage, entity_type: str) -> list[tuple[str | None, str | None]]:
    return [(user, role) for user, role, _ in stage.standing.rows(NOTICES, entity_type)]


def test_the_requester_and_the_role_of_the_contract_are_told(stage: WorkflowStage) -> None:
    entity_type = publish(stage)
    document = held(stage, entity_type)
    person, role = sorted(stage.standing.rows(NOTICES, entity_type), key=lambda row: row[0] is None)
    assert (person[:2], role[:2]) == (("carl", None), (None, CARETAKERS))
    of_instance: LiteralString = "SELECT id::text FROM incidents WHERE instance_id = %s"
    (incident,) = stage.standing.row(of_instance, document.instance_id)
    assert (
        person[2]
        == role[2]
        == {
            "incident_id": incident,
            "code": "ACTION_NOT_LOADED",
            "kind": "configuration",
            "entity_type": entity_type,
            "document_id": str(document.id),
            "instance_id": str(document.instance_id),
            "node": "usr:checks:run",
        }
    )


def test_a_cause_that_is_open_is_told_once_to_each(stage: WorkflowStage) -> None:
    dora = Member(user_id="dora", display_name="Dora", roles=("clerk", "admin"))
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_members(connection, stage.tenant_id, (dora,), COMMAND_LINE)
    entity_type = publish(stage)
    for person in ("carl", "dora", "carl", "dora", "carl"):
        held(stage, entity_type, person)
    assert sorted(told(stage, entity_type), key=str) == [("carl", None), ("dora", None), (None, CARETAKERS)]


def test_many_in_one_wave_are_told_once(stage: WorkflowStage) -> None:
    entity_type = publish(stage)
    documents = [stage.create(entity_type) for _ in range(5)]
    stage.drain()
    for document in documents:
        stage.ask(document.id, "submit")
    stage.drain()
    assert sorted(told(stage, entity_type), key=str) == [("carl", None), (None, CARETAKERS)]


def test_a_cause_that_was_read_is_not_told_again_while_it_is_open(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    entity_type = publish(stage)
    held(stage, entity_type)
    notices, carl = Notifications(stage.standing.company.database), stage.standing.company.caller("carl")
    shown = notices.list_of(carl, is_unread=True)
    unread = [one.id for one in shown if one.data.get("entity_type") == entity_type]
    assert len(unread) == 1 and notices.mark_read(carl, unread) == 1
    held(stage, entity_type)
    assert len(told(stage, entity_type)) == 2, "it is open: the same people know"
    for instance_id, version in stage.standing.rows(PAUSED, entity_type):
        instances.cancel(olga, instance_id, version, "not wanted")
    held(stage, entity_type)
    assert [user for user, role in told(stage, entity_type) if role is None] == ["carl", "carl"]
    assert [role for _, role in told(stage, entity_type) if role] == [CARETAKERS], "the first one is unread"


def test_waves_at_one_time_tell_once(stage: WorkflowStage) -> None:
    """Neither of two transactions sees the incident of the other."""
    entity_type = publish(stage)
    first, second = (stage.create(entity_type) for _ in range(2))

    def open_incident(connection: Connection, document: Made) -> None:
        values = (stage.tenant_id, make_id(), document.instance_id, entity_type, document.id)
        connection.execute(OPEN, values)

    def open_alone() -> None:
        with stage.database.transaction(stage.tenant_id) as connection:
            open_incident(connection, second)

    with ThreadPoolExecutor(1) as threads:
        with stage.database.transaction(stage.tenant_id) as connection:
            open_incident(connection, first)
            other = threads.submit(open_alone)
            stage.standing.wait_until_blocked()
        other.result()
    assert sorted(told(stage, entity_type), key=str) == [("carl", None), (None, CARETAKERS)]


def test_a_dead_trigger_is_told_too(stage: WorkflowStage) -> None:
    rule = {"id": "checks", "type": "rule", "config": {"rules": ["credit"]}}
    entity_type = stage.publish(checks={"nodes": [rule]})
    document = stage.create(entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.standing.run("UPDATE workflow_events_outbox SET max_attempts = 1 WHERE status = 'pending'")
    stage.drain()
    (notice,) = stage.standing.rows(NOTICES, entity_type)
    data: dict[str, Any] = notice[2]
    assert notice[:2] == ("carl", None) and (data["code"], "node" in data) == ("RULE_UNKNOWN", False)


def test_a_person_who_has_left_is_not_told(stage: WorkflowStage) -> None:
    stage.add_member("luke")
    entity_type = publish(stage)
    document = stage.create(entity_type, "luke")
    stage.ask(document.id, "submit", "luke")
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'luke'")
    stage.drain()
    assert told(stage, entity_type) == [(None, CARETAKERS)]


def test_without_a_role_only_the_requester_is_told(stage: WorkflowStage) -> None:
    entity_type = stage.publish(checks={"nodes": [RUN]})
    held(stage, entity_type)
    assert told(stage, entity_type) == [("carl", None)]
