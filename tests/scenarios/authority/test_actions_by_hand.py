"""Actions that people run behind a gate: they take what was approved of other documents, like steps do."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from bench.counting import count_wire
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import RunAction
from signet.engine.documents.mutate import Documents
from signet.store.database import Database, PoolSettings
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.database.runtime_roles import as_role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
ACCOUNT = "{entity.vendor.number}"
APPROVED = "approved"


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin"))
            for name in ("app1", "app2", "carl", "mia")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def bills(stage: WorkflowStage, edit_active: str = "locked", **actions: Mapping[str, Any]) -> tuple[str, str]:
    """Publish vendors, and bills whose actions no step runs."""
    vendor = stage.publish()
    reads = {"number": {"type": "string"}, "amount": {"type": "int"}}
    contract = {
        **CONTRACT,
        "fields": {**CONTRACT["fields"], "vendor": {"type": "ref", "entity_type": vendor, "reads": reads}},
        "states": {**CONTRACT["states"], "active": {"edit": edit_active, "settled": True}},
        "actions": {
            "pay_now": {
                "kind": "create",
                "entity_type": vendor,
                "set": {"number": ACCOUNT, "amount": 1},
                "repeats": "allowed",
            },
            "mark": {"kind": "update", "set": {"is_posted": True}},
            **actions,
        },
    }
    return vendor, stage.publish(contract, approval={"nodes": [LOOK]})


def approved_bill(stage: WorkflowStage, vendor: str, bill: str) -> tuple[Made, Made]:
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(bill, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == APPROVED
    assert stage.status_of(made.id) == "active"
    return supplier, made


def run(stage: WorkflowStage, document: Made, action: str = "pay_now") -> UUID:
    """Let carl run the action, and return the document that it made or changed."""
    version = stage.version_of(document.id)
    applied = stage.mutate(RunAction(document.id, version, action, {}), "carl")
    stage.drain()
    return UUID((applied.output or {}).get("document_id", str(document.id)))


def account_of(stage: WorkflowStage, document_id: UUID) -> str:
    return str(stage.standing.row("SELECT data ->> 'number' FROM documents WHERE id = %s", document_id)[0])


def test_an_action_by_hand_pays_the_account_that_was_approved(stage: WorkflowStage) -> None:
    """Carl changes the account behind the gate, and runs the action himself."""
    supplier, made = approved_bill(stage, *bills(stage))
    edit(stage, supplier, "carl", number="XX-CARL")
    assert account_of(stage, run(stage, made)) == "DE-GOOD"
    again = run(stage, made)
    assert account_of(stage, again) == "DE-GOOD", "as often as they try"


def test_what_actions_by_hand_take_is_shown_and_asked_about(stage: WorkflowStage) -> None:
    vendor, bill = bills(stage)
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(bill, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    company = stage.standing.company
    view = Approvals(company.database, stage.caches()).read_request(
        company.caller("app2"), newest(stage, made.id)
    )
    assert [dict(pin.values) for pin in view.pins] == [{"number": "DE-GOOD"}]
    edit(stage, supplier, "app2", number="XX-CARL")
    assert vote(stage, made.id, "app1") == "APPROVAL_STALE"
    stage.drain()
    assert vote(stage, made.id, "app2") == "SEPARATION_OF_DUTIES", "they wrote the account"
    assert vote(stage, made.id, "app1") == APPROVED
    assert account_of(stage, run(stage, made)) == "XX-CARL", "app1 has seen it"


def test_an_action_by_hand_sets_what_was_approved_where_people_may_edit(stage: WorkflowStage) -> None:
    take = {"kind": "update", "set": {"number": ACCOUNT}}
    supplier, made = approved_bill(stage, *bills(stage, "editable", take=take))
    edit(stage, supplier, "carl", number="XX-CARL")
    assert account_of(stage, run(stage, made, "take")) == "DE-GOOD"


def test_an_action_that_sets_fields_pins_nothing_where_nobody_may_edit(stage: WorkflowStage) -> None:
    """The lawful way beside it: nobody can run it behind the gate, so its field concerns nobody."""
    take = {"kind": "update", "set": {"amount": "{entity.vendor.amount}"}}
    vendor, bill = bills(stage, take=take)
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    made = stage.create(bill, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    edit(stage, supplier, "app1", amount=2)
    assert vote(stage, made.id, "app1") == APPROVED


def test_a_draft_reads_what_holds_now(stage: WorkflowStage) -> None:
    """The lawful way beside it: nothing was approved yet."""
    vendor, bill = bills(stage)
    supplier = stage.create(vendor, "mia", number="DE-OLD")
    made = stage.create(bill, "carl", vendor=str(supplier.id))
    stage.drain()
    edit(stage, supplier, "mia", number="DE-NEW")
    assert account_of(stage, run(stage, made)) == "DE-NEW"


def test_only_an_action_that_reads_others_costs_a_statement_more(stage: WorkflowStage) -> None:
    _, made = approved_bill(stage, *bills(stage, "editable"))
    plain = stage.create(stage.publish(), "carl")
    stage.drain()
    url, company = stage.standing.admin_url, stage.standing.company
    with closing(Database(as_role(url, "signet_api"), PoolSettings(size=1))) as api:
        documents = Documents(api)

        def count(document: Made, action: str) -> int:
            operation = RunAction(document.id, stage.version_of(document.id), action, {})
            return count_wire(api, partial(documents.mutate, company.caller("carl"), operation)).statements

        # The first of a process reads contracts and rules.
        for _ in range(2):
            counted = [count(made, "mark"), count(plain, "post")]
        assert counted[0] == counted[1]
