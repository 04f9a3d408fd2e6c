"""Explanation of an instance: its record as of one moment, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

from signet.core.approvals.eligibility import Allowed, VotingContext, choose_seat, separation_conflict
from signet.core.compiler.artifact import Artifact, parse_artifact
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Rejected
from signet.core.explain.instance import Earlier, InstanceExplanation, explain_instance
from signet.core.explain.instance_record import (
    ApprovalRecord,
    ExplainedDocument,
    ExplainedInstance,
    InstanceRecords,
    VoterRecord,
)
from signet.core.runtime.projection import MOVED
from signet.engine.cache import ContractCache
from signet.engine.control.authorship import read_control_of_artifact
from signet.engine.execution.rebuild import instance_not_found
from signet.store.approvals.requests import read_delegations, read_holders
from signet.store.database import Connection, Database
from signet.store.definitions.write import read_compiled
from signet.store.instances.record import read_record
from signet.store.tenants.machine_labels import read_machine_labels
from signet.store.tenants.tenants import read_now


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
        record = _add_voters(connection, tenant_id, record, contract)
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
    connection: Connection, tenant_id: UUID, record: InstanceRecords, contract: CompiledContract | None
) -> InstanceRecords:
    document = record.document
    if contract is None or document is None:
        return record
    asking = record.request.responsible if record.request is not None else ()
    approvals = [
        replace(request, voters=_list_voters(connection, tenant_id, request, document, contract, asking))
        if request.status == "open" and request.document_version == document.version
        else request
        for request in record.approvals
    ]
    return replace(record, approvals=approvals)


def _list_voters(
    connection: Connection,
    tenant_id: UUID,
    request: ApprovalRecord,
    document: ExplainedDocument,
    contract: CompiledContract,
    asking: Sequence[str],
) -> list[VoterRecord]:
    """List the people who may fill an open seat now.

    People barred by the contract, or whose vote is counted, are listed with the obstacle.
    """
    now, seats = read_now(connection), [seat for seat in request.seats if seat.stage == request.stage]
    users = {seat.holder_user_id for seat in seats if seat.holder_user_id is not None}
    roles = {seat.holder_role for seat in seats if seat.holder_role is not None}
    holders = read_holders(connection, tenant_id, users, roles, now)
    voting = VotingContext(
        contract.contract.contract,
        now,
        holders,
        read_delegations(connection, tenant_id, holders, now),
        separation_conflict(contract, document, (*request.responsible, *asking), request.pins or {}),
    )
    voters = []
    for person in sorted(holders):
        choice = choose_seat(person, seats, voting)
        if isinstance(choice, Allowed):
            voters.append(VoterRecord(person, choice.on_behalf_of, choice.delegation_id))
        elif choice.code != "APPROVAL_NOT_YOURS":
            voters.append(VoterRecord(person, obstacle=choice.sentence))
    return voters
