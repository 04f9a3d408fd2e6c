"""The documents of one example on their way, and all that may befall them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from tests.support.wandering.acts import ACTS, ask_for, vote
from tests.support.wandering.oracle import find_wrongs
from tests.support.wandering.way_on import PLACES, find_wrong_explanations, take_home
from tests.support.wandering.world import World, attempt
from tests.support.workflow_stage import Made

# The transition that people ask for in a status.
_NEXT: Mapping[str, str] = MappingProxyType({"draft": "submit", "active": "close"})


def _break_code(world: World) -> None:
    world.scene.is_broken = True


def _mend_code(world: World) -> None:
    world.scene.is_broken = False


def _break_lines(world: World) -> None:
    world.bad_lines = {world.chance.choice(("A1", "B2", "C3"))}


def _mend_lines(world: World) -> None:
    world.bad_lines = set()


# What may change around the documents.
CHANGES: Mapping[str, Callable[[World], None]] = MappingProxyType(
    {
        "break_code": _break_code,
        "mend_code": _mend_code,
        "break_lines": _break_lines,
        "mend_lines": _mend_lines,
        "dismiss_anna": lambda world: world.dismiss("anna"),
        "dismiss_ben": lambda world: world.dismiss("ben"),
        "dismiss_carl": lambda world: world.dismiss("carl"),
        "take_roles_of_anna": lambda world: world.take_roles("anna"),
        "take_roles_of_ben": lambda world: world.take_roles("ben"),
        "switch_endpoint_off": lambda world: world.switch_endpoint("disabled"),
        "switch_endpoint_on": lambda world: world.switch_endpoint("active"),
        "lose_chain": World.lose_chain,
        "forbid_booking": World.forbid_booking,
        "republish": World.republish,
        "mend": World.mend,
    }
)


STARTS = ("new", "asked for", "in force", "amended", "amendment asked for")


class Wanderers:
    def __init__(self, world: World) -> None:
        self.world = world
        # The version at which the row of an instance was last made again from its steps.
        self._rebuilt: dict[UUID, Any] = {}
        self._explained: set[tuple[Any, ...]] = set()

    def start(self, where: str) -> None:
        """Begin where the author has the document be, without a failure on the way there."""
        if where == "asked for":
            self.go_on(0)
        if where in ("in force", "amended", "amendment asked for"):
            take_home(self.world, self.choose(0))
        if where in ("amended", "amendment asked for"):
            self.act("amend", 0)
        if where == "amendment asked for":
            self.go_on(1)

    def choose(self, which: int) -> Made:
        return self.world.documents[which % len(self.world.documents)]

    def act(self, name: str, which: int) -> None:
        attempt(lambda: ACTS[name](self.world, self.choose(which)))
        self.world.settle()

    def go_on(self, which: int) -> None:
        """Do what people do where nothing is wrong: ask for what is next."""
        document = self.choose(which)
        asked = _NEXT.get(self.world.stage.status_of(document.id), "submit")
        attempt(lambda: ask_for(asked)(self.world, document))
        self.world.settle()

    def vote(self, given: Any, which: int) -> None:
        vote(self.world, self.choose(which), given)

    def change(self, name: str) -> None:
        attempt(lambda: CHANGES[name](self.world))
        self.world.settle()

    def check(self) -> None:
        wrongs = [*find_wrongs(self.world), *find_wrong_explanations(self.world, self._explained)]
        assert not wrongs, wrongs
        stage = self.world.stage
        for instance_id, version in stage.standing.rows(
            "SELECT id, version FROM workflow_instances WHERE entity_id = ANY (%s)", self.world.ids
        ):
            if self._rebuilt.get(instance_id) != version:
                stage.check_rebuild(instance_id)
                (self._rebuilt[instance_id],) = stage.standing.row(
                    "SELECT version FROM workflow_instances WHERE id = %s", instance_id
                )

    def bring_on(self) -> None:
        """Remove each cause, and expect every document where its author lets it be."""
        self.world.mend()
        self.world.settle()
        for document in self.world.documents:
            place = take_home(self.world, document)
            assert place in PLACES, place
        self.check()
