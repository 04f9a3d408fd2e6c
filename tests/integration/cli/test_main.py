"""The `signet` command on a database: its results, and the one sentence when it fails."""

import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from signet.cli.main import main
from signet.store.schema import server
from signet.wiring.process import MIGRATIONS_FOLDER

DEMO = str(next((MIGRATIONS_FOLDER.parent / "examples").rglob("tenant.yaml")))
DEMO_TENANT = "01900000-0000-7000-8000-00000000de30"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and returns exit code, standard output and standard error."""
    monkeypatch.delenv("SIGNET_DATABASE_URL", raising=False)

    def run(*arguments: str, url: str | None = None) -> tuple[int, str, str]:
        options = [] if url is None else ["--database-url", url]
        monkeypatch.setattr(sys, "argv", ["signet", *arguments, *options])
        with pytest.raises(SystemExit) as exit:
            main()
        code = exit.value.code
        return (code if isinstance(code, int) else int(code is not None), *capsys.readouterr())

    return run


def test_the_schema_goes_up_and_down_and_says_where_it_is(run: Run, empty_database_url: str) -> None:
    count = len([path for path in MIGRATIONS_FOLDER.glob("*.sql") if path.name != "schema.sql"])
    assert run("migrate", "status", url=empty_database_url)[1].count(" pending\n") == count
    assert run("migrate", "up", url=empty_database_url)[1].endswith(f"\n{count} applied\n")
    assert run("migrate", "up", url=empty_database_url) == (0, "nothing to apply\n", "")
    code, status, _ = run("migrate", "status", url=empty_database_url)
    assert code == 0 and status.startswith("0001 create_roles ") and "pending" not in status
    assert run("migrate", "down", url=empty_database_url)[1].endswith("1 taken back\n")
    assert run("migrate", "status", url=empty_database_url)[1].endswith(" pending\n")


def test_a_tenant_is_installed(run: Run, owner_url: str) -> None:
    code, said, _ = run("tenant", "install", DEMO, url=server.act_as(owner_url, "signet_api"))
    assert code == 0 and said.startswith("installed demo (")
    assert "  changed: members ada, anton, carl, " in said
    assert run("tenant", "install", DEMO, url=server.act_as(owner_url, "signet_api"))[1].endswith(
        "\n  nothing changed\n"
    )
    with psycopg.connect(owner_url) as admin:
        admin.execute("DELETE FROM member_roles WHERE user_id = 'fiona'")
    said = run("tenant", "install", DEMO, "--actor", "ada", url=server.act_as(owner_url, "signet_api"))[1]
    assert "  kept: fiona is without 'finance_manager', which the file gives\n" in said


def test_a_quota_is_granted_on_record(run: Run, owner_url: str) -> None:
    url = server.act_as(owner_url, "signet_api")
    grant = [
        "tenant",
        "quota",
        "--tenant",
        DEMO_TENANT,
        "api:write",
        *"--capacity 7 --refill-seconds 60".split(),
    ]
    assert run(*grant, url=url)[0] == 1
    run("tenant", "install", DEMO, url=url)
    assert run(*grant, "--actor", "olga", url=url)[:2] == (0, "api:write: 7 in 60 seconds\n")
    with psycopg.connect(owner_url) as admin:
        noted = admin.execute(
            "SELECT action, actor_id LIKE 'cli:%@%', content::jsonb ->> 'via',"
            " content::jsonb -> 'detail' ->> 'claimed' FROM audit_log ORDER BY seq"
        ).fetchall()
    assert noted == [("install_tenant", True, "cli", None), ("grant_quota", True, "cli", "olga")]


def test_ids_that_look_alike_are_listed(run: Run, owner_url: str) -> None:
    url, ask = server.act_as(owner_url, "signet_api"), ["tenant", "look-alikes", "--tenant", DEMO_TENANT]
    run("tenant", "install", DEMO, url=url)
    assert run(*ask, url=url) == (0, "no ids look alike\n", "")
    with psycopg.connect(owner_url) as admin:
        admin.execute("INSERT INTO members VALUES (%s, %s, 'X')", [DEMO_TENANT, "\u0441arl"])
    assert run(*ask, url=url)[:2] == (1, "'carl'  '\\u0441arl'\n")


def test_a_database_without_the_schema_is_one_sentence(run: Run, empty_database_url: str) -> None:
    code, _, said = run("tenant", "install", DEMO, url=empty_database_url)
    assert (code, said.count("\n")) == (1, 2)
    assert 'relation "tenants" does not exist' in said and "`signet migrate status`" in said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"dbname": "no_such_database"}, 'reached: .*database "no_such_database" does not exist'),
        ({"host": "127.0.0.1", "port": "1"}, r"reached: .*[Cc]onnection refused"),
        ({"host": "no-such-host.invalid"}, "reached: .*resolve host 'no-such-host.invalid'"),
    ],
)
def test_a_wrong_address_is_one_sentence(
    run: Run, server_url: str, change: dict[str, str], says: str
) -> None:
    url = make_conninfo(server_url, **change)
    for arguments in (["migrate", "status"], ["migrate", "up"], ["tenant", "install", DEMO]):
        code, out, said = run(*arguments, url=url)
        assert (code, out, said.count("\n")) == (1, "", 1)
        assert said.startswith("signet: The database cannot be ")
        assert re.search(says, said)
        password = conninfo_to_dict(server_url).get("password")
        assert not password or str(password) not in said


@pytest.mark.parametrize("url", ["nonsense:secret", "=secret", "postgresql://me:secret@[::1/x"])
def test_an_address_that_is_none_is_one_sentence_without_its_password(run: Run, url: str) -> None:
    code, _, said = run("migrate", "status", url=url)
    assert code == 1 and "has the form postgresql://" in said and "secret" not in said


def test_a_user_without_rights_is_told_which_ones(run: Run, owner_url: str) -> None:
    url = server.act_as(owner_url, "signet_worker")
    code, _, said = run("migrate", "up", url=url)
    assert code == 1 and "The database refuses this user: permission denied" in said
    assert "may create roles" in said


def test_an_old_server_is_refused(run: Run, owner_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "OLDEST_MAJOR", 1_000)
    code, _, said = run("tenant", "install", DEMO, url=owner_url)
    assert code == 1 and "Signet needs 1000 or newer" in said


def test_a_setting_in_the_address_is_kept(owner_url: str) -> None:
    url = server.act_as(make_conninfo(owner_url, options="-c statement_timeout=1234"), "signet_api")
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT current_user, current_setting('statement_timeout')").fetchone()
    assert row == ("signet_api", "1234ms")


@pytest.mark.parametrize("command", [[], ["run"], ["migrate"], ["migrate", "up"], ["tenant", "install"]])
def test_every_command_has_help(run: Run, command: list[str]) -> None:
    code, said, _ = run(*command, "--help")
    assert code == 0 and "Usage: signet" in said


def test_the_page_of_operators_runs_as_it_stands(
    run: Run, owner_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the commands of the page that are about no instance and no effect, as an admin of the database."""
    page = (MIGRATIONS_FOLDER.parent / "docs" / "operating.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    about_one = ("signet instance", "signet effect", "signet event")
    commands = [shlex.split(line, comments=True) for line in lines if not line.startswith(about_one)]
    assert len(commands) == 11
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    shutil.copy(DEMO, tmp_path / "examples" / "tenant.yaml")
    for command in commands:
        words = [DEMO_TENANT if word == "$TENANT" else word for word in command]
        code, said, error = run(*words[1:], url=owner_url)
        assert code == 0, (command, said, error)
