"""The preview of a definition before anybody runs it: compiled, drawn, explained, compared.

Nothing is written. A draft is compiled now; a published definition is taken as it was compiled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired
from uuid import UUID

from typing_extensions import TypedDict

from signet.core.compiler.artifact import Artifact, parse_artifact
from signet.core.compiler.compiler import compile_body
from signet.core.compiler.graph import ENVELOPE
from signet.core.contracts.contract import Contract
from signet.core.control.authorship import ControlAuthors
from signet.core.diagrams.mermaid import draw
from signet.core.errors import Rejected
from signet.core.explain.artifact_reader import WorkflowReading
from signet.core.explain.definition import explain_in_text
from signet.core.previews.comparison import draw_differences, write_differences
from signet.core.tenants.principal import SERVICE_PREFIX, Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.control.authorship import read_control_of_artifact
from signet.engine.definitions.compilation import (
    is_large_contract,
    read_settings,
    read_subject,
    require_contract,
    require_definition,
)
from signet.engine.definitions.definitions import READ
from signet.engine.definitions.heavy_calls import (
    IN_PLACE,
    LARGE_ARTIFACT_BYTES,
    HeavyCalls,
    choose_place,
    require_turn,
)
from signet.store.database import Database
from signet.store.definitions.read import list_readers
from signet.store.definitions.write import DefinitionRow, list_effective_of_patch, read_compiled
from signet.store.definitions.write import find_definition as find_row
from signet.store.tenants.machine_labels import read_machine_labels


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a compiled workflow; `slot` is null in the envelope."""

    id: str
    type: str
    label: str
    slot: str | None
    edit_window: str
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge; `on` is the outcome that it follows.

    Of several edges the first whose condition holds is taken, by `priority`.
    """

    id: str
    source: str
    target: str
    on: str
    role: str
    priority: int
    condition: str | None
    transition: str | None
    label: str
    slot: str | None


@dataclass(frozen=True, slots=True)
class WorkflowGraph:
    """A compiled workflow; its nodes are in the order in which a document comes to them."""

    kind: str
    name: str
    hash: str
    nodes: Sequence[GraphNode]
    edges: Sequence[GraphEdge]


@dataclass(frozen=True, slots=True)
class Flowchart:
    """A flowchart for Mermaid."""

    mermaid: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation in plain English that a person could sign; `control` names its authors."""

    text: str
    control: ControlAuthors


class ComparedSide(TypedDict):
    name: str
    kind: str
    hash: str


class ComparedChange(TypedDict):
    """A changed value by its JSON pointer; a side without the value is left out."""

    pointer: str
    before: NotRequired[Any]
    after: NotRequired[Any]


class DiffThing(TypedDict):
    id: str
    mark: str
    before: NotRequired[dict[str, Any]]
    after: NotRequired[dict[str, Any]]
    changes: NotRequired[list[ComparedChange]]


class DiffWindow(TypedDict):
    before: str
    after: str
    stricter: bool


class DiffSlot(TypedDict):
    """The differences of one slot; `slot` is its name, or `envelope`."""

    slot: str
    nodes: list[DiffThing]
    edges: list[DiffThing]
    edit_window: NotRequired[DiffWindow]


class DiffCounts(TypedDict):
    added: int
    removed: int
    modified: int


class DiffReport(TypedDict):
    before: ComparedSide
    after: ComparedSide
    counts: DiffCounts
    changes: list[ComparedChange]
    slots: list[DiffSlot]


@dataclass(frozen=True, slots=True)
class DefinitionPreview:
    database: Database
    calls: HeavyCalls = IN_PLACE

    def compile(self, principal: Principal, definition_id: UUID) -> str:
        """Return the report of a compilation as JSON, for it may be long and was written elsewhere."""
        with reading(self.database, principal) as read:
            definition = require_readable(read, definition_id)
            subject = read_subject(read.connection, principal.tenant_id, definition, self.calls)
            return subject.report(read.connection, principal.tenant_id)

    def show_graph(self, principal: Principal, definition_id: UUID) -> WorkflowGraph:
        with reading(self.database, principal) as read:
            return _show_graph(read_workflow(read, require_readable(read, definition_id), self.calls))

    def draw(self, principal: Principal, definition_id: UUID) -> Flowchart:
        with reading(self.database, principal) as read:
            artifact = read_workflow(read, require_readable(read, definition_id), self.calls)
            return Flowchart(draw(artifact.content))

    def explain(self, principal: Principal, definition_id: UUID) -> Explanation:
        with reading(self.database, principal) as read:
            definition = require_readable(read, definition_id)
            artifact = read_workflow(read, definition, self.calls, for_heavy=True)
            control = read_control_of_artifact(read.connection, principal.tenant_id, definition.id, artifact)
            named = {node["config"].get("service_account") for node in artifact.content["nodes"].values()}
            subjects = [f"{SERVICE_PREFIX}{name}" for name in named if name is not None]
            machines = read_machine_labels(read.connection, principal.tenant_id, subjects)
            contract, is_draft = read_contract_of(read, artifact), definition.status == "draft"
            place = self._choose_place(read, artifact)
            is_read = bool(list_readers(read.connection, principal.tenant_id, definition.entity_type, 1))
            explained = artifact, contract, control, machines
            text = place.call(explain_in_text, *explained, is_draft=is_draft, is_read=is_read)
        return Explanation(text, control)

    def diff(self, principal: Principal, definition_id: UUID, against: UUID | None) -> str:
        """Return the differences as JSON, a `DiffReport`."""
        with reading(self.database, principal) as read:
            before, after = self._read_both(read, definition_id, against)
            place = self._choose_place(read, before, after)
            return place.call(write_differences, before, after)

    def draw_diff(self, principal: Principal, definition_id: UUID, against: UUID | None) -> Flowchart:
        with reading(self.database, principal) as read:
            before, after = self._read_both(read, definition_id, against)
            place = self._choose_place(read, before, after)
            return Flowchart(place.call(draw_differences, before, after))

    def _read_both(
        self, read: ReadTransaction, definition_id: UUID, against: UUID | None
    ) -> tuple[Artifact, Artifact]:
        """Read both sides. The older one is `against`, or else the envelope with nothing in its slots."""
        after = read_workflow(read, require_readable(read, definition_id), self.calls, for_heavy=True)
        if against is not None:
            older = require_readable(read, against)
            return read_workflow(read, older, self.calls, for_heavy=True), after
        return _read_bare(read, after, self.calls), after

    def _choose_place(self, read: ReadTransaction, *artifacts: Artifact) -> HeavyCalls:
        return choose_place(
            self.calls, read.connection, read.principal.tenant_id, is_large=are_large(artifacts)
        )


