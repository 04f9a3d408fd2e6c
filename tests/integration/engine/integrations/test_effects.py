"""Effects are sent at least once, and recorded exactly once."""

import base64
import json
from typing import Any
from uuid import UUID

import pytest

from signet.aws.bus import Bus
from signet.aws.clients import Clients
from signet.core.integrations.webhook_signatures import parse_secret, verify
from signet.engine.execution import failed_triggers as leases
from signet.engine.integrations.effects import FAILURES_TO_REST, MAX_CLAIMED
from signet.outbound.connector import Delivery, OutboundMessage
from signet.outbound.webhook import AllowedAddresses, Webhooks
from signet.settings import DeliverySettings
from signet.store.database import Connection
from signet.store.outbox.queue import EFFECTS, claim
from signet.wiring.effects import make_connectors
from tests.support.effects import Answering, add_endpoint, begin, come_due, effects, endpoint, rows
from tests.support.services.webhook_receiver import answering, receiving
from tests.support.workflow_stage import CALL, WorkflowStage

SECRET = f"whsec_{base64.b64encode(b's' * 24).decode()}"
OTHER = f"whsec_{base64.b64encode(b'o' * 24).decode()}"
SECRETS = {"new": SECRET, "old": OTHER, "broken": "no secret"}


def test_what_is_delivered_lets_the_workflow_go_on(stage: WorkflowStage) -> None:
    (made,) = begin(stage)
    add_endpoint(stage)
    connector = Answering()
    assert effects(stage, webhook=connector).work(stage.tenant_id) == 1
    stage.drain()
    assert stage.status_of(made.id) == "active"
    assert rows(stage) == [("completed", 1)]
    (evidence,) = stage.standing.row("SELECT response_json FROM workflow_side_effects_outbox")
    assert evidence == {"status": 200, "body": {"ok": True}, "duration_ms": 0.0}
    assert effects(stage, webhook=connector).work(stage.tenant_id) == 0
    stage.check_rebuild(made.instance_id)


def test_what_fails_is_tried_again_under_the_same_id_until_it_is_given_up(stage: WorkflowStage) -> None:
    (made,) = begin(stage)
    add_endpoint(stage)
    connector = Answering(Delivery(500, "ANSWERED: 500"))
    worker = effects(stage, webhook=connector)
    for _ in range(11):
        worker.work(stage.tenant_id)
        stage.standing.run("UPDATE endpoints SET failures = 0, rests_until = NULL")
        come_due(stage)
    assert rows(stage) == [("failed", 11)]
    worker.work(stage.tenant_id)
    stage.drain()
    assert rows(stage) == [("dead_letter", 12)]
    assert len({message.id for message in connector.given}) == 1
    assert "usr:checks:failed" in stage.nodes(made.instance_id)


def test_what_has_just_come_has_its_turn_behind_a_backlog(stage: WorkflowStage) -> None:
    begin(stage, count=2 * MAX_CLAIMED + 2)
    add_endpoint(stage)
    stage.standing.run("UPDATE workflow_side_effects_outbox SET due_at = due_at - interval '1 minute'")
    (new,) = stage.standing.row(
        "UPDATE workflow_side_effects_outbox SET due_at = now() + interval '1 hour'"
        " WHERE id = (SELECT id FROM workflow_side_effects_outbox LIMIT 1) RETURNING id"
    )
    connector = Answering()
    worker = effects(stage, webhook=connector)
    assert worker.work(stage.tenant_id) == MAX_CLAIMED
    # Now it comes, behind the rest of the backlog.
    stage.standing.run("UPDATE workflow_side_effects_outbox SET due_at = now() WHERE id = %s", new)
    assert worker.work(stage.tenant_id) == 1
    assert connector.given[-1].id == new
    assert worker.work(stage.tenant_id) == MAX_CLAIMED, "the backlog has the turns between"
    while worker.work(stage.tenant_id):
        pass
    assert set(rows(stage)) == {("completed", 1)}


def test_what_is_final_is_not_tried_again(stage: WorkflowStage) -> None:
    begin(stage)
    add_endpoint(stage)
    effects(stage, webhook=Answering(Delivery(None, "ADDRESS_REFUSED", is_final=True))).work(stage.tenant_id)
    assert rows(stage) == [("dead_letter", 1)]
    assert endpoint(stage)[:2] == ("active", 0)


def test_a_receiver_that_is_gone_is_disabled(stage: WorkflowStage) -> None:
    begin(stage, count=2)
    add_endpoint(stage)
    gone = Answering(Delivery(410, "ANSWERED: 410", is_final=True, is_gone=True))
    worker = effects(stage, webhook=gone)
    worker.work(stage.tenant_id)
    assert endpoint(stage)[0] == "disabled"
    stage.standing.run("UPDATE workflow_side_effects_outbox SET due_at = now() WHERE status = 'pending'")
    worker.work(stage.tenant_id)
    assert rows(stage) == [("pending", 0)] * 2


