"""A rule changes nothing that a step of the workflow writes, whether people are asked there or not."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.documents.rules import Rule
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.core.validation.strict_model import parse_strictly
from signet.store.definitions.rules import save_rule
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}
STAMP = {"id": "stamp", "type": "action", "config": {"action": "post", "run_as": "system"}}
PAY = {
    "id": "pay",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"account": "{entity.number}"}},
}
POSTING = {"nodes": [STAMP, PAY], "edges": [{"source": "stamp", "target": "pay"}]}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("rudi", "carl", "app2")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def save(stage: WorkflowStage, entity_type: str, condition: str, number: str) -> None:
    """Save rudi's rule, which sets the number in what steps write."""
    document = {
        "name": "launder",
        "entity_type": entity_type,
        "phase": "before",
        "operations": ["action", "update"],
        "condition": {"expression": condition},
        "actions": [{"kind": "set", "values": {"number": number}}],
    }
    rule, findings = parse_strictly(Rule, document)
    assert rule is not None, findings
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_rule(connection, stage.tenant_id, rule, frozenset({"rudi"}))


def publish(stage: WorkflowStage, window: str, **slots: Any) -> str:
    states = {**CONTRACT["states"], "active": {"edit": window, "settled": True}}
    contract = {**CONTRACT, "states": states, "amendment": {"from": ["active"]}}
    return stage.publish(contract, **slots)


def submitted(stage: WorkflowStage, entity_type: str) -> Made:
    made = stage.create(entity_type, "carl", number="DE-OWN")
    submit(stage, made, "carl")
    return made


def paid(stage: WorkflowStage, document: Made) -> list[str]:
    query = "SELECT payload_json FROM workflow_side_effects_outbox WHERE instance_id = %s"
    rows = stage.standing.rows(query, document.instance_id)
    return [row[0]["payload"]["account"] for row in rows]


def number_of(stage: WorkflowStage, document: Made) -> str:
    (number,) = stage.standing.row("SELECT data ->> 'number' FROM documents WHERE id = %s", document.id)
    return str(number)


def incidents(stage: WorkflowStage, document: Made) -> list[str]:
    query = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
    return [row[0] for row in stage.standing.rows(query, document.id)]


@pytest.mark.parametrize("window", ["editable", "amend_only"])
def test_a_rule_sets_nothing_behind_the_gate_that_people_have_approved(
    stage: WorkflowStage, window: str
) -> None:
    """Rudi approves before the rule has fired; then it takes the stamp of a step as its sign."""
    entity_type = publish(stage, window, approval={"nodes": [LOOK]}, posting=POSTING)
    save(stage, entity_type, "entity.is_posted == true", "DE-FRAUD")
    made = submitted(stage, entity_type)
    assert vote(stage, made.id, "rudi") == "approved"
    assert (stage.status_of(made.id), number_of(stage, made), paid(stage, made)) == ("active", "DE-OWN", [])
    assert incidents(stage, made) == ["RULE_SETS_APPROVED"]
    save(stage, entity_type, "entity.amount > 99", "DE-FRAUD")
    stage.retry(made, stage.standing.company.caller("olga", "admin"))
    assert (paid(stage, made), incidents(stage, made)) == (["DE-OWN"], [])


@pytest.mark.parametrize(
    ("condition", "number"), [("entity.is_posted == true", "DE-OWN"), ("entity.amount > 99", "DE-FRAUD")]
)
def test_a_rule_that_changes_nothing_is_no_obstacle(
    stage: WorkflowStage, condition: str, number: str
) -> None:
    """The lawful way: the rule sets what the document says already, or does not fire."""
    entity_type = publish(stage, "editable", approval={"nodes": [LOOK]}, posting=POSTING)
    save(stage, entity_type, condition, number)
    made = submitted(stage, entity_type)
    assert vote(stage, made.id, "rudi") == "approved"
    assert (paid(stage, made), incidents(stage, made)) == (["DE-OWN"], [])


SLOTS: Mapping[str, Mapping[str, Any]] = {
    "before": {"checks": {"nodes": [STAMP]}, "approval": {"nodes": [LOOK]}},
    "without": {"posting": POSTING},
}


@pytest.mark.parametrize("way", SLOTS)
def test_a_rule_changes_nothing_that_a_step_writes(stage: WorkflowStage, way: str) -> None:
    entity_type = publish(stage, "editable", **SLOTS[way])
    save(stage, entity_type, "entity.is_posted == true", "DE-RULE")
    made = submitted(stage, entity_type)
    assert (number_of(stage, made), incidents(stage, made)) == ("DE-OWN", ["RULE_SETS_APPROVED"])


def test_a_rule_sets_values_of_what_people_send(stage: WorkflowStage) -> None:
    """The lawful way: a person's edit takes the value, and the rule's author counts as an editor."""
    entity_type = publish(stage, "editable", **SLOTS["before"])
    save(stage, entity_type, "entity.amount == 7", "DE-RULE")
    made = stage.create(entity_type, "carl", number="DE-OWN")
    edit(stage, made, "carl", amount=7)
    submit(stage, made, "carl")
    assert (number_of(stage, made), incidents(stage, made)) == ("DE-RULE", [])
    assert vote(stage, made.id, "rudi") == "SEPARATION_OF_DUTIES"


def test_a_rule_changes_nothing_in_the_slot_of_a_request_that_decides(stage: WorkflowStage) -> None:
    """Rudi confirms what the document says. Then the stamp is the sign for rudi's rule."""
    transitions = {**CONTRACT["transitions"], "release": {"from": ["submitted"], "to": "active"}}
    transitions["release"]["kind"] = "requested"
    del transitions["approve"]
    slots = {
        "checks": {"transition": "submit"},
        "ready": {"transition": "release"},
        "posting": {"transition": "release", "position": "after"},
    }
    contract = {
        **CONTRACT,
        "transitions": transitions,
        "slots": slots,
        "separation_of_duties": {"deciding": ["release"]},
    }
    entity_type = stage.publish(contract, ready={"nodes": [STAMP]}, posting={"nodes": [PAY]})
    save(stage, entity_type, "entity.is_posted == true", "DE-FRAUD")
    made = submitted(stage, entity_type)
    stage.ask(made.id, "release", "rudi")
    stage.drain()
    assert (number_of(stage, made), paid(stage, made)) == ("DE-OWN", [])
    assert incidents(stage, made) == ["RULE_SETS_APPROVED"]


def test_a_rule_changes_nothing_after_a_condition_has_let_the_document_past(stage: WorkflowStage) -> None:
    """The amount asks nobody; then an honest rule would take another account at the stamp."""
    way = {
        "nodes": [{"id": "choice", "type": "condition"}, LOOK, STAMP],
        "edges": [
            {"source": "choice", "target": "look", "condition": "entity.number != 'DE-OWN'"},
            {"source": "choice", "target": "stamp"},
            {"source": "look", "target": "out"},
            {"source": "stamp", "target": "out"},
        ],
        "exit": "join",
    }
    entity_type = publish(stage, "editable", approval=way, posting={"nodes": [PAY]})
    save(stage, entity_type, "entity.is_posted == true", "DE-OTHER")
    made = submitted(stage, entity_type)
    assert (stage.status_of(made.id), paid(stage, made)) == ("submitted", [])
    assert incidents(stage, made) == ["RULE_SETS_APPROVED"]
