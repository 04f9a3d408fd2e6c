"""`signet effect …` as an operator calls it, and as docs/operating.md shows it."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.execution.worker import Worker
from signet.ids import make_id
from signet.store.tenants.tenants import save_members
from tests.support.company import Company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.invoice_instances import Admin, bury, instance_of, publish_lanes, read, submit

Signet = Callable[..., str]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "operating.md"
WHY = ("--reason", "ordered twice")
STATUS: LiteralString = "SELECT status FROM workflow_side_effects_outbox WHERE id = %s"


@pytest.fixture
def signet(company: Company, owner_url: str) -> Signet:
    """Return a function that runs the command, checks its exit code and returns its output."""
    olga = Member(user_id="olga", display_name="Olga", roles=("admin",))
    with company.database.transaction(company.tenant_id) as connection:
        save_members(connection, company.tenant_id, (olga,), COMMAND_LINE)

    def run(*words: object, exit_code: int = 0, actor: str | None = "olga") -> str:
        more = ["--tenant", str(company.tenant_id), *(["--actor", actor] if actor else [])]
        environment = {"SIGNET_DATABASE_URL": as_role(owner_url, "signet_api")}
        result = CliRunner().invoke(app, ["effect", *map(str, words), *more], env=environment)
        assert result.exit_code == exit_code, result.output
        return result.output

    return run


@pytest.fixture
def sent(company: Company, worker: Worker, admin: Admin) -> tuple[UUID, UUID]:
    """Make an invoice that waits for the answer of a call; return its instance and the effect."""
    publish_lanes(company)
    instance_id = instance_of(submit(company, worker))
    listed: LiteralString = "SELECT id FROM workflow_side_effects_outbox WHERE instance_id = %s"
    ((effect_id,),) = read(admin, listed, instance_id)
    return instance_id, effect_id


def test_what_is_sent_is_listed_tried_and_withdrawn(
    company: Company, worker: Worker, signet: Signet, admin: Admin, sent: tuple[UUID, UUID]
) -> None:
    instance_id, effect_id = sent
    assert f"{effect_id}  webhook  pending  attempt 0 of 12" in signet("list", instance_id, actor=None)
    assert f"{effect_id}  try_now possible  then: nothing\n" == signet(
        "try-now", effect_id, *WHY, "--dry-run"
    )
    assert f"{effect_id}  try_now done  then: nothing\n" == signet("try-now", effect_id, *WHY)
    assert "withdraw possible" in signet("withdraw", effect_id, *WHY, "--dry-run")
    assert read(admin, STATUS, effect_id) == [("pending",)]
    assert "withdraw done" in signet("withdraw", effect_id, *WHY)
    assert read(admin, STATUS, effect_id) == [("withdrawn",)]
    assert "the effect is withdrawn" in signet("withdraw", effect_id, *WHY, exit_code=1)
    assert "there is no effect" in signet("withdraw", make_id(), *WHY, exit_code=1)
    drain(worker, [company.tenant_id])
    assert "withdrawn" in signet("list", instance_id, actor=None)


def test_a_dead_letter_is_discarded(company: Company, worker: Worker, signet: Signet, admin: Admin) -> None:
    _, trigger_id = bury(company, worker, admin)
    other = make_id()
    assert signet("discard", trigger_id, *WHY, "--dry-run") == f"{trigger_id}  can be discarded\n"
    said: Any = signet("discard", trigger_id, other, *WHY, exit_code=1)
    assert said.splitlines() == [f"{trigger_id}  discarded", f"{other}  is no dead letter"]


def test_the_commands_of_the_page_run(
    company: Company, signet: Signet, admin: Admin, sent: tuple[UUID, UUID]
) -> None:
    instance_id, effect_id = sent
    lines = re.findall(r"^signet effect (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    values = {"$INSTANCE": instance_id, "$EFFECT": effect_id, "$TENANT": company.tenant_id, "$ACTOR": "olga"}
    for line in lines:
        words = [values.get(word, word) for word in shlex.split(line)]
        # Its effect is no dead letter.
        signet(*words, actor=None, exit_code=1 if words[0] == "discard" else 0)
    assert [line.split()[0] for line in lines] == ["list", "try-now", "withdraw", "discard"]