def test_a_dead_receiver_rests_and_costs_no_attempts(stage: WorkflowStage) -> None:
    begin(stage, count=FAILURES_TO_REST + 2)
    add_endpoint(stage)
    connector = Answering(Delivery(None, "NOT_REACHED: ConnectionRefusedError"))
    worker = effects(stage, webhook=connector)
    worker.work(stage.tenant_id)
    assert endpoint(stage) == ("active", FAILURES_TO_REST + 2, True)
    given = len(connector.given)
    come_due(stage)
    worker.work(stage.tenant_id)
    assert len(connector.given) == given
    assert {attempts for _, attempts in rows(stage)} == {1}
    # After its rest one call tries the endpoint, and the others wait for its result.
    stage.standing.run("UPDATE endpoints SET rests_until = now() - interval '1 second'")
    come_due(stage)
    worker.work(stage.tenant_id)
    assert len(connector.given) == given + 1
    assert endpoint(stage) == ("active", FAILURES_TO_REST + 3, True)
    # One success ends the rest for all.
    stage.standing.run("UPDATE endpoints SET rests_until = now() - interval '1 second'")
    come_due(stage)
    connector.delivery = Delivery(200, None)
    worker.work(stage.tenant_id)
    assert endpoint(stage)[:2] == ("active", 0)
    assert [status for status, _ in rows(stage)].count("completed") == 1
    come_due(stage)
    worker.work(stage.tenant_id)
    assert {status for status, _ in rows(stage)} == {"completed"}


def test_what_failed_twice_does_not_wait_for_its_like(stage: WorkflowStage) -> None:
    begin(stage, count=3)
    add_endpoint(stage)
    stage.standing.run("UPDATE workflow_side_effects_outbox SET attempts = 3")
    assert effects(stage, webhook=Answering()).work(stage.tenant_id) == 3


@pytest.mark.parametrize("body", ["\0", "\ud800", float("nan"), {1}, "x" * 70_000])
def test_what_cannot_be_kept_keeps_no_other_from_being_noted(stage: WorkflowStage, body: Any) -> None:
    begin(stage, count=2)
    add_endpoint(stage)

    class Odd(Answering):
        def deliver(self, message: OutboundMessage) -> Delivery:
            self.given.append(message)
            odd = Delivery(200, "REFUSED: \0 \ud800", body, is_final=True)
            return odd if len(self.given) == 1 else self.delivery

    effects(stage, webhook=Odd()).work(stage.tenant_id)
    assert sorted(rows(stage)) == [("completed", 1), ("dead_letter", 1)]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 451])
def test_what_refuses_a_message_lets_no_endpoint_rest(stage: WorkflowStage, status: int) -> None:
    """One person's documents do not stop everybody's calls."""
    begin(stage, count=FAILURES_TO_REST + 2)
    add_endpoint(stage)
    worker = effects(stage, webhook=Answering(Delivery(status, f"ANSWERED: {status}")))
    worker.work(stage.tenant_id)
    assert endpoint(stage) == ("active", 0, None)
    assert {attempts for _, attempts in rows(stage)} == {1}


@pytest.mark.parametrize("status", [None, 302, 408, 425, 429, 500, 503])
def test_what_says_how_the_receiver_is_lets_it_rest(stage: WorkflowStage, status: int | None) -> None:
    begin(stage, count=FAILURES_TO_REST)
    add_endpoint(stage)
    effects(stage, webhook=Answering(Delivery(status, "it failed"))).work(stage.tenant_id)
    assert endpoint(stage) == ("active", FAILURES_TO_REST, True)


def test_what_refuses_a_message_ends_a_rest_and_no_count(stage: WorkflowStage) -> None:
    """Between failures it changes nothing. As the one call after a rest it shows a receiver that is there."""
    begin(stage)
    add_endpoint(stage)
    worker = effects(stage, webhook=Answering(Delivery(422, "ANSWERED: 422")))
    for failures, then in ((FAILURES_TO_REST - 1, FAILURES_TO_REST - 1), (FAILURES_TO_REST, 0)):
        stage.standing.run("UPDATE endpoints SET failures = %s", failures)
        come_due(stage)
        worker.work(stage.tenant_id)
        assert endpoint(stage) == ("active", then, None)


