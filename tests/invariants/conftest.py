"""A company with a published contract: one for a whole module, or a fresh one for a test that tampers."""

from collections.abc import Iterator

import pytest

from signet.store.database import Database
from tests.engine.conftest import Company, make_company
from tests.engine.standing_company import CompanyWithWorkers, standing_company
from tests.engine.waves.stage import WorkflowStage, standing_stage


@pytest.fixture(scope="module")
def standing(server_url: str) -> Iterator[CompanyWithWorkers]:
    with standing_company(server_url) as made:
        yield made


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture
def company(database: Database) -> Company:
    company = make_company(database)
    company.publish("invoice")
    return company
