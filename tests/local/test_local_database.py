"""The database that commands use where they are told no other."""

import os
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from signet.cli import main
from signet.local import local_database
from signet.local.local_database import use_local_database
from signet.local.postgres import PostgresFailed

HERE, VARIABLE = "postgresql://127.0.0.1:1/signet", "SIGNET_DATABASE_URL"


@pytest.fixture(autouse=True)
def running(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a database run in the folder."""
    monkeypatch.setattr(local_database, "find_local_database", lambda state: HERE)
    for name in (VARIABLE, "SIGNET_ENVIRONMENT"):
        # Set first, so that what the test sets is taken back too.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_the_database_that_runs_here_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    use_local_database(["instance", "list"])
    assert os.environ[VARIABLE] == HERE
    assert capsys.readouterr() == ("", "signet: on the database that runs in .signet\n")


def test_an_address_goes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql://db.example/signet")
    use_local_database(["instance", "list"])
    assert os.environ[VARIABLE] == "postgresql://db.example/signet"
    monkeypatch.delenv(VARIABLE)
    use_local_database(["instance", "list", "--database-url=postgresql://db.example/signet"])
    assert VARIABLE not in os.environ


@pytest.mark.parametrize("environment", ["prod", "staging", ""])
def test_other_environments_name_theirs(monkeypatch: pytest.MonkeyPatch, environment: str) -> None:
    monkeypatch.setenv("SIGNET_ENVIRONMENT", environment)
    use_local_database(["instance", "list"])
    assert VARIABLE not in os.environ


def test_where_nothing_runs_the_command_asks_for_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_database, "find_local_database", lambda state: None)
    use_local_database(["instance", "list"])
    assert VARIABLE not in os.environ


def test_a_password_that_cannot_be_read_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(state: object) -> str:
        raise PostgresFailed("password cannot be read")

    monkeypatch.setattr(local_database, "find_local_database", fail)
    use_local_database(["instance", "list"])
    assert VARIABLE not in os.environ
    assert "password cannot be read" in capsys.readouterr().err


def test_each_command_that_takes_a_database_looks_for_the_one_that_runs_here() -> None:
    group = typer.main.get_command(main.app)
    assert isinstance(group, TyperGroup)
    taking = {name for name, command in group.commands.items() if "database_url" in _list_options(command)}
    # A token is for the local environment alone, and looks by itself.
    assert taking - {"token"} == main.ON_A_DATABASE


def _list_options(command: Any) -> set[str | None]:
    if isinstance(command, TyperGroup):
        return {option for inner in command.commands.values() for option in _list_options(inner)}
    return {option.name for option in command.params}
