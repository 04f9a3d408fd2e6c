"""The table of `make mutants` fits the sources as they are, and its judge tells the three verdicts apart."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.test_truth_invariants import HOLD
from tests.mutants.mutation import (
    NO_INVARIANT,
    MutantVerdict,
    Mutation,
    PhaseOutcome,
    is_green,
    judge,
    mutate,
)
from tests.mutants.table import MUTATIONS
from tests.mutants.witness import find_strangers

ROOT = Path(__file__).resolve().parents[2]
MIGRATIONS = sorted((ROOT / "migrations").glob("0*.sql"))
# A function, and its text up to the end of its body.
FUNCTION = re.compile(
    r"CREATE (?:OR REPLACE )?FUNCTION (\w+)\((.*?)(?:^\$\$;|^END;|^    RETURN .*?;$)",
    re.DOTALL | re.MULTILINE,
)


def test_each_invariant_that_holds_has_mutations() -> None:
    assert {mutation.invariant for mutation in MUTATIONS} - {NO_INVARIANT} == HOLD
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)


@cache
def list_functions(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def find_misfits(mutation: Mutation) -> Iterator[str]:
    text = (ROOT / mutation.file).read_text(encoding="utf-8")
    try:
        changed = mutate(text, mutation)
    except ValueError as error:
        yield str(error)
    else:
        if changed == text:
            yield "changes nothing"
    if not mutation.tests:
        yield "has no tests"
    for test in mutation.tests:
        file, name = test.split("::")
        # One case of a parametrized test may be named; its baseline tells whether it is there.
        name = name.partition("[")[0]
        if not (ROOT / file).is_file() or name not in list_functions(file):
            yield f"{test} is not there"
        # A test of more than the invariant says is elsewhere.
        is_of_invariant = file.startswith("tests/scenarios/invariants/")
        if is_of_invariant and not name.startswith(f"test_wf_{mutation.invariant:02}_"):
            yield f"{test} is of another invariant"


def test_each_mutation_fits_its_file_and_names_tests_that_are_there() -> None:
    found = [f"{mutation.name}: {misfit}" for mutation in MUTATIONS for misfit in find_misfits(mutation)]
    assert not found, "\n".join(found)


def test_a_mutation_that_does_not_fit_is_found() -> None:
    strange = Mutation("x", 4, "Makefile", "nothing of it", "new", ("tests/a.py::test_x",))
    assert list(find_misfits(strange)) == [
        "'x': its old text stands 0 times in Makefile, not once",
        "tests/a.py::test_x is not there",
    ]
    assert list(find_misfits(replace(strange, old="help:", new="help:", tests=()))) == [
        "changes nothing",
        "has no tests",
    ]
    invariant = "tests/scenarios/invariants/test_wf_01_one_writer_for_an_instance.py"
    other = next(name for name in list_functions(invariant) if name.startswith("test_wf_01_"))
    assert f"{invariant}::{other} is of another invariant" in find_misfits(
        replace(strange, tests=(f"{invariant}::{other}",))
    )


@pytest.mark.parametrize("text", ["nothing of it", "old and old again"])
def test_a_mutation_that_does_not_fit_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"times in a\.py, not once"):
        mutate(text, Mutation("x", 4, "a.py", "old", "new", ("a.py::test_wf_04_x",)))


def test_the_way_down_of_a_migration_is_left_alone() -> None:
    mutation = Mutation("x", 4, "migrations/a.sql", "old", "new", ("a.py::test_wf_04_x",))
    assert mutate("-- up\nold\n-- down\nold", mutation) == "-- up\nnew\n-- down\nold"


def ended(test: str, call: str | None, setup: str = "passed") -> list[PhaseOutcome]:
    calls = [PhaseOutcome(test, "call", call)] if call else []
    return [PhaseOutcome(test, "setup", setup), *calls, PhaseOutcome(test, "teardown", "passed")]


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (ended("a::t", "failed"), MutantVerdict.CAUGHT),
        ([*ended("a::t[1]", "passed"), *ended("a::t[2]", "failed")], MutantVerdict.CAUGHT),
        (ended("a::t", "passed"), MutantVerdict.SURVIVED),
        ([*ended("a::t", "passed"), *ended("a::t_other", "failed")], MutantVerdict.SURVIVED),
        (ended("a::t", "skipped"), MutantVerdict.SURVIVED),
        (ended("a::t", None, setup="failed"), MutantVerdict.BROKEN),
        ([*ended("a::t[1]", "failed"), *ended("a::t[2]", None, setup="failed")], MutantVerdict.BROKEN),
        ([], MutantVerdict.BROKEN),
    ],
)
def test_a_verdict(outcomes: list[PhaseOutcome], verdict: MutantVerdict) -> None:
    assert judge(["a::t"], outcomes) == {"a::t": verdict}


@pytest.mark.parametrize(
    ("outcomes", "green"),
    [
        (ended("a::t", "passed"), True),
        (ended("a::t", "failed"), False),
        (ended("a::t", None, setup="skipped"), False),
        ([], False),
    ],
)
def test_unmutated_tests_must_have_run_and_passed(outcomes: list[PhaseOutcome], green: bool) -> None:
    assert is_green(["a::t"], outcomes) is green


def test_sources_from_elsewhere_are_noticed(tmp_path: Path) -> None:
    assert list(find_strangers(ROOT)) == []
    assert len(list(find_strangers(tmp_path))) == 3


def test_a_mutation_of_a_function_stands_where_it_is_made_last() -> None:
    """A later migration that replaces the function would heal what an earlier one breaks."""
    ups = {path.name: path.read_text(encoding="utf-8").split("-- down")[0] for path in MIGRATIONS}
    for mutation in MUTATIONS:
        name = Path(mutation.file).name
        if name in ups:
            healed = {
                later
                for function, body in FUNCTION.findall(ups[name])
                if mutation.old in body
                for later in ups
                if later > name and function in dict(FUNCTION.findall(ups[later]))
            }
            assert not healed, (mutation.name, healed)
