"""Faults in the compiler: its slots (WF-06), its envelope (WF-08), its order and bytes (WF-12, WF-13)."""

from tests.mutants.mutation import Mutation

SLOT_PATCH = "shared/signet/core/compiler/slot_graph.py"
SOUNDNESS = "shared/signet/core/compiler/soundness.py"
COMPILER = "shared/signet/core/compiler/compiler.py"
GRAPH_JSON = "shared/signet/core/compiler/graph_json.py"
WF_06 = "tests/scenarios/invariants/test_wf_06_patches_stay_inside_their_slot.py::test_wf_06_"
WF_08 = "tests/scenarios/invariants/test_wf_08_the_envelope_is_whole.py::test_wf_08_"
WF_12 = "tests/scenarios/invariants/test_wf_12_the_same_input_compiles_to_the_same_bytes.py::test_wf_12_"
WF_13 = "tests/scenarios/invariants/test_wf_13_the_order_of_nodes_is_stable.py::test_wf_13_"

OPEN = "tests/unit/core/compiler/test_authority_checks.py::test_"
COMPILING = (
    Mutation(
        "an action that makes documents is open before its approval without a word",
        3,
        "shared/signet/core/compiler/authority_checks.py",
        "        if steps and is_asked:\n",
        "        if False:\n",
        (f"{OPEN}an_action_that_makes_documents_is_open_before_its_approval",),
    ),
    Mutation(
        "a gate that uses an approval counts as free",
        3,
        "shared/signet/core/compiler/authority_checks.py",
        ' if node_id not in shut or edge.on != "passed"]',
        "]",
        (f"{OPEN}an_action_that_makes_documents_is_open_before_its_approval",),
    ),
    Mutation(
        "any condition shuts an action before its approval",
        3,
        "shared/signet/core/compiler/authority_checks.py",
        'name.path[:2] == ("entity", "status") for name',
        "bool(name.path) for name",
        (f"{OPEN}a_condition_on_the_status_keeps_it_shut",),
    ),
    Mutation(
        "a node keeps any full id that its author gave it",
        6,
        SLOT_PATCH,
        "return prefix + slug if is_slug(slug) else None",
        'return author_id if ":" in author_id else prefix + slug if is_slug(slug) else None',
        (f"{WF_06}a_node_outside_of_its_slots_names_does_not_compile",),
    ),
    Mutation(
        "an edge may name a system node",
        6,
        SLOT_PATCH,
        '    elif end.startswith(("sys:", "usr:")):\n',
        '    elif end.startswith("sys:"):\n        return end\n    elif end.startswith("usr:"):\n',
        (f"{WF_06}no_edge_leads_to_a_system_node", f"{WF_06}no_edge_comes_from_a_system_node"),
    ),
    Mutation(
        "an edge may reach into another slot",
        6,
        SLOT_PATCH,
        '    elif end.startswith(("sys:", "usr:")):\n',
        '    elif end.startswith("usr:"):\n        return end\n    elif end.startswith("sys:"):\n',
        (f"{WF_06}no_edge_reaches_into_another_slot",),
    ),
    Mutation(
        "any slot's attachments serve",
        6,
        SLOT_PATCH,
        "if end in (SLOT_IN, slot_in(slot), SLOT_OUT, slot_out(slot)):",
        'if end in (SLOT_IN, SLOT_OUT) or end.startswith("sys:slot:"):',
        (f"{WF_06}no_edge_leads_to_a_system_node",),
    ),
    Mutation(
        "a slot that is not declared is passed over",
        6,
        "shared/signet/core/compiler/merge.py",
        "            findings.append("
        'make_finding("SLOT_UNKNOWN", name, allowed=", ".join(slots) or "(none)"))\n',
        "",
        (f"{WF_06}only_declared_slots_are_filled",),
    ),
    Mutation(
        "authors place nodes of every type",
        6,
        SLOT_PATCH,
        "elif node.type not in AUTHOR_NODE_TYPES:",
        "elif not node.type:",
        (f"{WF_06}no_patch_brings_a_node_of_the_envelopes_kinds",),
    ),
    Mutation(
        "the envelope that was handed in is believed",
        8,
        COMPILER,
        "        *check_envelope(envelope, expected),\n",
        "",
        (
            f"{WF_08}a_missing_system_node_does_not_compile",
            f"{WF_08}an_altered_system_node_does_not_compile",
            f"{WF_08}a_missing_system_edge_does_not_compile",
            f"{WF_08}reordered_system_nodes_do_not_compile",
        ),
    ),
    Mutation(
        "what the merge made is believed",
        8,
        COMPILER,
        "    yield from check_integrity(expected, shape.graph, shape.order)\n",
        "",
        (f"{WF_08}the_compiler_looks_at_what_the_merge_made",),
    ),
    Mutation(
        "a system node may be lost",
        8,
        SOUNDNESS,
        "if kept is None or (kept.type, kept.config, kept.window) !=",
        "if kept is not None and (kept.type, kept.config, kept.window) !=",
        (f"{WF_08}a_missing_system_node_does_not_compile",),
    ),
    Mutation(
        "the window of a system node may change",
        8,
        SOUNDNESS,
        "(kept.type, kept.config, kept.window) != (node.type, node.config, node.window)",
        "(kept.type, kept.config) != (node.type, node.config)",
        (f"{WF_08}an_altered_system_node_does_not_compile",),
    ),
    Mutation(
        "system nodes may be reordered",
        8,
        SOUNDNESS,
        "if position[edge.source] >= position[edge.target]:",
        "if position[edge.source] == position[edge.target]:",
        (f"{WF_08}a_merge_that_reorders_system_nodes_is_found_out",),
    ),
    Mutation(
        "an edge goes round the policy gate",
        8,
        "shared/signet/core/compiler/merge.py",
        'target = policy_node(edge.target) if types.get(edge.target) == "action" else edge.target',
        "target = edge.target",
        (f"{WF_08}every_action_stands_behind_its_policy_gate",),
    ),
    Mutation(
        "nodes keep the order in which they came",
        12,
        "shared/signet/core/compiler/graph.py",
        "for node in sorted(nodes, key=lambda node: node.id)}",
        "for node in nodes}",
        (f"{WF_12}the_order_of_the_input_does_not_matter",),
    ),
    Mutation(
        "the keys of objects keep the order in which they came",
        12,
        "shared/signet/core/canonical_json.py",
        "_FAST = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER",
        "_FAST = orjson.OPT_STRICT_INTEGER",
        (f"{WF_12}the_order_of_the_input_does_not_matter",),
    ),
    Mutation(
        "a list is made from a set",
        12,
        GRAPH_JSON,
        """\
        "stable_region_nodes": [
            node.id for node in graph.nodes.values() if node.provenance in merged.stable_slots
        ],
""",
        """\
        "stable_region_nodes": list(
            {node.id for node in graph.nodes.values() if node.provenance in merged.stable_slots}
        ),
""",
        (f"{WF_12}another_process_compiles_to_the_same_hash",),
    ),
    Mutation(
        "the artifact says when it was made",
        12,
        GRAPH_JSON,
        '        "compiler_version": COMPILER_VERSION,\n',
        '        "compiler_version": COMPILER_VERSION, "made_at": str(__import__("time").time_ns()),\n',
        (f"{WF_12}the_same_input_twice_is_the_same_workflow",),
    ),
    Mutation(
        "the hash is of less than the whole artifact",
        12,
        "shared/signet/core/compiler/artifact.py",
        "return Artifact(stored.decode(), hash_bytes(stored), content)",
        "return Artifact(stored.decode(), hash_bytes(stored[:100]), content)",
        (f"{WF_12}the_same_input_twice_is_the_same_workflow",),
    ),
    Mutation(
        "of equal nodes the last that became ready comes first",
        13,
        SOUNDNESS,
        "node_id = heapq.heappop(ready)",
        "node_id = ready.pop()",
        (
            f"{WF_13}of_equal_nodes_the_smaller_id_comes_first",
            f"{WF_13}the_order_does_not_depend_on_the_order_of_the_input",
            f"{WF_13}a_compiled_workflow_has_that_order",
        ),
    ),
    Mutation(
        "of equal nodes the first that became ready comes first",
        13,
        SOUNDNESS,
        "node_id = heapq.heappop(ready)",
        "node_id = ready.pop(0)",
        (f"{WF_13}of_equal_nodes_the_smaller_id_comes_first",),
    ),
    Mutation(
        "an edge back to a state is waited for",
        13,
        SOUNDNESS,
        'node_id: sum(1 for edge in edges if edge.role != "return")',
        "node_id: sum(1 for edge in edges)",
        (f"{WF_13}an_edge_back_to_a_state_orders_nothing",),
    ),
)
