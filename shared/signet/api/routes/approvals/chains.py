"""Routes of approval chains, from draft to published."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from aws_lambda_powertools.event_handler.openapi.params import Body

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import (
    PAGE,
    Cursor,
    IfMatchAtWill,
    Limit,
    PathName,
    PathVersion,
    parse_version,
)
from signet.api.http.proposed_changes import show_proposed
from signet.api.http.routing import Routes
from signet.core.approvals.policy import Chain
from signet.core.errors import Rejected
from signet.core.previews.placed_findings import place_findings, reject_findings
from signet.core.validation.finding import Finding
from signet.engine.approvals.chains import (
    ChainRecord,
    ChainSummary,
    ChainVersion,
    PublishedChain,
    revision_of,
)
from signet.engine.control.drafts import PutForward
from signet.engine.control.proposals import ControlChange

VERSION = "/v1/approval_chains/<name>/versions/<version>"
_Saved = TypeVar("_Saved", bound=ChainVersion)


def add_approval_chain_routes(routes: Routes) -> None:
    @routes.post(
        "/v1/approval_chains",
        "Save a draft of a chain's next version",
        ChainVersion,
        status=201,
        body_model=Chain,
        large_bodies_want="approval:manage",
    )
    def save_chain(call: Call, chain: Annotated[Mapping[str, Any], Body()]) -> HttpAnswer:
        """Save a draft, or answer the newest version if that says the same."""
        saved = _require(call.use.approval_chains.save(call.caller, chain))
        return HttpAnswer(saved, 201, location=f"/v1/approval_chains/{saved.name}/versions/{saved.version}")

    @routes.get("/v1/approval_chains", "Chains, each at its newest published version", Page[ChainSummary])
    def list_chains(call: Call, limit: Limit = PAGE, cursor: Cursor = None) -> Page[ChainSummary]:
        """List the newest published version of each chain."""
        after = parse_position(cursor, "chains", str)
        records = call.use.approval_chains.list(call.caller, limit=limit + 1, after=after)
        return make_page(records, limit, lambda record: (record.name,), "chains")

    @routes.get(
        "/v1/approval_chains/<name>/versions", "Versions of a chain, the newest first", Page[ChainSummary]
    )
    def list_chain_versions(
        call: Call, name: PathName, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[ChainSummary]:
        """List all versions, drafts and archived ones too."""
        before = parse_position(cursor, ("chain", name), int)
        records = call.use.approval_chains.list_versions(call.caller, name, limit=limit + 1, before=before)
        if not records and before is None:
            raise Rejected("CHAIN_NOT_FOUND", f"there is no chain '{name}'")
        return make_page(records, limit, lambda record: (record.version,), ("chain", name))

    @routes.get(VERSION, "One version of a chain", ChainRecord, is_versioned=True)
    def get_chain(call: Call, name: PathName, version: PathVersion) -> HttpAnswer:
        """Show a version. Its steps never change; its ETag changes when it is published or archived."""
        record = call.use.approval_chains.read(call.caller, name, version)
        return HttpAnswer(record, version=revision_of(record.status))

    _add_acts(routes)


def _add_acts(routes: Routes) -> None:
    @routes.post(f"{VERSION}/put_forward", "Put a draft forward for publication, as its author", PutForward)
    def put_chain_forward(
        call: Call, name: PathName, version: PathVersion, if_match: IfMatchAtWill = None
    ) -> PutForward:
        """Say that exactly this version may be published. Another person publishes it."""
        seen = parse_version(if_match)
        return call.use.approval_chains.put_forward(call.caller, name, version, seen)

    @routes.post(f"{VERSION}/publish", "Freeze a version; new requests use it", PublishedChain)
    def publish_chain(
        call: Call, name: PathName, version: PathVersion, if_match: IfMatchAtWill = None
    ) -> PublishedChain:
        seen = parse_version(if_match)
        return _require(call.use.approval_chains.publish(call.caller, name, version, seen))

    @routes.post(
        f"{VERSION}/archive",
        "Keep new requests from it; requests under way go on",
        None,
        status=204,
        also={202: ControlChange},
    )
    def archive_chain(
        call: Call, name: PathName, version: PathVersion, if_match: IfMatchAtWill = None
    ) -> HttpAnswer:
        proposed = call.use.approval_chains.archive(call.caller, name, version, parse_version(if_match))
        return HttpAnswer(status=204) if proposed is None else show_proposed(proposed)


def _require(saved: _Saved | tuple[Finding, ...]) -> _Saved:
    if not isinstance(saved, tuple):
        return saved
    raise reject_findings(place_findings(saved))
