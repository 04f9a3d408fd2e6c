"""The pins of an approval: what its definition reads of other documents, and who changed that last.

People see these values, and everything behind the gate reads them: what is used is what was approved.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import EditWindow
from signet.core.contracts.fields import RefField
from signet.core.documents.personal_data import is_reference
from signet.core.documents.rules import CompiledRule
from signet.core.errors import Rejected
from signet.core.expressions import FollowedField
from signet.core.runtime.projection import CARRIED, INHERITED, POINTED_BEHIND
from signet.core.runtime.workflow import Workflow
from signet.core.runtime.workflow_reads import followed_fields
from signet.core.tenants.responsible import ResponsiblePersons

# By ref field, as JSON: document_id, entity_type, version, hash, values, responsible. Where the document was
# not there, the version is null. What a gate has used names its request as `approval`.
Pins = Mapping[str, Mapping[str, Any]]


def list_pinned_fields(
    workflow: Workflow,
    contract: CompiledContract,
    permissions: Iterable[str],
    rules: Sequence[CompiledRule] | Rejected = (),
) -> frozenset[FollowedField]:
    """List the fields of other documents that an approval pins: all that its way reads, and writes by.

    The definition reads it, conditions on voters do, and rules that set or emit values. So do actions, too,
    that the definition runs or that people may run behind the approval. A rule that only rejects reads the
    values of the moment.
    """
    run = workflow.run_actions.union(_list_actions_by_hand(workflow, contract))
    actions = (contract.refs_of_actions.get(name, frozenset()) for name in run)
    conditions = (contract.refs_of_conditions.get(name, frozenset()) for name in permissions)
    writing = () if isinstance(rules, Rejected) else (r.followed for r in rules if r.writes_on_the_way)
    return followed_fields(workflow, contract).union(*actions, *conditions, *writing)


def _list_actions_by_hand(workflow: Workflow, contract: CompiledContract) -> Iterator[str]:
    """Yield the actions that people may run behind an approval: to set fields, they must be able to edit."""
    is_editable = EditWindow.EDITABLE in workflow.windows_behind_approvals
    for name, action in contract.contract.actions.items():
        if action.kind != "update" or is_editable:
            yield name


def hash_pins(pins: Pins, variables: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Hash what is pinned of other documents, and the variables of the workflow where there are any."""
    pinned = {"pins": dict(pins), "variables": dict(variables)} if variables else dict(pins)
    return hash_bytes(canonical_bytes(pinned))


def hash_content(entity_type: str, data: Mapping[str, Any]) -> str:
    """Hash what a document says, whichever document says it; each keeps its personal values for itself."""
    kept = {name: value for name, value in data.items() if value is not None and not is_reference(value)}
    return hash_bytes(canonical_bytes({"entity_type": entity_type, "data": kept}))


def hash_likeness(entity_type: str, data: Mapping[str, Any], unique_fields: Collection[str]) -> str | None:
    """Hash what a copy under another number says too; None where no field is of one document alone."""
    if not unique_fields:
        return None
    return hash_content(entity_type, {name: data[name] for name in data if name not in unique_fields})


def list_changed_variables(
    pinned: Mapping[str, Any] | None, read_behind: Iterable[str], now: Mapping[str, Any]
) -> frozenset[str]:
    """List the variables that say something else now than people are asked about, or have approved.

    A request of an older release has pinned none: nobody has seen what is read behind it.
    """
    if pinned is None:
        return frozenset(name for name in read_behind if name in now)
    return frozenset(name for name, value in pinned.items() if name not in now or now[name] != value)


def read_pinned(pins: Pins) -> dict[str, Mapping[str, Any]]:
    """Return the pinned values by ref field, as an environment holds them under `refs`.

    A document that was not there has none.
    """
    return {ref: pin["values"] for ref, pin in pins.items() if not _is_absent(pin)}


