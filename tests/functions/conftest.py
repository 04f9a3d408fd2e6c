"""A company whose people call the API."""

import pytest

from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.company import Company, make_company
from tests.support.http_client import Client
from tests.support.named_things import named_things

__all__ = ["named_things"]


@pytest.fixture
def company(database: Database) -> Company:
    company = make_company(database)
    company.publish("invoice")
    return company


@pytest.fixture
def client(database: Database, company: Company) -> Client:
    return Client(wire(database), company.tenant_id)
