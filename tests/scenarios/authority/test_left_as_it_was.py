"""Values that another document's workflow has left as they were: who kept its step back is behind them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.documents.rules import Rule
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.core.validation.strict_model import parse_strictly
from signet.engine.documents.commands import Create
from signet.store.definitions.rules import save_rule
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, list_asked, submit, vote
from tests.scenarios.authority.test_failures_choose_no_way import BOSS, held, repair, set_permissions
from tests.scenarios.authority.test_persons_of_conditions import APPROVED, DUTIES, LOOK, where
from tests.support.automated_documents import automate
from tests.support.machines import add_account
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

CLASSIFY: Mapping[str, Any] = {
    "id": "classify",
    "type": "action",
    "config": {"action": "classify", "run_as": "system"},
}
PLAIN = {"id": "other", "type": "condition", "config": {}}
OF_GROUP, OF_OWN = "entity.group.number != 'B'", "entity.memo != 'B'"
RISKY = "entity.vendor.status != 'active' || entity.vendor.tier == 'risky'"
READS = {"tier": {"type": "string"}, "status": {"type": "string"}}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = dict.fromkeys(("vlad", "app2", "carl", "mia"), ("voter", "admin"))
        people["olga"] = ("boss", "admin")
        made.standing.run(
            "INSERT INTO roles (tenant_id, role, permissions)"
            " SELECT %s, unnest('{boss,noter}'::text[]), '{}'",
            made.tenant_id,
        )
        members = [Member(user_id=name, display_name=name, roles=roles) for name, roles in people.items()]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def contract_of(group: str, **classified: Any) -> dict[str, Any]:
    """Make a contract of vendors whose tier a step may set."""
    fields = {
        **CONTRACT["fields"],
        "group": {"type": "ref", "entity_type": group, "reads": {"number": {"type": "string"}}},
        "memo": {"type": "string"},
        "tier": {"type": "string"},
        "code": {"type": "string", "unique": True, "required": True, "max_length": 9},
    }
    classify = {"kind": "update", "set": {"tier": "risky", **classified}}
    return {**CONTRACT, "fields": fields, "actions": {"classify": classify}}


def publish_order(stage: WorkflowStage, vendor: str, condition: str = RISKY, **read: Any) -> str:
    """Publish orders about which the boss is asked, too, where the vendor's tier is bad."""
    ref = {"type": "ref", "entity_type": vendor, "reads": read or READS}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": ref}}
    return stage.publish(contract, checks=where(condition, BOSS), approval={"nodes": [LOOK]})


def supply(stage: WorkflowStage, vendor: str, group: str, **data: Any) -> tuple[Made, Made]:
    """Let mia make a group and a vendor of it, whose tier she types."""
    grouped = stage.create(group, "mia", number="A")
    given = {"tier": "ok", "memo": "A", "code": "own", **data, "group": str(grouped.id)}
    return grouped, stage.create(vendor, "mia", **given)


def tier_of(stage: WorkflowStage, supplier: Made) -> Any:
    return stage.standing.row("SELECT data ->> 'tier' FROM documents WHERE id = %s", supplier.id)[0]


