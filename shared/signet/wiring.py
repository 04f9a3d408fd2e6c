"""The composition root: settings in, wired use cases out. Nothing else reads the environment."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from signet.api.application import make_application
from signet.authoring.extensions import load_extensions
from signet.engine.compiled import CompiledCache
from signet.engine.documents.contracts import ContractCache
from signet.engine.documents.opened import DocumentCaches
from signet.engine.documents.rules import RuleBook
from signet.engine.instances import Instances
from signet.engine.waves.worker import Worker
from signet.settings import Settings, read_settings
from signet.store.database import Database, PoolSettings

# The same place in a checkout and in a Lambda bundle.
MIGRATIONS_FOLDER = Path(__file__).resolve().parents[2] / "migrations"


def make_database(settings: Settings) -> Database:
    return Database(
        settings.database_url,
        PoolSettings(
            size=settings.database_pool_size,
            idle_count=settings.database_pool_idle_count,
            lifetime_seconds=settings.database_pool_lifetime_seconds,
        ),
    )


def make_worker(database: Database) -> Worker:
    return Worker(database, DocumentCaches(ContractCache(), RuleBook()), CompiledCache())


def make_instances(database: Database) -> Instances:
    return Instances(database, DocumentCaches(ContractCache(), RuleBook()), CompiledCache())


@cache
def get_application() -> Callable[[dict[str, Any], object], dict[str, Any]]:
    """The API, wired once per process."""
    settings = read_settings(os.environ)
    load_extensions(settings.extensions)
    return make_application(database=make_database(settings), development_secret=settings.development_secret)
