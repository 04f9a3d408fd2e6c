"""One deliberate fault in the source, the tests that must notice it, and the verdict from their outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

DOWN = "\n-- down\n"
# Of a rule that is none of the workflows' invariants.
NO_INVARIANT = 0


class MutantVerdict(StrEnum):
    CAUGHT = "caught"
    SURVIVED = "SURVIVED"
    BROKEN = "BROKEN"  # nothing is known: a test did not run as far as its own statements


@dataclass(frozen=True)
class Mutation:
    name: str
    invariant: int
    file: str
    old: str
    new: str
    # Every one of these must turn red; of a parametrized test, at least one of its cases.
    tests: Sequence[str]


@dataclass(frozen=True)
class PhaseOutcome:
    """The outcome of one phase of one test, as `witness` wrote it down."""

    test: str
    phase: str
    result: str

    def belongs_to(self, name: str) -> bool:
        return self.test == name or self.test.startswith(f"{name}[")


def mutate(text: str, mutation: Mutation) -> str:
    """Return the mutated text.

    Only the way up of a migration counts: the way down may hold the same, and never runs.
    """
    up, down, rest = text.partition(DOWN) if mutation.file.startswith("migrations/") else (text, "", "")
    count = up.count(mutation.old)
    if count != 1:
        raise ValueError(f"'{mutation.name}': its old text stands {count} times in {mutation.file}, not once")
    return up.replace(mutation.old, mutation.new) + down + rest


def mutate_file(root: Path, mutation: Mutation) -> None:
    path = root / mutation.file
    path.write_text(mutate(path.read_text(encoding="utf-8"), mutation), encoding="utf-8")


def judge(tests: Sequence[str], outcomes: Sequence[PhaseOutcome]) -> Mapping[str, MutantVerdict]:
    return {name: _judge([outcome for outcome in outcomes if outcome.belongs_to(name)]) for name in tests}


def _judge(outcomes: Sequence[PhaseOutcome]) -> MutantVerdict:
    calls = {outcome.result for outcome in outcomes if outcome.phase == "call"}
    around = {outcome.result for outcome in outcomes if outcome.phase != "call"}
    if not calls or around != {"passed"}:
        return MutantVerdict.BROKEN
    return MutantVerdict.CAUGHT if "failed" in calls else MutantVerdict.SURVIVED


def is_green(tests: Sequence[str], outcomes: Sequence[PhaseOutcome]) -> bool:
    """Return whether every test ran, and nothing was skipped or failed."""
    ran = all(
        any(outcome.belongs_to(name) and outcome.phase == "call" for outcome in outcomes) for name in tests
    )
    return ran and all(outcome.result == "passed" for outcome in outcomes)