def order_about(stage: WorkflowStage, order: str, supplier: Made) -> Made:
    made = stage.create(order, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    return made


# --- a condition or a rule leads past the step ---


def past_a_rule_node(stage: WorkflowStage, group: str) -> str:
    vendor = stage.publish(contract_of(group))
    stage.add_rule(vendor, "clean", OF_GROUP, on="delete")
    rule = {"id": "rule", "type": "rule", "config": {"rules": ["clean"]}}
    edges = [
        {"source": "rule", "target": "out"},
        {"source": "rule", "target": "classify", "on": "rejected"},
        {"source": "classify", "target": "out"},
    ]
    stage.publish_next(vendor, checks={"nodes": [rule, CLASSIFY], "edges": edges, "exit": "join"})
    return vendor


def past_a_rule_that_sets(stage: WorkflowStage, group: str) -> str:
    vendor = stage.publish(contract_of(group))
    document = {
        "name": "tiers",
        "entity_type": vendor,
        "phase": "before",
        "operations": ["update"],
        "condition": {"expression": OF_OWN},
        "actions": [{"kind": "set", "values": {"tier": "risky"}}],
    }
    rule, findings = parse_strictly(Rule, document)
    assert rule is not None, findings
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_rule(connection, stage.tenant_id, rule, frozenset())
    return vendor


def past_an_automation(stage: WorkflowStage, group: str) -> str:
    vendor = stage.publish(contract_of(group))
    graph = where(OF_OWN, CLASSIFY)
    automate(stage, vendor, {"on": "transition", "to": "active"}, *graph["nodes"], edges=graph["edges"])
    return vendor


def past_a_trigger(stage: WorkflowStage, group: str) -> str:
    vendor = stage.publish(contract_of(group))
    automate(stage, vendor, {"on": "transition", "to": "active", "condition": OF_OWN}, CLASSIFY)
    return vendor


WAYS = {
    "an automation": past_an_automation,
    "the condition of a trigger": past_a_trigger,
    "a condition before the gate": lambda stage, group: stage.publish(
        contract_of(group), checks=where(OF_GROUP, CLASSIFY)
    ),
    "a condition behind the gate": lambda stage, group: stage.publish(
        contract_of(group), posting=where(OF_GROUP, CLASSIFY)
    ),
    "a condition on the own field": lambda stage, group: stage.publish(
        contract_of(group), checks=where(OF_OWN, CLASSIFY)
    ),
    "a function in Python": lambda stage, group: stage.publish(
        {**contract_of(group), "actions": CONTRACT["actions"]},
        checks=where(OF_GROUP, {**CLASSIFY, "config": {"action": "run", "run_as": "system"}}),
    ),
    "a rule node": past_a_rule_node,
    "a rule that sets": past_a_rule_that_sets,
}


OF_OWN_FIELDS = (
    "a condition on the own field",
    "a rule that sets",
    "an automation",
    "the condition of a trigger",
)


def mislead(stage: WorkflowStage, way: str) -> tuple[Made, str]:
    """Let vlad have the workflow of mia's vendor leave its tier as she typed it."""
    group = stage.publish()
    vendor = WAYS[way](stage, group)
    is_own = way in OF_OWN_FIELDS
    grouped = stage.create(group, "mia", number="A")
    if not is_own:
        edit(stage, grouped, "vlad", number="B")
    supplier = stage.create(vendor, "mia", tier="ok", memo="A", code="own", group=str(grouped.id))
    if is_own:
        edit(stage, supplier, "vlad", memo="B")
    edit(stage, supplier, "mia", tier="fine")
    submit(stage, supplier, "mia")
    assert (tier_of(stage, supplier), stage.status_of(supplier.id)) == ("fine", "active")
    return supplier, vendor


@pytest.mark.parametrize("way", WAYS)
def test_who_leads_past_the_step_does_not_approve_what_reads_its_field(
    stage: WorkflowStage, way: str
) -> None:
    supplier, vendor = mislead(stage, way)
    order = publish_order(stage, vendor, "entity.vendor.tier == 'risky'", tier=READS["tier"])
    made = order_about(stage, order, supplier)
    assert list_asked(stage, made) == ["@voter"]
    assert vote(stage, made.id, "vlad") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED


def test_who_kept_the_status_does_not_approve_what_reads_it(stage: WorkflowStage) -> None:
    """The gate refuses the request, because of a field that vlad has typed."""
    transitions = {name: dict(one) for name, one in CONTRACT["transitions"].items()}
    transitions["submit"]["condition"] = "entity.memo == 'A'"
    vendor = stage.publish({**contract_of(stage.publish()), "transitions": transitions})
    supplier = stage.create(vendor, "mia", memo="A", code="own")
    edit(stage, supplier, "vlad", memo="B")
    submit(stage, supplier, "mia")
    assert stage.status_of(supplier.id) == "draft"
    order = publish_order(stage, vendor, "entity.vendor.status == 'active'", status=READS["status"])
    made = order_about(stage, order, supplier)
    assert list_asked(stage, made) == ["@voter"]
    assert vote(stage, made.id, "vlad") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED


def test_where_the_step_acts_the_boss_is_asked(stage: WorkflowStage) -> None:
    """The lawful way: vlad has changed what nothing reads, and has no part."""
    group = stage.publish()
    vendor = stage.publish(contract_of(group), checks=where(OF_GROUP, CLASSIFY))
    grouped, supplier = supply(stage, vendor, group)
    edit(stage, grouped, "vlad", amount=7)
    submit(stage, supplier, "mia")
    made = order_about(stage, publish_order(stage, vendor), supplier)
    assert (tier_of(stage, supplier), list_asked(stage, made)) == ("risky", ["@boss"])
    assert vote(stage, made.id, "olga") == APPROVED
    assert vote(stage, made.id, "vlad") == APPROVED


def test_what_no_step_may_write_has_who_typed_it(stage: WorkflowStage) -> None:
    """The lawful way: no step would have set the tier and vlad has written of the vendor."""
    group = stage.publish()
    vendor = stage.publish(contract_of(group), checks=where(OF_GROUP, PLAIN))
    grouped, supplier = supply(stage, vendor, group)
    edit(stage, grouped, "vlad", number="B")
    edit(stage, supplier, "vlad", memo="B")
    submit(stage, supplier, "mia")
    order = publish_order(stage, vendor, "entity.vendor.tier == 'risky'", tier=READS["tier"])
    made = order_about(stage, order, supplier)
    assert vote(stage, made.id, "vlad") == APPROVED


@pytest.mark.parametrize("further", [21, 1_000])
def test_many_newer_instances_hide_no_step(stage: WorkflowStage, further: int) -> None:
    """The newer definition has no such step. Of too many instances each field may be a step's."""
    group = stage.publish()
    vendor = stage.publish(contract_of(group), checks=where(OF_GROUP, CLASSIFY))
    grouped, supplier = supply(stage, vendor, group)
    edit(stage, grouped, "vlad", number="B")
    submit(stage, supplier, "mia")
    definition = stage.publish_next(vendor, checks=where(OF_GROUP, PLAIN))
    stage.standing.run(
        "INSERT INTO workflow_instances"
        " SELECT (jsonb_populate_record(i, jsonb_build_object("
        "     'definition_id', d.id, 'definition_version', d.version,"
        "     'id', overlay(gen_random_uuid()::text PLACING 'f' FROM 1)))).*"
        " FROM workflow_instances i, generate_series(1, %s), workflow_definitions d"
        " WHERE i.id = %s AND d.name = 'own' AND d.version = %s AND d.entity_type = i.entity_type"
        " AND d.definition_kind = 'effective'",
        further,
        supplier.instance_id,
        definition,
    )
    order = publish_order(stage, vendor, "entity.vendor.tier == 'risky'", tier=READS["tier"])
    made = order_about(stage, order, supplier)
    assert list_asked(stage, made) == ["@voter"]
    assert vote(stage, made.id, "vlad") == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED


# --- the step fails ---


def failing(step: Mapping[str, Any] = CLASSIFY) -> dict[str, Any]:
    """Draw an edge for errors past the step."""
    note = {"id": "note", "type": "script", "config": {"set": {"seen": "1"}}}
    edges = [
        {"source": step["id"], "target": "out"},
        {"source": step["id"], "target": "note", "on": "error"},
        {"source": "note", "target": "out"},
    ]
    return {"nodes": [step, note], "edges": edges, "exit": "join"}


def fail_by_key(stage: WorkflowStage, who: str) -> tuple[str, Made, Any]:
    group = stage.publish()
    vendor = stage.publish(contract_of(group, code="C{entity.number}"), checks=failing())
    taken = stage.mutate(Create(vendor, {"code": "C1"}), who)
    _, supplier = supply(stage, vendor, group, number="1")
    return vendor, supplier, lambda: stage.delete(taken.document_id)


def fail_by_rule(stage: WorkflowStage, who: str) -> tuple[str, Made, Any]:
    group = stage.publish()
    vendor = stage.publish(contract_of(group), checks=failing())
    stage.add_rule(vendor, "stop", "entity.group.number == 'B'", on="action")
    grouped, supplier = supply(stage, vendor, group)
    edit(stage, grouped, who, number="B")
    return vendor, supplier, lambda: edit(stage, grouped, "mia", number="A")


def fail_by_role(stage: WorkflowStage, who: str) -> tuple[str, Made, Any]:
    set_permissions(stage, "*:classify")
    add_account(stage.standing.company, f"bot_{who}", "noter", owner="otis")
    config = {"action": "classify", "run_as": "service_account", "service_account": f"bot_{who}"}
    group = stage.publish()
    vendor = stage.publish(contract_of(group), checks=failing({**CLASSIFY, "config": config}))
    _, supplier = supply(stage, vendor, group)
    set_permissions(stage, "*:read")
    return vendor, supplier, lambda: set_permissions(stage, "*:classify")


FAILURES = {"KEY_TAKEN": fail_by_key, "RULE_REJECTED": fail_by_rule, "PERMISSION_DENIED": fail_by_role}


@pytest.mark.parametrize("who", ["vlad", "carl"])
@pytest.mark.parametrize("code", FAILURES)
def test_who_makes_the_step_of_what_is_read_fail_leaves_nobody_out(
    stage: WorkflowStage, code: str, who: str
) -> None:
    """The vendor's own workflow asks no people. Carl is the clerk, whose order the boss is to see."""
    vendor, supplier, mend = FAILURES[code](stage, who)
    order = publish_order(stage, vendor)
    submit(stage, supplier, "mia")
    assert (held(stage, supplier), stage.status_of(supplier.id)) == ([code], "draft")
    assert list_asked(stage, order_about(stage, order, supplier)) == ["@boss"]
    mend()
    repair(stage, supplier)
    assert (held(stage, supplier), tier_of(stage, supplier)) == ([], "risky")
    assert list_asked(stage, order_about(stage, order, supplier)) == ["@boss"]


@pytest.mark.parametrize("is_ref", [True, False])
def test_a_failure_of_what_nobody_reads_leads_on(stage: WorkflowStage, is_ref: bool) -> None:
    """The lawful way: no approval rests on it. A ref that reads nothing is no reader."""
    vendor, supplier, _ = fail_by_key(stage, "vlad")
    if is_ref:
        ref = {"type": "ref", "entity_type": vendor}
        stage.publish({**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": ref}})
    submit(stage, supplier, "mia")
    assert (held(stage, supplier), stage.status_of(supplier.id)) == ([], "active")
    assert "usr:checks:note" in stage.nodes(supplier.instance_id)


def test_a_receiver_that_fails_leads_on_where_others_read_the_document(stage: WorkflowStage) -> None:
    """The lawful way: that is what the edge is drawn for."""
    call = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
    group = stage.publish()
    vendor = stage.publish(contract_of(group), checks=failing(call))
    publish_order(stage, vendor)
    _, supplier = supply(stage, vendor, group)
    submit(stage, supplier, "mia")
    stage.answer(supplier.instance_id, error="ANSWERED: 500")
    stage.drain()
    assert (held(stage, supplier), stage.status_of(supplier.id)) == ([], "active")
