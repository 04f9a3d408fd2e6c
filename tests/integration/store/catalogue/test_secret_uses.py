"""The one use of a secret, held by the database: attacked in SQL as each role."""

from collections.abc import Iterator
from typing import LiteralString

import pytest

from tests.support.database.attacks import NO_PRIVILEGE, NO_ROW, ROLES, attack, filled_company
from tests.support.shared_company import CompanyWithWorkers

TAKEN = "23505"
# The company has the endpoint erp with the secret erp, and the inbound endpoint bank with the secret bank.
SECOND_USES: list[LiteralString] = [
    "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
    " SELECT tenant_id, 'hook', 'https://eddie.example/', '{own,bank}', 'eddie' FROM tenants",
    "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
    " SELECT tenant_id, 'hook', 'https://eddie.example/', '{erp}', 'eddie' FROM tenants",
    "UPDATE endpoints SET secret_refs = '{bank}' WHERE name = 'erp'",
    "UPDATE inbound_endpoints SET secrets = '{bank,erp}' WHERE name = 'bank'",
]
WRITES: list[LiteralString] = [
    "DELETE FROM secret_uses",
    "UPDATE secret_uses SET endpoint = 'hook'",
    "INSERT INTO secret_uses SELECT tenant_id, 'fresh', 'out', 'hook' FROM tenants",
]


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with filled_company(server_url) as made:
        yield made


@pytest.mark.parametrize("statement", SECOND_USES)
def test_a_secret_has_one_use(standing: CompanyWithWorkers, statement: LiteralString) -> None:
    assert attack(standing, "signet_api", statement) == TAKEN


@pytest.mark.parametrize("role", [role for role in ROLES if role != "signet_owner"])
@pytest.mark.parametrize("statement", WRITES)
def test_no_role_writes_uses_by_itself(
    standing: CompanyWithWorkers, statement: LiteralString, role: str
) -> None:
    assert attack(standing, role, statement) == NO_PRIVILEGE


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE endpoints SET secret_refs = '{newer,erp}' WHERE name = 'erp'",
        "UPDATE endpoints SET secret_refs = '{erp,erp}' WHERE name = 'erp'",
        "UPDATE inbound_endpoints SET secrets = '{fresh}' WHERE name = 'bank'",
        "DELETE FROM endpoints WHERE name = 'erp'",
    ],
)
def test_the_lawful_changes_pass(standing: CompanyWithWorkers, statement: LiteralString) -> None:
    assert attack(standing, "signet_api", statement) == ""


def test_other_tenants_have_secrets_of_the_same_name(standing: CompanyWithWorkers) -> None:
    assert standing.rows("SELECT secret, direction, endpoint FROM secret_uses ORDER BY secret") == [
        ("bank", "in", "bank"),
        ("erp", "out", "erp"),
    ]
    assert attack(
        standing, "signet_api", "SELECT 1 FROM secret_uses WHERE tenant_id <> current_tenant_id()"
    ) == (NO_ROW)
