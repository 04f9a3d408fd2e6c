"""Routes of the caller's notifications."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import Field

from signet.api.http.call import Call
from signet.api.http.cursors import Page, make_page, parse_position
from signet.api.http.parameters import MAX_PAGE, PAGE, Cursor, Id, Limit
from signet.api.http.routing import Routes
from signet.core.validation.strict_model import Strict
from signet.engine.integrations.notifications import NotificationRecord

Unread = Annotated[bool, Query(description="Only notifications that nobody has marked as read.")]


class ReadNotifications(Strict):
    ids: Annotated[
        list[Annotated[Id, Field(strict=False)]],
        Field(min_length=1, max_length=MAX_PAGE),
    ]


@dataclass(frozen=True, slots=True)
class MarkedRead:
    """The number of notifications that were the caller's and not read yet."""

    marked: int


def add_notification_routes(routes: Routes) -> None:
    @routes.get("/v1/notifications", "The caller's notifications, the newest first", Page[NotificationRecord])
    def list_notifications(
        call: Call, unread: Unread = False, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[NotificationRecord]:
        filters = ("notifications", unread)
        before = parse_position(cursor, filters, UUID)
        records = call.use.notifications.list_of(
            call.caller, is_unread=unread, limit=limit + 1, before=before
        )
        return make_page(records, limit, lambda row: (row.id,), filters)

    @routes.post("/v1/notifications/read", "Mark as read", MarkedRead)
    def read_notifications(call: Call, read: Annotated[ReadNotifications, Body()]) -> MarkedRead:
        return MarkedRead(call.use.notifications.mark_read(call.caller, read.ids))
