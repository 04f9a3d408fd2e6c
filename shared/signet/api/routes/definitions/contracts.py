"""Routes of contracts, from draft to published."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import PAGE, Cursor, IfMatch, Limit, PathName, PathVersion, require_version
from signet.api.http.routing import Routes
from signet.core.contracts.contract import Contract
from signet.engine.control.drafts import PutForward
from signet.engine.definitions.contracts import ContractDraft
from signet.engine.definitions.definitions import Published
from signet.engine.definitions.queries import ContractDiff, ContractRecord, ContractSummary

CONTRACT = "/v1/contracts/<entity_type>"
VERSION = f"{CONTRACT}/versions/<version>"
AgainstVersion = Annotated[
    int | None,
    Query(ge=1, le=1_000_000, description="The other version; by default the newest published one."),
]
InStatus = Annotated[
    Literal["published", "draft"], Query(description="The newest version of each type with this status.")
]


def add_contract_routes(routes: Routes) -> None:
    _add_reads(routes)
    _add_drafts(routes)
    _add_acts(routes)


def _add_drafts(routes: Routes) -> None:

    @routes.post(
        "/v1/contracts",
        "Save a contract as a draft",
        ContractDraft,
        status=201,
        is_versioned=True,
        body_model=Contract,
        large_bodies_want="contract:edit",
    )
    def create_contract(call: Call, document: Annotated[Mapping[str, Any], Body()]) -> HttpAnswer:
        """Save a draft of the version that the document names; all its findings are answered at once."""
        record = call.use.definitions.create_contract(call.caller, document)
        location = f"/v1/contracts/{record.entity_type}/versions/{record.version}"
        return HttpAnswer(record, 201, record.revision, location)

    @routes.put(
        VERSION,
        "Replace a draft",
        ContractDraft,
        is_versioned=True,
        body_model=Contract,
        large_bodies_want="contract:edit",
    )
    def replace_contract(
        call: Call,
        entity_type: PathName,
        version: PathVersion,
        document: Annotated[Mapping[str, Any], Body()],
        if_match: IfMatch = None,
    ) -> HttpAnswer:
        seen = require_version(if_match)
        saved = call.use.definitions.replace_contract(call.caller, entity_type, version, seen, document)
        return HttpAnswer(saved, version=saved.revision)

    @routes.delete(VERSION, "Delete a draft")
    def delete_contract(
        call: Call, entity_type: PathName, version: PathVersion, if_match: IfMatch = None
    ) -> HttpAnswer:
        call.use.definitions.delete_contract(call.caller, entity_type, version, require_version(if_match))
        return HttpAnswer(status=204)


def _add_acts(routes: Routes) -> None:
    @routes.post(f"{VERSION}/put_forward", "Put a draft forward for publication, as its author", PutForward)
    def put_contract_forward(
        call: Call, entity_type: PathName, version: PathVersion, if_match: IfMatch = None
    ) -> PutForward:
        """Say that exactly this text may be published. Another person publishes it."""
        seen = require_version(if_match)
        return call.use.definitions.put_contract_forward(call.caller, entity_type, version, seen)

    @routes.post(f"{VERSION}/publish", "Freeze a draft; new documents are made under it", Published)
    def publish_contract(
        call: Call, entity_type: PathName, version: PathVersion, if_match: IfMatch = None
    ) -> Published:
        """Publish a draft with its envelope, which is a definition of its own.

        If a patch fills slots of the version before, new documents keep that version. They change once a
        patch of this version is published.
        """
        seen = require_version(if_match)
        return call.use.definitions.publish_contract(call.caller, entity_type, version, seen)


def _add_reads(routes: Routes) -> None:
    @routes.get("/v1/contracts", "The contracts, by entity type", Page[ContractSummary])
    def list_contracts(
        call: Call, status: InStatus = "published", limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[ContractSummary]:
        """List the types whose documents the caller may read; with `contract:read` all types, and drafts."""
        filters = ["contracts", status]
        after = parse_position(cursor, filters, str)
        records = call.use.definitions_read.list_contracts(
            call.principal, status=status, after=after, limit=limit + 1
        )
        return make_page(records, limit, lambda record: [record.entity_type], filters)

    @routes.get(CONTRACT, "The newest published contract of a type", ContractRecord)
    def get_contract(call: Call, entity_type: PathName) -> ContractRecord:
        return call.use.definitions_read.read_newest_contract(call.principal, entity_type)

    @routes.get(f"{CONTRACT}/versions", "The versions of a contract", Page[ContractSummary])
    def list_contract_versions(
        call: Call, entity_type: PathName, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[ContractSummary]:
        """List versions, the newest first."""
        filters = ["contract_versions", entity_type]
        before = parse_position(cursor, filters, int)
        records = call.use.definitions_read.list_contract_versions(
            call.principal, entity_type, before=before, limit=limit + 1
        )
        return make_page(records, limit, lambda record: [record.version], filters)

    @routes.get(VERSION, "One version of a contract", ContractRecord, is_versioned=True)
    def get_contract_version(call: Call, entity_type: PathName, version: PathVersion) -> HttpAnswer:
        record = call.use.definitions_read.read_contract(call.principal, entity_type, version)
        return HttpAnswer(record, version=record.revision)

    @routes.get(f"{VERSION}/diff", "What a version of a contract changes", ContractDiff)
    def diff_contract_versions(
        call: Call, entity_type: PathName, version: PathVersion, against: AgainstVersion = None
    ) -> ContractDiff:
        """Compare a version with another, and say what it holds people to less."""
        return call.use.definitions_read.diff_contract(call.principal, entity_type, version, against)
