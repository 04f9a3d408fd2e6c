"""The use cases that the routes call; `wiring` makes them."""

from dataclasses import dataclass

from signet.engine.approval_chains import ApprovalChains
from signet.engine.approvals import Approvals
from signet.engine.definitions import Definitions
from signet.engine.delegations import Delegations
from signet.engine.documents.mutate import Documents
from signet.engine.documents.reading import DocumentsRead
from signet.engine.instance_reading import InstancesRead
from signet.engine.instances import Instances
from signet.engine.notifications import Notifications
from signet.engine.operations import Operations
from signet.engine.telemetry import Telemetry
from signet.store.database import Database


@dataclass(frozen=True, slots=True)
class UseCases:
    database: Database
    documents: Documents
    documents_read: DocumentsRead
    definitions: Definitions
    instances: Instances
    instances_read: InstancesRead
    operations: Operations
    approvals: Approvals
    approval_chains: ApprovalChains
    delegations: Delegations
    notifications: Notifications
    telemetry: Telemetry
