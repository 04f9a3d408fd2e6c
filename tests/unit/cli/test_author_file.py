"""`signet json`: what is printed is what the author has written, or the mistakes alone."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from signet.cli.main import app


def print_file(file: Path) -> Result:
    return CliRunner().invoke(app, ["json", str(file)])


def test_a_file_is_printed_as_the_api_takes_it(tmp_path: Path) -> None:
    """YAML 1.1 would read `on` as true; what is printed is what was written."""
    file = tmp_path / "patch.yaml"
    file.write_text("edges:\n  - {from: a, on: yes, to: b}\n", encoding="utf-8")
    result = print_file(file)
    assert result.exit_code == 0
    assert json.loads(result.output) == {"edges": [{"from": "a", "on": "yes", "to": "b"}]}


@pytest.mark.parametrize(("content", "code"), [("a: [", 1), ("a: 1\na: 2\n", 1), (None, 2)])
def test_a_file_that_is_not_in_order_is_not_printed(tmp_path: Path, content: str | None, code: int) -> None:
    file = tmp_path / "patch.yaml"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    result = print_file(file)
    assert (result.exit_code, result.stdout) == (code, "")
    assert str(file) in result.stderr
