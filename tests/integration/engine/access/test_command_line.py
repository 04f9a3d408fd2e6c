"""The command line: an operator's power on record, and no person's rights."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import make_command_line
from signet.core.tenants.tenant_file import Member
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.approvals.delegations import Delegations
from signet.engine.documents.commands import Create, RequestTransition, Update
from signet.engine.tenants.api_keys import ApiKeys
from signet.engine.tenants.members import Members
from signet.engine.tenants.roles import Roles
from tests.support.approval_requests import Asking
from tests.support.company import INVOICE, Company

NOW = datetime.now(UTC)


def caller_of(company: Company, claimed: str | None = "anna") -> Caller:
    return read_command_line_caller(company.database, company.tenant_id, claimed)


def test_it_is_who_the_server_says_and_never_who_is_claimed(company: Company) -> None:
    caller = caller_of(company, "fiona")
    with company.database.transaction(company.tenant_id) as connection:
        row: Any = connection.execute("SELECT session_user::text").fetchone()
    assert caller.principal.subject.startswith(f"cli:{row[0]}@")
    assert (caller.via, caller.claimed, caller.principal.roles) == ("cli", "fiona", ())


@pytest.mark.parametrize("claimed", ["", " carl", "carl\n", "a\0", "x" * 201])
def test_a_claim_is_a_name(company: Company, claimed: str) -> None:
    with pytest.raises(Rejected) as caught:
        caller_of(company, claimed)
    assert caught.value.code == "FIELDS_INVALID"


def test_a_user_of_the_database_breaks_no_line(company: Company) -> None:
    assert make_command_line(company.tenant_id, "a\x1bb", "::1").subject == "cli:a?b@::1"


WITHOUT_RIGHTS: dict[str, Callable[[Company, Caller], Any]] = {
    "creates": lambda company, cli: company.documents.mutate(cli, Create("invoice", INVOICE)),
    "makes a member": lambda company, cli: Members(company.database).save(
        cli, Member(user_id=cli.principal.subject.replace("cli:", ""), display_name="x"), "active"
    ),
    "makes a role": lambda company, cli: Roles(company.database).save(cli, "boss", ["*:*"]),
    "makes a key": lambda company, cli: ApiKeys(company.database).create(cli, "erp", ["clerk"]),
}


@pytest.mark.parametrize("act", WITHOUT_RIGHTS)
def test_it_has_no_right_of_a_person(company: Company, act: str) -> None:
    with pytest.raises(Rejected) as caught:
        WITHOUT_RIGHTS[act](company, caller_of(company))
    assert caught.value.code == "PERMISSION_DENIED"


def test_it_edits_and_asks_for_nothing(asking: Asking) -> None:
    company, made = asking.company, asking.create()
    for operation in (
        Update(made.document_id, 1, {"cost_center": "C"}),
        RequestTransition(made.document_id, 1, "submit"),
    ):
        with pytest.raises(Rejected) as caught:
            company.documents.mutate(caller_of(company), operation)
        assert caught.value.code == "PERMISSION_DENIED"


def test_it_never_votes_whomever_it_claims_to_be(asking: Asking) -> None:
    request_id = asking.ask("anna", "@approver")
    with pytest.raises(Rejected) as caught:
        asking.approvals.decide(caller_of(asking.company, "anna"), request_id, "approved", None)
    assert caught.value.code == "APPROVAL_NOT_YOURS"
    assert [status for status, *_ in asking.seats(request_id)] == ["open", "open"]
    assert asking.decide(request_id, "anna").request_id == request_id


def test_it_delegates_nothing_to_nobody(asking: Asking) -> None:
    cli = caller_of(asking.company)
    for user_id in ("anna", cli.principal.subject):
        with pytest.raises(Rejected) as caught:
            Delegations(asking.company.database).delegate(
                cli, user_id, "dora", from_time=NOW, to_time=NOW + timedelta(days=1)
            )
        assert caught.value.code in ("PERMISSION_DENIED", "FIELDS_INVALID", "MEMBER_NOT_FOUND")
    assert asking.rows("SELECT count(*) FROM approval_delegations") == [(0,)]
