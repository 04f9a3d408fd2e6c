"""Automations as a way to an approval: by what fires one, and by its publication."""

from collections.abc import Iterator, Mapping

from signet.engine.automations.automations import Automations
from tests.support.automated_documents import automate
from tests.support.ways.cells import Cell, NotPossible, Played, same
from tests.support.ways.involvements import DUTIES
from tests.support.ways.machines import POST, find_newest_of
from tests.support.ways.scene import DENIED, AuthorityScene, Plan, refusal
from tests.support.workflow_stage import CONTRACT

SPAWN = {"id": "make", "type": "action", "config": {"action": "spawn", "run_as": "system"}}


def fire_and_vote(scene: AuthorityScene) -> Iterator[str]:
    """Create a document that starts an automation, whose step has the system make the one to approve."""
    payment = scene.publish(Plan())
    spawn = {"kind": "create", "entity_type": payment, "set": {"number": "of {entity.number}"}}
    source = scene.stage.publish({**CONTRACT, "actions": {"spawn": spawn}})
    automate(scene.stage, source, {"on": "create"}, SPAWN, by=scene.caller(scene.boss))
    scene.involvement.create(scene, source, Plan(data={"number": "N1"}))
    scene.stage.drain()
    scene.document = find_newest_of(scene, payment)
    scene.request(scene.made, scene.caller(scene.clerk))
    yield scene.vote(scene.person)


def publish_and_vote(scene: AuthorityScene) -> Iterator[str]:
    """Publish an automation whose step has the system edit what others create and ask for."""
    entity_type = scene.publish(Plan())
    automate(scene.stage, entity_type, {"on": "create"}, POST, by=scene.caller(scene.person))
    scene.document = scene.create(entity_type, scene.caller(scene.clerk))
    scene.stage.drain()
    scene.request(scene.made, scene.caller(scene.clerk))
    yield scene.vote(scene.person)


def start_by_command_line(scene: AuthorityScene) -> Iterator[str]:
    """Try to start an automation for the document, whose step would edit it as the system."""
    scene.submit()
    entity_type = scene.type_of_document()
    name = automate(scene.stage, entity_type, {"on": "manual"}, POST, by=scene.caller(scene.boss))
    automations = Automations(scene.database)
    yield refusal(lambda: automations.start(scene.command_line, name, {}, scene.made.id))


AUTOMATION: Mapping[str, Cell] = {
    **same(
        Played(
            fire_and_vote,
            (("votes about a document that an automation made of the one they created", DUTIES),),
        ),
        "creator",
        "key owner",
    ),
    "editor": Played(
        publish_and_vote,
        (("publishes an automation whose step edits the document, and votes", DUTIES),),
    ),
    "requester": NotPossible("an automation asks for no transition"),
    "rule author": NotPossible("a rule changes nothing that a step writes: the step is held"),
    "reference editor": NotPossible(
        "the condition of a trigger follows no reference, and a step counts as one of the system"
    ),
    "delegator": NotPossible("no step votes, and none gives or takes a voice"),
    "granter": NotPossible("no step gives or takes roles, lines or seats"),
    "operator": Played(
        start_by_command_line,
        (("starts an automation for the document by the command line", DENIED),),
    ),
}
