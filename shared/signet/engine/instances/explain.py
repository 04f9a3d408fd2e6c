"""Explanation of an instance: its record as of one moment, in words."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from signet.core.compiler.artifact import Artifact, parse_artifact
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Rejected
from signet.core.explain.instance import Earlier, InstanceExplanation, explain_instance
from signet.core.explain.instance_record import ExplainedInstance, InstanceRecords
from signet.core.runtime.projection import MOVED
from signet.engine.approvals.vote_reader import VoteReader
from signet.engine.cache import ContractCache
from signet.engine.control.authorship import read_control_of_artifact
from signet.engine.documents.change import describe_org
from signet.engine.execution.rebuild import instance_not_found
from signet.engine.instances.explained_voters import add_voters
from signet.store.database import Connection, Database
from signet.store.definitions.write import read_compiled
from signet.store.instances.record import read_record
from signet.store.tenants.machine_labels import read_machine_labels
from signet.store.tenants.tenants import find_tenant, read_now


def explain(
    database: Database, contracts: ContractCache, tenant_id: UUID, instance_id: UUID
) -> InstanceExplanation:
    """Explain an instance. Nothing is locked or changed, so that it may move meanwhile."""
    with database.snapshot(tenant_id) as connection:
        record = read_record(connection, tenant_id, instance_id)
        if record is None:
            raise instance_not_found(instance_id)
        instance, document = record.instance, record.document
        artifact = _read(connection, tenant_id, instance.definition_id, instance.definition_version)
        contract = None
        if document is not None:
            contract = _read_contract(connection, contracts, tenant_id, instance, document.contract_version)
        earlier = []
        for step in record.steps:
            if step.node_id == MOVED and step.output_json is not None:
                left = step.output_json["from"]
                held = _read(connection, tenant_id, UUID(left["id"]), left["version"])
                of_then = _read_contract(
                    connection, contracts, tenant_id, instance, left.get("contract_version")
                )
                earlier.append(Earlier(step.seq, held, of_then.contract if of_then else None))
        record = _add_voters(connection, tenant_id, contracts, record, artifact, contract)
        machines = read_machine_labels(connection, tenant_id, _list_subjects(record))
        record = replace(record, machines=machines)
        control = read_control_of_artifact(
            connection, tenant_id, instance.definition_id, artifact, instance_id
        )
    return explain_instance(artifact, contract.contract if contract else None, record, earlier, control)


def _list_subjects(record: InstanceRecords) -> Iterator[str]:
    """Yield everybody who acted, as the record names them."""
    yield record.instance.actor_id
    if record.request is not None:
        yield record.request.actor_id
    for step in record.steps:
        yield step.actor_user_id
        asker = (step.output_json or {}).get("actor")
        if asker is not None:
            yield asker["id"]
    yield from (turn.actor_id for turn in record.turns)
    yield from (approval.requester_id for approval in record.approvals)
    yield from (edit.actor_id for edit in record.edits)


def _read(connection: Connection, tenant_id: UUID, definition_id: UUID, version: int) -> Artifact:
    stored = read_compiled(connection, tenant_id, definition_id, version)
    if stored is None:
        raise Rejected("DEFINITION_NOT_FOUND", f"the instance's definition {definition_id} is not there")
    return parse_artifact(*stored)


def _read_contract(
    connection: Connection,
    contracts: ContractCache,
    tenant_id: UUID,
    instance: ExplainedInstance,
    version: int | None,
) -> CompiledContract | None:
    if instance.entity_type is None or version is None:
        return None
    return contracts.read(connection, tenant_id, instance.entity_type, version)


def _add_voters(
    connection: Connection,
    tenant_id: UUID,
    contracts: ContractCache,
    record: InstanceRecords,
    artifact: Artifact,
    contract: CompiledContract | None,
) -> InstanceRecords:
    tenant = find_tenant(connection, tenant_id)
    if contract is None or record.document is None or tenant is None:
        return record
    org = describe_org(tenant_id, tenant.name, tenant.settings)
    reader = VoteReader(connection, tenant_id, contracts, org, read_now(connection))
    return add_voters(reader, artifact, contract, record)
