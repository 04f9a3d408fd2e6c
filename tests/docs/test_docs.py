"""The commands that the documentation tells people to type work."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from signet.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# These need a running server or change one; their own tests run them.
ELSEWHERE = (
    "signet run",
    "signet migrate",
    "signet tenant",
    "signet audit",
    "signet instance",
    "signet effect",
    "signet event",
    "signet ops",
    "signet token",
)

COMMANDS = sorted(
    {
        line.strip()
        for page in PAGES
        for block in re.findall(
            r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
        for line in block.splitlines()
        if line.startswith("signet ") and not line.startswith(ELSEWHERE)
    }
)


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_docs_runs(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, shlex.split(command, comments=True)[1:])
    assert result.exit_code == 0, result.output
