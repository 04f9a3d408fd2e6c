"""Routes of definitions: patches and automations from draft to published, and the compiled ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import (
    PAGE,
    Cursor,
    Id,
    IfMatch,
    IfMatchAtWill,
    Limit,
    PathId,
    parse_version,
    require_version,
)
from signet.api.http.proposed_changes import show_proposed
from signet.api.http.routing import Routes
from signet.core.compiler.patch import MAX_NODES, Automation, Patch
from signet.core.validation.strict_model import Strict
from signet.core.validation.text import NAME_PATTERN
from signet.engine.control.drafts import PutForward
from signet.engine.control.proposals import ControlChange
from signet.engine.definitions.archive import Archived
from signet.engine.definitions.definitions import Draft, Published
from signet.engine.definitions.queries import (
    DefinitionFilters,
    DefinitionKind,
    DefinitionRecord,
    DefinitionSummary,
    Status,
)

DEFINITION = "/v1/definitions/<definition_id>"
MAX_PLACE = 1_000_000
FindingCode = Annotated[str, Field(pattern="^[A-Z][A-Z_]{0,79}$")]


class Archiving(Strict):
    """The codes of the findings that are accepted, and why it is done."""

    accept: list[FindingCode] = Field(default_factory=list, max_length=20)
    reason: str | None = None


class Publishing(Strict):
    """The name of the patch that goes out of force by it, where new documents run another one.

    `accept` are the codes of findings that must be accepted: `ASKS_NOBODY`, `TEXT_UNCLEAR`.
    """

    replaces: Annotated[str | None, Field(pattern=NAME_PATTERN)] = None
    accept: list[FindingCode] = Field(default_factory=list, max_length=20)


NodeName = Annotated[str, Field(pattern=r"^[!-~]{1,300}$")]
Coordinate = Annotated[float, Field(ge=-MAX_PLACE, le=MAX_PLACE, allow_inf_nan=False)]
Position = Annotated[tuple[Coordinate, Coordinate], Field(strict=False)]
Positions = Annotated[Mapping[NodeName, Position], Field(max_length=MAX_NODES)]
QueryName = Annotated[str | None, Query(pattern=NAME_PATTERN)]


class NewCanvas(Strict):
    positions: Annotated[Positions, Field(description="The place of each node, across and down.")]


@dataclass(frozen=True, slots=True)
class Canvas:
    """Positions of the nodes in an editor; nothing that runs depends on them."""

    positions: Mapping[str, Any]


def add_definition_routes(routes: Routes) -> None:
    _add_reads(routes)
    _add_drafts(routes)
    _add_acts(routes)
    _add_proposed_acts(routes)


def _add_reads(routes: Routes) -> None:
    @routes.get("/v1/definitions", "The definitions, the newest first", Page[DefinitionSummary])
    def list_definitions(
        call: Call,
        kind: Annotated[DefinitionKind | None, Query()] = None,
        entity_type: QueryName = None,
        status: Annotated[Status | None, Query()] = None,
        name: QueryName = None,
        source_id: Annotated[
            Id | None, Query(description="Only definitions that were compiled from this patch.")
        ] = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[DefinitionSummary]:
        filters = DefinitionFilters(kind, entity_type, status, name, source_id)
        signed = ["definitions", filters]
        before = parse_position(cursor, signed, UUID)
        records = call.use.definitions_read.list(call.principal, filters, before=before, limit=limit + 1)
        return make_page(records, limit, lambda record: [record.id], signed)

    @routes.get(DEFINITION, "One definition", DefinitionRecord, is_versioned=True)
    def get_definition(call: Call, definition_id: PathId) -> HttpAnswer:
        record = call.use.definitions_read.read(call.principal, definition_id)
        return HttpAnswer(record, version=record.revision)

    @routes.get(
        f"{DEFINITION}/versions", "All versions of a definition, by its name", Page[DefinitionSummary]
    )
    def list_definition_versions(
        call: Call, definition_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[DefinitionSummary]:
        """List versions, the newest first."""
        filters = ["definition_versions", definition_id]
        before = parse_position(cursor, filters, int)
        records = call.use.definitions_read.list_versions(
            call.principal, definition_id, before=before, limit=limit + 1
        )
        return make_page(records, limit, lambda record: [record.version], filters)

    @routes.get(f"{DEFINITION}/canvas", "The places of its nodes in an editor", Canvas, is_versioned=True)
    def get_canvas(call: Call, definition_id: PathId) -> HttpAnswer:
        positions, version = call.use.definitions_read.read_canvas(call.principal, definition_id)
        return HttpAnswer(Canvas(positions), version=version)


def _add_drafts(routes: Routes) -> None:
    @routes.post(
        "/v1/definitions",
        "Save a patch or an automation as a draft",
        Draft,
        status=201,
        is_versioned=True,
        body_model=Patch | Automation,
        large_bodies_want="definition:edit",
    )
    def create_definition(call: Call, document: Annotated[Mapping[str, Any], Body()]) -> HttpAnswer:
        """Save a draft of the next version of its name; only publishing refuses a wrong one."""
        kind = "automation" if "automation" in document else "org_patch"
        record = call.use.definitions.create(call.caller, kind, document)
        return HttpAnswer(record, 201, record.revision, f"/v1/definitions/{record.id}")

    @routes.put(
        DEFINITION,
        "Replace a draft",
        Draft,
        is_versioned=True,
        body_model=Patch | Automation,
        large_bodies_want="definition:edit",
    )
    def replace_definition(
        call: Call,
        definition_id: PathId,
        document: Annotated[Mapping[str, Any], Body()],
        if_match: IfMatch = None,
    ) -> HttpAnswer:
        seen = require_version(if_match)
        saved = call.use.definitions.replace(call.caller, definition_id, seen, document)
        return HttpAnswer(saved, version=saved.revision)

    @routes.delete(DEFINITION, "Delete a draft")
    def delete_definition(call: Call, definition_id: PathId, if_match: IfMatch = None) -> HttpAnswer:
        call.use.definitions.delete(call.caller, definition_id, require_version(if_match))
        return HttpAnswer(status=204)

    @routes.put(
        f"{DEFINITION}/canvas",
        "Set the places of its nodes in an editor",
        Canvas,
        is_versioned=True,
        large_bodies_want="definition:edit",
    )
    def put_canvas(
        call: Call, definition_id: PathId, canvas: Annotated[NewCanvas, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Replace the positions of a draft or a published definition. They are part of no hash."""
        seen = require_version(if_match)
        version = call.use.definitions.move_canvas(call.caller, definition_id, canvas.positions, seen)
        return HttpAnswer(Canvas(canvas.positions), version=version)


