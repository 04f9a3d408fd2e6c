"""Types that a contract begins to read: their edges for errors are not taken any more."""

from collections.abc import Iterator
from uuid import UUID

from signet.core.contracts.contract import Contract
from signet.core.contracts.fields import RefField
from signet.core.runtime.graph.guarded_gates import list_error_edges_within
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point
from signet.engine.cache import CompiledCache
from signet.engine.definitions.made_documents import read_newest
from signet.store.database import Connection

MAX_READ = 20


def find_error_edges_read(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, contract: Contract
) -> Iterator[Finding]:
    """Yield a finding for each type, with the nodes in the workflow of its new documents."""
    refs = {
        field.entity_type: name
        for name, field in contract.fields.items()
        if isinstance(field, RefField) and field.reads
    }
    for entity_type, ref in sorted(refs.items())[:MAX_READ]:
        found = read_newest(compiled, connection, tenant_id, entity_type)
        if found is None or found[1].contract.separation_of_duties.deciding:
            continue
        nodes = ", ".join(list_error_edges_within(found[0].content)[:MAX_READ])
        if nodes:
            place = point(("fields", ref))
            yield make_finding("ERROR_EDGE_READ", place, entity_type=entity_type, nodes=nodes)
