"""docs/first_document.md, pasted block by block into one shell beside a `signet run` of its own."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "first_document.md"
ADDRESS = "http://127.0.0.1:8700"
# A block that hangs fails with what it has said until then.
SHELL = ("timeout", "300", "bash", "--noprofile", "--norc")
STATUS = re.compile(r"^HTTP/1\.1 (\d{3})", re.MULTILINE)


@dataclass(frozen=True)
class Pasted:
    """A block of the page, and the lines that the page shows below it."""

    commands: str
    shown: tuple[str, ...]


def read_blocks(page: str) -> list[Pasted]:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    pasted: list[Pasted] = []
    for kind, text in blocks:
        if kind == "sh":
            pasted.append(Pasted(text, ()))
        elif kind == "text":
            pasted[-1] = Pasted(pasted[-1].commands, tuple(text.split()))
    return pasted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder in which `.venv/bin/signet` works, as in a clone."""
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    return tmp_path


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """Start `signet run` on a port of its own; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [".venv/bin/signet", "run", "--port", str(port), "--end-with-parent"]
    with subprocess.Popen(
        command, cwd=folder, env=make_environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = ""
            while not said.endswith("Ctrl-C stops it.\n"):
                line = process.stdout.readline()
                assert line, f"it ended and said {said}"
                said += line
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def make_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SIGNET_")}


def paste(blocks: list[Pasted], folder: Path, address: str) -> list[str]:
    """Paste the blocks into one shell; return what it said after each."""
    mark = uuid4().hex
    typed = "".join(f"{block.commands}\necho {mark}\n" for block in blocks)
    done = subprocess.run(
        SHELL,
        input=typed.replace(ADDRESS, address),
        cwd=folder,
        env=make_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    *said, rest = done.stdout.split(f"{mark}\n")
    assert (rest, done.stderr, done.returncode) == ("", "", 0), (said[-1:], rest, done.stderr)
    return said


def test_the_page_is_pasted_into_a_shell_and_ends_at_active(folder: Path, address: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = read_blocks(page)
    assert len(blocks) == page.count("```sh\n") and page.count(ADDRESS) == 1
    said = paste(blocks, folder, address)
    for block, text in zip(blocks, said, strict=True):
        if block.shown:
            status, *lines = block.shown
            assert STATUS.findall(text)[-1] == status, (block.commands, text)
            assert text.split()[len(text.split()) - len(lines) :] == lines, text
    assert said[-1].endswith("active\n")
    assert '"status":"active"' in "".join(said)
