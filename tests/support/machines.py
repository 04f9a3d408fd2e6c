"""Service accounts of a company, and members who end."""

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, ServiceAccount
from signet.engine.tenants.install import write_members
from signet.store.tenants.people import set_member_status
from signet.store.tenants.service_accounts import AccountStatus, install_accounts
from signet.store.tenants.tenants import read_now
from tests.support.company import Company


def add_account(company: Company, account_id: str, *roles: str, owner: str = "carl") -> None:
    """Make an account, or change it; an owner who is no member becomes one."""
    account = ServiceAccount(id=account_id, label=account_id.title(), roles=roles, owner=owner)
    with company.database.transaction(company.tenant_id) as connection:
        if owner != "carl":
            member = Member(user_id=owner, display_name=owner.title())
            write_members(connection, company.tenant_id, (member,), COMMAND_LINE)
        install_accounts(connection, company.tenant_id, [account], "carl")


def set_account_status(company: Company, account_id: str, status: AccountStatus) -> None:
    with company.database.transaction(company.tenant_id) as connection:
        connection.execute(
            "UPDATE service_accounts SET status = %s WHERE tenant_id = %s AND id = %s",
            [status, company.tenant_id, account_id],
        )


def disable_member(company: Company, user_id: str, status: str = "disabled") -> None:
    with company.database.transaction(company.tenant_id) as connection:
        set_member_status(connection, company.tenant_id, user_id, status, read_now(connection), COMMAND_LINE)
