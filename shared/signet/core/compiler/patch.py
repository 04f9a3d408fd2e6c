"""The documents that tenants write: patches that fill slots, and automations with a trigger and a graph."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field as Constraint
from pydantic import JsonValue

from signet.core.automations.trigger import AutomationTrigger, Overlap, StartLimits
from signet.core.contracts.contract import EditWindow
from signet.core.contracts.fields import Fields
from signet.core.validation.strict_model import ExpressionText, Label, Name, Slug, Strict, is_absent

MAX_NODES = 2_000
MAX_EDGES = 6_000
MAX_PATCHED_SLOTS = 100
MAX_PRIORITY = 10_000

# The names of the slot's own ends in an author's edges.
SLOT_IN = "in"
SLOT_OUT = "out"
NodeReference = Annotated[str, Constraint(min_length=1, max_length=300)]


class PatchNode(Strict):
    """A node of an author. `id` is a slug, or in full `usr:<slot>:<slug>`.

    The configuration is checked by the node's type.
    """

    id: Annotated[str, Constraint(min_length=1, max_length=200)]
    type: Annotated[str, Constraint(max_length=40)]
    label: Label = ""
    config: Mapping[str, JsonValue] = {}


class PatchEdge(Strict):
    source: NodeReference
    target: NodeReference
    id: Slug | None = None
    # An outcome of the source's type, by default the first one.
    on: Annotated[str, Constraint(max_length=40)] | None = None
    condition: ExpressionText | None = None
    priority: Annotated[int, Constraint(ge=0, le=MAX_PRIORITY)] = 100
    # An exit leaves its parallel block early and cancels the block's other tokens.
    role: Literal["forward", "exit"] = "forward"
    label: Label = ""


class AcceptedRisks(Strict):
    """The risks that the author of a graph accepts by name. Each is a finding everywhere else."""

    # Joins whose block may cancel an approval before anybody decides.
    approval_can_be_lost: Annotated[tuple[NodeReference, ...], Constraint(max_length=MAX_NODES)] = ()


OptionalRisks = Annotated[AcceptedRisks | None, Constraint(exclude_if=is_absent)]


class SlotPatch(Strict):
    nodes: Annotated[tuple[PatchNode, ...], Constraint(min_length=1, max_length=MAX_NODES)]
    edges: Annotated[tuple[PatchEdge, ...], Constraint(max_length=MAX_EDGES)] = ()
    # serial: one node begins. branch: the first edge from `in` whose condition holds, with a default.
    entry: Literal["serial", "branch"] = "serial"
    # single: one node ends. join: every node without an edge to another leads out.
    exit: Literal["single", "join"] = "single"
    edit: EditWindow | None = None
    accepts: OptionalRisks = None


class BaseReference(Strict):
    entity_type: Name
    envelope_version: Annotated[int, Constraint(ge=1)]


class Patch(Strict):
    patch: Name
    label: Label = ""
    base: BaseReference
    variables: Fields = {}  # the types of `context` names that nodes save
    slots: Annotated[Mapping[Name, SlotPatch], Constraint(min_length=1, max_length=MAX_PATCHED_SLOTS)]


class Automation(Strict):
    automation: Name
    label: Label = ""
    version: Annotated[int, Constraint(ge=1, le=1_000_000)] = 1
    entity_type: Name | None = None
    trigger: AutomationTrigger
    payload: Fields = {}  # what the trigger brings
    variables: Fields = {}
    nodes: Annotated[tuple[PatchNode, ...], Constraint(min_length=1, max_length=MAX_NODES)]
    edges: Annotated[tuple[PatchEdge, ...], Constraint(max_length=MAX_EDGES)] = ()
    entry: Literal["serial", "branch"] = "serial"
    exit: Literal["single", "join"] = "single"
    accepts: OptionalRisks = None
    # Left out when absent, so that automations from before keep their hashes.
    overlap: Annotated[Overlap | None, Constraint(exclude_if=is_absent)] = None
    limits: Annotated[StartLimits | None, Constraint(exclude_if=is_absent)] = None

    def list_bounds(self) -> list[tuple[str, Strict]]:
        """List what bounds its starts, as far as its author says anything."""
        bounds = (("overlap", self.overlap), ("limits", self.limits))
        return [(name, bound) for name, bound in bounds if bound is not None]
