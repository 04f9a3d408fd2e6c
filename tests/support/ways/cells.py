"""Cells of the table by which ways: a scene that is played, or the reason that there is none.

A scene yields the answers to its attempts, and its cell says what they are. `docs/approvals.md` is made from
the same cells.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.support.ways.scene import AuthorityScene

Play = Callable[[AuthorityScene], Iterator[str]]
# What a person tries, and the code that answers it.
Step = tuple[str, str]
# What a lawful person does in the same scene, so that the document is approved.
Lawful = Callable[[AuthorityScene], str]


def vote_lawfully(scene: AuthorityScene) -> str:
    return scene.vote(scene.lawful)


@dataclass(frozen=True)
class Played:
    """A scene, what is tried in it, and the answers; then what a lawful person does."""

    play: Play
    steps: tuple[Step, ...]
    lawful: Lawful = vote_lawfully

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(code for _, code in self.steps)


@dataclass(frozen=True)
class NotPossible:
    reason: str


Cell = Played | NotPossible


@dataclass(frozen=True)
class Way:
    """One way, as a sentence, with a cell for each person."""

    does: str
    cells: Mapping[str, Cell]


def same(cell: Cell, *people: str) -> dict[str, Cell]:
    return dict.fromkeys(people, cell)


def find_gaps(table: Mapping[str, Way], people: Mapping[str, object]) -> Iterator[str]:
    """Yield each cell that is missing, and each that is about nobody in the table."""
    for name, way in table.items():
        for person in people:
            if person not in way.cells:
                yield f"{name}: there is no cell for the {person}"
        for person in way.cells:
            if person not in people:
                yield f"{name}: there is no {person}"
