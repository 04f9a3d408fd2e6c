"""A rule changes nothing that a step gives a new document, and nothing that its own steps write."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.documents.rules import Rule
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.core.validation.strict_model import parse_strictly
from signet.store.definitions.rules import save_rule
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}
STAMP = {"id": "stamp", "type": "action", "config": {"action": "post", "run_as": "system"}}
MAKE = {"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}
HELD = ["RULE_SETS_APPROVED"]


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("rudi", "carl", "app2")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def save(
    stage: WorkflowStage, entity_type: str, operation: str, condition: str, number: str, name: str = "launder"
) -> None:
    """Save rudi's rule, which sets the account of payments."""
    document = {
        "name": name,
        "entity_type": entity_type,
        "phase": "before",
        "operations": [operation],
        "condition": {"expression": condition},
        "actions": [{"kind": "set", "values": {"number": number}}],
    }
    rule, findings = parse_strictly(Rule, document)
    assert rule is not None, findings
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_rule(connection, stage.tenant_id, rule, frozenset({"rudi"}))


NUMBER: Mapping[str, Any] = {"number": "{entity.number}"}


def orders(
    stage: WorkflowStage, *, is_asked: bool = True, given: Mapping[str, Any] = NUMBER, **slots: Any
) -> tuple[str, str]:
    """Publish payments with these slots, and orders that make one, behind an approval or without."""
    payment = stage.publish(**slots)
    make = {"kind": "create", "entity_type": payment, "set": dict(given)}
    contract = {**CONTRACT, "actions": {"make": make}}
    asked = {"approval": {"nodes": [LOOK]}} if is_asked else {}
    return stage.publish(contract, **asked, posting={"nodes": [MAKE]}), payment


def ordered(stage: WorkflowStage, order: str) -> Made:
    made = stage.create(order, "carl", number="DE-OK")
    submit(stage, made, "carl")
    return made


def accounts(stage: WorkflowStage, payment: str) -> list[str]:
    query = "SELECT data ->> 'number' FROM documents WHERE entity_type = %s"
    return [row[0] for row in stage.standing.rows(query, payment)]


def incidents(stage: WorkflowStage, entity_type: str) -> list[str]:
    query = "SELECT code FROM incidents WHERE entity_type = %s AND closed_at IS NULL"
    return [row[0] for row in stage.standing.rows(query, entity_type)]


@pytest.mark.parametrize("is_later", [False, True])
def test_a_rule_sets_nothing_in_what_a_step_makes_behind_the_gate(
    stage: WorkflowStage, is_later: bool
) -> None:
    """Rudi approves the order, which shows DE-OK; the rule was saved before it was asked, or after."""
    order, payment = orders(stage)
    if not is_later:
        save(stage, payment, "create", "true", "DE-RULE")
    made = ordered(stage, order)
    if is_later:
        save(stage, payment, "create", "true", "DE-RULE")
    assert vote(stage, made.id, "rudi") == "approved"
    assert (accounts(stage, payment), incidents(stage, order)) == ([], HELD)
    save(stage, payment, "create", "entity.amount > 99", "DE-RULE")
    stage.retry(made, stage.standing.company.caller("olga", "admin"))
    assert (accounts(stage, payment), incidents(stage, order)) == (["DE-OK"], [])


