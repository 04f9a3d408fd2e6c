"""Messages to people: their recipients, their delivery, and the record of it."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends

from signet.aws.clients import Clients
from signet.aws.mail import Mail
from signet.aws.text_messages import TextMessages
from signet.outbound.connector import Connector, Delivery
from tests.support.effects import Answering, begin, come_due, effects, list_may_have_left, rows
from tests.support.workflow_stage import WorkflowStage


def tell(channel: str, *to: dict[str, Any]) -> dict[str, Any]:
    config = {"channel": channel, "to": list(to), "subject": "Look", "text": "At this", "await": True}
    return {"id": "call", "type": "notification", "config": config}


def hire(stage: WorkflowStage) -> None:
    stage.standing.run(
        "INSERT INTO members (tenant_id, user_id, display_name, email, phone)"
        " SELECT %s, name, name, name || '@example.com', '+4915112345678'"
        " FROM unnest(ARRAY['ann', 'ben', 'cleo', 'boss']) AS name"
        " ON CONFLICT (tenant_id, user_id) DO UPDATE SET email = excluded.email, phone = excluded.phone",
        stage.tenant_id,
    )
    stage.standing.run(
        "INSERT INTO roles (tenant_id, role, permissions) VALUES (%s, 'finance', '{}')"
        " ON CONFLICT DO NOTHING",
        stage.tenant_id,
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


def test_whom_a_message_is_for_is_found_when_it_is_sent(stage: WorkflowStage) -> None:
    begin(stage, tell("email", {"by": "user", "user": "ann"}, {"by": "role", "role": "finance"}))
    hire(stage)
    stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'cleo'")
    connector = Answering()
    effects(stage, email=connector).work(stage.tenant_id)
    (message,) = connector.given
    assert [(one.user_id, one.email) for one in message.recipients] == [
        ("ann", "ann@example.com"),
        ("ben", "ben@example.com"),
    ]


def test_a_manager_is_found_some_levels_up(stage: WorkflowStage) -> None:
    begin(stage, tell("sms", {"by": "manager", "of": "'ann'", "levels": 2}))
    hire(stage)
    connector = Answering()
    effects(stage, sms=connector).work(stage.tenant_id)
    assert [one.user_id for one in connector.given[0].recipients] == ["boss"]


def test_people_are_told_in_the_application_once(stage: WorkflowStage) -> None:
    (made,) = begin(stage, tell("in_app", {"by": "role", "role": "finance"}))
    hire(stage)
    worker = effects(stage)
    worker.work(stage.tenant_id)
    told = "SELECT user_id, kind, data ->> 'subject' FROM notifications ORDER BY user_id"
    assert stage.standing.rows(told) == [("ben", "message", "Look"), ("cleo", "message", "Look")]
    stage.drain()
    assert stage.status_of(made.id) == "active"
    # The delivery is repeated, as after a lost answer.
    stage.standing.run("ALTER TABLE workflow_side_effects_outbox DISABLE TRIGGER ALL")
    stage.standing.run("UPDATE workflow_side_effects_outbox SET status = 'pending'")
    worker.work(stage.tenant_id)
    assert len(stage.standing.rows(told)) == 2


@pytest.mark.parametrize("channel", ["email", "sms", "in_app"])
def test_what_is_for_nobody_is_a_dead_letter(stage: WorkflowStage, channel: str) -> None:
    """Reject a message without recipients at once, and wake its workflow."""
    (made,) = begin(stage, tell(channel, {"by": "role", "role": "finance"}))
    connectors = {} if channel == "in_app" else make_sending()
    effects(stage, **connectors).work(stage.tenant_id)
    assert rows(stage) == [("dead_letter", 1)]
    assert list_may_have_left(stage) == [False]
    stage.drain()
    assert "usr:checks:failed" in stage.nodes(made.instance_id)


def make_sending() -> dict[str, Connector]:
    clients = Clients("eu-central-1")
    return {"email": Mail(clients, "signet@a.example"), "sms": TextMessages(clients)}


@pytest.fixture
def account() -> Iterator[None]:
    with mock_aws():
        boto3.client("sesv2", "eu-central-1").create_email_identity(EmailIdentity="signet@a.example")
        yield


def test_mail_is_sent_and_what_became_of_it_stands_on_the_row_and_on_the_step(
    stage: WorkflowStage, account: None
) -> None:
    (made,) = begin(stage, tell("email", {"by": "user", "user": "ann"}, {"by": "role", "role": "finance"}))
    hire(stage)
    stage.standing.run("UPDATE members SET email = NULL WHERE user_id = 'cleo'")
    effects(stage, **make_sending()).work(stage.tenant_id)
    sent = ses_backends[DEFAULT_ACCOUNT_ID]["eu-central-1"].sent_messages
    assert [one.destinations["ToAddresses"] for one in sent] == [["ann@example.com"], ["ben@example.com"]]
    (evidence,) = stage.standing.row("SELECT response_json FROM workflow_side_effects_outbox")
    assert evidence["body"] == {
        "told": {"ann": sent[0].id, "ben": sent[1].id},
        "missed": {"cleo": "ADDRESS_MISSING: no mail address is known"},
    }
    stage.drain()
    (step,) = (s for s in stage.whole_steps(made.instance_id) if s["node_id"] == "usr:checks:call")
    assert step["output_json"]["evidence"] == {
        "duration_ms": evidence["duration_ms"],
        **evidence["body"],
    }
    stage.check_rebuild(made.instance_id)


def test_who_was_told_before_a_failure_stays_on_record(stage: WorkflowStage) -> None:
    begin(stage, tell("email", {"by": "user", "user": "ann"}))
    hire(stage)
    connector = Answering(Delivery(429, "REFUSED: slower", {"told": {"ann": "m-1"}, "left": ["ben"]}))
    worker = effects(stage, email=connector)
    worker.work(stage.tenant_id)
    come_due(stage)
    # A worker without this connector keeps the recorded deliveries.
    effects(stage).work(stage.tenant_id)
    come_due(stage)
    worker.work(stage.tenant_id)
    assert [message.earlier for message in connector.given] == [None, connector.delivery.body]
