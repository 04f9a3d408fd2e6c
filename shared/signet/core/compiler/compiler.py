"""The compiler: envelope and patches become one verified, hashed graph. Pure; the same bytes on any machine.

Errors come in stages, each complete in itself: scope and form (merge), shape (order, blocks, edges for all
outcomes), then expressions. A stage runs only when the one before found no error, because a broken graph has
no scopes to check expressions in.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from signet.core.automations.trigger_checks import check_trigger, make_trigger_scope
from signet.core.compiler.artifact import Artifact, make_artifact
from signet.core.compiler.authority_checks import (
    check_actor_conditions,
    check_error_edges,
    check_free_ways,
    check_open_actions,
    check_rejections,
    check_seats,
    check_windows_behind,
    list_asking_gates,
)
from signet.core.compiler.envelope import END, START, Envelope, EnvelopeSlot, make_envelope
from signet.core.compiler.graph import Edge, Graph, Node, make_graph
from signet.core.compiler.graph_json import CheckedGraph, make_condition_json, make_graph_json
from signet.core.compiler.lost_approvals import (
    LostApproval,
    check_lost_approvals,
    describe_accepted,
    find_lost_approvals,
)
from signet.core.compiler.merge import Merged, merge
from signet.core.compiler.node_expressions import NodeLogic, parse_actions, parse_condition, parse_node_logic
from signet.core.compiler.parallel_blocks import find_blocks
from signet.core.compiler.patch import MAX_EDGES, MAX_NODES, Automation, Patch, SlotPatch
from signet.core.compiler.rejection_edges import add_rejection_edges
from signet.core.compiler.slot_requirements import check_requirements, list_shut_gates
from signet.core.compiler.soundness import (
    check_approved_content,
    check_condition_coverage,
    check_envelope,
    check_integrity,
    check_paths_on,
    check_reachability,
    sort_topologically,
)
from signet.core.compiler.variable_scopes import Names, Scopes, Variables
from signet.core.contracts.contract import Contract, EditWindow
from signet.core.contracts.expression_scope import (
    make_scope,
    type_of_entity,
    type_of_fields,
    type_of_settings,
)
from signet.core.errors import Defect
from signet.core.expressions import Type, list_followed_fields
from signet.core.expressions.syntax_tree import Expression
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.validation.finding import Finding, Severity, has_errors, make_finding, sort_findings
from signet.core.validation.unclear_text import check_unclear

AUTOMATION_SLOT = "main"


@dataclass(frozen=True)
class Compilation:
    """The artifact, or the errors that forbid it; warnings come with either."""

    artifact: Artifact | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Source:
    """Everything that is compiled: the envelope's graph, the patches of its slots, and the names in scope."""

    base: Graph
    slots: Mapping[str, EnvelopeSlot]
    patches: Mapping[str, SlotPatch]
    names: Names
    head: dict[str, Any]


@dataclass(frozen=True)
class _Logic:
    nodes: Mapping[str, NodeLogic]
    conditions: Mapping[str, Expression]
    # The type of `context` at a node, and for conditions on its edges.
    before: Mapping[str, Type]
    after: Mapping[str, Type]
    findings: list[Finding]


def compile_effective(
    envelope: Envelope, patch: Patch | None = None, settings: TenantSettings | None = None
) -> Compilation:
    """Compile the effective workflow of an envelope with a tenant's patch, or bare."""
    # Made again from the contract, so that an altered envelope is found out (WF-08).
    expected = make_envelope(envelope.contract)
    settings = settings or TenantSettings()
    mistakes = [
        *check_envelope(envelope, expected),
        *(_check_base(envelope, patch, settings) if patch is not None else ()),
    ]
    if mistakes:
        return Compilation(None, sort_findings(mistakes))
    compilation = _compile(make_effective_source(expected, patch, settings))
    return compilation if patch is None else _name_unclear(compilation, patch)


