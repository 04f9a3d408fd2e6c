"""Types that are made behind approvals, and that people may edit then without asking anybody."""

from collections.abc import Iterator
from uuid import UUID

from signet.core.approvals.unasked_content import list_made_behind, list_open_states
from signet.core.validation.finding import Finding, make_finding
from signet.engine.cache import CompiledCache
from signet.engine.definitions.older_definitions import Known, read_contract_of, read_runnable
from signet.store.database import Connection
from signet.store.definitions.read import list_makers
from signet.store.documents.write import find_workflow

MAX_MAKERS = 20


def find_editable_when_made(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, own: Known
) -> Iterator[Finding]:
    """Yield a finding for each type that the definition makes so, and for each that makes its own type so.

    Of the other type it counts what new documents run.
    """
    own_type = own[1].contract.contract
    for action, made in list_made_behind(own[0], own[1].contract):
        target = own if made == own_type else read_newest(compiled, connection, tenant_id, made)
        if target is not None:
            yield from _find(action, own_type, made, target)
    for maker in list_makers(connection, tenant_id, own_type, MAX_MAKERS):
        source = read_newest(compiled, connection, tenant_id, maker) if maker != own_type else None
        if source is not None:
            for action, made in list_made_behind(source[0], source[1].contract):
                if made == own_type:
                    yield from _find(action, maker, made, own)


def _find(action: str, maker: str, made: str, target: Known) -> Iterator[Finding]:
    states = ", ".join(f"'{name}'" for name in list_open_states(*target))
    if states:
        yield make_finding("EDITABLE_WHEN_MADE", "/", action=action, maker=maker, made=made, states=states)


def read_newest(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, entity_type: str
) -> Known | None:
    """Read what new documents of a type run; None where there is none that runs here."""
    found = find_workflow(connection, tenant_id, entity_type, None)
    workflow = found and read_runnable(compiled, connection, tenant_id, found.id, found.version)
    contract = read_contract_of(connection, tenant_id, workflow) if workflow else None
    return (workflow, contract) if workflow and contract else None
