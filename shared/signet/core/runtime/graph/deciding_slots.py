"""The slots that decide which approvals are asked: those that ask, and those that set what these read."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from signet.core.contracts.contract import OPAQUE
from signet.core.expressions import (
    Expression,
    expression_from_json,
    list_template_parts,
    list_variables,
    template_from_json,
)
from signet.core.expressions.template import Fixed, Template, TemplateMembers

EVERY = "*"
# The root of a name, and the name behind it: a variable of the workflow, or a field of the document.
ReadName = tuple[str, str]
_ROOTS = ("context", "entity")


def list_deciding_slots(content: Mapping[str, Any]) -> frozenset[str]:
    """List the slots that hold an approval, and the slots that set what such a slot reads, and so on.

    What a gate reads counts too: another gate may lead around the slot that asks.
    """
    slots, nodes = content["slot_map"], content["nodes"]
    of_nodes = {name: slots[name] for name in nodes if slots.get(name) is not None}
    deciding = {slot for name, slot in of_nodes.items() if nodes[name]["type"] == "approval"}
    writers = {name: frozenset(_list_written(content, nodes[name])) for name in of_nodes}
    readers = {name: frozenset(list_sources(content, name)) for name in nodes}
    gates = [name for name in nodes if deciding and nodes[name]["type"] == "lifecycle_gate"]
    while True:
        inside = [name for name in of_nodes if of_nodes[name] in deciding]
        read = frozenset[ReadName]().union(*(readers[name] for name in (*gates, *inside)))
        new = {of_nodes[name] for name, written in writers.items() if _meet(written, read)} - deciding
        if not new:
            return frozenset(deciding)
        deciding |= new


def _meet(written: Collection[ReadName], read: Collection[ReadName]) -> bool:
    """Return whether something is read that is written; where all of a root is, any name of it counts."""
    roots = {root for root, _ in read}
    return any(
        (root, name) in read or (root, EVERY) in read or (name == EVERY and root in roots)
        for root, name in written
    )


def _list_written(content: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[ReadName]:
    config = node["config"]
    if node["type"] == "script":
        yield from (("context", name) for name in config["set"])
    if config.get("save_as") is not None:
        yield "context", config["save_as"]
    action = content["actions"].get(config["action"]) if node["type"] == "action" else None
    if action is not None and action["kind"] in OPAQUE:
        yield "entity", EVERY
    if action is not None and action["kind"] == "update":
        yield from (("entity", name) for name in _list_members(template_from_json(action["set"])))


def _list_members(template: Template) -> Iterable[str]:
    """List the fields that the object of a template sets."""
    if isinstance(template, TemplateMembers):
        return [name for name, _ in template.members]
    return template.value if isinstance(template, Fixed) and isinstance(template.value, Mapping) else ()


def list_sources(content: Mapping[str, Any], name: str) -> Iterator[ReadName]:
    """Yield what a node, the edges behind it, and the action, rules or chain that it names read.

    Rules and chains stand outside of the definition: they may read each field.
    """
    yield from list_read(content, name)
    node = content["nodes"][name]
    config = node["config"]
    if node["type"] == "rule" or config.get("chain") is not None:
        yield "entity", EVERY
    if node["type"] != "action":
        return
    action = content["actions"].get(config["action"])
    if action is None or action["kind"] in OPAQUE:
        yield from ((root, EVERY) for root in _ROOTS)
        return
    if action["kind"] == "update" and config["save_as"] is not None:
        # It gives back fields of the document.
        yield "entity", EVERY
    for part in list_template_parts(template_from_json(action["set"])):
        yield from list_names(part)


def list_read(content: Mapping[str, Any], name: str) -> Iterator[ReadName]:
    """Yield what a node and the edges behind it read of variables and of the document."""
    for expression in list_expressions(content["nodes"][name]):
        yield from list_names(expression)
    for edge_id in content["adjacency"][name]:
        condition = content["edges"][edge_id].get("condition")
        if condition:
            yield from list_names(expression_from_json(condition["tree"]))


def list_names(expression: Expression) -> Iterator[ReadName]:
    """Yield what an expression reads of variables and of the document."""
    for path in (variable.path for variable in list_variables(expression)):
        if path[0] in _ROOTS:
            yield path[0], path[1] if len(path) > 1 else EVERY


def list_expressions(node: Mapping[str, Any]) -> Iterator[Expression]:
    """Yield the expressions of a node, also those of its templates."""
    for tree in node.get("logic", {}).values():
        if "expression" in tree:
            yield expression_from_json(tree["expression"])
        else:
            yield from list_template_parts(template_from_json(tree["template"]))