def test_each_rest_is_longer_and_none_is_endless(stage: WorkflowStage) -> None:
    add_endpoint(stage)
    begin(stage)
    seconds = []
    worker = effects(stage, webhook=Answering(Delivery(500, "ANSWERED: 500")))
    for failures in (4, 9, 14, 10_000):
        stage.standing.run("UPDATE endpoints SET failures = %s, rests_until = NULL", failures)
        stage.standing.run("UPDATE workflow_side_effects_outbox SET max_attempts = 100")
        come_due(stage)
        worker.work(stage.tenant_id)
        (rest,) = stage.standing.row("SELECT extract(epoch FROM rests_until - now()) FROM endpoints")
        seconds.append(round(float(rest) / 60))
    assert seconds == [1, 2, 4, 60]


def test_whose_lease_ran_out_notes_nothing(stage: WorkflowStage) -> None:
    begin(stage)
    add_endpoint(stage)

    class Slow(Answering):
        def deliver(self, message: OutboundMessage) -> Delivery:
            """Deliver while another worker takes the row over."""
            stage.standing.run("UPDATE workflow_side_effects_outbox SET claim_id = gen_random_uuid()")
            return super().deliver(message)

    effects(stage, webhook=Slow()).work(stage.tenant_id)
    assert rows(stage) == [("processing", 1)]
    assert stage.standing.row("SELECT response_json FROM workflow_side_effects_outbox") == (None,)


def test_who_dies_between_delivering_and_noting_delivers_again(stage: WorkflowStage) -> None:
    begin(stage)
    add_endpoint(stage)
    with stage.database.transaction(stage.tenant_id) as connection:
        claim(connection, EFFECTS, at_most=1, lease_seconds=60, claim_id=UUID(int=1))
    connector = Answering()
    assert effects(stage, webhook=connector).work(stage.tenant_id) == 0
    stage.standing.run("UPDATE workflow_side_effects_outbox SET lease_until = now() - interval '1 second'")
    assert effects(stage, webhook=connector).work(stage.tenant_id) == 1
    assert rows(stage) == [("completed", 2)]


def test_a_deadlock_while_noting_has_nothing_delivered_twice(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(stage, count=2)
    add_endpoint(stage)
    broken: list[int] = []

    def break_once(connection: Connection, *more: Any) -> None:
        """Break the transaction once, after most of it was written."""
        wake_other(connection, *more)
        if not broken:
            broken.append(1)
            connection.execute("DO $$ BEGIN RAISE EXCEPTION 'in a circle' USING ERRCODE = '40P01'; END $$")

    wake_other = leases.wake_instances
    monkeypatch.setattr("signet.engine.integrations.effects.wake_instances", break_once)
    connector = Answering()
    assert effects(stage, webhook=connector).work(stage.tenant_id) == 2
    assert rows(stage) == [("completed", 1)] * 2
    assert (len(connector.given), broken) == (2, [1])
    stage.drain()


def test_of_whom_every_worker_dies_the_workflow_is_told(stage: WorkflowStage) -> None:
    (made,) = begin(stage)
    add_endpoint(stage)
    with stage.database.transaction(stage.tenant_id) as connection:
        claim(connection, EFFECTS, at_most=1, lease_seconds=60, claim_id=UUID(int=1))
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET max_attempts = 1, lease_until = now() - interval '1 second'"
    )
    effects(stage, webhook=Answering()).work(stage.tenant_id)
    assert rows(stage) == [("dead_letter", 1)]
    stage.drain()
    assert "usr:checks:failed" in stage.nodes(made.instance_id)


@pytest.mark.parametrize("is_broken", [True, False], ids=["raises", "missing"])
def test_a_connector_that_breaks_costs_its_effect_an_attempt(stage: WorkflowStage, is_broken: bool) -> None:
    begin(stage)
    add_endpoint(stage)

    class BrokenConnector(Answering):
        def deliver(self, message: OutboundMessage) -> Delivery:
            raise ZeroDivisionError

    effects(stage, **({"webhook": BrokenConnector()} if is_broken else {})).work(stage.tenant_id)
    assert rows(stage) == [("failed", 1)]
    (error,) = stage.standing.row("SELECT error FROM workflow_side_effects_outbox")
    assert error.startswith("CONNECTOR_FAILED" if is_broken else "CONNECTOR_MISSING")


def test_one_claim_is_bounded(stage: WorkflowStage) -> None:
    begin(stage, count=MAX_CLAIMED + 3)
    add_endpoint(stage)
    worker = effects(stage, webhook=Answering())
    assert [worker.work(stage.tenant_id) for _ in range(3)] == [MAX_CLAIMED, 3, 0]


# --- webhooks, for real ---


def webhooks() -> Webhooks:
    return Webhooks(lambda tenant_id, name: SECRETS.get(name), AllowedAddresses(frozenset({"127.0.0.1"})))


