"""The composition root: settings in, wired use cases out. Nothing else reads the environment."""

import os
import sys
from functools import cache
from pathlib import Path
from typing import IO

from signet.api.application import Application, Ports, make_application
from signet.api.authentication import Authentication
from signet.api.tokens import Tokens, make_tokens
from signet.api.use_cases import UseCases
from signet.authoring.extensions import load_extensions
from signet.core.api_key import KEY_TOKEN_PREFIX
from signet.core.principal import Verified
from signet.engine.admission import Admission
from signet.engine.api_keys import ApiKeys
from signet.engine.approval_chains import ApprovalChains
from signet.engine.approvals import Approvals
from signet.engine.compiled import CompiledCache
from signet.engine.definition_reading import DefinitionsRead
from signet.engine.definitions import Definitions
from signet.engine.delegations import Delegations
from signet.engine.designing.expressions import Expressions
from signet.engine.designing.foreseeing import Foreseeing
from signet.engine.designing.palette import Palette
from signet.engine.designing.simulating import Simulating
from signet.engine.designing.trials import Trials
from signet.engine.documents.contracts import ContractCache
from signet.engine.documents.history import DocumentHistory
from signet.engine.documents.life import DocumentLife
from signet.engine.documents.listing import DocumentLists
from signet.engine.documents.mutate import Documents
from signet.engine.documents.opened import DocumentCaches
from signet.engine.documents.reading import DocumentsRead
from signet.engine.documents.rules import RuleBook
from signet.engine.erasure import Erasures
from signet.engine.inbound_events import InboundEvents, Secrets, no_secrets
from signet.engine.instance_reading import InstancesRead
from signet.engine.instances import Instances
from signet.engine.members import Members
from signet.engine.moving import Moving
from signet.engine.notifications import Notifications
from signet.engine.operations import Operations
from signet.engine.org_chart import OrgChart
from signet.engine.own_tenant import OwnTenant
from signet.engine.quotas import RequestQuotas
from signet.engine.roles import Roles
from signet.engine.rules import Rules
from signet.engine.telemetry import SILENT, Telemetry
from signet.engine.templates import Templates
from signet.engine.tenancies import Tenancies
from signet.engine.waves.worker import Worker
from signet.outbound.secrets import SecretsFolder
from signet.settings import Settings, read_settings
from signet.store.database import Database, PoolSettings
from signet.telemetry.log import Log
from signet.telemetry.watching import Watching

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


def make_worker(database: Database, telemetry: Telemetry = SILENT) -> Worker:
    return Worker(database, make_caches(), CompiledCache(), telemetry=telemetry)


def make_instances(database: Database) -> Instances:
    return Instances(database, make_caches(), CompiledCache())


def make_moving(database: Database) -> Moving:
    return Moving(database, make_caches(), CompiledCache())


def make_secrets(settings: Settings) -> Secrets:
    return no_secrets if settings.secrets_folder is None else SecretsFolder(Path(settings.secrets_folder))


def make_telemetry(settings: Settings, stream: IO[str]) -> Watching:
    """What is switched off is not loaded."""
    metrics = tracing = sentry = None
    if settings.metrics_namespace is not None:
        from signet.telemetry.metrics import Metrics

        metrics = Metrics(settings.metrics_namespace, settings.service, stream)
    if settings.traces_exporter is not None:
        from signet.telemetry.tracing import make_tracing

        tracing = make_tracing(settings.traces_exporter, settings.service)
    if settings.sentry_dsn is not None:
        from signet.telemetry.sentry import Sentry

        sentry = Sentry(settings.sentry_dsn, settings.environment)
    return Watching(Log(settings.service, settings.log_level, stream), metrics, tracing, sentry)


def make_use_cases(
    database: Database, secrets: Secrets = no_secrets, telemetry: Telemetry = SILENT
) -> UseCases:
    documents, compiled = Documents(database, telemetry=telemetry), CompiledCache()
    instances = Instances(database, documents.caches, compiled)
    return UseCases(
        database=database,
        documents=documents,
        documents_read=DocumentsRead(database),
        document_lists=DocumentLists(database, documents.caches.contracts),
        document_history=DocumentHistory(database),
        erasures=Erasures(database),
        document_life=DocumentLife(database, documents.caches.contracts),
        definitions=Definitions(database),
        definitions_read=DefinitionsRead(database),
        palette=Palette(database),
        expressions=Expressions(database),
        trials=Trials(database),
        simulating=Simulating(database),
        foreseeing=Foreseeing(database),
        templates=Templates(database),
        inbound_events=InboundEvents(database, secrets),
        moving=Moving(database, documents.caches, compiled),
        instances_read=InstancesRead(database, documents.caches.contracts),
        instances=instances,
        operations=Operations(database, instances, documents.caches, compiled),
        approvals=Approvals(database, documents.caches),
        approval_chains=ApprovalChains(database),
        delegations=Delegations(database),
        notifications=Notifications(database),
        telemetry=telemetry,
        members=Members(database),
        roles=Roles(database),
        org_chart=OrgChart(database),
        own_tenant=OwnTenant(database),
        api_keys=ApiKeys(database),
        tenancies=Tenancies(database),
        rules=Rules(database, documents.caches.contracts),
    )


def make_authentication(database: Database, tokens: Tokens) -> Authentication:
    api_keys = ApiKeys(database)

    def verify(token: str) -> Verified:
        if token.startswith(KEY_TOKEN_PREFIX):
            return api_keys.verify(token)
        return tokens.verify(token)

    return Authentication(verify, Admission(database).check)


def make_ports(settings: Settings, telemetry: Telemetry) -> Ports:
    database = make_database(settings)
    tokens = make_tokens(settings.development_secret, settings.issuer, settings.operator_role)
    return Ports(
        use=make_use_cases(database, make_secrets(settings), telemetry),
        authenticate=make_authentication(database, tokens),
        quotas=RequestQuotas(database),
        origins=settings.cors_origins,
        metrics_token=settings.metrics_token,
    )


@cache
def get_settings() -> Settings:
    return read_settings(os.environ)


@cache
def get_telemetry() -> Watching:
    """Of this process, whatever it does."""
    return make_telemetry(get_settings(), sys.stdout)


@cache
def get_application() -> Application:
    """The API, wired once per process."""
    settings = get_settings()
    load_extensions(settings.extensions)
    return make_application(make_ports(settings, get_telemetry()))
