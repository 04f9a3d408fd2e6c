"""Routes that try definitions: compiled, drawn, explained, compared, simulated, and their impact."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import AwareDatetime, Field

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.parameters import Id, Named, PathId
from signet.api.http.routing import Routes
from signet.api.routes.definitions.definitions import DEFINITION
from signet.core.previews.compile_report import CompileReport
from signet.core.previews.simulation_report import SimulationReport
from signet.core.validation.strict_model import Permission, Strict
from signet.engine.definitions.designer.impact import Impact
from signet.engine.definitions.designer.preview import (
    DiffReport,
    Explanation,
    Flowchart,
    WorkflowGraph,
)
from signet.engine.definitions.designer.simulate import MAX_STEPS, SimulationInput

MAX_NAMED, MAX_REQUESTS, MAX_ROLES = 500, 100, 100
FIRST, LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
Against = Annotated[
    Id | None, Query(description="The definition to compare it with; by default the bare envelope.")
]
Text = Annotated[str, Field(min_length=1, max_length=300)]
ByNode = "By node: its id, the last part of its id, or * for every other node."


class NewSimulation(Strict):
    document: Annotated[Mapping[str, Any], Field(description="The data of the document.")] = {}
    start: Annotated[
        AwareDatetime | None,
        Field(strict=False, ge=FIRST, le=LAST, description="The time at the start; by default now."),
    ] = None
    birth: Literal["created", "amended"] = "created"
    requests: list[Named] = Field(
        default=[], max_length=MAX_REQUESTS, description="Transitions to ask for, in order."
    )
    approvals: Annotated[
        Mapping[Text, Literal["approved", "rejected", "expired"]],
        Field(max_length=MAX_NAMED, description=ByNode),
    ] = {}
    events: Annotated[
        Mapping[Text, Any],
        Field(max_length=MAX_NAMED, description="Events that arrive from outside, by key."),
    ] = {}
    effects: Annotated[
        Mapping[Text, Literal["delivered", "done", "error"]], Field(max_length=MAX_NAMED, description=ByNode)
    ] = {}
    outputs: Annotated[
        Mapping[Text, Any],
        Field(max_length=MAX_NAMED, description="The results of actions and endpoints, by name."),
    ] = {}
    rules: Annotated[
        Mapping[Text, bool],
        Field(max_length=MAX_NAMED, description="Whether each rule holds; by default it does."),
    ] = {}
    refs: Annotated[
        Mapping[Text, Mapping[str, Any]],
        Field(max_length=MAX_NAMED, description="The documents that refs lead to, by field."),
    ] = {}
    payload: Annotated[Any, Field(description="The payload of an automation's trigger.")] = None
    user_id: Annotated[str, Field(min_length=1, max_length=200)] = "simulated"
    roles: list[Named] = Field(default=[], max_length=MAX_ROLES)
    permissions: list[Permission] = Field(default=["*:*"], max_length=MAX_NAMED)
    max_steps: Annotated[int, Field(ge=1, le=MAX_STEPS)] = MAX_STEPS


def add_trial_routes(routes: Routes) -> None:
    @routes.post(f"{DEFINITION}/compile", "Compile, and write nothing", CompileReport, writes_nothing=True)
    def compile_definition(call: Call, definition_id: PathId) -> HttpAnswer:
        """Compile; answer all findings with their places in the source, or the hash if it compiles."""
        return HttpAnswer(call.use.definition_preview.compile(call.principal, definition_id), is_text=True)

    @routes.get(f"{DEFINITION}/graph", "The compiled graph", WorkflowGraph)
    def get_graph(call: Call, definition_id: PathId) -> WorkflowGraph:
        """Show the graph of a draft as it compiles now, or the stored graph of a published definition."""
        return call.use.definition_preview.show_graph(call.principal, definition_id)

    @routes.get(f"{DEFINITION}/mermaid", "The compiled graph as a flowchart", Flowchart)
    def draw_definition(call: Call, definition_id: PathId) -> Flowchart:
        return call.use.definition_preview.draw(call.principal, definition_id)

    @routes.get(f"{DEFINITION}/explanation", "An explanation in plain English", Explanation)
    def explain_definition(call: Call, definition_id: PathId) -> Explanation:
        return call.use.definition_preview.explain(call.principal, definition_id)

    @routes.get(f"{DEFINITION}/diff", "The differences, slot by slot", DiffReport)
    def diff_definitions(call: Call, definition_id: PathId, against: Against = None) -> HttpAnswer:
        differences = call.use.definition_preview.diff(call.principal, definition_id, against)
        return HttpAnswer(differences, is_text=True)

    @routes.get(f"{DEFINITION}/diff/mermaid", "The differences, as a coloured flowchart", Flowchart)
    def draw_diff(call: Call, definition_id: PathId, against: Against = None) -> Flowchart:
        return call.use.definition_preview.draw_diff(call.principal, definition_id, against)

    @routes.get(f"{DEFINITION}/impact", "The effect of its publication on what runs", Impact)
    def get_impact(call: Call, definition_id: PathId) -> Impact:
        return call.use.publication_impact.read(call.principal, definition_id)

    @routes.post(
        f"{DEFINITION}/simulate",
        "Run it in memory over one document",
        SimulationReport,
        writes_nothing=True,
        large_bodies_want="definition:read",
        is_heavy=True,
    )
    def simulate_definition(
        call: Call, definition_id: PathId, new: Annotated[NewSimulation, Body()]
    ) -> HttpAnswer:
        """Simulate until nothing is left to do, or everything waits for input that was not given."""
        simulation_input = SimulationInput(**{name: getattr(new, name) for name in SimulationInput.__slots__})
        report = call.use.definition_simulation.run(call.principal, definition_id, simulation_input)
        return HttpAnswer(report, is_text=True)
