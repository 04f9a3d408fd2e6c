"""The use cases that the routes call; `wiring` makes them."""

from dataclasses import dataclass

from signet.engine.api_keys import ApiKeys
from signet.engine.approval_chains import ApprovalChains
from signet.engine.approvals import Approvals
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
from signet.engine.roles import Roles
from signet.engine.rules import Rules
from signet.engine.telemetry import Telemetry
from signet.engine.templates import Templates
from signet.engine.tenancies import Tenancies
from signet.store.database import Database


@dataclass(frozen=True, slots=True)
class UseCases:
    database: Database
    documents: Documents
    documents_read: DocumentsRead
    document_lists: DocumentLists
    document_history: DocumentHistory
    document_life: DocumentLife
    erasures: Erasures
    definitions: Definitions
    definitions_read: DefinitionsRead
    palette: Palette
    expressions: Expressions
    trials: Trials
    simulating: Simulating
    foreseeing: Foreseeing
    templates: Templates
    inbound_events: InboundEvents
    instances: Instances
    moving: Moving
    instances_read: InstancesRead
    operations: Operations
    approvals: Approvals
    approval_chains: ApprovalChains
    delegations: Delegations
    notifications: Notifications
    telemetry: Telemetry
    members: Members
    roles: Roles
    org_chart: OrgChart
    own_tenant: OwnTenant
    api_keys: ApiKeys
    tenancies: Tenancies
    rules: Rules
