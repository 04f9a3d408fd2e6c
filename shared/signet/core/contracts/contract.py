"""The contract of an entity type: what its documents hold, and every way in which their status may change."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field as Constraint
from pydantic import JsonValue

from signet.core.contracts.fields import Fields
from signet.core.validation.strict_model import ExpressionText, Label, Name, Permission, Strict, is_absent

MAX_STATES = 50
MAX_TRANSITIONS = 100
MAX_SLOTS = 100
MAX_ACTIONS = 200
MAX_REQUIRED_APPROVALS = 20
MAX_TITLE_FIELDS = 5
# The status of a document that an amendment replaced, and the pseudo state where its replacement begins.
AMENDED = "amended"
# The kinds of actions that may make documents.
MAKING = ("create", "python")
# The kinds that may change the document which they run on.
CHANGING = ("update", "python")
# The kinds that may read and write all there is: nobody knows what a function in Python does.
OPAQUE = ("python",)


class EditWindow(StrEnum):
    """The effect of an edit by a person while the document is here; each is stricter than the one before."""

    EDITABLE = "editable"
    AMEND_ONLY = "amend_only"
    LOCKED = "locked"

    @property
    def strictness(self) -> int:
        return _STRICTNESS[self]


_STRICTNESS = {window: rank for rank, window in enumerate(EditWindow)}


class State(Strict):
    edit: EditWindow
    label: Label = ""
    initial: bool = False
    # The workflow ends here but the document does not: it may be cancelled or amended later.
    settled: bool = False
    # The document never changes again.
    final: bool = False
    # Accepts that an edit here changes what people have approved, and asks nobody again.
    after_approval: Annotated[Literal["editable"] | None, Constraint(exclude_if=is_absent)] = None


class Transition(Strict):
    """A change of state, and its gate.

    `requested` by a person, `automatic` when the steps before it are done, `interrupting` from anywhere.
    """

    from_states: Annotated[tuple[Name, ...], Constraint(alias="from", min_length=1, max_length=MAX_STATES)]
    to: Name
    kind: Literal["requested", "automatic", "interrupting"]
    label: Label = ""
    permission: Permission | None = None
    condition: ExpressionText | None = None
    # A rejection sends the document here. Without it a request goes back where it began, and before an
    # automatic transition nothing may be rejected.
    rejected_to: Name | None = None
    reason_required: bool = False


class RequiredApprovals(Strict):
    """The approvals that no patch takes out of a slot: so many on each path through it.

    `distinct` wants as many persons, `role` counts only seats of the role.
    """

    approvals: Annotated[int, Constraint(ge=1, le=MAX_REQUIRED_APPROVALS)]
    distinct: bool = False
    role: Name | None = None


class Slot(Strict):
    """A region that tenants may fill: before a transition's gate, or between the gate and the new state."""

    transition: Name
    position: Literal["before", "after"] = "before"
    # Names the source state where a transition has several; `amended` is that of an amendment.
    from_state: Annotated[Name | None, Constraint(alias="from")] = None
    edit: EditWindow | None = None
    stable: bool | None = None
    label: Label = ""
    requires: Annotated[RequiredApprovals | None, Constraint(exclude_if=is_absent)] = None


class DeclaredAction(Strict):
    """A change that a workflow or a person may make by name."""

    kind: Literal["update", "create", "python"]
    label: Label = ""
    permission: Permission | None = None
    payload: Fields = {}
    output: Fields = {}
    # A template. update: the fields to set; create: the fields of the new document.
    set: Mapping[Name, JsonValue] = {}
    entity_type: Name | None = None
    # People may have it make documents again behind a decision, though nobody is asked again.
    repeats: Annotated[Literal["allowed"] | None, Constraint(exclude_if=is_absent)] = None


class Amendment(Strict):
    """A new document that replaces a settled one.

    `from` names the settled states where a person may ask for it. `while_open` says what the settled one is
    until the new one settles: in force, as it also is where nothing is said, or suspended.
    """

    from_states: Annotated[tuple[Name, ...], Constraint(alias="from", max_length=MAX_STATES)] = ()
    permission: Permission | None = None
    while_open: Annotated[Literal["in_force", "suspended"] | None, Constraint(exclude_if=is_absent)] = None


class SeparationOfDuties(Strict):
    """The exceptions to the rule that creators, editors and requesters of a document may not decide."""

    # Requests for these transitions are decisions too; approvals always are.
    deciding: Annotated[tuple[Name, ...], Constraint(max_length=MAX_TRANSITIONS)] = ()
    may_decide: Annotated[
        tuple[Literal["creator", "editor", "requester"], ...], Constraint(max_length=3)
    ] = ()


class IncidentNotice(Strict):
    """The role that is told of incidents of these documents, beside the person who asked."""

    role: Name


class Summary(Strict):
    """The fields that lists of approvals show of a document: its title, in this order, and its amount."""

    title: Annotated[tuple[Name, ...], Constraint(max_length=MAX_TITLE_FIELDS)] = ()
    amount: Name | None = None


class Contract(Strict):
    contract: Name  # the entity type
    version: Annotated[int, Constraint(ge=1, le=1_000_000)] = 1
    label: Label = ""
    fields: Fields
    states: Annotated[Mapping[Name, State], Constraint(min_length=1, max_length=MAX_STATES)]
    transitions: Annotated[Mapping[Name, Transition], Constraint(max_length=MAX_TRANSITIONS)] = {}
    slots: Annotated[Mapping[Name, Slot], Constraint(max_length=MAX_SLOTS)] = {}
    actions: Annotated[Mapping[Name, DeclaredAction], Constraint(max_length=MAX_ACTIONS)] = {}
    amendment: Amendment | None = None
    deletable_in: Annotated[tuple[Name, ...], Constraint(max_length=MAX_STATES)] = ()
    conditions: Annotated[Mapping[Permission, ExpressionText], Constraint(max_length=MAX_ACTIONS)] = {}
    separation_of_duties: SeparationOfDuties = SeparationOfDuties()
    on_incident: Annotated[IncidentNotice | None, Constraint(exclude_if=is_absent)] = None
    summary: Annotated[Summary | None, Constraint(exclude_if=is_absent)] = None

    @property
    def initial_state(self) -> str:
        return next(name for name, state in self.states.items() if state.initial)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON that is hashed. Lists of names whose order means nothing are sorted."""
        document = self.model_dump(mode="json", by_alias=True)
        for transition in document["transitions"].values():
            transition["from"].sort()
        if document["amendment"] is not None:
            document["amendment"]["from"].sort()
        document["deletable_in"].sort()
        for duty in document["separation_of_duties"].values():
            duty.sort()
        return document