def test_a_rule_sets_nothing_in_the_slots_of_what_was_made(stage: WorkflowStage) -> None:
    """The rule takes a stamp by the payment's own step as its sign."""
    order, payment = orders(stage, checks={"nodes": [STAMP]})
    save(stage, payment, "action", "entity.is_posted == true", "DE-RULE")
    made = ordered(stage, order)
    assert vote(stage, made.id, "rudi") == "approved"
    (payment_id,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", payment)
    submit(stage, Made(payment_id, stage.instance_of(payment_id)), "carl")
    assert (accounts(stage, payment), incidents(stage, payment)) == (["DE-OK"], HELD)


def test_a_rule_that_sets_what_the_step_has_set_is_no_obstacle(stage: WorkflowStage) -> None:
    order, payment = orders(stage)
    save(stage, payment, "create", "true", "DE-OK")
    made = ordered(stage, order)
    assert vote(stage, made.id, "rudi") == "approved"
    assert (accounts(stage, payment), incidents(stage, order)) == (["DE-OK"], [])


def test_a_rule_sets_what_the_step_leaves_empty(stage: WorkflowStage) -> None:
    """The lawful way: the action gives no number, and the rule fills it."""
    order, payment = orders(stage, given={"amount": 1})
    save(stage, payment, "create", "true", "DE-RULE")
    made = ordered(stage, order)
    assert vote(stage, made.id, "rudi") == "approved"
    assert (accounts(stage, payment), incidents(stage, order)) == (["DE-RULE"], [])


def test_a_rule_may_set_a_field_that_a_rule_before_it_has_filled(stage: WorkflowStage) -> None:
    order, payment = orders(stage, given={"amount": 1})
    save(stage, payment, "create", "true", "DE-FIRST")
    save(stage, payment, "create", "true", "DE-SECOND", name="second")
    made = ordered(stage, order)
    assert vote(stage, made.id, "rudi") == "approved"
    assert (accounts(stage, payment), incidents(stage, order)) == (["DE-SECOND"], [])


ELSEWHERE = {
    "nodes": [LOOK, {**STAMP, "id": "note"}],
    "edges": [{"source": "look", "target": "note"}, {"source": "look", "target": "note", "on": "rejected"}],
}
SLOTS: Mapping[str, Mapping[str, Any]] = {
    "asked": {"checks": {"nodes": [STAMP]}, "approval": {"nodes": [LOOK]}},
    "asked elsewhere": {"checks": {"nodes": [STAMP]}, "posting": ELSEWHERE},
    "unasked": {"checks": {"nodes": [STAMP]}},
}


@pytest.mark.parametrize("way", SLOTS)
@pytest.mark.parametrize("is_asked", [True, False])
def test_a_rule_changes_nothing_whomever_the_payment_asks(
    stage: WorkflowStage, way: str, is_asked: bool
) -> None:
    """The payment's workflow may ask people on another way than the one that is gone."""
    order, payment = orders(stage, is_asked=is_asked, **SLOTS[way])
    save(stage, payment, "action", "entity.is_posted == true", "DE-RULE")
    made = ordered(stage, order)
    if is_asked:
        assert vote(stage, made.id, "rudi") == "approved"
    (payment_id,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", payment)
    submit(stage, Made(payment_id, stage.instance_of(payment_id)), "carl")
    assert (accounts(stage, payment), incidents(stage, payment)) == (["DE-OK"], HELD)


def test_a_rule_changes_nothing_in_what_is_made_of_what_was_made(stage: WorkflowStage) -> None:
    """An approved order makes a payment, and that makes a transfer, which a rule is about."""
    transfer = stage.publish()
    make = {"kind": "create", "entity_type": transfer, "set": dict(NUMBER)}
    payment = stage.publish({**CONTRACT, "actions": {"make": make}}, checks={"nodes": [MAKE]})
    order = stage.publish(
        {**CONTRACT, "actions": {"make": {**make, "entity_type": payment}}},
        approval={"nodes": [LOOK]},
        posting={"nodes": [MAKE]},
    )
    save(stage, transfer, "create", "true", "DE-RULE")
    made = ordered(stage, order)
    assert vote(stage, made.id, "rudi") == "approved"
    (payment_id,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", payment)
    submit(stage, Made(payment_id, stage.instance_of(payment_id)), "carl")
    assert (accounts(stage, transfer), incidents(stage, payment)) == ([], HELD)
    save(stage, transfer, "create", "false", "DE-RULE")
    stage.retry(
        Made(payment_id, stage.instance_of(payment_id)), stage.standing.company.caller("olga", "admin")
    )
    assert (accounts(stage, transfer), incidents(stage, payment)) == (["DE-OK"], [])
