"""A slot's patch as nodes and edges with full ids.

An edge or id out of the slot's scope is a finding (WF-06).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from signet.core.compiler.graph import Edge, Node
from signet.core.compiler.node_types import AUTHOR_NODE_TYPES, NODE_TYPES
from signet.core.compiler.patch import MAX_PRIORITY, SLOT_IN, SLOT_OUT, PatchEdge, PatchNode
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import is_slug, parse_strictly

# A default edge comes after every edge with a condition, also if its author's number is lower.
DEFAULT_PRIORITY = MAX_PRIORITY + 1
# Outcomes that leave a slot and are not its end.
_ASIDE = ("rejected", "error")


@dataclass(frozen=True)
class SlotGraph:
    """A patch in full: its own nodes, and edges that may also name the slot's two ends."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    findings: tuple[Finding, ...]


def slot_in(slot: str) -> str:
    return f"sys:slot:{slot}:in"


def slot_out(slot: str) -> str:
    return f"sys:slot:{slot}:out"


def make_slot_graph(
    slot: str, window: str, entry: str, exit_mode: str, nodes: Sequence[PatchNode], edges: Sequence[PatchEdge]
) -> SlotGraph:
    findings: list[Finding] = []
    own = _make_nodes(slot, window, nodes, findings)
    drawn = _make_edges(slot, own, edges, findings)
    if findings:
        # The checks below would only repeat the same mistakes in other words.
        return SlotGraph(tuple(own.values()), tuple(drawn), tuple(findings))
    drawn += _attach_entry(slot, entry, own, drawn, findings)
    drawn += _attach_exit(slot, exit_mode, own, drawn, findings)
    drawn = _put_defaults_last(drawn)
    return SlotGraph(tuple(own.values()), tuple(drawn), tuple(findings))


def _make_nodes(
    slot: str, window: str, nodes: Sequence[PatchNode], findings: list[Finding]
) -> dict[str, Node]:
    allowed, own = ", ".join(AUTHOR_NODE_TYPES), {}
    for node in nodes:
        node_id = _full_id(slot, node.id)
        if node_id is None:
            findings.append(make_finding("NODE_ID_OUT_OF_SCOPE", node.id, slot=slot))
            continue
        if _slug(node_id) in (SLOT_IN, SLOT_OUT):
            findings.append(make_finding("NODE_ID_RESERVED", node.id))
            continue
        if node_id in own:
            findings.append(make_finding("NODE_ID_TWICE", node_id))
            continue
        config: Mapping[str, object] = {}
        if node.type not in NODE_TYPES:
            findings.append(make_finding("NODE_TYPE_UNKNOWN", node_id, type=node.type, allowed=allowed))
        elif node.type not in AUTHOR_NODE_TYPES:
            findings.append(make_finding("NODE_TYPE_RESERVED", node_id, type=node.type, allowed=allowed))
        else:
            config = _parse_config(node_id, node, findings)
        own[node_id] = Node(node_id, node.type, config, provenance=slot, window=window, label=node.label)
    return own


def _full_id(slot: str, author_id: str) -> str | None:
    prefix = f"usr:{slot}:"
    slug = author_id.removeprefix(prefix)
    return prefix + slug if is_slug(slug) else None


def _parse_config(node_id: str, node: PatchNode, findings: list[Finding]) -> Mapping[str, object]:
    config, mistakes = parse_strictly(NODE_TYPES[node.type].configuration, dict(node.config))
    findings.extend(
        make_finding(
            "NODE_CONFIG_INVALID",
            node_id,
            pointer=m.place or "/",
            problem=m.parameters.get("problem", m.sentence),
        )
        for m in mistakes
    )
    if config is None:
        return {}
    described = config.model_dump(mode="json", by_alias=True)
    findings.extend(_check_run_as(node_id, described))
    return described


def _check_run_as(node_id: str, config: Mapping[str, object]) -> Iterator[Finding]:
    """Check that a node names a service account exactly where it runs as one."""
    named = config.get("service_account")
    if config.get("run_as") == "service_account":
        if named is None:
            yield make_finding("SERVICE_ACCOUNT_MISSING", node_id)
    elif named is not None:
        yield make_finding("SERVICE_ACCOUNT_UNEXPECTED", node_id, account=named)


def _make_edges(
    slot: str, own: Mapping[str, Node], edges: Sequence[PatchEdge], findings: list[Finding]
) -> list[Edge]:
    drawn: list[Edge] = []
    ids: Counter[str] = Counter()
    for edge in edges:
        shown = f"{edge.source} → {edge.target}"
        source = _resolve_end(slot, own, edge.source, SLOT_IN, shown, findings)
        target = _resolve_end(slot, own, edge.target, SLOT_OUT, shown, findings)
        if source is None or target is None:
            continue
        outcome = _resolve_outcome(own, source, edge, shown, findings)
        if outcome is None:
            continue
        edge_id = _edge_id(slot, source, outcome, target, edge.id)
        ids[edge_id] += 1
        role = "error" if outcome == "error" and edge.role == "forward" else edge.role
        drawn.append(
            Edge(
                edge_id, source, target, outcome, role, edge.priority, edge.condition, None, slot, edge.label
            )
        )
    findings.extend(
        make_finding("EDGE_ID_TWICE", edge_id) for edge_id, count in sorted(ids.items()) if count > 1
    )
    return drawn