def read_as_approved(
    pins: Pins, data: Mapping[str, Any], current: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the values behind refs with those that were approved in place of the current ones.

    A ref that leads elsewhere by now is read as it is. A document that was not there stays away.
    """
    held = {ref: pins[ref] for ref in list_unchanged_refs(pins, data)}
    others = {ref: values for ref, values in current.items() if ref not in held}
    return others | {ref: {**current.get(ref, {}), **values} for ref, values in read_pinned(held).items()}


def list_unchanged_refs(pins: Pins, data: Mapping[str, Any]) -> list[str]:
    """List the refs that lead to the pinned document still."""
    return [ref for ref, pin in pins.items() if pin["document_id"] == data.get(ref)]


def point_refs(
    pins: Pins, contract: CompiledContract, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Pins:
    """Return the pins after a step has pointed refs elsewhere: what is pinned of a document serves there."""
    pointed = {
        name: after.get(name)
        for name, field in contract.contract.fields.items()
        if isinstance(field, RefField) and after.get(name) != before.get(name)
    }
    if not pointed:
        return pins
    fields = contract.contract.fields
    made = {
        name: _make_pointed(pins, fields[name], document_id)
        for name, document_id in pointed.items()
        if document_id is not None
    }
    return {**{name: pins[name] for name in pins if name not in pointed}, **made}


def _make_pointed(pins: Pins, field: Any, document_id: str) -> Mapping[str, Any]:
    """Make the pin of a ref that a step has pointed to a document: a missing one stays away there too."""
    known = [
        pin
        for pin in pins.values()
        if pin["document_id"] == document_id and pin["entity_type"] == field.entity_type
    ]
    present = [pin for pin in known if not _is_absent(pin)]
    if known and not present:
        return known[0]
    origin = next((pin[INHERITED] for pin in pins.values() if INHERITED in pin), None)
    inherited = {} if origin is None else {INHERITED: origin}
    unknown = {
        "document_id": document_id,
        "entity_type": field.entity_type,
        "version": None,
        "hash": None,
        "values": {},
        "responsible": [],
    }
    return {**inherited, **(_join_pins(present) if present else unknown), POINTED_BEHIND: True}


def inherit_pins(pins: Pins, origin: str, contract: CompiledContract, data: Mapping[str, Any]) -> Pins:
    """Return the pins of a new document: of each ref to a document that the pins of its origin name.

    What was approved of that document is used here too, also where the ref has another name. Where no ref
    leads to it, the pin is carried on: the document may keep the id as a text, and hand it on.
    """
    inherited: dict[str, Mapping[str, Any]] = {}
    for name, field in contract.contract.fields.items():
        found = [pin for pin in pins.values() if pin["document_id"] == data.get(name)]
        if found and isinstance(field, RefField) and field.entity_type == found[0]["entity_type"]:
            inherited[name] = _join_pins(found) | {INHERITED: origin}
    known = {pin["document_id"] for pin in inherited.values()}
    others = (pin for pin in pins.values() if pin["document_id"] not in known)
    carried = {f"{CARRIED}{pin['document_id']}": {INHERITED: origin, **pin} for pin in others}
    return {**carried, **inherited}


def carry_pins(before: Pins, used: Pins) -> Pins:
    """Return what a gate has used, with what its document carries on and the gate says nothing of."""
    known = {pin["document_id"] for pin in used.values()}
    carried = {
        name: pin
        for name, pin in before.items()
        if name.startswith(CARRIED) and pin["document_id"] not in known
    }
    return {**carried, **used}


def list_inherited_persons(pins: Pins) -> ResponsiblePersons:
    """Return the persons behind what the refs of a new document lead to."""
    return list_pinned_persons({name: pins[name] for name in pins if not name.startswith(CARRIED)})


def _join_pins(pins: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join what is pinned of one document under several refs."""
    values = {name: value for pin in pins for name, value in pin["values"].items()}
    persons = list_pinned_persons({str(index): pin for index, pin in enumerate(pins)})
    return {**pins[0], "values": values, "responsible": sorted(persons)}


def list_pinned_persons(pins: Pins) -> ResponsiblePersons:
    """Return who last changed what is pinned: they count as editors of what is decided about."""
    return frozenset(person for pin in pins.values() for person in pin.get("responsible", ()))


def list_changed_by(pins: Pins, person: str) -> list[str]:
    """List the documents that the person last changed, each by its type and with its path and fields."""
    return [
        f"{pin['entity_type']}: {', '.join(f'{ref}.{field}' for field in sorted(pin['values']))}"
        for ref, pin in sorted(pins.items())
        if person in pin.get("responsible", ())
    ]


def _is_absent(pin: Mapping[str, Any]) -> bool:
    return pin["version"] is None and POINTED_BEHIND not in pin
