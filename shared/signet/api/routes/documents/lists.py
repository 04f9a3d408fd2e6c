"""Routes of document lists, filtered and sorted."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Query

from signet.api.http.call import Call
from signet.api.http.cursors import Page, count_fitting, make_page, parse_cursor
from signet.api.http.parameters import PAGE, Cursor, Limit
from signet.api.http.routing import Routes
from signet.core.expressions.text import MAX_EXPRESSION_CHARACTERS
from signet.core.validation.text import NAME_PATTERN
from signet.engine.documents.queries.lists import WantedDocuments, write_place
from signet.engine.documents.read import DocumentRecord


def add_document_list_routes(routes: Routes) -> None:
    @routes.get("/v1/documents", "Documents of a type", Page[DocumentRecord])
    def list_documents(
        call: Call,
        entity_type: Annotated[str, Query(pattern=NAME_PATTERN)],
        status: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
        filter: Annotated[
            str | None,
            Query(
                min_length=1,
                max_length=MAX_EXPRESSION_CHARACTERS,
                description="Comparisons of indexed fields with values, joined by `&&`,"
                " such as `entity.grand_total >= 50000 && entity.vendor_id == 'V-100'`.",
            ),
        ] = None,
        sort: Annotated[
            str,
            Query(
                pattern=r"^-?[a-z][a-z0-9_]{0,62}$",
                description="`created_at` or an indexed field; with `-` the largest first."
                " Documents without a value come last.",
            ),
        ] = "-created_at",
        limit: Limit = PAGE,
        cursor: Cursor = None,
    ) -> Page[DocumentRecord]:
        """List documents; a page may have fewer than `limit` if they are large."""
        wanted = WantedDocuments(entity_type, status, filter, sort)
        filters = asdict(wanted)
        place = parse_cursor(cursor, filters, str | None, datetime, UUID)
        after = (place[0], place[1], place[2]) if place else None
        records = call.use.document_lists.list(call.principal, wanted, after, limit + 1)
        fitting = count_fitting(records, limit)
        page = make_page(records, fitting, lambda listed: write_place(listed.place), filters)
        return Page([listed.record for listed in page.items], page.next_cursor)
