"""The service accounts that nodes of a compiled workflow run as, and that no step could."""

from collections.abc import Iterator, Mapping
from uuid import UUID

from signet.core.validation.finding import Finding, make_finding
from signet.store.database import Connection
from signet.store.tenants.service_accounts import find_running_problem, read_running_accounts


def check_accounts(connection: Connection, tenant_id: UUID, accounts: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the accounts, by the nodes that name them, that no step of the tenant can run as."""
    rows = read_running_accounts(connection, tenant_id, set(accounts.values())) if accounts else {}
    for node_id, account in accounts.items():
        problem = find_running_problem(account, rows.get(account))
        if problem is not None:
            yield make_finding("SERVICE_ACCOUNT_UNUSABLE", node_id, account=account, problem=problem)
