"""Effects leave the system at least once, and are on record exactly once."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from signet.core.webhook_signatures import read_secret, verify
from signet.engine.effects import FAILURES_TO_REST, MAX_CLAIMED, Effects
from signet.outbound.connector import Connector, Delivery, Outgoing
from signet.outbound.webhook import Reach, Webhooks
from signet.store.queue import EFFECTS, claim
from tests.engine.waves.stage import CALL, Made, Stage, standing_stage
from tests.outbound.receiver import Receiver, answering, receiving

SECRET = f"whsec_{base64.b64encode(b's' * 24).decode()}"
OTHER = f"whsec_{base64.b64encode(b'o' * 24).decode()}"
SECRETS = {"new": SECRET, "old": OTHER, "broken": "no secret"}
EDGES = [
    {"source": "call", "target": "out"},
    {"source": "call", "target": "failed", "on": "error"},
    {"source": "failed", "target": "out"},
]
FAILED = {"id": "failed", "type": "script", "config": {"set": {"failed": "true"}}}


@pytest.fixture
def stage(server_url: str) -> Iterator[Stage]:
    with standing_stage(server_url) as made:
        yield made


@dataclass
class Answering:
    """A connector that answers what it is told to, and remembers what it was given."""

    delivery: Delivery = field(default_factory=lambda: Delivery(200, None, {"ok": True}))
    given: list[Outgoing] = field(default_factory=list)

    def deliver(self, outgoing: Outgoing) -> Delivery:
        self.given.append(outgoing)
        return self.delivery


def begin(stage: Stage, node: Mapping[str, Any] = CALL, count: int = 1) -> list[Made]:
    """Documents whose workflows have come to a call."""
    edges = [{**edge, "source": edge["source"].replace("call", node["id"])} for edge in EDGES]
    contract = stage.publish(checks={"nodes": [node, FAILED], "edges": edges, "exit": "join"})
    made = [stage.create(contract) for _ in range(count)]
    for one in made:
        stage.ask(one.id, "submit")
    stage.drain()
    return made


def add_endpoint(stage: Stage, url: str = "https://erp.example/", *refs: str, name: str = "erp") -> None:
    stage.standing.run(
        "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
        " VALUES (%s, %s, %s, %s, 'carl')",
        stage.tenant_id,
        name,
        url,
        list(refs or ("new",)),
    )


def effects(stage: Stage, **connectors: Connector) -> Effects:
    return Effects(stage.database, connectors)


def endpoint(stage: Stage) -> tuple[Any, ...]:
    """(status, failures, whether it rests)"""
    return stage.standing.row("SELECT status, failures, rests_until > now() FROM endpoints")


def rows(stage: Stage) -> list[tuple[Any, ...]]:
    return stage.standing.rows("SELECT status, attempts FROM workflow_side_effects_outbox ORDER BY id")


def come_due(stage: Stage) -> None:
    stage.standing.run("UPDATE workflow_side_effects_outbox SET due_at = now() - interval '1 second'")


def test_what_is_delivered_lets_the_workflow_go_on(stage: Stage) -> None:
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


def test_what_fails_is_tried_again_under_the_same_id_until_it_is_given_up(stage: Stage) -> None:
    (made,) = begin(stage)
    add_endpoint(stage)
    connector = Answering(Delivery(500, "ANSWERED: 500"))
    worker = effects(stage, webhook=connector)
    for _ in range(4):
        worker.work(stage.tenant_id)
        stage.standing.run("UPDATE endpoints SET failures = 0, rests_until = NULL")
        come_due(stage)
    assert rows(stage) == [("failed", 4)]
    worker.work(stage.tenant_id)
    stage.drain()
    assert rows(stage) == [("dead_letter", 5)]
    assert len({outgoing.id for outgoing in connector.given}) == 1
    assert "usr:checks:failed" in stage.nodes(made.instance_id)


def test_what_is_final_is_not_tried_again(stage: Stage) -> None:
    begin(stage)
    add_endpoint(stage)
    effects(stage, webhook=Answering(Delivery(None, "ADDRESS_REFUSED", is_final=True))).work(stage.tenant_id)
    assert rows(stage) == [("dead_letter", 1)]
    assert endpoint(stage)[:2] == ("active", 0)


def test_a_receiver_that_is_gone_is_disabled(stage: Stage) -> None:
    begin(stage, count=2)
    add_endpoint(stage)
    gone = Answering(Delivery(410, "ANSWERED: 410", is_final=True, is_gone=True))
    worker = effects(stage, webhook=gone)
    worker.work(stage.tenant_id)
    assert endpoint(stage)[0] == "disabled"
    stage.standing.run("UPDATE workflow_side_effects_outbox SET due_at = now() WHERE status = 'pending'")
    worker.work(stage.tenant_id)
    assert {status for status, _ in rows(stage)} == {"dead_letter"}


def test_a_dead_receiver_rests_and_costs_no_attempts(stage: Stage) -> None:
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
    # After its rest it is asked again, and one answer makes it well.
    stage.standing.run("UPDATE endpoints SET rests_until = now() - interval '1 second'")
    come_due(stage)
    connector.delivery = Delivery(200, None)
    worker.work(stage.tenant_id)
    assert endpoint(stage)[:2] == ("active", 0)
    assert {status for status, _ in rows(stage)} == {"completed"}


def test_each_rest_is_longer_and_none_is_endless(stage: Stage) -> None:
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


def test_whose_lease_ran_out_notes_nothing(stage: Stage) -> None:
    begin(stage)
    add_endpoint(stage)

    class Slow(Answering):
        def deliver(self, outgoing: Outgoing) -> Delivery:
            """Meanwhile another worker takes the row over."""
            stage.standing.run("UPDATE workflow_side_effects_outbox SET claim_id = gen_random_uuid()")
            return super().deliver(outgoing)

    effects(stage, webhook=Slow()).work(stage.tenant_id)
    assert rows(stage) == [("processing", 1)]
    assert stage.standing.row("SELECT response_json FROM workflow_side_effects_outbox") == (None,)


def test_who_dies_between_delivering_and_noting_delivers_again(stage: Stage) -> None:
    begin(stage)
    add_endpoint(stage)
    with stage.database.transaction(stage.tenant_id) as connection:
        claim(connection, EFFECTS, stage.tenant_id, at_most=1, lease_seconds=60, claim_id=UUID(int=1))
    connector = Answering()
    assert effects(stage, webhook=connector).work(stage.tenant_id) == 0
    stage.standing.run("UPDATE workflow_side_effects_outbox SET lease_until = now() - interval '1 second'")
    assert effects(stage, webhook=connector).work(stage.tenant_id) == 1
    assert rows(stage) == [("completed", 2)]


def test_of_whom_every_worker_dies_the_workflow_is_told(stage: Stage) -> None:
    (made,) = begin(stage)
    add_endpoint(stage)
    with stage.database.transaction(stage.tenant_id) as connection:
        claim(connection, EFFECTS, stage.tenant_id, at_most=1, lease_seconds=60, claim_id=UUID(int=1))
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET max_attempts = 1, lease_until = now() - interval '1 second'"
    )
    effects(stage, webhook=Answering()).work(stage.tenant_id)
    assert rows(stage) == [("dead_letter", 1)]
    stage.drain()
    assert "usr:checks:failed" in stage.nodes(made.instance_id)


@pytest.mark.parametrize("is_broken", [True, False], ids=["raises", "missing"])
def test_a_connector_that_breaks_costs_its_effect_an_attempt(stage: Stage, is_broken: bool) -> None:
    begin(stage)
    add_endpoint(stage)

    class Broken(Answering):
        def deliver(self, outgoing: Outgoing) -> Delivery:
            raise ZeroDivisionError

    effects(stage, **({"webhook": Broken()} if is_broken else {})).work(stage.tenant_id)
    assert rows(stage) == [("failed", 1)]
    (error,) = stage.standing.row("SELECT error FROM workflow_side_effects_outbox")
    assert error.startswith("CONNECTOR_FAILED" if is_broken else "CONNECTOR_MISSING")


def test_one_claim_is_bounded(stage: Stage) -> None:
    begin(stage, count=MAX_CLAIMED + 3)
    add_endpoint(stage)
    worker = effects(stage, webhook=Answering())
    assert [worker.work(stage.tenant_id) for _ in range(3)] == [MAX_CLAIMED, 3, 0]


# --- webhooks, for real ---


def webhooks(receiver: Receiver) -> Webhooks:
    reach = Reach(frozenset({receiver.port}), frozenset({"127.0.0.1"}), allows_http=True)
    return Webhooks(lambda tenant_id, name: SECRETS.get(name), reach)


def test_a_webhook_is_signed_and_can_be_known_again(stage: Stage) -> None:
    begin(stage, {**CALL, "config": {"endpoint": "erp", "payload": {"amount": 7}}})
    with receiving(answering(500)) as receiver:
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/hook", "new", "old")
        worker = effects(stage, webhook=webhooks(receiver))
        worker.work(stage.tenant_id)
        come_due(stage)
        worker.work(stage.tenant_id)
    seen = set()
    for _, headers, body in receiver.received:
        for secret in (SECRET, OTHER):
            seen.add(verify([read_secret(secret)], headers, body, int(headers["webhook-timestamp"])))
        assert json.loads(body)["data"] == {"amount": 7}
        assert headers["traceparent"]
    assert len(receiver.received) == 2
    assert len(seen) == 1


def test_without_its_secret_nothing_is_sent(stage: Stage) -> None:
    begin(stage)
    with receiving(answering(200)) as receiver:
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/", "broken")
        effects(stage, webhook=webhooks(receiver)).work(stage.tenant_id)
    assert receiver.received == []
    assert rows(stage) == [("failed", 1)]


def test_an_endpoint_that_is_not_there_may_still_come(stage: Stage) -> None:
    begin(stage)
    with receiving(answering(200)) as receiver:
        worker = effects(stage, webhook=webhooks(receiver))
        worker.work(stage.tenant_id)
        assert rows(stage) == [("failed", 1)]
        add_endpoint(stage, f"http://127.0.0.1:{receiver.port}/")
        come_due(stage)
        worker.work(stage.tenant_id)
    assert rows(stage) == [("completed", 2)]


# --- people ---


def tell(channel: str, *to: dict[str, Any]) -> dict[str, Any]:
    config = {"channel": channel, "to": list(to), "subject": "Look", "text": "At this", "await": True}
    return {"id": "call", "type": "notification", "config": config}


def hire(stage: Stage) -> None:
    stage.standing.run(
        "INSERT INTO members (tenant_id, user_id, display_name, email, phone)"
        " SELECT %s, name, name, name || '@example.com', '+4915112345678'"
        " FROM unnest(ARRAY['ann', 'ben', 'cleo', 'boss']) AS name",
        stage.tenant_id,
    )
    stage.standing.run(
        "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, 'finance', '{}')", stage.tenant_id
    )
    stage.standing.run(
        "INSERT INTO member_roles (tenant_id, user_id, role)"
        " SELECT %s, name, 'finance' FROM unnest(ARRAY['ben', 'cleo']) AS name",
        stage.tenant_id,
    )
    stage.standing.run(
        "INSERT INTO org_chart (tenant_id, user_id, manager_id)"
        " VALUES (%s, 'ann', 'ben'), (%s, 'ben', 'boss')",
        stage.tenant_id,
        stage.tenant_id,
    )


def test_whom_a_message_is_for_is_found_when_it_is_sent(stage: Stage) -> None:
    begin(stage, tell("email", {"by": "user", "user": "ann"}, {"by": "role", "role": "finance"}))
    hire(stage)
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'cleo'")
    connector = Answering()
    effects(stage, email=connector).work(stage.tenant_id)
    (outgoing,) = connector.given
    assert [(one.user_id, one.email) for one in outgoing.recipients] == [
        ("ann", "ann@example.com"),
        ("ben", "ben@example.com"),
    ]


def test_a_manager_is_found_some_levels_up(stage: Stage) -> None:
    begin(stage, tell("sms", {"by": "manager", "of": "'ann'", "levels": 2}))
    hire(stage)
    connector = Answering()
    effects(stage, sms=connector).work(stage.tenant_id)
    assert [one.user_id for one in connector.given[0].recipients] == ["boss"]


def test_people_are_told_in_the_application_once(stage: Stage) -> None:
    (made,) = begin(stage, tell("in_app", {"by": "role", "role": "finance"}))
    hire(stage)
    worker = effects(stage)
    worker.work(stage.tenant_id)
    told = "SELECT user_id, kind, data ->> 'subject' FROM notifications ORDER BY user_id"
    assert stage.standing.rows(told) == [("ben", "message", "Look"), ("cleo", "message", "Look")]
    stage.drain()
    assert stage.status_of(made.id) == "active"
    # The same again, as after a lost answer.
    stage.standing.run("ALTER TABLE workflow_side_effects_outbox DISABLE TRIGGER ALL")
    stage.standing.run("UPDATE workflow_side_effects_outbox SET status = 'pending'")
    worker.work(stage.tenant_id)
    assert len(stage.standing.rows(told)) == 2
