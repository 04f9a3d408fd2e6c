"""Two changes to the same tenant's people at once: the lock of its administration settles which was first."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.tenants.members import Members
from signet.engine.tenants.org_chart import OrgChart
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.database.transaction_steps import Second
from tests.support.shared_company import CompanyWithWorkers, standing_company


@pytest.fixture
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    """Yield a company with two administrators, the only people who may edit members."""
    with standing_company(server_url) as made:
        company = made.company
        roles = {"ada": ("chief",), "ben": ("chief",), "carl": ("clerk",)}
        people = tuple(Member(user_id=name, display_name=name, roles=held) for name, held in roles.items())
        with company.database.transaction(company.tenant_id) as connection:
            save_roles(
                connection, company.tenant_id, (Role(role="chief", permissions=("*:*",)),), COMMAND_LINE
            )
            save_members(connection, company.tenant_id, people, COMMAND_LINE)
        yield made


def code_of(came: Any) -> str:
    return came.code if isinstance(came, Rejected) else "done"


def test_two_administrators_do_not_remove_each_other(standing: CompanyWithWorkers) -> None:
    company = standing.company
    members = Members(company.database)

    def disable(author: str, other: str) -> list[Any]:
        gone = Member(user_id=other, display_name=other, roles=("chief",))
        return [members.save(company.caller(author, "chief"), gone, "disabled")]

    with company.database.shared_transaction(company.tenant_id):
        disable("ada", "ben")
        second = Second(lambda: disable("ben", "ada"))
        standing.wait_until_blocked()
    assert code_of(second.result()) == "LAST_ADMINISTRATOR"


def test_two_lines_do_not_close_a_circle(standing: CompanyWithWorkers) -> None:
    company = standing.company
    chart = OrgChart(company.database)

    def report(below: str, above: str) -> list[Any]:
        return [chart.set_manager(company.caller("cleo", "chief"), below, above)]

    with company.database.shared_transaction(company.tenant_id):
        report("ada", "ben")
        second = Second(lambda: report("ben", "ada"))
        standing.wait_until_blocked()
    assert code_of(second.result()) == "ORG_CHART_CYCLE"
