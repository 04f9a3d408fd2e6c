"""The documents of one example on their way, and all that may befall them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, LiteralString
from uuid import UUID

from signet.outbound.connector import Delivery
from tests.support.repair.strikes import BUSY, GONE
from tests.support.wandering.acts import ACTS, ask_for, vote
from tests.support.wandering.oracle import find_wrongs
from tests.support.wandering.way_on import ACCEPTED, PLACES, find_wrong_explanations, take_home
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


SENDING: LiteralString = (
    "SELECT count(*)::int FROM workflow_side_effects_outbox"
    " WHERE status IN ('pending', 'failed') AND held_at IS NULL"
)
Step = tuple[str, Any]
NO_MORE = Delivery(410, "ANSWERED: 410", is_final=True, is_gone=True)
UNANSWERED = Delivery(None, "TIMED_OUT: no answer")
DELIVERIES: Mapping[str, Delivery] = MappingProxyType(
    {"accepted": ACCEPTED, "busy": BUSY, "refused": GONE, "no more": NO_MORE, "unanswered": UNANSWERED}
)
# What brings documents on comes often, so that they are met everywhere.
STEPS: tuple[Step, ...] = (
    *[("go_on", None)] * 16,
    *[("vote", vote) for vote in ("rejected", "abstained")],
    *[("deliver", name) for name in ("busy", "refused", "no more", "unanswered", "answer lost")],
    *[("late", None)] * 2,
    *[("act", name) for name in ("retry", "amend", "amend", *sorted(ACTS))],
    *[("change", name) for name in sorted(CHANGES)],
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
            self.go(("go_on", None), 0)
        if where in ("in force", "amended", "amendment asked for"):
            take_home(self.world, self.choose(0))
        if where in ("amended", "amendment asked for"):
            self.go(("act", "amend"), 0)
        if where == "amendment asked for":
            self.go(("go_on", None), 1)

    def choose(self, which: int) -> Made:
        return self.world.documents[which % len(self.world.documents)]

    def go(self, step: Step, which: int) -> None:
        kind, what = step
        document = self.choose(which)
        match kind:
            case "act":
                attempt(lambda: ACTS[what](self.world, document))
            case "change":
                attempt(lambda: CHANGES[what](self.world))
            case "vote":
                vote(self.world, document, what)
            case "deliver":
                delivery = DELIVERIES.get(what, ACCEPTED)
                self.world.deliver(delivery, is_answer_lost=what == "answer lost")
            case "late":
                self.world.be_late()
            case _:
                self._go_on(document)
        self.world.settle()

    def _go_on(self, document: Made) -> None:
        """Take the next step where nothing is wrong: people decide, the world answers, or people ask."""
        if vote(self.world, document, "approved"):
            return
        if self.world.stage.standing.row(SENDING) != (0,):
            self.world.deliver(ACCEPTED)
            return
        asked = _NEXT.get(self.world.stage.status_of(document.id), "submit")
        attempt(lambda: ask_for(asked)(self.world, document))

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
