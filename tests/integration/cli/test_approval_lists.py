"""`signet approval …`: what waits for a person, and what they have decided, read by an operator."""

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.engine.approvals.inbox import Approvals
from tests.support.approval_requests import Asking
from tests.support.company import Company
from tests.support.database.runtime_roles import as_role

Signet = Callable[..., str]
SUMMARY = {"title": ["number"], "amount": "grand_total"}


@pytest.fixture
def asking(company: Company, admin: psycopg.Connection[Any]) -> Asking:
    made = Asking(company, admin, Approvals(company.database, company.documents.caches))
    company.publish("invoice", version=2, summary=SUMMARY)
    made.hire()
    return made


@pytest.fixture
def signet(company: Company, owner_url: str) -> Signet:
    def run(*words: str, exit_code: int = 0) -> str:
        environment = {"SIGNET_DATABASE_URL": as_role(owner_url, "signet_api")}
        command = ["approval", *words, "--tenant", str(company.tenant_id)]
        result = CliRunner().invoke(app, command, env=environment)
        assert result.exit_code == exit_code, result.output
        return result.output

    return run


def test_what_waits_for_a_person_is_listed_with_title_and_amount(signet: Signet, asking: Asking) -> None:
    made = asking.create(number="R-7", grand_total=260005)
    request_id = asking.ask("anna", made=made)
    said = signet("list", "anna")
    about = f'{request_id}  invoice {made.document_id}  "R-7"  2,600.05'
    assert said.startswith(f"{about}  at usr:approval:finance")
    assert said.rstrip().endswith("may decide") and "asked by rita" in said
    (listed,) = json.loads(signet("list", "anna", "--json"))
    assert (listed["request_id"], listed["amount"]["value"]) == (str(request_id), 260005)
    for words in (["--type", "order"], ["--requester", "ben"], ["--node", "x"], ["--since", "2999-01-01"]):
        assert signet("list", "anna", *words) == "nothing is listed\n"
    assert signet("list", "anna", "--since", "2020-01-01", "--requester", "rita") == said


def test_why_a_vote_would_not_count_is_said(signet: Signet, asking: Asking) -> None:
    asking.ask("carl", made=asking.create("carl"))
    assert "may not decide: " in signet("list", "carl")


def test_what_a_person_has_decided_is_listed(signet: Signet, asking: Asking) -> None:
    request_id = asking.ask("anna", made=asking.create(number="R-8", grand_total=5))
    asking.decide(request_id, "anna", "rejected", "too late")
    said = signet("decided", "anna")
    assert said.startswith(f"{request_id}  invoice ") and '"R-8"  0.05' in said
    assert "rejected" in said and said.rstrip().endswith(": too late")
    assert json.loads(signet("decided", "anna", "--json"))[0]["vote"] == "rejected"
    assert signet("decided", "ben") == "nothing is listed\n"


def test_only_a_member_has_an_inbox(signet: Signet, asking: Asking) -> None:
    assert "no active member 'nobody'" in signet("list", "nobody", exit_code=1)
