"""Routes that erase personal values of documents."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from signet.api.http.call import Call
from signet.api.http.parameters import Named, PathId
from signet.api.http.routing import Routes
from signet.core.contracts.fields import MAX_FIELDS
from signet.core.validation.strict_model import Strict
from signet.core.validation.text import MAX_REASON_CHARACTERS
from signet.engine.documents.erase import Erasure


class NewErasure(Strict):
    fields: Annotated[
        list[Named] | None,
        Field(
            min_length=1,
            max_length=MAX_FIELDS,
            description="Personal fields of the contract; by default all of them.",
        ),
    ] = None
    reason: Annotated[str, Field(min_length=1, max_length=MAX_REASON_CHARACTERS)]


def add_erasure_routes(routes: Routes) -> None:
    @routes.post("/v1/documents/<document_id>/erasures", "Erase personal values of a document", Erasure)
    def erase_personal_values(call: Call, document_id: PathId, new: Annotated[NewErasure, Body()]) -> Erasure:
        """Erase values in all versions of the document, for good; every hash stays valid."""
        return call.use.erasures.erase(call.caller, document_id, new.fields, new.reason)
