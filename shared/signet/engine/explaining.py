"""Why an instance is where it is: its record read as of one moment, and put into words."""

from uuid import UUID

from signet.core.artifact import read_artifact
from signet.core.errors import Rejected
from signet.core.explain_instance import InstanceExplanation, explain_instance
from signet.engine.documents.contracts import ContractCache
from signet.engine.waves.rebuilding import instance_not_found
from signet.store.database import Database
from signet.store.definitions import read_compiled
from signet.store.records import read_record


def explain(
    database: Database, contracts: ContractCache, tenant_id: UUID, instance_id: UUID
) -> InstanceExplanation:
    """Nothing is locked and nothing changed: it may be asked while the instance moves."""
    with database.snapshot(tenant_id) as connection:
        record = read_record(connection, tenant_id, instance_id)
        if record is None:
            raise instance_not_found(instance_id)
        instance, document = record.instance, record.document
        stored = read_compiled(connection, tenant_id, instance.definition_id, instance.definition_version)
        if stored is None:
            raise Rejected(
                "DEFINITION_NOT_FOUND", f"the instance's definition {instance.definition_id} is not there"
            )
        contract = None
        if document is not None and instance.entity_type is not None:
            contract = contracts.read(connection, tenant_id, instance.entity_type, document.contract_version)
    return explain_instance(read_artifact(*stored), contract.contract if contract else None, record)