def _add_acts(routes: Routes) -> None:
    @routes.post(
        f"{DEFINITION}/put_forward", "Put a draft forward for publication, as its author", PutForward
    )
    def put_definition_forward(call: Call, definition_id: PathId, if_match: IfMatch = None) -> PutForward:
        """Say that exactly this text may be published. Another person publishes it."""
        return call.use.definitions.put_forward(call.caller, definition_id, require_version(if_match))

    @routes.post(f"{DEFINITION}/publish", "Compile and freeze a draft; new documents run it", Published)
    def publish_definition(
        call: Call,
        definition_id: PathId,
        publishing: Annotated[Publishing | None, Body()] = None,
        if_match: IfMatch = None,
    ) -> Published:
        """Publish a draft and answer the definition that runs: for a patch, its effective workflow.

        One patch of a type is in force. Another one is published only where `replaces` names it.
        """
        asked, seen = publishing or Publishing(), require_version(if_match)
        return call.use.definitions.publish(
            call.caller, definition_id, seen, replaces=asked.replaces, accepted=asked.accept
        )


def _add_proposed_acts(routes: Routes) -> None:
    """Add the acts that another person confirms, where the tenant wants two."""

    @routes.post(
        f"{DEFINITION}/archive",
        "Keep new documents from it; what runs goes on",
        Archived,
        also={202: ControlChange},
    )
    def archive_definition(
        call: Call,
        definition_id: PathId,
        archiving: Annotated[Archiving | None, Body()] = None,
        if_match: IfMatchAtWill = None,
    ) -> HttpAnswer:
        """Archive a definition; a patch takes the workflows compiled from it along.

        The findings say what new documents run instead. Their codes are sent as `accept`.
        """
        asked = archiving or Archiving()
        archived = call.use.definitions.archive(
            call.caller, definition_id, parse_version(if_match), accepted=asked.accept, reason=asked.reason
        )
        return show_proposed(archived) if isinstance(archived, ControlChange) else HttpAnswer(archived)

    @routes.post(
        f"{DEFINITION}/roll_back",
        "Publish its content again, as a new version",
        Published,
        also={202: ControlChange},
    )
    def roll_back_definition(call: Call, definition_id: PathId) -> HttpAnswer:
        return _show(call.use.definitions.roll_back(call.caller, definition_id))

    @routes.post(
        f"{DEFINITION}/recompile",
        "Compile an effective workflow again",
        Published,
        also={202: ControlChange},
    )
    def recompile_definition(call: Call, definition_id: PathId) -> HttpAnswer:
        """Compile again with a new compiler; the old workflow stays as it ran."""
        return _show(call.use.definitions.recompile(call.caller, definition_id))


def _show(published: Published | ControlChange) -> HttpAnswer:
    return show_proposed(published) if isinstance(published, ControlChange) else HttpAnswer(published)