def compile_body(
    body: Patch | Automation | None, contract: Contract | None, settings: TenantSettings
) -> Compilation:
    """Compile a patch for its contract, an automation, or the bare envelope of a contract."""
    if isinstance(body, Automation):
        return compile_automation(body, contract, settings)
    if contract is None:
        raise Defect("CONTRACT_ABSENT", "nothing can be compiled without its contract")
    return compile_effective(make_envelope(contract), body, settings)


def make_effective_source(envelope: Envelope, patch: Patch | None, settings: TenantSettings) -> Source:
    names = Names(
        contract=envelope.contract,
        entity=type_of_entity(envelope.contract),
        org=type_of_settings(settings),
        payload=None,
        variables=type_of_fields(patch.variables).fields if patch else {},
    )
    head = {
        "kind": "effective" if patch else "envelope",
        "name": patch.patch if patch else envelope.entity_type,
        "entity_type": envelope.entity_type,
        "contract": {"version": envelope.version, "hash": envelope.contract_hash},
        "envelope": {"version": envelope.version, "hash": envelope.hash},
        "initial_state": envelope.contract.initial_state,
    }
    return Source(envelope.graph, envelope.slots, patch.slots if patch else {}, names, head)


def compile_automation(
    automation: Automation, contract: Contract | None = None, settings: TenantSettings | None = None
) -> Compilation:
    """Compile a tenant's own trigger and graph; its envelope is only `start → end`."""
    mistaken = [*check_trigger(automation.trigger, automation.entity_type, contract)]
    if mistaken:
        return Compilation(None, sort_findings(mistaken))
    source = make_automation_source(automation, contract, settings or TenantSettings())
    if automation.trigger.condition is not None:
        names, place = source.names, "/trigger/condition"
        scope = make_trigger_scope(names.entity, names.org, type_of_fields(automation.payload))
        condition, mistakes = parse_condition(automation.trigger.condition, place, scope)
        if condition is not None and list_followed_fields(condition, scope):
            condition, mistakes = None, (make_finding("TRIGGER_FOLLOWS_REF", place),)
        if condition is None:
            return Compilation(None, mistakes)
        source.head["trigger_condition"] = make_condition_json(condition)
    return _name_unclear(_compile(source), automation)


def _name_unclear(compilation: Compilation, body: Patch | Automation) -> Compilation:
    """Name the texts of the author that may not say what people read."""
    unclear = check_unclear(body.model_dump(mode="json", by_alias=True))
    return replace(compilation, findings=sort_findings((*compilation.findings, *unclear)))


def make_automation_source(
    automation: Automation, contract: Contract | None, settings: TenantSettings
) -> Source:
    direct = Edge("sys:edge:start>end#created", START, END, "created")
    window = EditWindow.EDITABLE
    base = make_graph([Node(START, "start", {}), Node(END, "end", {})], [direct])
    slot = EnvelopeSlot(AUTOMATION_SLOT, (START,), END, window, False, (direct.id,), "")
    body = SlotPatch(
        nodes=automation.nodes,
        edges=automation.edges,
        entry=automation.entry,
        exit=automation.exit,
        accepts=automation.accepts,
    )
    names = Names(
        contract=contract,
        entity=type_of_entity(contract),
        org=type_of_settings(settings),
        payload=type_of_fields(automation.payload),
        variables=type_of_fields(automation.variables).fields,
    )
    head = {
        "kind": "automation",
        "name": automation.automation,
        "version": automation.version,
        "entity_type": automation.entity_type,
        "trigger": automation.trigger.model_dump(mode="json", by_alias=True),
        **{name: part.model_dump() for name, part in automation.list_bounds()},
    }
    return Source(base, {AUTOMATION_SLOT: slot}, {AUTOMATION_SLOT: body}, names, head)


def make_scopes(source: Source) -> Scopes:
    """Return the scopes of a graph, as far as they go when it does not compile."""
    merged, names = merge(source.base, source.slots, source.patches), source.names
    node_ids = frozenset(node.id for node in merged.nodes)
    shape = None if has_errors(merged.findings) else _check_order_and_blocks(merged, names.contract)[0]
    if shape is None:
        return Scopes(names, node_ids, {}, {})
    logic = _parse_logic(shape, names)
    return Scopes(names, node_ids, logic.before, logic.after)


