"""Unreadable messages, workers that die, wake-ups that are lost: no work is lost, and none is done twice."""

from typing import Any

import pytest

from tests.e2e.conftest import confirm, publish_contract, publish_patch
from tests.e2e.test_use_case_a import await_status, make_invoice, submit
from tests.support.cloud.people import await_that
from tests.support.cloud.stacks import Deployed
from tests.support.cloud.verifying_receiver import HttpReceiver

# An answer within two seconds decides; silence is a no.
QUICK_ANSWER = {
    "patch": "quick_answer",
    "label": "A quick answer",
    "base": {"entity_type": "delivery", "envelope_version": 1},
    "slots": {
        "awaiting_proof": {
            "exit": "join",
            "nodes": [
                {
                    "id": "answer",
                    "type": "approval",
                    "label": "Has it arrived",
                    "config": {"approvers": [{"by": "role", "role": "warehouse"}], "expire_after": "PT2S"},
                }
            ],
        }
    },
}
pytestmark = pytest.mark.usefixtures("invoices")


def test_a_message_that_nobody_can_read_is_set_aside_and_can_be_sent_again(deployed: Deployed) -> None:
    """It takes no other message along."""
    queue, client = deployed.queue_url("events"), deployed.stack.client("sqs")
    client.send_message(QueueUrl=queue, MessageBody="what is this?")
    carl = deployed.as_person("carl")
    invoice = make_invoice(carl, total=40_000, vendor="V-100")
    submit(carl, invoice)
    await_status(carl, invoice, "active")
    await_that(lambda: deployed.count_messages("events-dead") == 1, "the dead-letter queue holds it")
    # An operator who has repaired the cause moves it back. Here nothing was repaired, so it ends there again.
    dead = deployed.queue_url("events-dead")
    moved = client.receive_message(QueueUrl=dead)["Messages"][0]
    client.send_message(QueueUrl=queue, MessageBody=moved["Body"])
    client.delete_message(QueueUrl=dead, ReceiptHandle=moved["ReceiptHandle"])
    await_that(lambda: deployed.count_messages("events-dead") == 1, "it is set aside again")
    client.purge_queue(QueueUrl=dead)


def test_an_endpoint_that_wants_nothing_more_holds_its_effects_until_it_is_switched_on(
    deployed: Deployed, receiver: HttpReceiver
) -> None:
    receiver.status = 410
    ada, carl = deployed.as_person("ada"), deployed.as_person("carl")
    invoice = make_invoice(carl, total=40_000, vendor="V-100")
    submit(carl, invoice)
    receiver.received.get(timeout=10)
    found = await_that(lambda: find_disabled(ada), "an endpoint that is switched off")
    assert list_dead(deployed, "effects") == []
    receiver.status = 200
    terms = {"url": found.body["url"], "secrets": ["ledger_secret"], "status": "active"}
    confirm(deployed, ada.call("PUT", "/v1/endpoints/ledger", terms, if_match=found.etag))
    assert receiver.received.get(timeout=20).is_signed
    await_status(carl, invoice, "active")


def find_disabled(ada: Any) -> Any:
    found = ada.get("/v1/endpoints/ledger").expect(200)
    return found if found.body["status"] == "disabled" else None


def list_dead(deployed: Deployed, queue: str) -> list[Any]:
    found = deployed.as_person("ada").get(f"/v1/operations/dead_letters?queue={queue}").expect(200)
    items: list[Any] = found.body["items"]
    return items


def test_a_worker_killed_while_it_calls_comes_back_by_its_lease(
    deployed: Deployed, receiver: HttpReceiver
) -> None:
    """The receiver hears it twice, under one id; the books have it once."""
    receiver.may_answer.clear()
    carl = deployed.as_person("carl")
    invoice = make_invoice(carl, total=40_000, vendor="V-100")
    submit(carl, invoice)
    first = receiver.received.get(timeout=30)
    deployed.kill("side-effect-io")
    receiver.may_answer.set()
    deployed.end_leases()
    # The message that it was working for may also come again, if that is sooner.
    deployed.invoke("outbox-relay")
    second = receiver.received.get(timeout=30)
    assert (second.headers["webhook-id"], second.is_signed) == (first.headers["webhook-id"], True)
    await_status(carl, invoice, "active")
    assert receiver.received.empty()


def test_a_worker_killed_in_a_wave_leaves_nothing_behind(deployed: Deployed) -> None:
    """The worker waits for a table that another transaction holds when it dies."""
    carl = deployed.as_person("carl")
    invoice = make_invoice(carl, total=40_000, vendor="V-100")
    await_that(lambda: carl.get(f"{invoice}/timeline").status == 200, "the instance has begun")
    waiting = (
        "SELECT 1 FROM pg_stat_activity WHERE usename = 'signet_worker' AND wait_event_type = 'Lock'"
        " AND datname = current_database()"
    )
    with deployed.database.transaction():
        # Reading goes on, which the API does for a request; writing waits.
        deployed.write("LOCK TABLE workflow_step_executions IN SHARE ROW EXCLUSIVE MODE")
        submit(carl, invoice)
        await_that(lambda: deployed.read(waiting), "a wave waits for the table")
        deployed.kill("node-execution")
        # Its connection is closed with it, and its transaction is rolled back.
        await_that(lambda: not deployed.read(waiting), "the worker's transaction has ended")
    deployed.end_leases()
    deployed.invoke("outbox-relay")
    await_status(carl, invoice, "active")
    steps = "SELECT count(*) - count(DISTINCT (instance_id, seq)) FROM workflow_step_executions"
    assert deployed.read(steps) == [(0,)]


def test_with_all_wake_ups_lost_the_sweep_completes_it(deployed: Deployed, receiver: HttpReceiver) -> None:
    carl = deployed.as_person("carl")
    for function in ("node-execution", "side-effect-io"):
        deployed.set_deaf(function, True)
    invoice = make_invoice(carl, total=40_000, vendor="V-100")
    submit(carl, invoice)
    lose_messages(deployed)
    for function in ("node-execution", "side-effect-io"):
        deployed.set_deaf(function, False)
    assert carl.get(invoice).body["status"] == "draft"
    assert deployed.invoke("outbox-relay")["events"] == 1
    await_status(carl, invoice, "active")
    assert receiver.received.get(timeout=10).is_signed


def lose_messages(deployed: Deployed) -> None:
    for name in ("events", "effects"):
        deployed.stack.client("sqs").purge_queue(QueueUrl=deployed.queue_url(name))


def test_what_is_due_later_wakes_somebody_when_it_is(deployed: Deployed) -> None:
    """A delayed message wakes the worker, because no sweep runs here."""
    ada = deployed.as_person("ada")
    publish_contract(deployed, "delivery")
    publish_patch(deployed, QUICK_ANSWER)
    made = ada.post(
        "/v1/documents", {"entity_type": "delivery", "data": {"shipment_id": "Z-1", "carrier": "DHL"}}
    ).expect(201)
    delivery = str(made.headers["location"])
    told = {"transition": "dispatch", "reason": "it is packed"}
    ada.post(f"{delivery}/requests", told, if_match=made.etag).expect(200, 202)
    await_status(ada, delivery, "in_transit")
    await_status(ada, delivery, "disputed")
