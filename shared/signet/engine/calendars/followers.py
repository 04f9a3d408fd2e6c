"""Open waits that follow a calendar or the settings: each is woken when these change, and computes again."""

from collections.abc import Sequence
from uuid import UUID

from signet.core.calendars.change_report import MAX_REPORTED_WAITS
from signet.core.errors import Rejected
from signet.core.moments.followed import SETTINGS, name_calendar
from signet.store.calendars.calendars import MAX_CALENDARS, list_calendars
from signet.store.database import Connection
from signet.store.instances.followers import list_followers
from signet.store.outbox.queue import insert_triggers, make_trigger

TERMS_CHANGED = "terms_changed"


def wake_followers_of_calendar(connection: Connection, tenant_id: UUID, name: str) -> None:
    """Wake what follows a calendar, in the transaction that changes it."""
    _wake(connection, tenant_id, [name_calendar(name)])


def wake_followers_of_settings(connection: Connection, tenant_id: UUID) -> None:
    """Wake all that follows, for the settings name the zone and the calendar of what names none."""
    calendars = list_calendars(connection, tenant_id, "", MAX_CALENDARS)
    _wake(connection, tenant_id, [SETTINGS, *(name_calendar(calendar.name) for calendar in calendars)])


def _wake(connection: Connection, tenant_id: UUID, keys: Sequence[str]) -> None:
    found = list_followers(connection, tenant_id, keys, MAX_REPORTED_WAITS + 1)
    if len(found) > MAX_REPORTED_WAITS:
        raise Rejected(
            "CALENDAR_WAITS_TOO_MANY",
            f"more than {MAX_REPORTED_WAITS} workflows wait and follow this change",
            remedy="Save a calendar of another name, and name it in a new version of the workflow.",
        )
    insert_triggers(
        connection, tenant_id, [make_trigger(instance_id, TERMS_CHANGED, {}) for instance_id in found]
    )