def _edge_id(slot: str, source: str, outcome: str, target: str, author_id: str | None) -> str:
    if author_id is not None:
        return f"usr:{slot}:edge:{author_id}"
    return f"usr:{slot}:edge:{_slug(source)}>{_slug(target)}#{outcome}"


def _slug(node_id: str) -> str:
    return node_id.rsplit(":", 1)[-1]


def _resolve_end(
    slot: str, own: Mapping[str, Node], end: str, attachment: str, shown: str, findings: list[Finding]
) -> str | None:
    """Return the node at an edge's end: one of the slot's own, or `in` as a source and `out` as a target."""
    node_id = _full_id(slot, end)
    if node_id in own:
        return node_id
    if end in (SLOT_IN, slot_in(slot), SLOT_OUT, slot_out(slot)):
        is_in = end in (SLOT_IN, slot_in(slot))
        if is_in == (attachment == SLOT_IN):
            return slot_in(slot) if is_in else slot_out(slot)
        findings.append(make_finding("EDGE_INTO_IN" if is_in else "EDGE_FROM_OUT", shown))
    elif end.startswith(("sys:", "usr:")):
        findings.append(make_finding("EDGE_END_OUT_OF_SCOPE", shown, end=end, slot=slot))
    else:
        findings.append(make_finding("EDGE_END_UNKNOWN", shown, end=end))
    return None


def _resolve_outcome(
    own: Mapping[str, Node], source: str, edge: PatchEdge, shown: str, findings: list[Finding]
) -> str | None:
    node_type = own[source].type if source in own else "slot_in"
    if source in own and node_type not in AUTHOR_NODE_TYPES:
        return edge.on or "done"  # its type is a finding already
    outcomes = NODE_TYPES[node_type].outcomes
    outcome = edge.on or outcomes[0]
    if outcome not in outcomes:
        allowed = ", ".join(outcomes)
        findings.append(
            make_finding("EDGE_OUTCOME_UNKNOWN", shown, outcome=outcome, type=node_type, allowed=allowed)
        )
        return None
    return outcome


def _attach_entry(
    slot: str, entry: str, own: Mapping[str, Node], drawn: Sequence[Edge], findings: list[Finding]
) -> Iterator[Edge]:
    from_in = [edge for edge in drawn if edge.source == slot_in(slot)]
    if from_in:
        if entry == "serial" and len(from_in) > 1:
            findings.append(make_finding("SLOT_SERIAL_BRANCHES", slot, count=len(from_in)))
        return
    targets = {edge.target for edge in drawn}
    first = sorted(node_id for node_id in own if node_id not in targets)
    if not first:
        findings.append(make_finding("SLOT_EMPTY_ENTRY", slot))
    elif len(first) > 1:
        findings.append(make_finding("SLOT_SEVERAL_ENTRIES", slot, nodes=", ".join(first)))
    else:
        yield _attachment(slot, slot_in(slot), first[0], "done")


def _attach_exit(
    slot: str, exit_mode: str, own: Mapping[str, Node], drawn: Sequence[Edge], findings: list[Finding]
) -> Iterator[Edge]:
    """Yield edges out of the slot for nodes whose main outcome has no edge."""
    continued = {(edge.source, edge.on) for edge in drawn}
    to_out = {edge.source for edge in drawn if edge.target == slot_out(slot) and edge.on not in _ASIDE}
    open_ends = [
        (node_id, NODE_TYPES[node.type].outcomes[0])
        for node_id, node in sorted(own.items())
        if (node_id, NODE_TYPES[node.type].outcomes[0]) not in continued
    ]
    ends = sorted(to_out | {node_id for node_id, _ in open_ends})
    if exit_mode == "single" and len(ends) > 1:
        findings.append(make_finding("SLOT_SEVERAL_EXITS", slot, nodes=", ".join(ends)))
    elif not ends:
        findings.append(make_finding("SLOT_NO_EXIT", slot))
    else:
        for node_id, outcome in open_ends:
            yield _attachment(slot, node_id, slot_out(slot), outcome)


def _attachment(slot: str, source: str, target: str, outcome: str) -> Edge:
    edge_id = f"sys:edge:slot:{slot}:{_slug(source)}>{_slug(target)}#{outcome}"
    return Edge(edge_id, source, target, outcome, provenance=slot)


def _put_defaults_last(edges: Iterable[Edge]) -> list[Edge]:
    edges = list(edges)
    choices = {(edge.source, edge.on) for edge in edges if edge.condition is not None}
    return [
        replace(edge, priority=DEFAULT_PRIORITY)
        if edge.condition is None and (edge.source, edge.on) in choices
        else edge
        for edge in edges
    ]
