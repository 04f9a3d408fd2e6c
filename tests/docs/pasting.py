"""Pages of docs/ whose blocks are pasted into one shell, beside a `signet run` of its own."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

DOCS = Path(__file__).resolve().parents[2] / "docs"
ADDRESS = "http://127.0.0.1:8700"
# A block that hangs fails with what it has said until then.
SHELL = ("timeout", "300", "bash", "--noprofile", "--norc")
STATUS = re.compile(r"^HTTP/1\.1 (\d{3})", re.MULTILINE)


@dataclass(frozen=True)
class Pasted:
    """A block of a page, and the lines that the page shows below it."""

    commands: str
    shown: tuple[str, ...] = ()

    def check(self, said: str) -> None:
        """Compare what the block said last with the statuses and lines that the page shows."""
        statuses = [word for word in self.shown if re.fullmatch(r"\d{3}", word)]
        lines = [word for word in self.shown if word not in statuses]
        if statuses:
            assert STATUS.findall(said)[-len(statuses) :] == statuses, (self.commands, said)
        if lines:
            assert said.split()[-len(lines) :] == lines, (self.commands, said)


def read_blocks(name: str) -> list[Pasted]:
    page = (DOCS / name).read_text(encoding="utf-8")
    pasted: list[Pasted] = []
    for kind, text in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if kind == "sh":
            pasted.append(Pasted(text))
        elif kind == "text":
            pasted[-1] = Pasted(pasted[-1].commands, tuple(text.split()))
    assert len(pasted) == page.count("```sh\n")
    return pasted


def make_folder(folder: Path) -> Path:
    """Make a folder in which `.venv/bin/signet` works, as in a clone."""
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    return folder


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def running(folder: Path, more: Mapping[str, str]) -> Iterator[str]:
    """Start `signet run` on a port of its own; yield its address."""
    port = find_port()
    command = [".venv/bin/signet", "run", "--port", str(port), "--end-with-parent"]
    environment = {**make_environment(), **more}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
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


def paste(blocks: Sequence[Pasted], folder: Path, replaced: Mapping[str, str]) -> list[str]:
    """Paste the blocks into one shell; check and return what it said after each."""
    mark = uuid4().hex
    typed = "".join(f"{block.commands}\necho {mark}\n" for block in blocks)
    for old, new in replaced.items():
        assert old in typed
        typed = typed.replace(old, new)
    done = subprocess.run(
        SHELL,
        input=typed,
        cwd=folder,
        env=make_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    *said, rest = done.stdout.split(f"{mark}\n")
    assert (rest, done.stderr, done.returncode) == ("", "", 0), (said[-1:], rest, done.stderr)
    for block, text in zip(blocks, said, strict=True):
        block.check(text)
    return said
