"""A tenant with the invoice contract of the examples, and people with roles."""

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from signet.authoring.files import read_document
from signet.core.documents.rules import Rule
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import TenantFile
from signet.core.validation.strict_model import parse_strictly
from signet.engine.definitions.definitions import Definitions
from signet.engine.documents.mutate import Documents
from signet.engine.tenants.install import install_tenant
from signet.store.database import Database
from signet.store.definitions.rules import save_rule

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
INVOICE = {"number": "R-1", "vendor_id": "V-100", "invoice_date": "2026-03-01", "grand_total": 60000}
VOTER = ("*:approve", "*:submit", "*:reopen", "*:cancel")


@cache
def _read_example(name: str) -> dict[str, Any]:
    document: dict[str, Any]
    document, findings = read_document(EXAMPLES / name / "contract.yaml")
    assert findings == ()
    return document


@dataclass(frozen=True)
class Company:
    """A tenant with its database, documents and definitions."""

    database: Database
    tenant_id: UUID
    documents: Documents
    definitions: Definitions

    def principal(self, user_id: str = "carl", *roles: str) -> Principal:
        return Principal(self.tenant_id, user_id, roles or ("admin",))

    def caller(self, user_id: str = "carl", *roles: str) -> Caller:
        return Caller(self.principal(user_id, *roles), via="test", trace_id="00-test")

    def publish(self, name: str, **changes: Any) -> None:
        """Publish the example's contract, with changes at its top level.

        It asks nothing of those who vote: most tests fill its slots with steps that ask nobody.
        """
        document = {**deepcopy(_read_example(name)), "conditions": {}, **changes}
        draft = self.definitions.create_contract(self.caller(), document)
        self.definitions.publish_contract(self.caller(), draft.entity_type, draft.version)

    def add_rule(self, name: str, phase: str, condition: str, *actions: dict[str, Any], **more: Any) -> None:
        document = {"name": name, "entity_type": "invoice", "phase": phase, "actions": list(actions)}
        rule, findings = parse_strictly(Rule, {**document, "condition": {"expression": condition}, **more})
        assert rule is not None, findings
        with self.database.transaction(self.tenant_id) as connection:
            save_rule(connection, self.tenant_id, rule, frozenset())


def make_company(database: Database) -> Company:
    tenant = TenantFile.model_validate(
        {
            "tenant_id": uuid4(),
            "name": "acme",
            "settings": {"custom": {"trusted_vendors": {"type": "list of string", "value": ["V-100"]}}},
            "roles": [
                {"role": "admin", "permissions": ["*:*"]},
                {"role": "clerk", "permissions": ["invoice:create", "invoice:edit", "invoice:submit"]},
                {"role": "reader", "permissions": ["invoice:read"]},
                # What the transitions of the tests' contracts ask of those who vote and request.
                {"role": "voter", "permissions": list(VOTER)},
            ],
            "members": [{"user_id": "carl", "display_name": "Carl", "roles": ["clerk", "admin"]}],
        }
    )
    install_tenant(database, tenant, COMMAND_LINE)
    return Company(database, tenant.tenant_id, Documents(database), Definitions(database))


@pytest.fixture
def company(database: Database) -> Company:
    company = make_company(database)
    company.publish("invoice")
    return company
