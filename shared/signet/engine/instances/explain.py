"""Explanation of an instance: its record as of one moment, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from signet.core.compiler.artifact import Artifact, parse_artifact
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Rejected
from signet.core.explain.instance import Earlier, InstanceExplanation, explain_instance
from signet.core.explain.instance_record import (
    AddedSeatRecord,
    ExplainedInstance,
    IncidentRecord,
    InstanceRecords,
)
from signet.core.runtime.projection import MOVED
from signet.core.tenants.permissions import list_granting
from signet.engine.approvals.vote_reader import VoteReader
from signet.engine.cache import ContractCache
from signet.engine.control.authorship import read_control_of_artifact
from signet.engine.documents.change import describe_org
from signet.engine.execution.rebuild import instance_not_found
from signet.engine.instances.explained_voters import add_voters
from signet.engine.instances.incidents import list_of_instance
from signet.store.approvals.break_glass import list_seated
from signet.store.database import Connection, Database
from signet.store.definitions.write import read_compiled
from signet.store.instances.record import read_record
from signet.store.tenants.machine_labels import read_machine_labels
from signet.store.tenants.people import list_permitted
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
        earlier = _read_moves(connection, contracts, tenant_id, record)
        _require_nodes(artifact, record)
        record = _add_given_seats(connection, tenant_id, record)
        record = _add_voters(connection, tenant_id, contracts, record, artifact, contract)
        machines = read_machine_labels(connection, tenant_id, _list_subjects(record))
        incidents = [
            _add_permitted(connection, tenant_id, artifact, incident)
            for incident in list_of_instance(connection, tenant_id, instance_id)
        ]
        record = replace(record, machines=machines, incidents=incidents, tenant_id=tenant_id)
        control = read_control_of_artifact(
            connection, tenant_id, instance.definition_id, artifact, instance_id
        )
    return explain_instance(artifact, contract.contract if contract else None, record, earlier, control)


def _read_moves(
    connection: Connection, contracts: ContractCache, tenant_id: UUID, record: InstanceRecords
) -> list[Earlier]:
    """Read the definitions that the instance was moved from, or refuse a move that no operator made."""
    earlier = []
    for step in (step for step in record.steps if step.node_id == MOVED):
        left = _parse_left(step.output_json)
        stored = None if left is None else read_compiled(connection, tenant_id, *left)
        if step.output_json is None or stored is None:
            said = f"step {step.seq} says that {step.actor_user_id} moved it, and not from which definition"
            raise _do_not_fit(record.instance.id, said)
        version = step.output_json["from"].get("contract_version")
        of_then = _read_contract(connection, contracts, tenant_id, record.instance, version)
        earlier.append(Earlier(step.seq, parse_artifact(*stored), of_then.contract if of_then else None))
    return earlier


def _require_nodes(artifact: Artifact, record: InstanceRecords) -> None:
    """Refuse an instance whose tokens stand where its definition has no node."""
    nodes = (token["node"] for token in record.instance.active_tokens)
    gone = next((node for node in nodes if node not in artifact.content["nodes"]), None)
    if gone is not None:
        raise _do_not_fit(record.instance.id, f"its token is at {gone}, and its definition has no such node")


def _do_not_fit(instance_id: UUID, said: str) -> Rejected:
    return Rejected(
        "INSTANCE_STEPS_DO_NOT_FIT",
        f"the steps of instance {instance_id} do not fit it: {said}",
        remedy="Nothing through the API leaves this. Keep the evidence, and find who writes to the database.",
    )


def _parse_left(output: Mapping[str, Any] | None) -> tuple[UUID, int] | None:
    """Parse the definition that a move has left; None where no move says such a thing."""
    left = (output or {}).get("from")
    try:
        return (UUID(left["id"]), int(left["version"])) if isinstance(left, Mapping) else None
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def _add_permitted(
    connection: Connection, tenant_id: UUID, artifact: Artifact, incident: IncidentRecord
) -> IncidentRecord:
    """Add the roles that have the permission, where the node has denied it."""
    node = artifact.content["nodes"].get(incident.node or "", {})
    wanted = node.get("config", {}).get("permission")
    if incident.code != "PERMISSION_DENIED" or wanted is None:
        return incident
    return replace(incident, permitted=list_permitted(connection, tenant_id, list_granting(wanted)))


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


def _add_given_seats(connection: Connection, tenant_id: UUID, record: InstanceRecords) -> InstanceRecords:
    """Add who gave the seats by break-glass, also after their request has ended."""
    approvals = [
        replace(request, added_seats=_read_added(connection, tenant_id, request.id))
        if any(seat.origin == "break_glass" for seat in request.seats)
        else request
        for request in record.approvals
    ]
    return replace(record, approvals=approvals)


def _read_added(connection: Connection, tenant_id: UUID, request_id: UUID) -> list[AddedSeatRecord]:
    return [
        AddedSeatRecord(seat.stage, seat.position, seat.proposed_by, seat.consented_by, seat.reason)
        for seat in list_seated(connection, tenant_id, request_id)
        if seat.position is not None and seat.consented_by is not None
    ]


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
