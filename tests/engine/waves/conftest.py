"""A worker in the worker's role, on the company's database or on one that lasts for a module."""

from collections.abc import Iterator

import pytest

from signet.engine.cache import CompiledCache
from signet.engine.execution.worker import Worker
from signet.engine.instances.actions import Instances
from signet.engine.instances.moves import InstanceMoves
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.engine.conftest import Company
from tests.engine.waves.stage import WorkflowStage, standing_stage
from tests.pooling.reaching import as_role


@pytest.fixture
def worker_database(owner_url: str) -> Iterator[Database]:
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=4))
    yield database
    database.close()


@pytest.fixture
def worker(worker_database: Database) -> Worker:
    return make_worker(worker_database)


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture
def instances(company: Company) -> Instances:
    """Return the operator actions in the API's role, where operators come from."""
    return Instances(company.database, company.documents.caches, CompiledCache())


@pytest.fixture
def moves(stage: WorkflowStage) -> InstanceMoves:
    """Return the moves in the API's role, like other operator actions."""
    return InstanceMoves(stage.standing.company.database, stage.caches(), CompiledCache())


@pytest.fixture
def operators(stage: WorkflowStage) -> Instances:
    return Instances(stage.standing.company.database, stage.caches(), CompiledCache())


@pytest.fixture
def anna(stage: WorkflowStage) -> Iterator[str]:
    stage.add_member("anna")
    yield "anna"
