"""`make mutants`: does every invariant have a test that notices when it is broken?

    python -m tests.mutants [word …]     only the mutations whose name holds one of the words

Each mutation is made in a copy of the working tree, never in the tree itself. The tests that it names must
turn red there. Two run at a time, on one throw-away Postgres.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from signet.local.postgres import throwaway_postgres
from tests.mutants.mutation import MutantVerdict, Mutation, PhaseOutcome, is_green, judge, mutate_file
from tests.mutants.table import MUTATIONS
from tests.mutants.witness import OUTCOMES

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 2
MAX_RUN_SECONDS = 120.0
# The tests of all mutations together, before the first of them.
MAX_BASELINE_SECONDS = 1_800.0
SHOWN_LINES = 30


class RunFailed(Exception):
    """A run of tests that did not come to its end."""


def main(words: Sequence[str]) -> int:
    chosen = [m for m in MUTATIONS if not words or any(word in m.name for word in words)]
    if not chosen:
        print(f"No mutation's name holds any of: {', '.join(words)}.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="signet-mutants-") as folder, throwaway_postgres() as server:
        pristine = Path(folder) / "pristine"
        copy_working_tree(pristine)
        tests = sorted({test for mutation in chosen for test in mutation.tests})
        if not is_baseline_green(pristine, server.url, tests):
            return 1
        with ThreadPoolExecutor(AT_ONCE) as pool:
            verdicts = list(pool.map(partial(try_mutation, pristine, server.url), chosen))
    caught = verdicts.count(MutantVerdict.CAUGHT)
    print(f"{caught} of {len(verdicts)} mutations caught")
    return 0 if caught == len(verdicts) else 1


def copy_working_tree(target: Path) -> None:
    """Copy the files that git tracks or would track, also those not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        source = ROOT / name
        if name and source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def is_baseline_green(root: Path, server_url: str, tests: Sequence[str]) -> bool:
    try:
        outcomes = run_tests(root, server_url, tests, MAX_BASELINE_SECONDS)
    except RunFailed as failure:
        print(f"the tests do not run without a mutation:\n{failure}")
        return False
    if is_green(tests, outcomes):
        return True
    print("not green without a mutation:")
    for outcome in outcomes:
        if outcome.result != "passed":
            print(f"  {outcome.result} in {outcome.phase}: {outcome.test}")
    for test in tests:
        if not any(outcome.belongs_to(test) for outcome in outcomes):
            print(f"  there is no {test}")
    return False


def try_mutation(pristine: Path, server_url: str, mutation: Mutation) -> MutantVerdict:
    verdict, remarks = MutantVerdict.BROKEN, list[str]()
    with tempfile.TemporaryDirectory(prefix="mutant-", dir=pristine.parent) as folder:
        root = Path(folder) / "tree"
        shutil.copytree(pristine, root)
        try:
            mutate_file(root, mutation)
            found = judge(mutation.tests, run_tests(root, server_url, mutation.tests))
            verdict, remarks = sum_up(found)
        except (ValueError, RunFailed) as failure:
            remarks = [str(failure)]
    print(f"{verdict:8}  WF-{mutation.invariant:02}  {mutation.name}", flush=True)
    for remark in remarks:
        print(f"          {remark}", flush=True)
    return verdict


def sum_up(found: Mapping[str, MutantVerdict]) -> tuple[MutantVerdict, list[str]]:
    """Return the worst verdict, with the tests that were not as they should be."""
    remarks = [f"{verdict}: {test}" for test, verdict in found.items() if verdict is not MutantVerdict.CAUGHT]
    for verdict in (MutantVerdict.SURVIVED, MutantVerdict.BROKEN):
        if verdict in found.values():
            return verdict, remarks
    return MutantVerdict.CAUGHT, remarks


def run_tests(
    root: Path, server_url: str, tests: Sequence[str], at_most_seconds: float = MAX_RUN_SECONDS
) -> list[PhaseOutcome]:
    """Run the tests in a process that finds the sources under `root` first; `witness` makes sure of it."""
    noted = root.parent / f"{root.name}-outcomes"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{root / 'shared'}{os.pathsep}{root}",
        "SIGNET_TEST_DATABASE_URL": server_url,
        OUTCOMES: str(noted),
    }
    command = [sys.executable, "-m", "pytest", "--quiet", "--tb=short", "-p", "no:cacheprovider"]
    try:
        completed = subprocess.run(
            [*command, "-p", "tests.mutants.witness", *tests],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=at_most_seconds,
        )
    except subprocess.TimeoutExpired as expired:
        raise RunFailed(f"no end within {at_most_seconds:.0f} s") from expired
    # 0: all passed, 1: some failed; any other code is no proper run, or killed
    if completed.returncode not in (0, 1):
        shown = (completed.stdout + completed.stderr).splitlines()[-SHOWN_LINES:]
        raise RunFailed("\n".join(shown))
    lines = noted.read_text(encoding="utf-8").splitlines()
    return [PhaseOutcome(*line.rsplit("\t", 2)) for line in lines]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
