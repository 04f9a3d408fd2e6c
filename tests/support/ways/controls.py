"""The way by the control: definitions, chains and contracts by which oneself is asked.

The tenant wants two people for such changes.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, LiteralString

from signet.core.tenants.caller import Caller
from signet.engine.approvals.chains import ApprovalChains, ChainVersion, PublishedChain
from signet.engine.cache import CompiledCache
from signet.engine.control.proposals import ControlChange
from signet.engine.instances.moves import InstanceMoves, MoveTarget
from signet.wiring.api import make_use_cases
from tests.support.core.approval_policies import role, user
from tests.support.ways.cells import Cell, Played, same
from tests.support.ways.involvements import DUTIES, GRANTED, RESPONSIBLE, SAME
from tests.support.ways.machines import POSTING
from tests.support.ways.scene import DENIED, FINANCE, NOT_REFUSED, AuthorityScene, Plan, approvers, refusal
from tests.support.workflow_stage import CONTRACT

FOUR_EYES = "FOUR_EYES_REQUIRED"
EVERYBODY = {"separation_of_duties": {"may_decide": ["creator", "editor", "requester"]}}
_SWITCH: LiteralString = (
    "UPDATE tenants SET settings = settings || jsonb_build_object('four_eyes', %s::boolean)"
    " WHERE tenant_id = %s"
)


@contextmanager
def two_people_wanted(scene: AuthorityScene) -> Iterator[None]:
    """Have the tenant want two people for each change of the control, for a while."""
    scene.stage.standing.run(_SWITCH, True, scene.tenant_id)
    try:
        yield
    finally:
        scene.stage.standing.run(_SWITCH, False, scene.tenant_id)


class Authors:
    """A person who writes the control of one entity type, and publishes it."""

    def __init__(self, scene: AuthorityScene, by: Caller) -> None:
        self.scene = scene
        self.by = by
        self.company = scene.stage.standing.company
        self.chains = ApprovalChains(scene.database)
        self.entity_type = scene.type_of_document() if scene.document else ""

    def publish_contract(self) -> None:
        """Write and publish a contract by which everybody may decide."""
        document = {**CONTRACT, "contract": self.entity_type, "version": 2, **EVERYBODY}
        self.company.definitions.create_contract(self.by, document)
        self.company.definitions.publish_contract(self.by, self.entity_type, 2)

    def publish_patch(self) -> None:
        """Write and publish a patch that asks the person alone."""
        config = {"approvers": [user(self.scene.person)]}
        nodes = [{"id": "look", "type": "approval", "config": config}]
        base = {"entity_type": self.entity_type, "envelope_version": 1}
        patch = {"patch": "mine", "base": base, "slots": {"approval": {"nodes": nodes}}}
        draft = self.company.definitions.create(self.by, "org_patch", patch)
        self.company.definitions.publish(self.by, draft.id)

    def publish_sketch(self, colleague: "Authors") -> None:
        """Publish a draft that another person has saved, and that asks nobody."""
        base = {"entity_type": self.entity_type, "envelope_version": 1}
        slots = {"checks": {"nodes": [{"id": "note", "type": "condition"}]}}
        patch = {"patch": "sketch", "base": base, "slots": slots}
        draft = colleague.company.definitions.create(colleague.by, "org_patch", patch)
        in_force = self.scene.stage.standing.row(
            "SELECT name FROM workflow_definitions WHERE entity_type = %s AND definition_kind = 'effective'"
            " ORDER BY id DESC LIMIT 1",
            self.entity_type,
        )
        self.company.definitions.publish(
            self.by, draft.id, replaces=str(in_force[0]), accepted=("ASKS_NOBODY",)
        )

    def save_chain(self, *seats: Any) -> int:
        document = {"name": self.scene.named("chain"), "steps": [approvers(*seats)]}
        saved = self.chains.save(self.by, document)
        assert isinstance(saved, ChainVersion), saved
        return saved.version

    def put_chain_forward(self, version: int) -> None:
        self.chains.put_forward(self.by, self.scene.named("chain"), version)

    def publish_chain(self, version: int) -> None:
        published = self.chains.publish(self.by, self.scene.named("chain"), version)
        assert isinstance(published, PublishedChain), published

    def confirm_own_rule(self) -> None:
        """Propose a rule, and confirm the proposal oneself."""
        use = make_use_cases(self.scene.database)
        body = {
            "phase": "before",
            "condition": {"expression": "entity.amount > 0"},
            "actions": [{"kind": "set", "values": {"number": "DE-MINE"}}],
        }
        proposed = use.rules.save(self.by, self.entity_type, "own", body, None)
        assert isinstance(proposed, ControlChange), proposed
        use.control_changes.confirm(self.by, proposed.id, proposed.hash)


def write_the_control(scene: AuthorityScene) -> Iterator[str]:
    """Try to publish what one wrote; then have another person publish the chain that asks oneself."""
    boss = Authors(scene, scene.caller(scene.boss))
    boss.publish_chain(boss.save_chain(role(FINANCE)))
    scene.submit(Plan(approval={"chain": scene.named("chain")}))
    author = Authors(scene, scene.caller(scene.person))
    with two_people_wanted(scene):
        yield refusal(author.publish_contract)
        yield refusal(author.publish_patch)
        yield refusal(lambda: author.publish_sketch(boss))
        yield refusal(author.confirm_own_rule)
        version = author.save_chain(user(scene.person), role(FINANCE))
        yield refusal(lambda: author.publish_chain(version))
        author.put_chain_forward(version)
        boss.publish_chain(version)
    scene.ask_again()
    yield scene.vote(scene.person)


def control_by_command_line(scene: AuthorityScene) -> Iterator[str]:
    """Try to write and publish, and to move the instance to a definition that asks nobody."""
    scene.submit()
    author = Authors(scene, scene.command_line)
    yield refusal(author.publish_contract)
    yield refusal(author.publish_patch)
    yield refusal(lambda: author.save_chain(user(scene.person)))
    version = scene.stage.publish_next(author.entity_type, **POSTING)
    yield _move(scene, version)


def _move(scene: AuthorityScene, version: int) -> str:
    moves = InstanceMoves(scene.database, scene.stage.caches(), CompiledCache())
    instance_id = scene.made.instance_id
    seen = int(scene.stage.instance(instance_id)["version"])
    moved = moves.move(scene.command_line, instance_id, seen, MoveTarget(version), "out of date")
    if moved.outcome != "blocked" or moved.report is None:
        return NOT_REFUSED
    (obstacle,) = [each for token in moved.report.assessments for each in token.obstacles]
    return obstacle.code


def writing(code: str) -> Played:
    return Played(
        write_the_control,
        (
            ("publishes their own contract, by which everybody may decide", FOUR_EYES),
            ("publishes their own patch, which asks them alone", FOUR_EYES),
            ("publishes the sketch of a colleague, which asks nobody", "DRAFT_NOT_PUT_FORWARD"),
            ("confirms their own rule", FOUR_EYES),
            ("publishes their own chain, which asks them", FOUR_EYES),
            ("votes, when another person has published that chain and it is asked about again", code),
        ),
    )


DEFINITION: Mapping[str, Cell] = {
    **same(writing(DUTIES), *RESPONSIBLE),
    "delegator": writing(SAME),
    "granter": writing(GRANTED),
    "operator": Played(
        control_by_command_line,
        (
            ("writes a contract by the command line", DENIED),
            ("writes a patch by it", DENIED),
            ("writes a chain by it", DENIED),
            ("moves the instance by it to a definition that asks nobody", "NODE_GONE"),
        ),
    ),
}