def _check_base(envelope: Envelope, patch: Patch, settings: TenantSettings) -> list[Finding]:
    if patch.base.entity_type != envelope.entity_type:
        actual = envelope.entity_type
        return [
            make_finding(
                "ENVELOPE_ENTITY_MISMATCH", "/base/entity_type", pinned=patch.base.entity_type, actual=actual
            )
        ]
    if patch.base.envelope_version != envelope.version:
        return [
            make_finding(
                "ENVELOPE_VERSION_MISMATCH",
                "/base/envelope_version",
                pinned=patch.base.envelope_version,
                actual=envelope.version,
                entity_type=envelope.entity_type,
                rebase=_propose_rebase(envelope, patch, settings),
            )
        ]
    if envelope.contract.amendment is None:
        return [
            make_finding("WINDOW_NEEDS_AMENDMENT", name)
            for name, slot in sorted(patch.slots.items())
            if slot.edit is EditWindow.AMEND_ONLY
        ]
    return []


def _propose_rebase(envelope: Envelope, patch: Patch, settings: TenantSettings) -> str:
    lost = sorted(set(patch.slots) - set(envelope.slots))
    pin = f"Set envelope_version to {envelope.version}"
    if lost:
        left = ", ".join(envelope.slots)
        return f"{pin}, and move what fills {', '.join(lost)}: the new envelope has only {left}."
    pinned = Patch.model_copy(
        patch, update={"base": patch.base.model_copy(update={"envelope_version": envelope.version})}
    )
    compilation = compile_effective(envelope, pinned, settings)
    findings = [finding for finding in compilation.findings if finding.severity is Severity.ERROR]
    if findings:
        return f"{pin}; then {len(findings)} finding(s) remain, the first: {findings[0].sentence}"
    return f"{pin}; the patch compiles there as it is."


def _compile(source: Source) -> Compilation:
    base, names = source.base, source.names
    merged = merge(base, source.slots, source.patches)
    findings = [*merged.findings, *_check_limits(merged)]
    if has_errors(findings):
        return Compilation(None, sort_findings(findings))
    shape, shape_findings = _check_order_and_blocks(merged, names.contract)
    findings += shape_findings
    if shape is None:
        return Compilation(None, sort_findings(findings))
    findings += _check_shape(shape, base, names.contract)
    if has_errors(findings):
        return Compilation(None, sort_findings(findings))
    lost_approvals = find_lost_approvals(shape.graph, shape.blocks, shape.order)
    logic = _parse_logic(shape, names)
    findings += [*_check_authority(shape, source, lost_approvals), *logic.findings]
    if has_errors(findings):
        return Compilation(None, sort_findings(findings))
    nothing = type_of_fields({})
    actions, action_findings = parse_actions(
        names.contract, shape.graph, lambda payload: make_scope(names.entity, names.org, nothing, payload)
    )
    findings += action_findings
    if has_errors(findings):
        return Compilation(None, sort_findings(findings))
    graph_json = make_graph_json(shape, merged, base, logic.nodes, logic.conditions)
    content = {**source.head, "actions": actions, **_describe_authority(shape, source, lost_approvals)}
    content |= graph_json
    return Compilation(make_artifact(content), sort_findings(findings))


def _check_limits(merged: Merged) -> Iterable[Finding]:
    for what, count, limit in [
        ("nodes", len(merged.nodes), MAX_NODES),
        ("edges", len(merged.edges), MAX_EDGES),
    ]:
        if count > limit:
            yield make_finding("LIMIT_EXCEEDED", "/", what=what, count=count, limit=limit)


def _check_order_and_blocks(
    merged: Merged, contract: Contract | None
) -> tuple[CheckedGraph | None, list[Finding]]:
    graph = make_graph([_complete_policy(node, contract) for node in merged.nodes], merged.edges)
    order, cycles = sort_topologically(graph)
    if cycles:
        return None, [*cycles, *check_reachability(graph)]
    blocks = find_blocks(graph, order)
    graph, untaken = add_rejection_edges(graph, blocks.find_innermost_join)
    order, cycles = sort_topologically(graph)
    return CheckedGraph(graph, order, blocks), [*blocks.findings, *untaken, *cycles]


