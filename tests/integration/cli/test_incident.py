"""`signet incident …` as an operator calls it; and the commands that an explanation gives."""

import json
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.execution.worker import Worker
from signet.store.tenants.tenants import save_members
from tests.support.company import Company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.invoice_instances import instance_of, publish_lanes, submit

Signet = Callable[..., str]
NODE = "usr:approved_to_active:post"


@pytest.fixture
def signet(company: Company, owner_url: str) -> Signet:
    """Return a function that runs a command of this tenant, and checks its exit code."""
    olga = Member(user_id="olga", display_name="Olga", roles=("admin",))
    with company.database.transaction(company.tenant_id) as connection:
        save_members(connection, company.tenant_id, (olga,), COMMAND_LINE)

    def run(*words: object, exit_code: int = 0) -> str:
        environment = {"SIGNET_DATABASE_URL": as_role(owner_url, "signet_api")}
        result = CliRunner().invoke(app, list(map(str, words)), env=environment)
        assert result.exit_code == exit_code, result.output
        return result.output

    return run


@pytest.fixture
def tenant(company: Company) -> list[str]:
    return ["--tenant", str(company.tenant_id)]


@pytest.fixture
def stranded(company: Company, worker: Worker) -> list[Any]:
    """Make two invoices whose posting fails for want of a ledger entry."""
    publish_lanes(company, ledger_entry="")
    return [submit(company, worker, number=f"R-{index}", grand_total=49900) for index in (1, 2)]


def read_first(signet: Signet, tenant: list[str]) -> dict[str, Any]:
    found: list[dict[str, Any]] = json.loads(signet("incident", "list", *tenant, "--json", exit_code=1))
    return found[-1]


def test_what_is_held_is_listed_by_its_cause(signet: Signet, tenant: list[str], stranded: list[Any]) -> None:
    said = signet("incident", "list", *tenant, exit_code=1)
    assert (
        said.count("FIELDS_INVALID  business") == 2
        and "try: retry, skip, go_to, correct, cancel, fail" in said
    )
    (group,) = signet("incident", "groups", *tenant, exit_code=1).splitlines()
    assert group.startswith(f"2  FIELDS_INVALID  business  invoice  at {NODE}")
    assert signet("incident", "list", *tenant, "--code", "EFFECT_DEAD") == "nothing is held\n"
    only = ["--document", stranded[0].document_id, "--kind", "business", "--node", NODE, "--type", "invoice"]
    assert len(signet("incident", "list", *tenant, *only, exit_code=1).splitlines()) == 1
    (counted,) = json.loads(signet("incident", "groups", *tenant, "--json", exit_code=1))
    assert counted["count"] == 2


def test_one_is_shown_cared_for_and_closed(signet: Signet, tenant: list[str], stranded: list[Any]) -> None:
    one = read_first(signet, tenant)
    acting = [*tenant, "--actor", "olga"]
    said = signet("incident", "assign", one["id"], *acting, "--to", "olga", "--note", "asked the ledger")
    assert "assignee olga" in said
    assert "acknowledged by cli:" in signet("incident", "acknowledge", one["id"], *acting)
    shown = signet("incident", "show", one["id"], *tenant)
    assert "Have what the message names changed" in shown and "note: asked the ledger" in shown
    assert "go_to (workflow:go_to) sys:slot:approved_to_active:in" in shown
    assert len(signet("incident", "list", *tenant, "--assignee", "olga", exit_code=1).splitlines()) == 1
    version = ["--version", one["instance_version"], "--reason", "twice"]
    signet("instance", "cancel", one["instance_id"], *acting, *version)
    assert "ended by cli:" in signet("incident", "list", *tenant, "--closed")
    assert json.loads(signet("incident", "show", one["id"], *tenant, "--json"))["acts"] == []
    closed = signet("incident", "acknowledge", one["id"], *acting, exit_code=1)
    assert "the incident was closed at" in closed


def test_all_of_one_cause_are_retried(
    signet: Signet, tenant: list[str], stranded: list[Any], company: Company, worker: Worker
) -> None:
    acting = [*tenant, "--actor", "olga", "--reason", "the ledger is open"]
    cause = ("--code", "FIELDS_INVALID", "--node", NODE)
    told = signet("incident", "retry", *acting, *cause, "--dry-run")
    said = signet("incident", "retry", *acting, *cause)
    assert told == said
    assert said.count("  running  version ") == 2
    drain(worker, [company.tenant_id])
    assert read_first(signet, tenant)["attempts"] == 2
    assert signet("incident", "retry", *acting, "--code", "EFFECT_DEAD") == ""


@pytest.mark.parametrize("act", ["retry", "skip", "go_to", "cancel", "fail"])
def test_the_commands_of_an_explanation_are_those_that_work(
    signet: Signet, tenant: list[str], stranded: list[Any], act: str
) -> None:
    """Type what it says, with a name and a reason of one's own."""
    explained = json.loads(signet("instance", "explain", instance_of(stranded[0]), *tenant, "--json"))
    (incident,) = explained["incidents"]
    assert [one["name"] for one in incident["acts"]] == [
        "retry",
        "skip",
        "go_to",
        "correct",
        "cancel",
        "fail",
    ]
    (command,) = [one["command"] for one in incident["acts"] if one["name"] == act]
    first, *words = shlex.split(command.replace("YOU", "olga").replace("…", "the ledger is open"))
    assert first == "signet"
    signet(*words)


def test_it_begins_with_what_holds_it(signet: Signet, tenant: list[str], stranded: list[Any]) -> None:
    lines = signet("instance", "explain", instance_of(stranded[0]), *tenant).splitlines()
    assert lines.index("What holds it, and what brings it on") < lines.index("Where it is")
