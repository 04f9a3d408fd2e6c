"""Explanations of an instance: the whole text for each situation of an invoice, word by word."""

import os
import re
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from signet.core.errors import Rejected
from signet.core.explain.instance import write_instance
from signet.engine.documents.commands import RequestTransition
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import Instances
from signet.engine.instances.explain import explain
from tests.support.company import Company, make_company
from tests.support.invoice_instances import (
    Admin,
    bury,
    create,
    hold,
    instance_of,
    operator,
    publish_lanes,
    read,
    submit,
    version_of,
)

GOLDEN = Path(__file__).parent / "golden"
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")


def told(company: Company, instance_id: UUID) -> str:
    explained = explain(company.database, company.documents.caches.contracts, company.tenant_id, instance_id)
    return "\n".join(write_instance(explained)) + "\n"


def assert_golden(name: str, company: Company, instance_id: UUID) -> None:
    """Compare with the file: ids numbered in order of appearance, times without their digits."""
    text = told(company, instance_id)
    assert told(company, instance_id) == text
    ids = {found: f"<id {number}>" for number, found in enumerate(dict.fromkeys(_ID.findall(text)), 1)}
    masked = _TIME.sub("<time>", _ID.sub(lambda found: ids[found[0]], text))
    file = GOLDEN / name
    if os.environ.get("SIGNET_WRITE_GOLDEN"):
        file.write_text(masked, encoding="utf-8")
    assert masked == file.read_text(encoding="utf-8")


def test_waiting_in_draft(company: Company, worker: Worker) -> None:
    assert_golden("waiting_in_draft.txt", company, instance_of(create(company, worker)))


def test_held_by_a_gate(company: Company, worker: Worker) -> None:
    assert_golden("held_by_a_gate.txt", company, instance_of(hold(company, worker)))


def test_completed(company: Company, worker: Worker) -> None:
    """Follow the express lane: the explanation names the conditions and the values they read."""
    publish_lanes(company)
    assert_golden("completed.txt", company, instance_of(submit(company, worker, grand_total=49900)))


def test_waiting_for_an_answer(company: Company, worker: Worker) -> None:
    publish_lanes(company)
    assert_golden("waiting_for_an_answer.txt", company, instance_of(submit(company, worker)))


def test_a_failed_action(company: Company, worker: Worker) -> None:
    publish_lanes(company, ledger_entry="")
    assert_golden("failed_action.txt", company, instance_of(submit(company, worker, grand_total=49900)))


def test_paused_by_a_dead_trigger(company: Company, worker: Worker, admin: Admin) -> None:
    made, _ = bury(company, worker, admin)
    assert_golden("dead_trigger.txt", company, instance_of(made))


def test_operated_and_stuck(company: Company, worker: Worker, instances: Instances, admin: Admin) -> None:
    """Ask for a transition, let the instance be paused and go on, and lose its trigger."""
    made = create(company, worker)
    instance_id = instance_of(made)
    request = RequestTransition(made.document_id, 1, "submit", "it is urgent")
    company.documents.mutate(company.caller("sam", "clerk"), request)
    instances.pause(operator(company), instance_id, 2, "the supplier is being checked")
    instances.resume(operator(company), instance_id, version_of(admin, instance_id))
    admin.execute("DELETE FROM workflow_events_outbox WHERE status <> 'completed'")
    assert_golden("stuck.txt", company, instance_id)


def test_what_is_not_there_or_of_another_tenant_is_not_found(company: Company, worker: Worker) -> None:
    instance_id = instance_of(create(company, worker))
    other = make_company(company.database)
    for who, which in ((company, uuid4()), (other, instance_id)):
        with pytest.raises(Rejected) as caught:
            told(who, which)
        assert caught.value.code == "INSTANCE_NOT_FOUND"


def test_personal_values_are_not_told(company: Company, worker: Worker, admin: Admin) -> None:
    """Mask values in the evidence of gates that passed and of gates that block the instance."""
    hold(company, worker, condition="entity.vendor_contact == 'Nobody'", vendor_contact="Zacharias")
    ((instance_id,),) = read(admin, "SELECT id FROM workflow_instances")
    text = told(company, instance_id)
    assert "Zacharias" not in text
    assert 'entity.vendor_contact was "(personal)"' in text
    outputs = read(admin, "SELECT output_json::text FROM workflow_step_executions")
    assert not any("Zacharias" in (output or "") for (output,) in outputs)
