"""Routes of transition requests: a person asks, and the workflow performs or refuses."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from signet.api.http.call import Call, HttpAnswer
from signet.api.http.parameters import (
    IfMatch,
    Named,
    PathId,
    QueryReason,
    Reason,
    parse_seen,
    require_version,
)
from signet.api.http.routing import Routes
from signet.core.errors import Rejected
from signet.core.validation.strict_model import Strict
from signet.engine.documents.commands import Applied, RequestTransition, WithdrawRequest
from signet.engine.documents.read import TransitionRequestRecord


class NewRequest(Strict):
    transition: Named
    reason: Reason = None


def add_transition_request_routes(routes: Routes) -> None:
    @routes.post(
        "/v1/documents/<document_id>/requests",
        "Ask for a transition",
        Applied,
        status=202,
        also={200: TransitionRequestRecord},
        is_versioned=True,
        may_wait=True,
        names={"TRANSITION_UNKNOWN": "/transition"},
    )
    def request_transition(
        call: Call, document_id: PathId, new: Annotated[NewRequest, Body()], if_match: IfMatch = None
    ) -> HttpAnswer:
        """Request a transition, which the workflow performs or refuses.

        With `Prefer: wait` the outcome is answered, if it comes in time. That is 200 where the transition was
        performed. Otherwise it is TRANSITION_REFUSED with the `outcome` and the `request_id`. A request that
        decides wants the ETag of the whole document, which names what was seen of other documents.
        """
        version, seen = require_version(if_match), parse_seen(if_match)
        operation = RequestTransition(document_id, version, new.transition, new.reason, seen)
        applied = call.use.documents.mutate(call.caller, operation)
        location = f"/v1/requests/{applied.request_id}"

        def follow() -> HttpAnswer | None:
            if applied.request_id is None:
                return None
            record = call.use.documents_read.read_request(call.principal, applied.request_id)
            return None if record.status == "open" else _conclude(record)

        return HttpAnswer(applied, 202, applied.version, location, follow=follow)

    @routes.delete("/v1/requests/<request_id>", "Withdraw one's own request for a transition")
    def withdraw_request(call: Call, request_id: PathId, reason: QueryReason = None) -> HttpAnswer:
        """Withdraw an open request that the caller has made; what was on the way goes back to its state."""
        record = call.use.documents_read.read_request(call.principal, request_id)
        call.use.documents.mutate(call.caller, WithdrawRequest(record.document_id, request_id, reason))
        return HttpAnswer(status=204)

    @routes.get("/v1/requests/<request_id>", "One request for a transition", TransitionRequestRecord)
    def get_request(call: Call, request_id: PathId) -> TransitionRequestRecord:
        return call.use.documents_read.read_request(call.principal, request_id)


def _conclude(record: TransitionRequestRecord) -> HttpAnswer:
    if record.status == "performed":
        return HttpAnswer(record, version=record.version_now)
    raise Rejected(
        "TRANSITION_REFUSED",
        f"the request for '{record.transition}' ended without it: {record.outcome or record.status}",
        remedy="The document's explanation says what the transition wants. Ask again when it is so.",
        details={"outcome": record.outcome, "request_id": record.id},
    )
