"""The sender of an event stands behind what the document does with it, as an editor does."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from signet.core.integrations.webhook_signatures import sign
from signet.engine.integrations.inbound_events import InboundEvents, InboundMessage
from signet.engine.integrations.kept_events import SentEvents
from signet.store.integrations.inbound_events import InboundEndpointTerms
from tests.support.ways.events import WAIT, create_waiting, send_iban, wait_for_the_event
from tests.support.ways.involvements import DUTIES, Involvement
from tests.support.ways.scene import AuthorityScene, approvers
from tests.support.workflow_stage import WorkflowStage, standing_stage

SEE = {"id": "see", "type": "approval", "config": approvers({"by": "role", "role": "finance"})}
SECRET = b"s" * 24


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture
def scene(stage: WorkflowStage) -> AuthorityScene:
    return AuthorityScene(stage, Involvement())


def events_of(scene: AuthorityScene) -> InboundEvents:
    return InboundEvents(scene.database, lambda tenant_id, name: f"whsec_{base64.b64encode(SECRET).decode()}")


def require_other(scene: AuthorityScene) -> None:
    """Require that the person may not decide, and that a lawful one may."""
    assert scene.vote(scene.person) == DUTIES
    assert scene.vote(scene.lawful) == "approved"
    assert scene.status == "active"


def test_the_sender_may_not_decide(scene: AuthorityScene) -> None:
    wait_for_the_event(scene)
    send_iban(scene, scene.person)
    require_other(scene)


def test_nor_the_sender_of_what_was_kept(scene: AuthorityScene) -> None:
    create_waiting(scene)
    send_iban(scene, scene.person)
    scene.request(scene.made, scene.caller(scene.clerk))
    require_other(scene)


def test_nor_the_owner_of_the_key_that_sent_it(scene: AuthorityScene) -> None:
    wait_for_the_event(scene)
    events_of(scene).send(scene.make_key(scene.person), f"iban:{scene.made.id}", None, "DE-1")
    scene.stage.drain()
    require_other(scene)


def test_nor_who_made_the_endpoint_that_let_it_in(scene: AuthorityScene) -> None:
    wait_for_the_event(scene)
    events, name = events_of(scene), scene.named("bank")
    terms = InboundEndpointTerms("iban:", "/id", (scene.named("secret"),), "active")
    events.create_endpoint(scene.caller(scene.person), name, terms)
    content = {"id": str(scene.made.id)}
    body = json.dumps(content).encode()
    signed = sign([SECRET], "m-1", int(datetime.now(UTC).timestamp()), body)
    events.take_signed(scene.tenant_id, name, InboundMessage(signed, body, content, "00-test"))
    scene.stage.drain()
    require_other(scene)


def test_nor_who_offers_it_again(scene: AuthorityScene) -> None:
    create_waiting(scene)
    send_iban(scene, scene.boss)
    kept, stored = SentEvents(scene.database), "SELECT id FROM workflow_inbound_events WHERE event_key = %s"
    (event_id,) = scene.stage.standing.row(stored, f"iban:{scene.made.id}")
    scene.stage.standing.run(
        "UPDATE workflow_inbound_events SET received_at = received_at - interval '9 days',"
        " expires_at = expires_at - interval '9 days' WHERE id = %s",
        event_id,
    )
    scene.request(scene.made, scene.caller(scene.clerk))
    kept.replay(scene.caller(scene.person), event_id, "it had expired")
    scene.stage.drain()
    require_other(scene)


def test_who_sent_what_did_not_fit_has_no_part(scene: AuthorityScene) -> None:
    wait_for_the_event(scene)
    events_of(scene).send(scene.caller(scene.lawful), f"iban:{scene.made.id}-2", None, "DE-1")
    send_iban(scene, scene.person)
    require_other(scene)


def test_the_vote_of_who_sends_an_event_afterwards_lapses(scene: AuthorityScene) -> None:
    """They have changed what they voted about: others are asked in their place."""
    slot = {"nodes": [SEE, WAIT], "edges": [{"source": "see", "target": "wait"}]}
    entity_type = scene.stage.publish(None, approval=slot)
    scene.document = scene.create(entity_type, scene.caller(scene.clerk))
    scene.request(scene.made, scene.caller(scene.clerk))
    assert scene.vote(scene.person) == "approved"
    send_iban(scene, scene.person)
    assert scene.status == "submitted"
    require_other(scene)
