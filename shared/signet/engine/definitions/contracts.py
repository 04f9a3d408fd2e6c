"""Contracts from draft to published; each act runs inside a transaction that `definitions` opens."""

from dataclasses import dataclass
from typing import Any

from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.compiler.artifact import COMPILER_VERSION, Artifact
from signet.core.compiler.compiler import compile_body
from signet.core.compiler.envelope import Envelope, make_envelope
from signet.core.contracts.alike_actions import find_actions_of_one_type
from signet.core.contracts.compiled_contract import CompiledContract, check_contract_expressions
from signet.core.contracts.contract import Contract
from signet.core.contracts.decimal_scales import find_scale_differences
from signet.core.contracts.reader import parse_contract
from signet.core.contracts.unasked_transitions import find_unasked_transitions
from signet.core.contracts.weaker_terms import find_weakened
from signet.core.control.authorship import Authorship
from signet.core.errors import Rejected
from signet.core.previews.placed_findings import PlacedFinding, place_findings, reject_findings
from signet.core.runtime.workflow import Workflow
from signet.core.validation.finding import has_errors
from signet.engine.access.admin import AdminTransaction, require_revision
from signet.engine.access.named_things import check_contract_names
from signet.engine.cache import CompiledCache
from signet.engine.control.drafts import (
    PutForward,
    WrittenDraft,
    put_forward,
    require_another_publisher,
    take_back,
)
from signet.engine.control.four_eyes import join_authors, make_authorship
from signet.engine.definitions.compilation import (
    contract_not_found,
    find_newest_contract,
    is_large_contract,
    read_settings,
    require_contract,
)
from signet.engine.definitions.heavy_calls import IN_PLACE, HeavyCalls, choose_place
from signet.engine.definitions.made_documents import find_editable_when_made
from signet.engine.definitions.read_documents import find_error_edges_read
from signet.ids import make_id
from signet.store.control.authorship import DraftName
from signet.store.definitions import write as store
from signet.store.definitions.names import find_patch_in_force
from signet.store.definitions.write import ContractRow, NewDefinition

EDIT_CONTRACT, PUBLISH_CONTRACT = "contract:edit", "contract:publish"


@dataclass(frozen=True, slots=True)
class ContractDraft:
    """A draft as it was saved, with its warnings; its next change must name this `revision`."""

    entity_type: str
    version: int
    revision: int
    hash: str
    findings: tuple[PlacedFinding, ...]


def parse_contract_document(document: Any) -> tuple[Contract, tuple[PlacedFinding, ...]]:
    contract, findings = parse_contract(document)
    placed = place_findings(findings)
    if contract is None:
        raise reject_findings(placed)
    return contract, placed


def write_contract(act: AdminTransaction, contract: Contract) -> tuple[int, str]:
    """Write a draft of the version that the contract names; a published version is frozen."""
    body = canonical_bytes(contract.to_json())
    digest = hash_bytes(body)
    # A draft that is deleted meanwhile leaves its revision first.
    store.lock_contracts_of_type(act.connection, act.caller.principal.tenant_id, contract.contract)
    row = find_contract_row(act, contract.contract, contract.version)
    authors = join_authors(
        act, _name_drafts(contract.contract), row.list_known_authors() if row is not None else ()
    )
    revision = store.save_contract_draft(
        act.connection,
        act.caller.principal.tenant_id,
        contract.contract,
        contract.version,
        body.decode(),
        digest,
        act.caller.principal.subject,
        authors,
    )
    if revision is None:
        raise _frozen(contract.contract, contract.version)
    _note(act, contract.contract, "save_contract", contract.version, hash=digest)
    return revision, digest


def list_weakened(act: AdminTransaction, contract: Contract) -> tuple[PlacedFinding, ...]:
    """List what the contract holds people to less than the newest published version."""
    newest = find_newest_contract(act.connection, act.caller.principal.tenant_id, contract.contract)
    return place_findings(find_weakened(newest, contract)) if newest is not None else ()


def _list_unasked(act: AdminTransaction, contract: Contract) -> tuple[PlacedFinding, ...]:
    """List where nobody is asked yet. A patch in force goes on for new documents, with its approvals."""
    in_force = find_patch_in_force(act.connection, act.caller.principal.tenant_id, contract.contract)
    return place_findings(find_unasked_transitions(contract)) if in_force is None else ()


def _list_scales(act: AdminTransaction, contract: Contract) -> tuple[PlacedFinding, ...]:
    """List the numbers that its actions copy into fields of another scale."""
    made = {action.entity_type for action in contract.actions.values() if action.entity_type is not None}
    targets = {contract.contract: contract}
    for entity_type in sorted(made - targets.keys()):
        target = find_newest_contract(act.connection, act.caller.principal.tenant_id, entity_type)
        targets |= {entity_type: target} if target is not None else {}
    return place_findings(find_scale_differences(contract, targets))


def _list_editable_when_made(
    act: AdminTransaction, contract: Contract, artifact: Artifact, compiled: CompiledCache
) -> tuple[PlacedFinding, ...]:
    """List who makes such documents behind approvals, where new ones run the bare envelope."""
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    if find_patch_in_force(connection, tenant_id, contract.contract) is not None:
        return ()
    new = Workflow(artifact), CompiledContract(contract, hash_bytes(canonical_bytes(contract.to_json())))
    return place_findings(find_editable_when_made(compiled, connection, tenant_id, new))


