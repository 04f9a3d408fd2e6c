"""The reason why nothing can run as a service account."""

import pytest

from signet.core.tenants.service_accounts import find_account_problem


@pytest.mark.parametrize(
    ("status", "owner_status", "problem"),
    [
        (None, None, "the tenant has no service account 'erp'"),
        ("disabled", "active", "the service account 'erp' is disabled"),
        ("active", "disabled", "olga, who owns the service account 'erp', is disabled"),
        ("active", None, "olga, who owns the service account 'erp', is disabled"),
        ("active", "active", None),
    ],
)
def test_an_account_wants_to_be_active_with_an_active_owner(
    status: str | None, owner_status: str | None, problem: str | None
) -> None:
    assert find_account_problem("erp", status, "olga", owner_status) == problem
