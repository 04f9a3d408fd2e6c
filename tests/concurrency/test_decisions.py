"""A decision meets another one, an edit, a revocation or a wave: the locks settle which was first."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE, author_of
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.decide import Ballot, decide
from signet.engine.approvals.delegations import Delegations
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Applied, Update
from signet.engine.tenants.install import write_roles
from signet.store.approvals.decisions import document_statement
from signet.store.approvals.delegations import revoke_delegation
from signet.store.approvals.requests import lock_roles_shared, read_candidates
from signet.store.tenants.tenants import read_now, save_members, save_roles
from tests.support.approval_requests import Asking
from tests.support.core.approval_policies import role
from tests.support.database.runtime_roles import as_role
from tests.support.database.transaction_steps import Second, holding, second
from tests.support.shared_company import CompanyWithWorkers, standing_company
from tests.support.workflow_stage import standing_stage


@pytest.fixture
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


@pytest.fixture
def asking(standing: CompanyWithWorkers) -> Asking:
    company = standing.company
    made = Asking(company, standing.admin, Approvals(company.database, company.documents.caches))
    made.hire()
    return made


@contextmanager
def deciding(asking: Asking, request_id: UUID, user_id: str) -> Iterator[None]:
    """Count the vote, and keep its transaction open until the block ends."""
    company = asking.company
    opening = document_statement(company.tenant_id, request_id)
    with company.database.pipelined(company.tenant_id, opening) as pipeline:
        assert pipeline.first_row is not None
        caches, ballot = company.documents.caches, Ballot(request_id, "approved")
        assert decide(caches, pipeline, company.caller(user_id), ballot).vote == "approved"
        yield


def voting(asking: Asking, request_id: UUID, user_id: str) -> Second:
    def vote() -> list[Any]:
        return [asking.decide(request_id, user_id)]

    return Second(vote)


def code_of(came: Any) -> str:
    return came.code if isinstance(came, Rejected) else "done"


def test_of_two_who_vote_for_the_last_seat_the_second_finds_it_closed(
    standing: CompanyWithWorkers, asking: Asking
) -> None:
    request_id = asking.ask("@finance")
    with deciding(asking, request_id, "ben"):
        late = voting(asking, request_id, "cleo")
        standing.wait_until_blocked()
    assert code_of(late.result()) == "APPROVAL_CLOSED"
    assert asking.seats(request_id) == [("approved", "ben", None)]
    assert asking.rows("SELECT decided_by FROM approval_decisions") == [("ben",)]


def test_two_who_vote_for_two_seats_of_a_role_each_get_one(
    standing: CompanyWithWorkers, asking: Asking
) -> None:
    request_id = asking.ask("@finance", "@finance")
    with deciding(asking, request_id, "ben"):
        late = voting(asking, request_id, "cleo")
        standing.wait_until_blocked()
    assert code_of(late.result()) == "done"
    assert [who for _, who, _ in asking.seats(request_id)] == ["ben", "cleo"]
    assert asking.request(request_id) == ("approved", False, True)
    assert len(asking.triggers()) == 1


def test_a_second_click_of_the_same_person_is_not_counted(
    standing: CompanyWithWorkers, asking: Asking
) -> None:
    request_id = asking.ask("@finance", "@finance")
    with deciding(asking, request_id, "ben"):
        late = voting(asking, request_id, "ben")
        standing.wait_until_blocked()
    assert code_of(late.result()) == "APPROVAL_SEAT_TAKEN"
    assert asking.rows("SELECT count(*) FROM approval_decisions") == [(1,)]


def edit_of(made: Applied) -> Update:
    return Update(made.document_id, made.version, {"cost_center": "C"})


def test_an_edit_that_was_first_bars_the_vote(standing: CompanyWithWorkers, asking: Asking) -> None:
    made = asking.create()
    request_id = asking.ask("anna", made=made)
    with holding(standing, [edit_of(made)]):
        late = voting(asking, request_id, "anna")
        standing.wait_until_blocked()
    assert code_of(late.result()) == "APPROVAL_STALE"
    assert asking.rows("SELECT count(*) FROM approval_decisions") == [(0,)]


def test_an_edit_that_was_given_up_bars_nothing(standing: CompanyWithWorkers, asking: Asking) -> None:
    made = asking.create()
    request_id = asking.ask("anna", made=made)
    with holding(standing, [edit_of(made)], commits=False):
        late = voting(asking, request_id, "anna")
        standing.wait_until_blocked()
    assert code_of(late.result()) == "done"


def test_a_vote_that_was_first_is_about_the_version_before_the_edit(
    standing: CompanyWithWorkers, asking: Asking
) -> None:
    made = asking.create()
    request_id = asking.ask("anna", made=made)
    with deciding(asking, request_id, "anna"):
        edit = second(standing, edit_of(made))
        standing.wait_until_blocked()
    came = edit.result()
    assert isinstance(came, Applied) and came.version == 2
    assert asking.rows("SELECT document_version FROM approval_decisions") == [(1,)]
    # The next wave voids the approval, which no gate has used.
    assert asking.request(request_id) == ("approved", False, True)


def test_a_grant_that_was_first_is_judged_with_the_role_that_it_gave(
    standing: CompanyWithWorkers, asking: Asking
) -> None:
    """Let the author of the document give dora the role while her vote waits for the request."""
    request_id, company = asking.ask("@finance"), asking.company
    with company.database.transaction(company.tenant_id) as connection:
        connection.execute("SELECT FROM approval_requests WHERE id = %s FOR NO KEY UPDATE", (request_id,))
        late = voting(asking, request_id, "dora")
        standing.wait_until_blocked()
        dora = Member(user_id="dora", display_name="dora", roles=("finance",))
        with psycopg.connect(as_role(standing.admin_url, "signet_api")) as other:
            other.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(company.tenant_id),))
            save_members(other, company.tenant_id, (dora,), author_of(company.caller("carl")))
    assert code_of(late.result()) == "VOTE_BARRED_BY_GRANT"
    assert asking.rows("SELECT count(*) FROM approval_decisions") == [(0,)]


def test_a_revocation_that_was_first_bars_the_vote(standing: CompanyWithWorkers, asking: Asking) -> None:
    delegation_id, request_id = asking.delegate("anna", "dora"), asking.ask("anna")
    company = asking.company
    with company.database.transaction(company.tenant_id) as connection:
        anna, now = author_of(company.caller("anna")), read_now(connection)
        assert revoke_delegation(connection, company.tenant_id, delegation_id, anna, now)
        late = voting(asking, request_id, "dora")
        standing.wait_until_blocked()
    assert code_of(late.result()) == "APPROVAL_NOT_YOURS"


def test_a_revocation_waits_for_the_vote_that_the_delegation_allows(
    standing: CompanyWithWorkers, asking: Asking
) -> None:
    delegation_id, request_id = asking.delegate("anna", "dora"), asking.ask("anna")

    def revoke() -> list[Any]:
        Delegations(asking.company.database).revoke(asking.company.caller("anna"), delegation_id)
        return ["revoked"]

    with deciding(asking, request_id, "dora"):
        late = Second(revoke)
        standing.wait_until_blocked()
        assert asking.rows("SELECT revoked_at FROM approval_delegations") == [(None,)]
    assert not isinstance(late.result(), Rejected)
    assert asking.rows("SELECT revoked_at IS NOT NULL FROM approval_delegations") == [(True,)]
    assert asking.rows("SELECT on_behalf_of FROM approval_decisions") == [("anna",)]


def test_two_delegations_at_once_close_no_circle(standing: CompanyWithWorkers, asking: Asking) -> None:
    company, delegations = asking.company, Delegations(asking.company.database)

    def give_back() -> list[Any]:
        now = asking.rows("SELECT now(), now() + interval '1 day'")[0]
        caller = company.caller("dora")
        return [delegations.delegate(caller, "dora", "anna", from_time=now[0], to_time=now[1])]

    with company.database.transaction(company.tenant_id) as connection:
        connection.execute("SELECT FROM tenants FOR NO KEY UPDATE")
        late = Second(give_back)
        standing.wait_until_blocked()
        connection.execute(
            "INSERT INTO approval_delegations SELECT %s, gen_random_uuid(), 'anna', 'dora', NULL,"
            " now() - interval '1 hour', now() + interval '1 day', NULL, 'anna', now()",
            [company.tenant_id],
        )
    assert code_of(late.result()) == "DELEGATION_CYCLE"


def test_a_vote_waits_for_a_wave_that_ends_the_request(standing: CompanyWithWorkers, asking: Asking) -> None:
    """Wait also for a transaction that locks only the request."""
    request_id = asking.ask("anna")
    with psycopg.connect(standing.admin_url) as wave:
        end = "UPDATE approval_requests SET status = 'expired', ended_at = now() WHERE id = %s"
        wave.execute(end, [request_id])
        late = voting(asking, request_id, "anna")
        standing.wait_until_blocked()
    assert code_of(late.result()) == "APPROVAL_CLOSED"
    assert asking.rows("SELECT count(*) FROM approval_decisions") == [(0,)]


def test_a_role_is_lost_when_no_wave_relies_on_it_any_more(
    standing: CompanyWithWorkers, asking: Asking
) -> None:
    """Wait for the wave, so that the requests it creates are found when the role is lost."""
    company, lost = asking.company, list[set[tuple[str, str]]]()
    cleo = Member(user_id="cleo", display_name="cleo")

    def lose() -> list[Any]:
        with company.database.transaction(company.tenant_id) as connection:
            lost.append(save_members(connection, company.tenant_id, (cleo,), COMMAND_LINE))
        return ["lost"]

    with company.database.transaction(company.tenant_id) as wave:
        lock_roles_shared(wave, company.tenant_id)
        late = Second(lose)
        standing.wait_until_blocked()
        assert set(read_candidates(wave, company.tenant_id, [], ["finance"], at_most=9)) == {"ben", "cleo"}
    assert not isinstance(late.result(), Rejected)
    assert lost == [{("cleo", "finance")}]


def test_a_permission_is_lost_when_no_wave_relies_on_it_any_more(
    standing: CompanyWithWorkers, asking: Asking
) -> None:
    company, poorer = asking.company, Role(role="finance", permissions=("*:read",))

    def lose() -> list[Any]:
        with company.database.transaction(company.tenant_id) as connection:
            write_roles(connection, company.tenant_id, (poorer,), COMMAND_LINE)
        return ["lost"]

    with company.database.transaction(company.tenant_id) as wave:
        lock_roles_shared(wave, company.tenant_id)
        late = Second(lose)
        standing.wait_until_blocked()
    assert not isinstance(late.result(), Rejected)


def test_a_wave_waits_for_whoever_takes_a_role_away(server_url: str) -> None:
    with standing_stage(server_url) as stage:
        company = stage.standing.company
        with company.database.transaction(stage.tenant_id) as connection:
            save_roles(
                connection, stage.tenant_id, (Role(role="finance", permissions=("*:approve",)),), COMMAND_LINE
            )
            mona = Member(user_id="mona", display_name="mona", roles=("finance",))
            save_members(connection, stage.tenant_id, (mona,), COMMAND_LINE)
        node = {"id": "look", "type": "approval", "config": {"approvers": [role("finance")]}}
        document = stage.create(stage.publish(approval={"nodes": [node]}))
        stage.ask(document.id, "submit")
        with company.database.transaction(stage.tenant_id) as connection:
            save_members(
                connection, stage.tenant_id, (Member(user_id="mona", display_name="mona"),), COMMAND_LINE
            )
            late = Second(lambda: [stage.drain()])  # type: ignore[list-item]  # what a worker did
            stage.standing.wait_until_blocked()
        assert not isinstance(late.result(), Rejected)
        row = stage.instance(document.instance_id)
        assert row["status"] == "paused" and row["reason"].startswith("APPROVAL_NOBODY_ELIGIBLE")
