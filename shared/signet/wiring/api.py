"""The HTTP API."""

from dataclasses import replace
from functools import cache

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
from signet.engine.documents.history import DocumentHistory
from signet.engine.documents.life import DocumentLife
from signet.engine.documents.listing import DocumentLists
from signet.engine.documents.mutate import Documents
from signet.engine.documents.reading import DocumentsRead
from signet.engine.endpoints import Endpoints
from signet.engine.erasure import Erasures
from signet.engine.inbound_events import InboundEvents
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
from signet.outbound.connector import ReadSecret
from signet.outbound.secrets import no_secrets
from signet.outbound.webhook import PUBLIC, Reach, check_url
from signet.settings import Settings
from signet.store.database import Database
from signet.wiring.process import get_settings, get_telemetry, make_database, make_secrets, make_wake


def make_use_cases(
    database: Database,
    secrets: ReadSecret = no_secrets,
    telemetry: Telemetry = SILENT,
    reach: Reach = PUBLIC,
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
        endpoints=Endpoints(database, lambda url, hosts: check_url(url, replace(reach, hosts=hosts))),
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
    database = make_database(settings, make_wake(settings))
    tokens = make_tokens(settings.development_secret, settings.issuer, settings.operator_role)
    reach = Reach(settings.leaving.webhook_addresses)
    return Ports(
        use=make_use_cases(database, make_secrets(settings), telemetry, reach),
        authenticate=make_authentication(database, tokens),
        quotas=RequestQuotas(database),
        origins=settings.cors_origins,
        metrics_token=settings.metrics_token,
    )


@cache
def get_application() -> Application:
    """The API, wired once per process."""
    settings = get_settings()
    load_extensions(settings.extensions)
    return make_application(make_ports(settings, get_telemetry()))
