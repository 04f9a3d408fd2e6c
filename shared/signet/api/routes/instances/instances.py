"""Routes of instances: lists, and one with its tokens, steps, history, graph and explanation."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import AfterValidator, BeforeValidator

from signet.api.http.call import Call, HttpAnswer, show_record
from signet.api.http.cursors import Page, make_page, parse_cursor, parse_position
from signet.api.http.parameters import PAGE, Cursor, Id, Limit, PathId, check_text
from signet.api.http.routing import Routes
from signet.core.validation.text import NAME_PATTERN, normalise_timestamp
from signet.engine.instances.lists import ENDED, IDLE_SECONDS, LIVE, Stuck
from signet.engine.instances.queries import (
    Explained,
    HistoryEntry,
    Instance,
    InstanceFilter,
    InstanceGraph,
    InstanceStep,
    InstanceTokens,
    ListedInstance,
)

MAX_NODE_CHARACTERS = 300
MAX_IDLE_SECONDS = 10 * 366 * 86_400
INSTANCE = "/v1/instances/<instance_id>"


def _parse_time(text: Any) -> Any:
    """Parse a time, because pydantic would also take numbers and times without a zone."""
    moment = normalise_timestamp(text) if isinstance(text, str) else text
    if moment is None:
        raise ValueError("wants a moment with its offset, such as 2026-01-31T12:00:00Z")
    return moment


Moment = Annotated[datetime, BeforeValidator(_parse_time)]
Status = Annotated[
    Literal["live", "ended", "running", "paused", "completed", "failed", "cancelled"] | None,
    Query(description="`live` is running or paused, `ended` is all others."),
]
Workflow = Annotated[
    str | None,
    Query(pattern=NAME_PATTERN, description="Only instances of this workflow, in all its versions."),
]
DefinitionId = Annotated[Id | None, Query(description="Only instances of this version of a workflow.")]
EntityType = Annotated[str | None, Query(pattern=NAME_PATTERN)]
DocumentId = Annotated[Id | None, Query(description="Only instances of this document.")]
Node = Annotated[
    str | None,
    AfterValidator(lambda text: text if text is None else check_text(text)),
    Query(
        min_length=1, max_length=MAX_NODE_CHARACTERS, description="Only instances with a token at this node."
    ),
]
StartedBefore = Annotated[Moment | None, Query()]
UpdatedBefore = Annotated[
    Moment | None, Query(description="Only instances to which nothing has happened since.")
]
IdleSeconds = Annotated[
    float,
    Query(
        ge=0,
        le=MAX_IDLE_SECONDS,
        allow_inf_nan=False,
        description="Only instances to which nothing has happened for so many seconds.",
    ),
]


def add_instance_lists(routes: Routes) -> None:
    @routes.get("/v1/instances", "Instances, the newest first", Page[ListedInstance])
    def list_instances(
        call: Call,
        status: Status = None,
        workflow: Workflow = None,
        definition_id: DefinitionId = None,
        entity_type: EntityType = None,
        document_id: DocumentId = None,
        node: Node = None,
        started_before: StartedBefore = None,
        updated_before: UpdatedBefore = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[ListedInstance]:
        """List instances that match all given filters."""
        wanted = InstanceFilter(
            _list_statuses(status),
            subject_id=None if document_id is None else str(document_id),
            workflow=workflow,
            definition_id=definition_id,
            entity_type=entity_type,
            node=node,
            started_before=started_before,
            updated_before=updated_before,
        )
        filters = asdict(wanted)
        before = parse_position(cursor, filters, UUID)
        records = call.use.instances_read.list_newest(call.principal, wanted, before=before, limit=limit + 1)
        return make_page(records, limit, lambda record: (record.id,), filters)

    @routes.get("/v1/instances/stuck", "Instances that nothing will wake", Page[Stuck])
    def list_stuck_instances(
        call: Call, idle_seconds: IdleSeconds = IDLE_SECONDS, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[Stuck]:
        """List instances that neither wait nor are paused, and that nothing will wake.

        The longest stuck come first. Each has remedies that may help, the likeliest first.
        """
        filters = ["stuck", idle_seconds]
        place = parse_cursor(cursor, filters, datetime, UUID)
        after = (place[0], place[1]) if place else None
        list_stuck = call.use.instances_read.list_stuck
        stuck = list_stuck(call.principal, idle_seconds=idle_seconds, after=after, limit=limit + 1)
        return make_page(stuck, limit, lambda one: (one.idle_since, one.id), filters)


def add_instance_routes(routes: Routes) -> None:
    @routes.get(INSTANCE, "One instance", Instance, is_versioned=True)
    def get_instance(call: Call, instance_id: PathId) -> HttpAnswer:
        return show_record(call.use.instances_read.read(call.principal, instance_id))

    @routes.get(
        f"{INSTANCE}/tokens",
        "The tokens of an instance, and what they wait for",
        InstanceTokens,
        is_versioned=True,
    )
    def list_instance_tokens(call: Call, instance_id: PathId) -> HttpAnswer:
        return show_record(call.use.instances_read.list_tokens(call.principal, instance_id))

    @routes.get(f"{INSTANCE}/steps", "The steps of an instance, from the first on", Page[InstanceStep])
    def list_instance_steps(
        call: Call, instance_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[InstanceStep]:
        """List executed steps with the evidence of each decision.

        Steps of control are what people and the engine did to the instance.
        """
        filters = ["steps", str(instance_id)]
        after = parse_position(cursor, filters, int) or 0
        records = call.use.instances_read.list_steps(
            call.principal, instance_id, after=after, limit=limit + 1
        )
        return make_page(records, limit, lambda step: (step.seq,), filters)

    @routes.get(
        f"{INSTANCE}/history", "The history of an instance, from its beginning on", Page[HistoryEntry]
    )
    def list_instance_history(
        call: Call, instance_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[HistoryEntry]:
        filters = ["history", str(instance_id)]
        place = parse_cursor(cursor, filters, datetime, UUID)
        after = (place[0], place[1]) if place else None
        records = call.use.instances_read.list_history(
            call.principal, instance_id, after=after, limit=limit + 1
        )
        return make_page(records, limit, lambda entry: (entry.at, entry.id), filters)

    @routes.get(f"{INSTANCE}/graph", "The graph of an instance, and how far it has come", InstanceGraph)
    def draw_instance(call: Call, instance_id: PathId) -> InstanceGraph:
        """Draw the graph, with the positions of the nodes in its editor."""
        return call.use.instances_read.draw(call.principal, instance_id)

    @routes.get(f"{INSTANCE}/explain", "Explain why an instance is where it is", Explained)
    def explain_instance(call: Call, instance_id: PathId) -> Explained:
        """Explain an instance from its record alone.

        The answer names the evaluated conditions, what they read, and what would move the instance.
        """
        return call.use.instances_read.explain(call.principal, instance_id)


def _list_statuses(status: str | None) -> Sequence[str]:
    match status:
        case None:
            return [*LIVE, *ENDED]
        case "live":
            return LIVE
        case "ended":
            return ENDED
        case one:
            return [one]
