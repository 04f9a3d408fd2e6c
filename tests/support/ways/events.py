"""A way through the door for events: the document waits for one, and a person sends it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import LiteralString

from tests.support.sent_events import send
from tests.support.ways.cells import Cell, Played, same
from tests.support.ways.hands import give_back_and_vote
from tests.support.ways.involvements import DUTIES, RESPONSIBLE, WHO
from tests.support.ways.scene import AuthorityScene, Plan

WAIT = {"id": "wait", "type": "wait_event", "config": {"key": "iban:{entity.id}", "save_as": "iban"}}
OPEN: LiteralString = "SELECT id FROM approval_requests WHERE document_id = %s AND status = 'open'"


def create_waiting(scene: AuthorityScene) -> None:
    """Create a document that will wait for an event before people are asked."""
    plan = scene.involvement.plan(scene, Plan())
    plan = replace(plan, first=[*plan.first, WAIT])
    scene.document = scene.involvement.create(scene, scene.publish(plan), plan)


def wait_for_the_event(scene: AuthorityScene) -> None:
    create_waiting(scene)
    scene.request(scene.made, scene.involvement.requester(scene))
    if scene.involvement is WHO["delegator"]:
        scene.involvement.bind(scene)


def send_iban(scene: AuthorityScene, by: str) -> None:
    send(scene.stage, f"iban:{scene.made.id}", "DE-1", by=by)
    scene.stage.drain()


def send_and_vote(scene: AuthorityScene) -> Iterator[str]:
    wait_for_the_event(scene)
    send_iban(scene, scene.person)
    if scene.involvement is WHO["granter"]:
        scene.involvement.bind(scene)
    yield scene.vote(scene.person)


def approve_both(scene: AuthorityScene) -> str:
    """Approve the approval that is asked, and then the one before it, whose vote has lapsed at the gate."""
    assert scene.vote(scene.lawful) == "approved"
    (lapsed,) = scene.stage.standing.row(OPEN, scene.made.id)
    return scene.vote(scene.other, about=lapsed)


SENT = (("sends the event that it waits for, and votes", DUTIES),)
EVENT: Mapping[str, Cell] = {
    **same(Played(send_and_vote, SENT), *RESPONSIBLE, "operator"),
    # Their delegate's vote lapses with theirs, so that both approvals are asked.
    "delegator": Played(send_and_vote, SENT, approve_both),
    "granter": Played(
        send_and_vote,
        (("sends the event that it waits for, takes the role from another holder, and votes", DUTIES),),
        give_back_and_vote,
    ),
}
