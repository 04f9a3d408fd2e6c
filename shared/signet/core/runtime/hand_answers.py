"""Answers by hand: what an operator gives for a node has the shape of what the node would have saved.

Conditions behind the node read it. So a node that saves something wants an answer, and the whole of it.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.contracts.contract import Contract
from signet.core.contracts.examples import PLACEHOLDER, make_example
from signet.core.contracts.field_values import validate_fields
from signet.core.contracts.fields import Fields, IntField, StringField
from signet.core.documents.payload_limits import POINTER, check_payload
from signet.core.errors import FieldError, Rejected
from signet.core.expressions import expression_from_json, list_variables
from signet.core.runtime.graph.answer_readers import list_readers
from signet.core.runtime.graph.deciding_slots import list_expressions
from signet.core.runtime.workflow import WorkflowNode

# An action's answer of up to so many bytes stands in the audit row itself; a longer one has its hash there.
MAX_AUDITED_BYTES = 1_000
# As many fields as a refusal names.
MAX_LEFT_OUT = 20
# What an action saves that makes a document.
_MADE: Fields = {
    "document_id": StringField(type="string", required=True),
    "version": IntField(type="int", required=True),
}


def read_answer(node: WorkflowNode, payload: Any, contract: Contract | None) -> Any:
    """Return the answer in its normal form, or the Rejected that says which shape it wants.

    `contract` is that of the document, which declares what its actions give.
    """
    name = node.config.get("save_as")
    if payload is None:
        if name is None:
            return None
        sentence = f"is missing: the node saves it as '{name}', and wants {_describe_shape(node, contract)}"
        return _refuse(FieldError(POINTER, "ANSWER_MISSING", sentence))
    mistake = check_payload(payload)
    if mistake is None and name is None:
        mistake = FieldError(POINTER, "PAYLOAD_NOT_KEPT", "is not kept: the node saves nothing")
    if mistake is not None:
        return _refuse(mistake)
    if node.type.name == "webhook_out":
        mistake = check_response(payload, POINTER)
        return payload if mistake is None else _refuse(mistake)
    return _read_output(node, payload, contract) if node.type.name == "action" else payload


def check_readers(content: Mapping[str, Any], node_id: str, answer: Any) -> Rejected | None:
    """Refuse an answer that leaves out what is read behind the node: nobody could give it later.

    A field that is null on purpose is sent as null. A list has an answer for each item, and no such fields.
    """
    if answer is None or isinstance(answer, list):
        return None
    left_out: dict[tuple[str, ...], str] = {}
    for reader in list_readers(content, node_id):
        path, node = reader.path, reader.node
        if path[:1] not in (("duration_ms",), ("kept_as_text",)) and _is_left_out(answer, path):
            left_out[path] = min(node, left_out.get(path, node))
    if not left_out:
        return None
    named = content["nodes"][node_id]["config"]["save_as"]
    mistakes = (
        FieldError(
            "/".join((POINTER, *path)),
            "ANSWER_READ_BEHIND",
            f"is left out, and {reader} reads it (context.{'.'.join((named, *path))})",
        )
        for path, reader in sorted(left_out.items())
    )
    return _refuse(*islice(mistakes, MAX_LEFT_OUT), remedy="Give it, as null where there is none.")


def _is_left_out(answer: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        if isinstance(answer, list):
            return False
        if not isinstance(answer, Mapping) or name not in answer:
            return True
        answer = answer[name]
    return False


def describe_answer(node: WorkflowNode, answer: Any) -> dict[str, Any]:
    """Return what the audit row says of an answer: its hash, and a short one of an action itself.

    An action's answer has no personal fields; what else comes in may have some.
    """
    if answer is None:
        return {}
    content = canonical_bytes(answer)
    is_shown = node.type.name == "action" and len(content) <= MAX_AUDITED_BYTES
    return {"answer_hash": hash_bytes(content), **({"answer": answer} if is_shown else {})}


def make_answer(content: Mapping[str, Any], node_id: str, contract: Contract | None) -> Any:
    """Make the answer that a node saves, with what later nodes read of it; None where it saves nothing."""
    node = content["nodes"][node_id]
    config, saved = node["config"], node["config"].get("save_as")
    if saved is None:
        return None
    read = _make_read(content, saved)
    if node["type"] == "webhook_out":
        return {"status": 200, "body": read.get("body")}
    if node["type"] != "action":
        return read
    declared = output_of(config, contract)
    item = read if declared is None else {name: make_example(one) for name, one in declared.items()}
    return item if config["for_each"] is None else [item]


def _make_read(content: Mapping[str, Any], saved: str) -> dict[str, Any]:
    """Make an object with the members that expressions read of a variable."""
    members: dict[str, Any] = {}
    for path in sorted(_list_paths(content)):
        if path[:2] == ("context", saved):
            place = members
            for name in path[2:-1]:
                inner = place.get(name)
                place[name] = inner if isinstance(inner, dict) else {}
                place = place[name]
            if len(path) > 2:
                place[path[-1]] = PLACEHOLDER
    return members


def _list_paths(content: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """List what the nodes and edges of a workflow read."""
    expressions = [one for node in content["nodes"].values() for one in list_expressions(node)]
    conditions = (edge.get("condition") for edge in content["edges"].values())
    expressions += [expression_from_json(condition["tree"]) for condition in conditions if condition]
    for expression in expressions:
        yield from (tuple(name.path) for name in list_variables(expression))


def _refuse(*mistakes: FieldError, remedy: str = "") -> Rejected:
    first = mistakes[0]
    place = "the payload" if first.pointer == POINTER else f"the payload at {first.pointer}"
    return Rejected("FIELDS_INVALID", f"{place} {first.message}", fields=mistakes, remedy=remedy)


def check_response(payload: Any, pointer: str) -> FieldError | None:
    """Require the shape of a real answer to a call: what follows reads `status` and `body`."""
    status = payload.get("status") if isinstance(payload, Mapping) else None
    if not isinstance(status, int) or not 100 <= status <= 599:
        return FieldError(f"{pointer}/status", "ANSWER_SHAPE", f"is no answer: it wants {_RESPONSE}")
    unknown = sorted(payload.keys() - {"status", "body", "duration_ms"})
    if unknown:
        return FieldError(f"{pointer}/{unknown[0]}", "FIELD_UNKNOWN", "is no part of an answer")
    if "body" not in payload:
        return FieldError(f"{pointer}/body", "ANSWER_SHAPE", f"is missing: an answer wants {_RESPONSE}")
    return None


_RESPONSE = "an object with `status`, from 100 to 599, and `body`"


def _read_output(node: WorkflowNode, payload: Any, contract: Contract | None) -> Any:
    """Read what an action would have given, and of a list one for each item."""
    declared, is_list = output_of(node.config, contract), node.config["for_each"] is not None
    if is_list and (not isinstance(payload, list) or len(payload) > node.config["max_items"]):
        sentence = f"is no answer: it wants {_describe_shape(node, contract)}"
        return _refuse(FieldError(POINTER, "ANSWER_SHAPE", sentence))
    places = (
        [(f"{POINTER}/{index}", item) for index, item in enumerate(payload)]
        if is_list
        else [(POINTER, payload)]
    )
    outputs, mistakes = [], []
    for place, given in places:
        output, found = _read_object(declared, given)
        outputs.append(output)
        mistakes += [FieldError(place + each.pointer, each.code, each.message) for each in found]
    if mistakes:
        return _refuse(*mistakes)
    return outputs if is_list else outputs[0]


def _read_object(declared: Fields | None, given: Any) -> tuple[Any, tuple[FieldError, ...]]:
    if declared is None:
        is_object = isinstance(given, dict)
        return given, () if is_object else (FieldError("", "FIELD_TYPE", "wants an object"),)
    output, mistakes = validate_fields(declared, given)
    if output is None:
        return None, mistakes
    return output, tuple(_find_absent(declared, given))


def _find_absent(declared: Fields, given: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield what the answer leaves out: nothing is taken for granted, also where null would do."""
    for name in declared:
        if name not in given:
            yield FieldError(f"/{name}", "FIELD_REQUIRED", "is left out of the answer")


def output_of(config: Mapping[str, Any], contract: Contract | None) -> Fields | None:
    """Return the fields that the action gives, or None where no contract declares them."""
    action = contract.actions.get(config["action"]) if contract is not None else None
    if action is None:
        return None
    return _MADE if action.kind == "create" else action.output


def _describe_shape(node: WorkflowNode, contract: Contract | None) -> str:
    if node.type.name == "webhook_out":
        return _RESPONSE
    if node.type.name != "action":
        return "what the event would have brought"
    declared = output_of(node.config, contract)
    fields = "" if not declared else f" with {', '.join(f'`{name}`' for name in declared)}"
    if node.config["for_each"] is None:
        return f"an object{fields}"
    return f"a list of at most {node.config['max_items']} objects{fields}"