def test_a_webhook_is_signed_and_can_be_known_again(stage: WorkflowStage) -> None:
    begin(stage, {**CALL, "config": {"endpoint": "erp", "payload": {"amount": 7}}})
    with receiving(answering(500)) as receiver:
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/hook", "new", "old")
        worker = effects(stage, webhook=webhooks())
        worker.work(stage.tenant_id)
        come_due(stage)
        worker.work(stage.tenant_id)
    seen = set()
    for _, headers, body in receiver.received:
        for secret in (SECRET, OTHER):
            seen.add(verify([parse_secret(secret)], headers, body, int(headers["webhook-timestamp"])))
        assert json.loads(body)["data"] == {"amount": 7}
        assert headers["traceparent"]
    assert len(receiver.received) == 2
    assert len(seen) == 1


def test_a_secret_that_is_gone_signs_nothing_and_the_other_one_does(stage: WorkflowStage) -> None:
    begin(stage)
    with receiving(answering(200)) as receiver:
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/", "gone", "old")
        effects(stage, webhook=webhooks()).work(stage.tenant_id)
    ((_, headers, body),) = receiver.received
    assert len(headers["webhook-signature"].split(" ")) == 1
    assert verify([parse_secret(OTHER)], headers, body, int(headers["webhook-timestamp"]))


def test_without_its_secret_nothing_is_sent(stage: WorkflowStage) -> None:
    begin(stage)
    with receiving(answering(200)) as receiver:
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/", "broken")
        effects(stage, webhook=webhooks()).work(stage.tenant_id)
    assert receiver.received == []
    assert rows(stage) == [("failed", 1)]


def test_an_endpoint_that_is_not_there_may_still_come(stage: WorkflowStage) -> None:
    begin(stage)
    with receiving(answering(200)) as receiver:
        worker = effects(stage, webhook=webhooks())
        worker.work(stage.tenant_id)
        assert rows(stage) == [("failed", 1)]
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/")
        come_due(stage)
        worker.work(stage.tenant_id)
    assert rows(stage) == [("completed", 2)]


def test_a_host_that_is_no_longer_allowed_is_not_called(stage: WorkflowStage) -> None:
    """Remove the host between two calls: each claim reads the list again."""
    begin(stage, count=2)
    with receiving(answering(200)) as receiver:
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/")
        worker = effects(stage, webhook=webhooks())
        stage.standing.run(
            "UPDATE workflow_side_effects_outbox SET due_at = due_at + interval '1 day'"
            " WHERE id = (SELECT max(id::text)::uuid FROM workflow_side_effects_outbox)"
        )
        worker.work(stage.tenant_id)
        stage.standing.run('UPDATE tenants SET settings = settings || \'{"webhook_hosts": ["a.example"]}\'')
        come_due(stage)
        worker.work(stage.tenant_id)
    assert len(receiver.received) == 1
    assert rows(stage) == [("completed", 1), ("dead_letter", 1)]
    (error,) = stage.standing.row("SELECT max(error) FROM workflow_side_effects_outbox")
    assert error.startswith("ENDPOINT_HOST_REFUSED")
    assert endpoint(stage)[:2] == ("active", 0)


# --- events for other systems ---

EVENT = {"id": "call", "type": "webhook_out"}


def test_an_event_is_published_on_the_bus(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"event": "com.example.invoice.checked", "payload": {"amount": 7}}
    (made,) = begin(stage, {**EVENT, "config": config})
    taken = b'{"FailedEntryCount": 0, "Entries": [{"EventId": "e-1"}]}'
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with receiving(answering(200, taken)) as receiver:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{receiver.port}")
        bus = Bus(Clients("eu-central-1"), "signet", "signet")
        effects(stage, integration=bus).work(stage.tenant_id)
    ((_, _, body),) = receiver.received
    detail = json.loads(json.loads(body)["Entries"][0]["Detail"])
    (identifier, traced) = stage.standing.row("SELECT id, trace_id FROM workflow_side_effects_outbox")
    assert (detail["id"], detail["type"]) == (str(identifier), "com.example.invoice.checked")
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents")
    assert (detail["subject"], detail["data"]) == (f"{entity_type}/{made.id}", {"amount": 7})
    assert (detail["tenant"], detail["traceparent"]) == (str(stage.tenant_id), traced)
    stage.drain()
    assert stage.status_of(made.id) == "active"
    (step,) = (s for s in stage.whole_steps(made.instance_id) if s["node_id"] == "usr:checks:call")
    assert step["output_json"]["evidence"]["event_id"] == "e-1"
    stage.check_rebuild(made.instance_id)


def test_without_a_bus_an_event_waits_for_one(stage: WorkflowStage) -> None:
    begin(stage, {**EVENT, "config": {"event": "a.b"}})
    effects(stage, **make_connectors(DeliverySettings())).work(stage.tenant_id)
    assert rows(stage) == [("failed", 1)]
    (error,) = stage.standing.row("SELECT error FROM workflow_side_effects_outbox")
    assert error.startswith("CONNECTOR_MISSING")
