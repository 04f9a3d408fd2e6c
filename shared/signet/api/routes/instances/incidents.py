"""Routes of incidents: what is held, by its cause, with the acts that repair it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Literal
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import AfterValidator, Field

from signet.api.http.bulk_outcomes import BulkOutcomes, show_outcome, show_outcomes
from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, Id, IfMatch, Limit, PathId, check_text, require_version
from signet.api.http.routing import Routes
from signet.api.routes.instances.actions import (
    MAX_TOKEN_CHARACTERS,
    Advance,
    DryRun,
    OfToken,
    OperatorAct,
    Why,
    declare_act,
    show_act,
)
from signet.core.tenants.user_id import UserId
from signet.core.validation.strict_model import Strict
from signet.core.validation.text import NAME_PATTERN
from signet.engine.instances.actions import InstanceState
from signet.engine.instances.incidents import (
    MAX_NOTE_CHARACTERS,
    Incident,
    IncidentFilter,
    IncidentGroupRow,
)

MAX_NODE_CHARACTERS = 300
MAX_PERSON_CHARACTERS = 200
CODE_PATTERN = r"^[A-Z][A-Z0-9_]{1,99}$"
Code = Annotated[str | None, Query(pattern=CODE_PATTERN, description="Only incidents with this code.")]
Kind = Annotated[
    Literal["business", "configuration", "outside", "defect"] | None,
    Query(description="Only incidents whose cause is on this side."),
]
Node = Annotated[
    str | None,
    AfterValidator(lambda text: text if text is None else check_text(text)),
    Query(min_length=1, max_length=MAX_NODE_CHARACTERS),
]
Endpoint = Annotated[str | None, Query(pattern=NAME_PATTERN)]
EntityType = Annotated[str | None, Query(pattern=NAME_PATTERN)]
DocumentId = Annotated[Id | None, Query(description="Only incidents of this document.")]
InstanceId = Annotated[Id | None, Query(description="Only incidents of this instance.")]
Assignee = Annotated[
    str | None,
    AfterValidator(lambda text: text if text is None else check_text(text)),
    Query(min_length=1, max_length=MAX_PERSON_CHARACTERS),
]
Status = Annotated[Literal["open", "closed"], Query(description="`open` incidents still want a person.")]


class GoTo(OperatorAct):
    node: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_TOKEN_CHARACTERS,
            description="One of the targets that the incident names.",
        ),
    ]


class Care(Strict):
    """The care for an incident; null takes it away."""

    assignee: UserId | None
    note: Annotated[str | None, Field(max_length=MAX_NOTE_CHARACTERS)]


class RetryOfIncidents(Strict):
    """The cause whose open incidents are retried."""

    code: Annotated[str, Field(pattern=CODE_PATTERN)]
    node: Annotated[
        Annotated[str, AfterValidator(check_text)] | None, Field(min_length=1, max_length=MAX_NODE_CHARACTERS)
    ] = None
    endpoint: Annotated[str | None, Field(pattern=NAME_PATTERN)] = None
    entity_type: Annotated[str | None, Field(pattern=NAME_PATTERN)] = None
    reason: Why
    dry_run: DryRun = False


@dataclass(frozen=True, slots=True)
class IncidentGroups:
    """Open incidents by cause, the largest group first."""

    items: Sequence[IncidentGroupRow]


def add_incident_routes(routes: Routes) -> None:
    @routes.get("/v1/incidents", "Incidents, the newest first", Page[Incident])
    def list_incidents(
        call: Call,
        status: Status = "open",
        code: Code = None,
        kind: Kind = None,
        node: Node = None,
        endpoint: Endpoint = None,
        entity_type: EntityType = None,
        document_id: DocumentId = None,
        instance_id: InstanceId = None,
        assignee: Assignee = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[Incident]:
        """List incidents, each with the acts that the server would accept now."""
        wanted = IncidentFilter(
            status == "open", code, kind, node, endpoint, entity_type, document_id, instance_id, assignee
        )
        filters = asdict(wanted)
        before = parse_position(cursor, filters, UUID)
        found = call.use.incidents.list_newest(call.principal, wanted, before=before, limit=limit + 1)
        return make_page(found, limit, lambda incident: (incident.id,), filters)

    @routes.get("/v1/incidents/groups", "Open incidents by their cause", IncidentGroups)
    def list_incident_groups(call: Call) -> IncidentGroups:
        """List the causes of open incidents: a code, at a node, with an endpoint."""
        return IncidentGroups(call.use.incidents.list_groups(call.principal))

    @routes.post("/v1/incidents/retry", "Retry all that have one cause", BulkOutcomes[InstanceState])
    def retry_incidents(
        call: Call, asked: Annotated[RetryOfIncidents, Body()]
    ) -> BulkOutcomes[InstanceState]:
        """Retry up to 100 instances with open incidents of one cause; a refusal stops no other."""
        wanted = IncidentFilter(
            True, asked.code, node=asked.node, endpoint=asked.endpoint, entity_type=asked.entity_type
        )
        outcomes = call.use.incidents.retry_many(call.caller, wanted, asked.reason, dry_run=asked.dry_run)
        return show_outcomes(
            show_outcome(call, index, instance_id, outcome, is_dry_run=asked.dry_run)
            for index, (instance_id, outcome) in enumerate(outcomes)
        )

    @routes.get("/v1/incidents/<incident_id>", "One incident", Incident)
    def read_incident(call: Call, incident_id: PathId) -> Incident:
        """Read an incident with the acts that the server would accept now."""
        return call.use.incidents.read(call.principal, incident_id)

    @routes.post("/v1/incidents/<incident_id>/acknowledge", "Acknowledge an incident", Incident)
    def acknowledge_incident(call: Call, incident_id: PathId) -> Incident:
        """Acknowledge an open incident; the first who does is kept."""
        return call.use.incidents.acknowledge(call.caller, incident_id)

    @routes.put("/v1/incidents/<incident_id>/care", "Name who looks after it, and keep a note", Incident)
    def care_for_incident(call: Call, incident_id: PathId, asked: Annotated[Care, Body()]) -> Incident:
        """Set the assignee and the note of an open incident; null takes either away."""
        return call.use.incidents.assign(call.caller, incident_id, asked.assignee, asked.note)


def add_repair_routes(routes: Routes) -> None:
    """Add the acts that repair what is held."""
    post = declare_act(routes)

    @post("skip", "Skip a node that failed or cannot act", large_bodies_want="workflow:skip")
    def skip_instance_node(
        call: Call, instance_id: PathId, asked: Annotated[Advance, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Skip the node of a held token as if it had acted, with this answer; never an approval or a gate."""
        version = require_version(if_match)
        skip, token = call.use.repairs.skip, asked.token
        state = skip(
            call.caller, instance_id, version, token, asked.reason, asked.payload, dry_run=asked.dry_run
        )
        return show_act(state, version, asked)

    @post("go_to", "Send an instance back, or to the state of its document")
    def send_instance(
        call: Call, instance_id: PathId, asked: Annotated[GoTo, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Send an instance to a node; approvals that were given on the way it leaves count no more."""
        version = require_version(if_match)
        state = call.use.repairs.go_to(
            call.caller, instance_id, version, asked.node, asked.reason, dry_run=asked.dry_run
        )
        return show_act(state, version, asked)

    @post("ask_again", "Ask the people of an approval again")
    def ask_people_again(
        call: Call, instance_id: PathId, asked: Annotated[OfToken, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Void what people are asked at a node, and ask again by the chain and the roles of today."""
        version = require_version(if_match)
        state = call.use.repairs.ask_again(
            call.caller, instance_id, version, asked.token, asked.reason, dry_run=asked.dry_run
        )
        return show_act(state, version, asked)