def find_contract_row(act: AdminTransaction, entity_type: str, version: int) -> ContractRow | None:
    return store.read_contract_row(act.connection, act.caller.principal.tenant_id, entity_type, version)


def require_contract_draft(
    act: AdminTransaction, entity_type: str, version: int, expected_revision: int
) -> ContractRow:
    """Return the draft as the caller saw it; nobody changes it before this transaction ends."""
    store.lock_contracts_of_type(act.connection, act.caller.principal.tenant_id, entity_type)
    row = find_contract_row(act, entity_type, version)
    if row is None:
        raise contract_not_found(entity_type, version)
    if row.status != "draft":
        raise _frozen(entity_type, version)
    require_revision(row.revision, expected_revision)
    return row


def delete_contract(act: AdminTransaction, row: ContractRow) -> None:
    """Delete a draft. Its revision goes on record, and the next draft of the version goes on from there."""
    take_back(act, _name_drafts(row.entity_type))
    store.delete_contract_draft(act.connection, act.caller.principal.tenant_id, row.entity_type, row.version)
    _note(act, row.entity_type, "delete_contract", row.version, revision=row.revision)


def put_contract_forward(act: AdminTransaction, row: ContractRow) -> PutForward:
    return put_forward(act, _describe_draft(row), ("contract", row.entity_type))


def _describe_draft(row: ContractRow) -> WrittenDraft:
    return WrittenDraft(
        _name_drafts(row.entity_type),
        f"version {row.version} of the contract '{row.entity_type}'",
        row.hash,
        row.list_known_authors(),
        PUBLISH_CONTRACT,
    )


def _name_drafts(entity_type: str) -> DraftName:
    return DraftName("contract", entity_type, entity_type)


def freeze_contract(
    act: AdminTransaction,
    entity_type: str,
    version: int,
    compiled: CompiledCache,
    calls: HeavyCalls = IN_PLACE,
) -> tuple[NewDefinition, tuple[PlacedFinding, ...]]:
    """Publish a contract, and store its compiled envelope."""
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    store.lock_contracts_of_type(connection, tenant_id, entity_type)
    row = find_contract_row(act, entity_type, version)
    if row is None:
        raise contract_not_found(entity_type, version)
    if row.status != "draft":
        raise Rejected("VERSION_FROZEN", f"version {version} of '{entity_type}' is {row.status} already")
    contract = require_contract(connection, tenant_id, entity_type, version)
    draft = _describe_draft(row)
    require_another_publisher(act, draft)
    authorship = make_authorship(act, sorted(draft.authors))
    settings = read_settings(connection, tenant_id)
    mistakes = (
        *check_contract_expressions(contract, settings),
        *check_contract_names(connection, tenant_id, contract),
    )
    if has_errors(mistakes):
        raise reject_findings(place_findings(mistakes))
    envelope = make_envelope(contract)
    place = choose_place(calls, connection, tenant_id, is_large=is_large_contract(contract))
    compilation = place.call(compile_body, None, contract, settings)
    placed = place_findings((*mistakes, *compilation.findings))
    if compilation.artifact is None:
        raise reject_findings(placed)
    placed = (
        *placed,
        *list_weakened(act, contract),
        *_list_unasked(act, contract),
        *_list_scales(act, contract),
        *_list_editable_when_made(act, contract, compilation.artifact, compiled),
        *place_findings(find_actions_of_one_type(contract)),
        *place_findings(find_error_edges_read(compiled, connection, tenant_id, contract)),
    )
    store.publish_contract(connection, tenant_id, entity_type, version, authorship)
    new = _describe_envelope(envelope, compilation.artifact, authorship)
    store.insert_definition(connection, tenant_id, new, act.caller.principal.subject)
    _note(act, entity_type, "publish_contract", version, compiled_hash=compilation.artifact.hash)
    return new, placed


def _describe_envelope(envelope: Envelope, artifact: Artifact, authorship: Authorship) -> NewDefinition:
    return NewDefinition(
        id=make_id(),
        definition_kind="envelope",
        entity_type=envelope.entity_type,
        name=envelope.entity_type,
        version=envelope.version,
        status="published",
        is_default=True,
        contract_version=envelope.version,
        nodes=artifact.content["nodes"],
        edges=artifact.content["edges"],
        slots={slot.id: slot.to_json() for slot in envelope.slots.values()},
        compiled=artifact.text,
        compiled_hash=artifact.hash,
        compiler_version=COMPILER_VERSION,
        authorship=authorship,
    )


def _frozen(entity_type: str, version: int) -> Rejected:
    return Rejected(
        "VERSION_FROZEN",
        f"version {version} of '{entity_type}' is published",
        remedy=f"Save it as version {version + 1}.",
    )


def _note(act: AdminTransaction, entity_type: str, action: str, version: int, **detail: str | int) -> None:
    act.note(("contract", entity_type), action, {"version": version, **detail})
