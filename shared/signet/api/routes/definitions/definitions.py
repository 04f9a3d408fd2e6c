"""Definitions: patches and automations from draft to published, and what is compiled from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import Field

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, read_position
from signet.api.http.parameters import PAGE, Cursor, Id, IfMatch, Limit, PathId, require_version
from signet.api.http.routing import Routes
from signet.core.compiler.patch import MAX_NODES, Automation, Patch
from signet.core.validation.strict_model import Strict
from signet.core.validation.text import NAME_PATTERN
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
NodeName = Annotated[str, Field(pattern=r"^[!-~]{1,300}$")]
Coordinate = Annotated[float, Field(ge=-MAX_PLACE, le=MAX_PLACE, allow_inf_nan=False)]
Position = Annotated[tuple[Coordinate, Coordinate], Field(strict=False)]
Positions = Annotated[Mapping[NodeName, Position], Field(max_length=MAX_NODES)]
QueryName = Annotated[str | None, Query(pattern=NAME_PATTERN)]


class NewCanvas(Strict):
    positions: Annotated[Positions, Field(description="By node, across and down.")]


@dataclass(frozen=True, slots=True)
class Canvas:
    """Where an editor has the nodes; nothing that runs depends on it."""

    positions: Mapping[str, Any]


def add_definition_routes(routes: Routes) -> None:
    _add_reads(routes)
    _add_drafts(routes)
    _add_acts(routes)


def _add_reads(routes: Routes) -> None:
    @routes.get("/v1/definitions", "The definitions, the newest first", Page[DefinitionSummary])
    def list_definitions(
        call: Call,
        kind: Annotated[DefinitionKind | None, Query()] = None,
        entity_type: QueryName = None,
        status: Annotated[Status | None, Query()] = None,
        name: QueryName = None,
        source_id: Annotated[Id | None, Query(description="Compiled from this patch.")] = None,
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[DefinitionSummary]:
        filters = DefinitionFilters(kind, entity_type, status, name, source_id)
        signed = ["definitions", filters]
        before = read_position(cursor, signed, UUID)
        found = call.use.definitions_read.list(call.principal, filters, before=before, limit=limit + 1)
        return make_page(found, limit, lambda one: [one.id], signed)

    @routes.get(DEFINITION, "One definition", DefinitionRecord, is_versioned=True)
    def get_definition(call: Call, definition_id: PathId) -> HttpAnswer:
        found = call.use.definitions_read.read(call.principal, definition_id)
        return HttpAnswer(found, version=found.revision)

    @routes.get(f"{DEFINITION}/versions", "All versions under its name", Page[DefinitionSummary])
    def list_definition_versions(
        call: Call, definition_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[DefinitionSummary]:
        """The newest first."""
        filters = ["definition_versions", definition_id]
        before = read_position(cursor, filters, int)
        found = call.use.definitions_read.list_versions(
            call.principal, definition_id, before=before, limit=limit + 1
        )
        return make_page(found, limit, lambda one: [one.version], filters)

    @routes.get(f"{DEFINITION}/canvas", "Where an editor has its nodes", Canvas)
    def get_canvas(call: Call, definition_id: PathId) -> Canvas:
        return Canvas(call.use.definitions_read.read_canvas(call.principal, definition_id))


def _add_drafts(routes: Routes) -> None:
    @routes.post(
        "/v1/definitions",
        "Save a patch or an automation as a draft",
        Draft,
        status=201,
        is_versioned=True,
        body_model=Patch | Automation,
    )
    def create_definition(call: Call, document: Annotated[Mapping[str, Any], Body()]) -> HttpAnswer:
        """Of the next version of its name. It may still be wrong: only publishing insists."""
        kind = "automation" if "automation" in document else "org_patch"
        made = call.use.definitions.create(call.caller, kind, document)
        return HttpAnswer(made, 201, made.revision, f"/v1/definitions/{made.id}")

    @routes.put(DEFINITION, "Replace a draft", Draft, is_versioned=True, body_model=Patch | Automation)
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

    @routes.put(f"{DEFINITION}/canvas", "Say where an editor has its nodes", Canvas)
    def put_canvas(call: Call, definition_id: PathId, canvas: Annotated[NewCanvas, Body()]) -> Canvas:
        """Of drafts and of what is published alike: positions are part of no hash. The last one counts."""
        call.use.definitions.move_canvas(call.caller, definition_id, canvas.positions)
        return Canvas(canvas.positions)


def _add_acts(routes: Routes) -> None:
    @routes.post(f"{DEFINITION}/publish", "Compile and freeze a draft; new documents run it", Published)
    def publish_definition(call: Call, definition_id: PathId, if_match: IfMatch = None) -> Published:
        """What is answered is the definition that runs: of a patch, the effective workflow made of it."""
        return call.use.definitions.publish(call.caller, definition_id, require_version(if_match))

    @routes.post(f"{DEFINITION}/archive", "Have no new document run it; what runs goes on", None, status=204)
    def archive_definition(call: Call, definition_id: PathId) -> HttpAnswer:
        """A patch takes the workflows along that were made of it."""
        call.use.definitions.archive(call.caller, definition_id)
        return HttpAnswer(status=204)

    @routes.post(f"{DEFINITION}/roll_back", "Publish what it says again, as a new version", Published)
    def roll_back_definition(call: Call, definition_id: PathId) -> Published:
        return call.use.definitions.roll_back(call.caller, definition_id)

    @routes.post(f"{DEFINITION}/recompile", "Compile an effective workflow anew", Published)
    def recompile_definition(call: Call, definition_id: PathId) -> Published:
        """After a new compiler; the old one stays as it ran."""
        return call.use.definitions.recompile(call.caller, definition_id)
