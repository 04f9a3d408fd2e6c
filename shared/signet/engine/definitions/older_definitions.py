"""Live documents that go on under older definitions, where these ask for other approvals than the new one."""

from collections.abc import Iterator
from uuid import UUID

from signet.core.approvals.unpinned_reads import list_unpinned_fields
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Rejected
from signet.core.expressions import FollowedField
from signet.core.runtime.approval_control import asks_alike
from signet.core.runtime.done_before import does_alike
from signet.core.runtime.go_to_targets import has_lasting_effect, list_renamed
from signet.core.runtime.workflow import Workflow
from signet.core.validation.finding import Finding, make_finding
from signet.engine.cache import CompiledCache, load_contract
from signet.store.database import Connection
from signet.store.definitions.older import LiveCount, count_live_under_others, find_published_before
from signet.store.definitions.write import read_contract_row

MAX_COUNTED = 10_000
MAX_COMPARED = 20


# A workflow that runs here, with its contract.
Known = tuple[Workflow, CompiledContract]


def find_older_running(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, definition_id: UUID, new: Known
) -> Iterator[Finding]:
    """Yield a finding that counts the documents which the new definition will not ask about."""
    entity_type = new[1].contract.contract
    counts = count_live_under_others(
        connection, tenant_id, definition_id, entity_type, at_most=MAX_COUNTED + 1, limit=MAX_COMPARED + 1
    )
    # More definitions than are compared count as asking otherwise: a warning too many does no harm.
    others = [
        count
        for number, count in enumerate(counts)
        if number >= MAX_COMPARED or not _asks_alike(compiled, connection, tenant_id, count, new)
    ]
    if others:
        total, is_whole = sum(count.live_count for count in others), len(counts) <= MAX_COMPARED
        is_whole = is_whole and sum(count.live_count for count in counts) <= MAX_COUNTED
        yield make_finding(
            "OLDER_RUN_ON",
            "/",
            count=str(total) if is_whole else f"{min(total, MAX_COUNTED)} or more",
            entity_type=entity_type,
            named=", ".join(f"'{count.name}' version {count.version}" for count in others[:MAX_COMPARED]),
        )


def find_differences(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, definition_id: UUID, new: Known
) -> Iterator[Finding]:
    """Yield what holds documents that were approved under the definition before this one."""
    before = find_published_before(connection, tenant_id, definition_id, new[1].contract.contract)
    old = before and read_runnable(compiled, connection, tenant_id, before.id, before.version)
    if before is None or not old:
        return
    named = f"'{before.name}' version {before.version}"
    yield from _find_used_again(old, new[0], named)
    yield from _find_renamed(old, new[0], named)
    old_contract = read_contract_of(connection, tenant_id, old)
    if old_contract is None:
        return
    by_state = (
        list_unpinned_fields(old, old_contract, *new, state) for state in old_contract.contract.states
    )
    unpinned = frozenset[FollowedField]().union(*by_state)
    if unpinned:
        read = ", ".join(sorted(map(".".join, unpinned))[:MAX_COMPARED])
        yield make_finding("READS_UNPINNED_LATER", "/", read=read, named=named)


def _find_used_again(old: Workflow, new: Workflow, named: str) -> Iterator[Finding]:
    """Yield a finding that names the nodes that send or make something else than by the same id before."""
    nodes = [
        node_id
        for node_id in old.nodes
        if node_id in new.nodes
        and (has_lasting_effect(old, node_id) or has_lasting_effect(new, node_id))
        and not does_alike(old, new, node_id)
    ]
    if nodes:
        yield make_finding("NODE_ID_USED_AGAIN", "/", nodes=", ".join(nodes[:MAX_COMPARED]), named=named)


def _find_renamed(old: Workflow, new: Workflow, named: str) -> Iterator[Finding]:
    """Yield a finding that names the acting nodes which the definition before has and the new one has not."""
    gone, added = list_renamed(old, new)
    if gone and added:
        gone, added = gone[:MAX_COMPARED], added[:MAX_COMPARED]
        yield make_finding("NODE_RENAMED", "/", gone=", ".join(gone), added=", ".join(added), named=named)


def _asks_alike(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, count: LiveCount, new: Known
) -> bool:
    old = read_runnable(compiled, connection, tenant_id, count.id, count.version)
    if old is None:
        return False
    contract = read_contract_of(connection, tenant_id, old)
    return asks_alike(old, None if contract is None else contract.contract, new[0], new[1].contract)


def read_runnable(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, definition_id: UUID, version: int
) -> Workflow | None:
    """Read a definition; None where it was compiled by a compiler whose workflows do not run here."""
    try:
        return compiled.read(connection, tenant_id, definition_id, version)
    except Rejected as rejected:
        if rejected.code not in ("WORKFLOW_COMPILER_STALE", "DEFINITION_NOT_FOUND"):
            raise
        return None


def read_contract_of(connection: Connection, tenant_id: UUID, workflow: Workflow) -> CompiledContract | None:
    content = workflow.content
    row = read_contract_row(connection, tenant_id, content["entity_type"], content["contract"]["version"])
    return None if row is None else load_contract(row.body, row.hash)
