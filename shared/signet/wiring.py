"""The composition root: settings in, wired use cases out. Nothing else reads the environment."""

import os
from functools import cache
from pathlib import Path

from signet.api.application import Application, Ports, make_application
from signet.api.authentication import make_authentication
from signet.api.use_cases import UseCases
from signet.authoring.extensions import load_extensions
from signet.engine.approval_chains import ApprovalChains
from signet.engine.approvals import Approvals
from signet.engine.compiled import CompiledCache
from signet.engine.definitions import Definitions
from signet.engine.delegations import Delegations
from signet.engine.documents.contracts import ContractCache
from signet.engine.documents.mutate import Documents
from signet.engine.documents.opened import DocumentCaches
from signet.engine.documents.reading import DocumentsRead
from signet.engine.documents.rules import RuleBook
from signet.engine.instance_reading import InstancesRead
from signet.engine.instances import Instances
from signet.engine.moving import Moving
from signet.engine.notifications import Notifications
from signet.engine.operations import Operations
from signet.engine.quotas import RequestQuotas
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


def make_caches() -> DocumentCaches:
    return DocumentCaches(ContractCache(), RuleBook())


def make_worker(database: Database) -> Worker:
    return Worker(database, make_caches(), CompiledCache())


def make_instances(database: Database) -> Instances:
    return Instances(database, make_caches(), CompiledCache())


def make_moving(database: Database) -> Moving:
    return Moving(database, make_caches(), CompiledCache())


def make_use_cases(database: Database) -> UseCases:
    documents, compiled = Documents(database), CompiledCache()
    instances = Instances(database, documents.caches, compiled)
    return UseCases(
        database=database,
        documents=documents,
        documents_read=DocumentsRead(database),
        definitions=Definitions(database),
        instances_read=InstancesRead(database, documents.caches.contracts),
        instances=instances,
        operations=Operations(database, instances, documents.caches, compiled),
        approvals=Approvals(database, documents.caches),
        approval_chains=ApprovalChains(database),
        delegations=Delegations(database),
        notifications=Notifications(database),
    )


def make_ports(settings: Settings) -> Ports:
    database = make_database(settings)
    return Ports(
        use=make_use_cases(database),
        authenticate=make_authentication(settings.development_secret),
        quotas=RequestQuotas(database),
        origins=settings.cors_origins,
    )


@cache
def get_application() -> Application:
    """The API, wired once per process."""
    settings = read_settings(os.environ)
    load_extensions(settings.extensions)
    return make_application(make_ports(settings))
