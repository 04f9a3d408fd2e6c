"""Why an instance is where it is: its record read as of one moment, and put into words."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from signet.core.approval_rights import Allowed, Standing, choose_seat
from signet.core.artifact import read_artifact
from signet.core.errors import Rejected
from signet.core.explain_instance import InstanceExplanation, explain_instance
from signet.core.instance_record import ApprovalRecord, DocumentRecord, Record, VoterRecord
from signet.core.loaded_contract import LoadedContract
from signet.engine.documents.contracts import ContractCache
from signet.engine.waves.rebuilding import instance_not_found
from signet.store.approval_requests import read_delegations, read_holders
from signet.store.database import Connection, Database
from signet.store.definitions import read_compiled
from signet.store.records import read_record
from signet.store.tenants import read_now


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
        record = _add_voters(connection, tenant_id, record, contract)
    return explain_instance(read_artifact(*stored), contract.contract if contract else None, record)


def _add_voters(
    connection: Connection, tenant_id: UUID, record: Record, contract: LoadedContract | None
) -> Record:
    document = record.document
    if contract is None or document is None:
        return record
    asking = [record.request.actor_id] if record.request is not None else []
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
    document: DocumentRecord,
    contract: LoadedContract,
    asking: Sequence[str],
) -> list[VoterRecord]:
    """Whom the open seats are for as of now; of whom the contract bars, or who has voted, why not."""
    now, seats = read_now(connection), [seat for seat in request.seats if seat.stage == request.stage]
    users = {seat.holder_user_id for seat in seats if seat.holder_user_id is not None}
    roles = {seat.holder_role for seat in seats if seat.holder_role is not None}
    holders = read_holders(connection, tenant_id, users, roles, now)
    standing = Standing(
        contract.contract.contract,
        now,
        holders,
        read_delegations(connection, tenant_id, holders, now),
        partial(
            contract.find_conflict_of_duties,
            creator=document.creator_id,
            editors=document.editor_ids,
            requesters=[request.requester_id, *asking],
        ),
    )
    voters = []
    for person in sorted(holders):
        choice = choose_seat(person, seats, standing)
        if isinstance(choice, Allowed):
            voters.append(VoterRecord(person, choice.on_behalf_of, choice.delegation_id))
        elif choice.code != "APPROVAL_NOT_YOURS":
            voters.append(VoterRecord(person, obstacle=choice.sentence))
    return voters
