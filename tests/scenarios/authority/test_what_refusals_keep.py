"""Values that a refusal has left as they were: who wrote what the refusal has read is behind them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.documents.commands import Amend, Create, RunAction
from signet.engine.tenants.roles import Roles
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, list_asked, submit, vote
from tests.scenarios.authority.test_failures_choose_no_way import held, repair
from tests.scenarios.authority.test_left_as_it_was import (
    CLASSIFY,
    OF_GROUP,
    OF_OWN,
    READS,
    contract_of,
    order_about,
    publish_order,
    supply,
    tier_of,
)
from tests.scenarios.authority.test_persons_of_conditions import APPROVED, DUTIES
from tests.support.machines import add_account
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = dict.fromkeys(("vlad", "app2", "carl", "mia", "mona"), ("voter", "admin"))
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


def expect_behind(stage: WorkflowStage, made: Made, person: str) -> None:
    """Expect that the boss is not asked, and that this person cannot decide alone."""
    assert list_asked(stage, made) == ["@voter"]
    assert vote(stage, made.id, person) == DUTIES
    assert vote(stage, made.id, "app2") == APPROVED


# --- a step behind the gate is held ---


def fail_by_key(stage: WorkflowStage) -> tuple[str, Made]:
    group = stage.publish()
    vendor = stage.publish(contract_of(group, code="C{entity.number}"), posting={"nodes": [CLASSIFY]})
    stage.mutate(Create(vendor, {"code": "C1"}), "vlad")
    return vendor, supply(stage, vendor, group, number="1")[1]


def fail_by_rule(stage: WorkflowStage) -> tuple[str, Made]:
    group = stage.publish()
    vendor = stage.publish(contract_of(group), posting={"nodes": [CLASSIFY]})
    stage.add_rule(vendor, "stop", "entity.group.number == 'B'", on="action")
    grouped, supplier = supply(stage, vendor, group)
    edit(stage, grouped, "vlad", number="B")
    return vendor, supplier


FAILURES = {"KEY_TAKEN": fail_by_key, "RULE_REJECTED": fail_by_rule}


@pytest.mark.parametrize("code", FAILURES)
def test_who_holds_a_step_behind_the_gate_is_behind_what_is_read_there(
    stage: WorkflowStage, code: str
) -> None:
    """The status that the condition asks for is there, and the tier is none that the step has set."""
    vendor, supplier = FAILURES[code](stage)
    order = publish_order(stage, vendor)
    submit(stage, supplier, "mia")
    assert (held(stage, supplier), stage.status_of(supplier.id)) == ([code], "active")
    expect_behind(stage, order_about(stage, order, supplier), "vlad")


def test_who_takes_the_permission_of_a_step_is_behind_what_is_read_there(stage: WorkflowStage) -> None:
    roles, company = Roles(stage.standing.company.database), stage.standing.company
    roles.save(company.caller("mia", "admin"), "noter", ["*:classify"])
    add_account(company, "bot", "noter", owner="otis")
    config = {"action": "classify", "run_as": "service_account", "service_account": "bot"}
    group = stage.publish()
    vendor = stage.publish(contract_of(group), posting={"nodes": [{**CLASSIFY, "config": config}]})
    _, supplier = supply(stage, vendor, group)
    order = publish_order(stage, vendor)
    roles.save(company.caller("mona", "admin"), "noter", ["*:read"])
    submit(stage, supplier, "mia")
    assert held(stage, supplier) == ["PERMISSION_DENIED"]
    expect_behind(stage, order_about(stage, order, supplier), "mona")


def test_while_a_step_is_held_who_wrote_the_document_is_behind_each_field(stage: WorkflowStage) -> None:
    """App2 has written the memo alone, and no step writes what is read. Once it is done they have no part."""
    vendor, supplier = fail_by_rule(stage)
    order = publish_order(stage, vendor, "entity.vendor.number == 'x'", number={"type": "string"})
    edit(stage, supplier, "app2", memo="C")
    submit(stage, supplier, "mia")
    made = order_about(stage, order, supplier)
    assert vote(stage, made.id, "app2") == DUTIES
    stage.standing.run("UPDATE rules SET is_enabled = false WHERE entity_type = %s", vendor)
    repair(stage, supplier)
    assert held(stage, supplier) == []
    assert vote(stage, order_about(stage, order, supplier).id, "app2") == APPROVED


# --- an act of a person is refused ---

BLOCKED = "entity.vendor.status == 'blocked' || entity.vendor.tier == 'risky'"
TOO_RISKY = "entity.vendor.tier == 'risky'"
ACTS: Mapping[str, Any] = {
    "hold": lambda stage, document: stage.ask(document.id, "hold", "mia"),
    "drop": lambda stage, document: stage.mutate(
        RunAction(document.id, stage.version_of(document.id), "drop", {}), "mia"
    ),
    "edit": lambda stage, document: edit(stage, document, "mia", tier="risky"),
}
OPERATIONS = {"hold": "transition", "drop": "action", "edit": "update"}


def guarded(group: str, **changes: Any) -> dict[str, Any]:
    """Make a contract of vendors that may be held, dropped or edited once they are active."""
    contract = contract_of(group)
    states = {
        **CONTRACT["states"],
        "active": {"edit": "editable", "settled": True},
        "blocked": {"edit": "locked", "settled": True},
    }
    hold = {"from": ["active"], "to": "blocked", "kind": "requested"}
    drop = {"kind": "update", "set": {"tier": "risky"}}
    return {
        **contract,
        "states": states,
        "transitions": {**CONTRACT["transitions"], "hold": hold},
        "actions": {**contract["actions"], "drop": drop},
        **changes,
    }


def publish_guarded(stage: WorkflowStage, group: str, way: str, act: str, condition: str) -> str:
    """Publish vendors whose act is refused while the condition does not hold."""
    contract = guarded(group)
    vendor = stage.publish(contract)
    if way == "rule":
        stage.add_rule(vendor, "stop", f"entity.status == 'active' && !({condition})", on=OPERATIONS[act])
        return vendor
    changes = {name: value for name, value in contract.items() if name != "version"}
    stage.publish_contract(vendor, 2, **changes, conditions={f"{vendor}:{act}": condition})
    return vendor


def activate(stage: WorkflowStage, vendor: str, group: str) -> tuple[Made, Made]:
    grouped, supplier = supply(stage, vendor, group)
    submit(stage, supplier, "mia")
    assert stage.status_of(supplier.id) == "active"
    return grouped, supplier


def refuse(stage: WorkflowStage, act: str, supplier: Made) -> str:
    """Return the code by which mia is refused."""
    with pytest.raises(Rejected) as refused:
        ACTS[act](stage, supplier)
    assert tier_of(stage, supplier) == "ok"
    return refused.value.code


CODES = {"permission": "PERMISSION_CONDITION", "rule": "RULE_REJECTED"}


@pytest.mark.parametrize("condition", [OF_GROUP, OF_OWN], ids=["of a group", "of its own"])
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("way", CODES)
def test_who_has_an_act_refused_is_behind_what_is_read_of_the_document(
    stage: WorkflowStage, way: str, act: str, condition: str
) -> None:
    """Mia would block the vendor. Vlad writes what the condition of a permission, or a rule, reads."""
    group = stage.publish()
    vendor = publish_guarded(stage, group, way, act, condition)
    grouped, supplier = activate(stage, vendor, group)
    # Everybody who wrote a vendor is behind its status. The tier is typed.
    read = READS if act == "hold" else {"tier": READS["tier"]}
    order = publish_order(stage, vendor, BLOCKED if act == "hold" else TOO_RISKY, **read)
    if condition == OF_GROUP:
        edit(stage, grouped, "vlad", number="B")
    else:
        # What the edit of vlad says itself stops no rule.
        stage.standing.run("UPDATE rules SET is_enabled = false WHERE entity_type = %s", vendor)
        edit(stage, supplier, "vlad", memo="B")
        stage.standing.run("UPDATE rules SET is_enabled = true WHERE entity_type = %s", vendor)
    assert refuse(stage, act, supplier) == CODES[way]
    expect_behind(stage, order_about(stage, order, supplier), "vlad")


def test_who_holds_the_key_of_a_refused_act_is_behind_what_is_read(stage: WorkflowStage) -> None:
    group = stage.publish()
    contract = guarded(group)
    drop = {"kind": "update", "set": {"tier": "risky", "code": "C{entity.number}"}}
    vendor = stage.publish({**contract, "actions": {"drop": drop}})
    stage.mutate(Create(vendor, {"code": "C"}), "vlad")
    _, supplier = activate(stage, vendor, group)
    order = publish_order(stage, vendor, BLOCKED)
    assert refuse(stage, "drop", supplier) == "KEY_TAKEN"
    expect_behind(stage, order_about(stage, order, supplier), "vlad")


def test_who_suspends_a_document_by_an_amendment_is_behind_what_is_read(stage: WorkflowStage) -> None:
    group = stage.publish()
    amendment = {"from": ["active"], "while_open": "suspended"}
    vendor = stage.publish(guarded(group, amendment=amendment))
    _, supplier = activate(stage, vendor, group)
    order = publish_order(stage, vendor, BLOCKED)
    stage.mutate(Amend(supplier.id, stage.version_of(supplier.id), {"memo": "B"}, "x"), "vlad")
    stage.drain()
    assert refuse(stage, "hold", supplier) == "AMENDMENT_OPEN"
    expect_behind(stage, order_about(stage, order, supplier), "vlad")


def test_an_amendment_that_suspends_nothing_has_nobody_behind_the_original(stage: WorkflowStage) -> None:
    """The lawful way: others act on the document meanwhile."""
    group = stage.publish()
    vendor = stage.publish(guarded(group, amendment={"from": ["active"]}))
    _, supplier = activate(stage, vendor, group)
    order = publish_order(stage, vendor, BLOCKED)
    stage.mutate(Amend(supplier.id, stage.version_of(supplier.id), {"memo": "B"}, "x"), "vlad")
    made = order_about(stage, order, supplier)
    assert vote(stage, made.id, "vlad") == APPROVED


@pytest.mark.parametrize("way", CODES)
def test_who_wrote_what_no_refusal_has_read_has_no_part(stage: WorkflowStage, way: str) -> None:
    """The lawful way: mia is refused because of what she sends herself, or of who she is."""
    group = stage.publish()
    own = {"permission": "actor.user_id != 'mia'", "rule": "entity.tier != 'risky'"}[way]
    vendor = publish_guarded(stage, group, way, "edit", own)
    grouped, supplier = activate(stage, vendor, group)
    order = publish_order(stage, vendor, "entity.vendor.tier == 'risky'", tier=READS["tier"])
    edit(stage, grouped, "vlad", number="B")
    edit(stage, supplier, "vlad", memo="B")
    assert refuse(stage, "edit", supplier) == CODES[way]
    made = order_about(stage, order, supplier)
    assert vote(stage, made.id, "vlad") == APPROVED


def test_what_an_edit_says_itself_is_no_part_of_its_refusal(stage: WorkflowStage) -> None:
    """The lawful way: the rule reads the field that mia sends, and vlad has written it before."""
    group = stage.publish()
    vendor = publish_guarded(stage, group, "rule", "edit", "entity.memo != 'B'")
    _, supplier = activate(stage, vendor, group)
    order = publish_order(stage, vendor, "entity.vendor.tier == 'risky'", tier=READS["tier"])
    edit(stage, supplier, "vlad", memo="C")
    with pytest.raises(Rejected):
        edit(stage, supplier, "mia", memo="B")
    made = order_about(stage, order, supplier)
    assert vote(stage, made.id, "vlad") == APPROVED


def test_who_stands_behind_a_refusal_stays(stage: WorkflowStage) -> None:
    """A second refusal adds its persons, and a repaired value takes nobody away."""
    group = stage.publish()
    vendor = publish_guarded(stage, group, "permission", "edit", OF_GROUP)
    grouped, supplier = activate(stage, vendor, group)
    order = publish_order(stage, vendor, "entity.vendor.tier == 'risky'", tier=READS["tier"])
    for person in ("vlad", "mona"):
        edit(stage, grouped, person, number="B")
        refuse(stage, "edit", supplier)
        edit(stage, grouped, "mia", number="A")
    made = order_about(stage, order, supplier)
    assert [vote(stage, made.id, person) for person in ("vlad", "mona", "app2")] == [DUTIES, DUTIES, APPROVED]


def test_who_is_behind_a_refusal_is_kept_though_its_request_is_undone(stage: WorkflowStage) -> None:
    """A refusal undoes all that a request with an Idempotency-Key has written."""
    group = stage.publish()
    vendor = publish_guarded(stage, group, "permission", "edit", OF_GROUP)
    grouped, supplier = activate(stage, vendor, group)
    order = publish_order(stage, vendor, "entity.vendor.tier == 'risky'", tier=READS["tier"])
    edit(stage, grouped, "vlad", number="B")
    with (
        pytest.raises(Rejected),
        stage.standing.company.database.shared_transaction(stage.tenant_id),
    ):
        edit(stage, supplier, "mia", tier="risky")
    expect_behind(stage, order_about(stage, order, supplier), "vlad")
