"""Rules that hold of documents whenever all is quiet, read from the tables alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

from tests.support.wandering.world import PAUSED_BY_HAND, World

DOCUMENTS: LiteralString = (
    "SELECT d.id, d.status, i.id, i.status, i.reason, i.active_tokens, i.version"
    " FROM documents d LEFT JOIN workflow_instances i ON (i.tenant_id, i.entity_id) = (d.tenant_id, d.id)"
    " AND i.status IN ('running', 'paused') WHERE d.id = ANY (%s) AND d.deleted_at IS NULL ORDER BY d.id"
)
OPEN: LiteralString = (
    "SELECT n.entity_id, n.instance_id, n.token_id, n.code, i.status IN ('running', 'paused')"
    " FROM incidents n JOIN workflow_instances i ON (i.tenant_id, i.id) = (n.tenant_id, n.instance_id)"
    " WHERE n.entity_id = ANY (%s) AND n.closed_at IS NULL"
)
# The steps that wait: with people who can fill an open seat, and with what is on its way for them.
WAITING: LiteralString = (
    "SELECT s.instance_id, s.token_id, s.node_type,"
    " (SELECT count(*) FROM approval_requests r JOIN approval_seats t"
    "  ON (t.tenant_id, t.request_id, t.stage) = (r.tenant_id, r.id, r.stage) AND t.status = 'open'"
    "  JOIN members m ON m.tenant_id = t.tenant_id AND m.status = 'active' AND (m.user_id = t.holder_user_id"
    "  OR EXISTS (SELECT FROM member_roles h WHERE (h.tenant_id, h.user_id, h.role)"
    "  = (m.tenant_id, m.user_id, t.holder_role)))"
    "  WHERE r.tenant_id = s.tenant_id AND r.status = 'open' AND (r.step_execution_id = s.id"
    "  OR (s.node_type = 'lifecycle_gate' AND r.instance_id = s.instance_id))),"
    " (SELECT count(*) FROM workflow_side_effects_outbox e WHERE (e.tenant_id, e.step_execution_id)"
    "  = (s.tenant_id, s.id) AND e.status IN ('pending', 'failed', 'processing'))"
    " FROM workflow_step_executions s JOIN workflow_instances i ON (i.tenant_id, i.id)"
    " = (s.tenant_id, s.instance_id) WHERE i.entity_id = ANY (%s) AND s.status = 'running'"
)
# Each of these returns what must not be, in words.
NEVER: tuple[LiteralString, ...] = (
    "SELECT 'withdrawn, and sent: ' || e.id FROM workflow_side_effects_outbox e"
    " WHERE e.status = 'completed' AND e.withdrawn_at IS NOT NULL",
    "SELECT 'to be sent for a step that is over: ' || s.node_id FROM workflow_side_effects_outbox e"
    " JOIN workflow_step_executions s ON (s.tenant_id, s.id) = (e.tenant_id, e.step_execution_id)"
    " WHERE e.status IN ('pending', 'failed') AND s.status IN ('cancelled', 'skipped')",
    "SELECT 'two effects of one step were delivered: ' || e.step_execution_id"
    " FROM workflow_side_effects_outbox e WHERE e.status = 'completed'"
    " GROUP BY e.step_execution_id HAVING count(*) > 1",
    "SELECT 'a request is parked: ' || q.transition FROM transition_requests q WHERE q.status = 'open'"
    " AND NOT EXISTS (SELECT FROM workflow_instances i WHERE (i.tenant_id, i.entity_id)"
    " = (q.tenant_id, q.document_id) AND i.status IN ('running', 'paused'))",
    "SELECT 'an approval is asked for without a step: ' || r.id FROM approval_requests r"
    " JOIN workflow_step_executions s ON (s.tenant_id, s.id) = (r.tenant_id, r.step_execution_id)"
    " WHERE r.status = 'open' AND s.status <> 'running' AND NOT EXISTS ("
    "SELECT FROM workflow_step_executions g WHERE (g.tenant_id, g.instance_id) = (s.tenant_id, s.instance_id)"
    " AND g.node_type = 'lifecycle_gate' AND g.status = 'running')",
    "SELECT 'two amendments are open or settled: ' || a.original_id FROM amendments a"
    " WHERE a.closing IS NULL OR a.closing = 'settled' GROUP BY a.original_id HAVING count(*) > 1",
    "SELECT 'an amendment that is over is open: ' || d.id FROM amendments a JOIN documents d"
    " ON (d.tenant_id, d.id) = (a.tenant_id, a.document_id) WHERE a.closing IS NULL"
    " AND (d.deleted_at IS NOT NULL OR d.status IN ('active', 'closed', 'voided', 'amended'))",
    "SELECT 'an original is over without its amendment: ' || d.id FROM documents d WHERE d.status = 'amended'"
    " AND NOT EXISTS (SELECT FROM documents n WHERE (n.tenant_id, n.amended_from_id) = (d.tenant_id, d.id))",
    "SELECT 'an amendment settled beside its original: ' || d.id FROM amendments a JOIN documents d"
    " ON (d.tenant_id, d.id) = (a.tenant_id, a.original_id)"
    " WHERE a.closing = 'settled' AND d.status <> 'amended'",
)
# A call behind a gate is accepted, and a piece is made, at most once for each time the gate was passed.
PASSED: LiteralString = (
    "SELECT i.entity_id, s.node_id, count(*)::int FROM workflow_step_executions s JOIN workflow_instances i"
    " ON (i.tenant_id, i.id) = (s.tenant_id, s.instance_id) WHERE i.entity_id = ANY (%s)"
    " AND s.node_type = 'lifecycle_gate' AND s.status = 'completed'"
    " AND s.output_json ->> 'outcome' = 'passed' GROUP BY 1, 2"
)
CALLED: LiteralString = (
    "SELECT i.entity_id, s.node_id, greatest(count(DISTINCT coalesce(e.first_id, e.id)),"
    " count(*) FILTER (WHERE e.status = 'completed'))::int"
    " FROM workflow_side_effects_outbox e"
    " JOIN workflow_step_executions s ON (s.tenant_id, s.id) = (e.tenant_id, e.step_execution_id)"
    " JOIN workflow_instances i ON (i.tenant_id, i.id) = (e.tenant_id, e.instance_id)"
    " WHERE i.entity_id = ANY (%s) AND coalesce(e.first_id, e.id) = ANY (%s) GROUP BY 1, 2"
)
MADE: LiteralString = (
    "SELECT data ->> 'of', data ->> 'code', count(*)::int FROM documents"
    " WHERE entity_type = %s AND data ->> 'of' = ANY (%s) GROUP BY 1, 2"
)
GATE_BEFORE: Mapping[str, str] = {"booking": "approve", "filing": "book", "archive": "close"}
# The slot of each definition that makes pieces.
MAKING: Mapping[int, str] = {1: "booking", 4: "filing"}
DONE = frozenset(("active", "closed", "voided", "amended"))


def find_wrongs(world: World) -> Iterator[str]:
    yield from world.outside.wrong
    yield from (str(found) for (found,) in world.stage.standing.rows(" UNION ALL ".join(NEVER)))
    yield from _find_stranded(world)
    yield from _find_repeated(world)


def _find_stranded(world: World) -> Iterator[str]:
    open_ones = world.stage.standing.rows(OPEN, world.ids)
    held = {(instance, token) for _, instance, token, _, is_live in open_ones if is_live}
    documents = {document for document, *_ in open_ones}
    waiting = {(row[0], row[1]): row[2:] for row in world.stage.standing.rows(WAITING, world.ids)}
    rows = world.stage.standing.rows(DOCUMENTS, world.ids)
    for document, status, instance, state, reason, tokens, _ in rows:
        if instance is None:
            if status not in DONE and document not in documents and not _is_asked_for(world, status):
                yield f"{status}: there is no workflow, and nobody can ask for one"
            continue
        # What comes meanwhile is taken up when the pause ends.
        standing = [token for token in tokens if token.get("hold") or state == "running"]
        problems = (_find_problem((instance, token), held, waiting) for token in standing)
        yield from (f"{status}: {problem}" for problem in problems if problem is not None)
        if state == "paused" and reason != PAUSED_BY_HAND and document not in documents:
            yield f"{status}: paused, and no incident says why"
    yield from _find_stale_incidents(open_ones, rows)


def _find_stale_incidents(
    open_ones: Sequence[tuple[Any, ...]], rows: Sequence[tuple[Any, ...]]
) -> Iterator[str]:
    held = {(row[2], token["id"]) for row in rows for token in row[5] or () if token.get("hold")}
    for _, instance, token, code, is_live in open_ones:
        if token is not None and (instance, token) not in held:
            yield f"the incident {code} is open, and holds nothing"
        if token is None and not is_live and code != "DOCUMENT_WITHOUT_WORKFLOW":
            yield f"the incident {code} is open, and its instance has ended"


def _is_asked_for(world: World, status: str) -> bool:
    return any(
        status in transition["from"] and transition["kind"] == "requested"
        for transition in world.contract["transitions"].values()
    )


def _find_problem(
    place: tuple[UUID, Mapping[str, Any]],
    held: set[tuple[UUID, str]],
    waiting: Mapping[tuple[UUID, str], tuple[Any, ...]],
) -> str | None:
    """Return why the token waits for nothing that can come."""
    instance, token = place
    node, state, key = str(token["node"]), token["state"], (instance, token["id"])
    if token.get("hold"):
        return None if key in held else f"{node} is held, and no incident says so"
    if state == "ready":
        return f"{node} is ready, and nothing runs it"
    if state != "waiting":
        return None
    kind, people, sent = waiting.get(key, ("none", 0, 0))
    if kind == "state":
        return None
    # A gate has the people asked again whose votes it may not use.
    if kind in ("approval", "lifecycle_gate"):
        return None if people else f"{node} asks nobody"
    return None if sent else f"{node} waits for what is not on its way ({kind})"


def _find_repeated(world: World) -> Iterator[str]:
    passed = {
        (document, node.rpartition(":")[2]): count
        for document, node, count in world.stage.standing.rows(PASSED, world.ids)
    }
    called = world.stage.standing.rows(CALLED, world.ids, world.outside.accepted)
    for document, node, count in called:
        slot = node.split(":")[1]
        if slot in GATE_BEFORE and count > passed.get((document, GATE_BEFORE[slot]), 0):
            yield f"{node} was called {count} times, more often than its gate was passed"
    making = MAKING.get(world.number)
    if making is None:
        return
    for document, code, count in world.stage.standing.rows(
        MADE, world.piece_type, [str(document) for document in world.ids]
    ):
        if count > passed.get((UUID(document), GATE_BEFORE[making]), 0):
            yield f"{code} was made {count} times, more often than its gate was passed"
