"""A company whose people call the API."""

import pytest

from signet.store.database import Database
from tests.engine.conftest import Company, make_company
from tests.functions.applications import wire
from tests.functions.calling import Client


@pytest.fixture
def company(database: Database) -> Company:
    company = make_company(database)
    company.publish("invoice")
    return company


@pytest.fixture
def client(database: Database, company: Company) -> Client:
    return Client(wire(database), company.tenant_id)
