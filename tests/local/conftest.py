"""Folders and processes for the tests of the embedded Postgres."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from signet.local.postgres import start_postgres
from tests.local.embedded import processes_about, until

# Argument: the state folder. It prints the server's process, then waits to be killed.
LAUNCHER = """
import sys, time
from pathlib import Path
from signet.local import postgres_process
from signet.local.postgres import start_postgres
if "orphan" in sys.argv:
    postgres_process._end_with_parent = lambda: None
print(start_postgres(Path(sys.argv[1])).pid, flush=True)
time.sleep(60)
"""


@contextmanager
def passable_folder() -> Iterator[Path]:
    """Yield a folder that other accounts may enter.

    Root's `tmp_path` is closed to them, a case of its own here.
    """
    made = Path(tempfile.mkdtemp(prefix="signet-test-"))
    made.chmod(0o755)
    yield made
    # A server that lost its launcher writes until its last moment.
    until(lambda: not processes_about(made))
    shutil.rmtree(made)


@pytest.fixture
def folder() -> Iterator[Path]:
    with passable_folder() as made:
        yield made


@pytest.fixture(scope="session")
def state() -> Iterator[Path]:
    """Yield a folder with data, made once because that costs ten starts. Every test leaves it usable."""
    with passable_folder() as made:
        start_postgres(made).stop()
        yield made


@pytest.fixture
def closed_state(state: Path) -> Iterator[Path]:
    state.chmod(0o700)
    yield state
    state.chmod(0o755)


def copy_state(state: Path, target: Path) -> None:
    made, copy = state / "postgres", target / "postgres"
    copy.mkdir(mode=0o711, parents=True)
    subprocess.run(["cp", "-a", made / "data", made / "password", copy], check=True)


@pytest.fixture
def closed(folder: Path) -> Path:
    folder.chmod(0o700)
    return folder


@pytest.fixture
def launched() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []

    def launch(state: Path, *options: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(state), *options],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        running.append(process)
        return process

    yield launch
    for process in running:
        process.kill()
        process.communicate()
