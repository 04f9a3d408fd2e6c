"""The tenant's rules, as mutate() runs them."""

from typing import Any

import pytest
from psycopg import Connection

from signet.core.errors import Rejected
from signet.engine.documents.operations import Create
from tests.engine.conftest import INVOICE, Company

Admin = Connection[tuple[Any, ...]]
NO = {"kind": "reject", "message": "no"}


def test_a_rule_reads_the_tenants_settings(company: Company) -> None:
    known = "entity.vendor_id in org.trusted_vendors && org.name == 'acme' && org.currency == 'EUR'"
    company.add_rule("known", "before", f"!({known} && org.id == '{company.tenant_id}')", NO)
    company.documents.mutate(company.author(), Create("invoice", INVOICE))
    with pytest.raises(Rejected) as caught:
        company.documents.mutate(company.author(), Create("invoice", {**INVOICE, "vendor_id": "V-9"}))
    assert (caught.value.code, caught.value.details["rule"]) == ("RULE_REJECTED", "known")
