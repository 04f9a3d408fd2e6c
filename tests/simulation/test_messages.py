"""Any message between the functions may be lost, come twice, late or out of order, and no work is lost.

The functions are the real ones, over real wiring and a real database; only the queues between them are the
test's. First each message of a life by itself is lost, doubled and kept back. Then everything happens at
once, by seeds, with workers that die holding rows. SIGNET_TEST_CAMPAIGN tries many more seeds.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from signet.engine.documents.commands import Create, RequestTransition
from signet.engine.documents.mutate import Documents
from signet.ids import make_id
from signet.store.database import Database, PoolSettings
from signet.store.outbox.queue import QUEUES, claim_due
from signet.wiring.process import get_settings, make_wake
from tests.support.footprint import FOOTPRINT, Footprint
from tests.support.services.deployed_functions import SimulatedDeployment, deployed
from tests.support.services.message_queues import MessageQueues, QueueMessage, arrive, standing_queues
from tests.support.shared_company import IS_CAMPAIGN
from tests.support.workflow_stage import WorkflowStage, standing_stage

SEEDS = range(300 if IS_CAMPAIGN else 12)
DOCUMENTS = 3
# The place in a footprint that counts them.
TRIGGERS = 6
# Sweeps that bring everything to its end after any loss; each stands for a minute.
MAX_SWEEPS = 30
POST: dict[str, Any] = {"id": "post", "type": "action", "config": {"action": "post"}}
TELL: dict[str, Any] = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "in_app", "to": [{"by": "user", "user": "carl"}], "text": "Look", "await": True},
}
SLOTS = {
    "checks": {"nodes": [POST, TELL], "edges": [{"source": "post", "target": "tell"}]},
    "posting": {"nodes": [{**TELL, "id": "told"}]},
}


def shuffle(chance: random.Random | None) -> Callable[[list[QueueMessage]], int] | None:
    """Return a chooser of the next message: any that is on its way."""
    return None if chance is None else lambda waiting: chance.randrange(len(waiting))


@dataclass
class DeployedWorld:
    stage: WorkflowStage
    deployment: SimulatedDeployment
    documents: Documents
    entity_type: str

    @property
    def queues(self) -> MessageQueues:
        return self.deployment.queues

    def begin(self) -> list[UUID]:
        """Create the documents, each to be submitted before or after its workflow has begun."""
        caller = self.stage.standing.company.caller()
        made = [
            self.documents.mutate(caller, Create(self.entity_type, {"amount": number}))
            for number in range(DOCUMENTS)
        ]
        return [each.document_id for each in made]

    def submit(self, document_id: UUID) -> None:
        caller = self.stage.standing.company.caller()
        version = self.stage.version_of(document_id)
        self.documents.mutate(caller, RequestTransition(document_id, version, "submit", "for once"))

    def finish(self, chance: random.Random | None = None) -> None:
        """Let minutes pass; the relay comes, and its messages may be lost as well."""
        for _ in range(MAX_SWEEPS):
            self.stage.expire_leases()
            self.stage.make_due()
            self.stage.standing.run(
                "UPDATE workflow_side_effects_outbox SET due_at = now() WHERE status IN ('pending', 'failed')"
            )
            due = self.deployment.sweep()
            if due == {"events": 0, "effects": 0} and not self.queues.waiting:
                return
            self.deployment.deliver_all(shuffle(chance))
        raise AssertionError(f"work is left after {MAX_SWEEPS} sweeps")

    def footprints(self, ids: Sequence[UUID]) -> list[Footprint]:
        """Return footprints without the count of triggers: a wave whose time is up writes one more."""
        admin = self.stage.standing.admin
        found = [row for each in ids for row in admin.execute(FOOTPRINT, {"id": each}).fetchall()]
        return [(*row[:TRIGGERS], *row[TRIGGERS + 1 :]) for row in found]

    def check_books(self, ids: Sequence[UUID]) -> None:
        """Check that each receiver was told once, all work is done, and rows are the sum of their steps."""
        told = self.stage.standing.rows(
            "SELECT count(*) FROM notifications n JOIN workflow_instances i"
            " ON i.id = (n.data ->> 'instance_id')::uuid WHERE i.entity_id = ANY (%s)",
            list(ids),
        )
        assert told == [(2 * len(ids),)]
        for document_id in ids:
            instance_id = self.stage.instance_of(document_id)
            assert {status for status, _ in self.stage.triggers(instance_id)} == {"completed"}
            self.stage.check_rebuild(instance_id)

    def die_holding_rows(self) -> None:
        """Claim rows as a worker that then is gone."""
        for queue in QUEUES:
            due = claim_due(queue, at_most=2, lease_seconds=60, claim_id=make_id())
            with self.stage.database.transaction(self.stage.tenant_id) as connection:
                connection.execute(due.text, due.values)


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture(scope="module")
def world(stage: WorkflowStage) -> Iterator[DeployedWorld]:
    entity_type = stage.publish(**SLOTS)
    stage.add_member("ada")
    with standing_queues() as queues, deployed(stage.standing.admin_url, queues) as deployment:
        wake = make_wake(get_settings())
        api = Database(stage.standing.api_url, PoolSettings(), wake=wake)
        yield DeployedWorld(stage, deployment, Documents(api), entity_type)
        api.close()


@pytest.fixture(autouse=True)
def _calm(world: DeployedWorld) -> None:
    world.queues.waiting.clear()
    world.queues.fate = arrive
    world.queues.sent_count = 0


def live(world: DeployedWorld, chance: random.Random | None = None) -> list[UUID]:
    """Run a life: submit the first document before any message has come, the others when all is calm."""
    ids = world.begin()
    world.submit(ids[0])
    world.deployment.deliver_all(shuffle(chance))
    if chance and chance.random() < 0.5:
        world.die_holding_rows()
    for document_id in ids[1:]:
        world.submit(document_id)
        if chance and chance.random() < 0.3:
            world.die_holding_rows()
    world.deployment.deliver_all(shuffle(chance))
    return ids


@pytest.fixture(scope="module")
def undisturbed(world: DeployedWorld) -> tuple[list[Footprint], int]:
    """Return the footprints of a life whose messages come once and in order, and their number."""
    world.queues.fate = arrive
    before = world.queues.sent_count
    ids = live(world)
    world.finish()
    world.check_books(ids)
    assert {status.split()[0] for status, *_ in world.footprints(ids)} == {"active"}
    return world.footprints(ids), world.queues.sent_count - before


def essence(footprints: Sequence[Footprint]) -> list[Footprint]:
    """Return footprints without the order of steps, because a late message may find the next step done."""
    return [
        (
            document,
            instance.split()[0],
            [step.split(" ", 2)[2] for step in steps],
            *others,
        )
        for document, instance, steps, *others in footprints
    ]


FATES = ("lost", "doubled", "last")


@pytest.mark.parametrize("fate", FATES)
def test_any_single_message_may_go_astray(
    world: DeployedWorld, undisturbed: tuple[list[Footprint], int], fate: str
) -> None:
    expected, count = undisturbed
    assert count > 10
    for number in range(1, count + 1):
        kept: list[QueueMessage] = []
        world.queues.waiting.clear()
        world.queues.sent_count = 0

        def decide(
            message: QueueMessage, chosen: int = number, late: list[QueueMessage] = kept
        ) -> Sequence[QueueMessage]:
            if message.number != chosen:
                return [message]
            if fate == "doubled":
                return [message, message]
            if fate == "last":
                late.append(message)
            return []

        world.queues.fate = decide
        ids = live(world)
        world.queues.waiting.extend(kept)
        world.deployment.deliver_all()
        world.finish()
        assert world.footprints(ids) == expected, f"message {number} {fate}"
        world.check_books(ids)


def test_all_may_be_lost(world: DeployedWorld, undisturbed: tuple[list[Footprint], int]) -> None:
    """The sweep alone does the work, and its messages are lost for a while too."""
    expected, _ = undisturbed
    world.queues.fate = lambda message: []
    ids = live(world)
    for _ in range(3):
        world.deployment.sweep()
    world.queues.fate = arrive
    world.finish()
    assert essence(world.footprints(ids)) == essence(expected)
    world.check_books(ids)


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_at_once(
    world: DeployedWorld, undisturbed: tuple[list[Footprint], int], seed: int
) -> None:
    expected, _ = undisturbed
    chance = random.Random(seed)

    def decide(message: QueueMessage) -> Sequence[QueueMessage]:
        return [message] * chance.choice((0, 0, 1, 1, 1, 2, 3))

    world.queues.fate = decide
    ids = live(world, chance)
    world.finish(chance)
    assert essence(world.footprints(ids)) == essence(expected)
    world.check_books(ids)
