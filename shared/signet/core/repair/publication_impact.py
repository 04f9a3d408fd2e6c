"""The prospect of moving instances to a definition, judged node by node before it is published."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from signet.core.compiler.artifact import Artifact
from signet.core.contracts.contract import Contract
from signet.core.repair.move_check import Definition, MoveInput, Obstacle, assess
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.tokens import ROOT
from signet.core.runtime.workflow import Workflow


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """A published definition that is not loaded: plain values, for another process too."""

    id: str
    name: str
    version: int
    published_at: datetime
    artifact: Artifact
    contract: Contract | None = None

    def load(self) -> Definition:
        workflow = Workflow(self.artifact)
        return Definition(self.id, self.name, self.version, self.published_at, workflow, self.contract)


@dataclass(frozen=True, slots=True)
class RestingPlace:
    """A node at which tokens are, in this state."""

    node: str
    state: TokenState


def find_obstacles(
    stored: StoredDefinition,
    following: StoredDefinition,
    places: Sequence[RestingPlace],
    *,
    wants_two_people: bool,
) -> list[tuple[Obstacle, ...]]:
    """Find for each place what keeps its tokens from going on under the following definition."""
    old, new = stored.load(), following.load()
    return [_find_at(old, new, place, wants_two_people=wants_two_people) for place in places]


def _find_at(
    old: Definition, new: Definition, place: RestingPlace, *, wants_two_people: bool
) -> tuple[Obstacle, ...]:
    position = MoveInput([Token(ROOT, place.node, place.state, 0)], wants_two_people=wants_two_people)
    report = assess(old, new, position)
    of_tokens = (obstacle for assessment in report.assessments for obstacle in assessment.obstacles)
    return (*report.obstacles, *of_tokens)