def _complete_policy(node: Node, contract: Contract | None) -> Node:
    """Return a policy gate with the permission that the contract demands for the action."""
    if node.type != "policy_gate":
        return node
    action = str(node.config["action"])
    declared = contract.actions.get(action) if contract else None
    entity = contract.contract if contract and "." not in action else action.partition(".")[0]
    permission = (declared and declared.permission) or f"{entity}:{action.rpartition('.')[2]}"
    condition = contract.conditions.get(permission) if contract else None
    return replace(node, config={**node.config, "permission": permission, "permission_condition": condition})


def _check_shape(shape: CheckedGraph, expected: Graph, contract: Contract | None) -> Iterable[Finding]:
    yield from check_reachability(shape.graph)
    yield from check_paths_on(shape.graph)
    yield from check_integrity(expected, shape.graph, shape.order)
    if contract is not None:
        yield from check_approved_content(shape.graph, shape.blocks, contract)


def _check_authority(
    shape: CheckedGraph, source: Source, lost_approvals: Sequence[LostApproval]
) -> Iterator[Finding]:
    graph, blocks, is_bare = shape.graph, shape.blocks, source.head["kind"] == "envelope"
    yield from check_lost_approvals(lost_approvals, source.patches)
    yield from check_requirements(graph, blocks, shape.order, source.slots, is_bare=is_bare)
    yield from check_actor_conditions(graph, source.slots, is_bare=is_bare)
    yield from check_seats(graph)
    if source.names.contract is not None:
        yield from check_error_edges(graph, source.names.contract)
        yield from check_open_actions(graph, blocks, shape.order, source.slots, source.names.contract)
        asked = list_asking_gates(graph, blocks, shape.order, source.slots)
        yield from check_free_ways(graph, asked, source.names.contract)
        yield from check_rejections(graph, asked, source.names.contract)
        yield from check_windows_behind(graph, source.slots, source.names.contract)


def _describe_authority(
    shape: CheckedGraph, source: Source, lost_approvals: Sequence[LostApproval]
) -> dict[str, Any]:
    """Return what the artifact says of authority; a workflow that uses none of it keeps its hash."""
    slots = source.slots.values()
    described = {
        "requires": {slot.id: slot.requires.model_dump() for slot in slots if slot.requires is not None},
        "shut_gates": list_shut_gates(shape.graph, source.slots),
        "accepted": describe_accepted(lost_approvals),
    }
    return {name: value for name, value in described.items() if value}


def _parse_logic(shape: CheckedGraph, names: Names) -> _Logic:
    variables = Variables(names.variables)
    logic: dict[str, NodeLogic] = {}
    conditions: dict[str, Expression] = {}
    before: dict[str, Type] = {}
    after: dict[str, Type] = {}
    findings: list[Finding] = []
    for node_id in shape.order:
        context = before[node_id] = variables.enter(shape.graph, node_id)
        scope_with = partial(make_scope, names.entity, names.org, context, names.payload)
        parsed = parse_node_logic(shape.graph.nodes[node_id], names.contract, scope_with)
        logic[node_id] = parsed
        findings += parsed.findings
        for name, written in parsed.writes.items():
            variables.write(node_id, name, written)
        after[node_id] = variables.after(node_id) if parsed.writes else context
        conditional = [edge for edge in shape.graph.outgoing[node_id] if edge.condition is not None]
        if conditional:
            scope = make_scope(names.entity, names.org, after[node_id], names.payload)
            for edge in conditional:
                expression, mistakes = parse_condition(edge.condition or "", edge.id, scope)
                findings += mistakes
                if expression is not None:
                    conditions[edge.id] = expression
            findings += check_condition_coverage(node_id, conditional, conditions, scope)
    return _Logic(logic, conditions, before, after, findings)