def are_large(artifacts: Sequence[Artifact]) -> bool:
    return sum(len(artifact.text) for artifact in artifacts) > LARGE_ARTIFACT_BYTES


def read_workflow(
    read: ReadTransaction, definition: DefinitionRow, calls: HeavyCalls, *, for_heavy: bool = False
) -> Artifact:
    """Read the artifact that was published, or compile a draft now; raise every error if it fails.

    One that is read for a heavy call is not parsed before the call has its turn.
    """
    connection, tenant_id = read.connection, read.principal.tenant_id
    if definition.definition_kind == "org_patch" and definition.status != "draft":
        effective_ids = list_effective_of_patch(connection, tenant_id, definition.id)
        effective = find_row(connection, tenant_id, effective_ids[0]) if effective_ids else None
        definition = effective or definition
    stored = read_compiled(connection, tenant_id, definition.id, definition.version)
    if stored is not None:
        if for_heavy and len(stored[0]) > LARGE_ARTIFACT_BYTES:
            require_turn(connection, tenant_id)
        return parse_artifact(*stored)
    subject = read_subject(connection, tenant_id, definition, calls)
    return subject.require_artifact(subject.compile())[0]


def read_contract_of(read: ReadTransaction, artifact: Artifact) -> Contract | None:
    """Read the contract that it was compiled for. An automation has None, since none is pinned."""
    pinned, tenant_id = artifact.content.get("contract"), read.principal.tenant_id
    if pinned is None:
        return None
    return require_contract(read.connection, tenant_id, artifact.content["entity_type"], pinned["version"])


def require_readable(read: ReadTransaction, definition_id: UUID) -> DefinitionRow:
    read.require(READ)
    return require_definition(read.connection, read.principal.tenant_id, definition_id)


def _read_bare(read: ReadTransaction, artifact: Artifact, calls: HeavyCalls) -> Artifact:
    contract = read_contract_of(read, artifact)
    if contract is None:
        raise Rejected(
            "DEFINITION_INVALID",
            "an automation has no envelope to compare it with",
            remedy="Name another definition in `against`.",
        )
    settings = read_settings(read.connection, read.principal.tenant_id)
    tenant_id, is_large = read.principal.tenant_id, is_large_contract(contract)
    place = choose_place(calls, read.connection, tenant_id, is_large=is_large)
    bare = place.call(compile_body, None, contract, settings).artifact
    if bare is None:
        raise Rejected("DEFINITION_INVALID", "under the tenant's settings the envelope does not compile")
    return bare


def _show_graph(artifact: Artifact) -> WorkflowGraph:
    content, workflow = artifact.content, WorkflowReading(artifact.content)
    slots, edges = content["slot_map"], content["edges"]
    return WorkflowGraph(
        kind=content["kind"],
        name=content["name"],
        hash=artifact.hash,
        nodes=[
            GraphNode(
                node_id,
                workflow.type_of(node_id),
                workflow.nodes[node_id].get("label", ""),
                slots.get(node_id),
                workflow.window_of(node_id),
                workflow.config_of(node_id),
            )
            for node_id in workflow.order
        ],
        edges=[_show_edge(edge_id, edges[edge_id]) for edge_id in sorted(edges)],
    )


def _show_edge(edge_id: str, edge: Mapping[str, Any]) -> GraphEdge:
    condition = edge.get("condition")
    return GraphEdge(
        id=edge_id,
        source=edge["source"],
        target=edge["target"],
        on=edge["on"],
        role=edge["role"],
        priority=edge["priority"],
        condition=condition["text"] if condition else None,
        transition=edge.get("transition"),
        label=edge.get("label", ""),
        slot=None if edge["provenance"] == ENVELOPE else edge["provenance"],
    )
