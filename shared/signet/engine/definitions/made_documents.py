"""Types that are made behind approvals, and that people may edit then without asking anybody."""

from collections.abc import Iterator
from uuid import UUID

from signet.core.approvals.unasked_content import list_made_behind, list_open_states
from signet.core.compiler.artifact import Artifact
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.runtime.workflow import Workflow
from signet.core.validation.finding import Finding, make_finding
from signet.engine.definitions.older_definitions import read_contract_of, read_runnable
from signet.store.database import Connection
from signet.store.definitions.read import list_makers
from signet.store.documents.write import find_workflow

MAX_MAKERS = 20
_Known = tuple[Workflow, CompiledContract]


def find_editable_when_made(
    connection: Connection, tenant_id: UUID, artifact: Artifact, contract: CompiledContract | None
) -> Iterator[Finding]:
    """Yield a finding for each type that the definition makes so, and for each that makes its own type so.

    Of the other type it counts what new documents run.
    """
    if contract is None:
        return
    own_type, own = contract.contract.contract, (Workflow(artifact), contract)
    for action, made in list_made_behind(own[0], contract.contract):
        target = own if made == own_type else _read_newest(connection, tenant_id, made)
        if target is not None:
            yield from _find(action, own_type, made, target)
    for maker in list_makers(connection, tenant_id, own_type, MAX_MAKERS):
        source = _read_newest(connection, tenant_id, maker) if maker != own_type else None
        if source is not None:
            for action, made in list_made_behind(source[0], source[1].contract):
                if made == own_type:
                    yield from _find(action, maker, made, own)


def _find(action: str, maker: str, made: str, target: _Known) -> Iterator[Finding]:
    states = ", ".join(f"'{name}'" for name in list_open_states(*target))
    if states:
        yield make_finding("EDITABLE_WHEN_MADE", "/", action=action, maker=maker, made=made, states=states)


def _read_newest(connection: Connection, tenant_id: UUID, entity_type: str) -> _Known | None:
    """Read what new documents of a type run; None where there is none that runs here."""
    found = find_workflow(connection, tenant_id, entity_type, None)
    artifact = read_runnable(connection, tenant_id, found.id, found.version) if found is not None else None
    contract = read_contract_of(connection, tenant_id, artifact) if artifact is not None else None
    return None if artifact is None or contract is None else (Workflow(artifact), contract)
