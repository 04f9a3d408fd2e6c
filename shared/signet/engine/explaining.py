"""Why an instance is where it is: its record read as of one moment, and put into words."""

from uuid import UUID

from signet.core.artifact import Artifact, read_artifact
from signet.core.contract import Contract
from signet.core.errors import Rejected
from signet.core.explain_instance import Earlier, InstanceExplanation, explain_instance
from signet.core.projection import MOVED
from signet.engine.documents.contracts import ContractCache
from signet.engine.waves.rebuilding import instance_not_found
from signet.store.database import Connection, Database
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
        artifact = _read(connection, tenant_id, instance.definition_id, instance.definition_version)

        def read_contract(version: int | None) -> Contract | None:
            if version is None or instance.entity_type is None:
                return None
            loaded = contracts.read(connection, tenant_id, instance.entity_type, version)
            return loaded.contract if loaded is not None else None

        contract = read_contract(document.contract_version if document is not None else None)
        earlier = []
        for step in record.steps:
            if step.node_id == MOVED and step.output_json is not None:
                left = step.output_json["from"]
                held = _read(connection, tenant_id, UUID(left["id"]), left["version"])
                earlier.append(Earlier(step.seq, held, read_contract(left.get("contract_version"))))
    return explain_instance(artifact, contract, record, earlier)


def _read(connection: Connection, tenant_id: UUID, definition_id: UUID, version: int) -> Artifact:
    stored = read_compiled(connection, tenant_id, definition_id, version)
    if stored is None:
        raise Rejected("DEFINITION_NOT_FOUND", f"the instance's definition {definition_id} is not there")
    return read_artifact(*stored)
