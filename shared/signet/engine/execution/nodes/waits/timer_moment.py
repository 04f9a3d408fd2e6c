"""The moment of a timer, from its terms, its arrival and the tenant's calendars, with its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from signet.core.calendars.terms import find_due, read_term
from signet.core.errors import Rejected
from signet.core.expressions import Environment
from signet.core.moments.followed import SETTINGS, name_calendar
from signet.core.runtime.workflow import WorkflowNode
from signet.core.schedules.timer_due import WITHOUT_MOMENT, find_timer_due
from signet.engine.calendars.stored_calendars import find_stored_calendar
from signet.engine.execution.nodes.context import InstanceContext
from signet.zones import TZDATA_VERSION, find_zone

# Why a wait that follows has another moment: the first of these that has changed.
_CAUSES = (("calendar", "calendar"), ("calendar_version", "calendar"), ("zone", "zone"), ("tzdata", "tzdata"))


@dataclass(frozen=True, slots=True)
class TimerMoment:
    due: datetime
    # All that it was computed from.
    given: Mapping[str, Any]

    @property
    def followed(self) -> str:
        """Return the key of what the wait follows, if it follows."""
        calendar = self.given.get("calendar")
        return SETTINGS if calendar is None else name_calendar(calendar)


def compute_moment(
    context: InstanceContext, node: WorkflowNode, env: Environment, arrived: datetime
) -> TimerMoment:
    """Compute when the wait ends, or refuse where its terms give no moment."""
    if node.config.get("business") is not None:
        return _compute_business(context, node.config["business"], arrived)
    zone = find_zone(node.config.get("zone") or env["org"]["time_zone"])
    until = node.expressions["/until"].value(env) if "/until" in node.expressions else None
    due = find_timer_due(node.config, until, arrived, zone)
    if due is None:
        raise Rejected("TIMER_WITHOUT_MOMENT", WITHOUT_MOMENT)
    return TimerMoment(due, _describe(arrived, due, zone.key))


def find_cause(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what has moved a moment; where none of its surroundings has changed, it is what it reads."""
    causes = (cause for name, cause in _CAUSES if before.get(name) != after.get(name))
    return next(causes, "values")


def _compute_business(context: InstanceContext, config: Mapping[str, Any], arrived: datetime) -> TimerMoment:
    connection, term = context.documents.connection, read_term(config)
    calendar = find_stored_calendar(connection, context.tenant_id, config["calendar"])
    due = find_due(calendar.working, arrived, term)
    given = _describe(arrived, due, str(calendar.working.zone))
    written = term.model_dump(exclude_none=True)
    return TimerMoment(
        due, {**given, "calendar": calendar.name, "calendar_version": calendar.version, "term": written}
    )


def _describe(arrived: datetime, due: datetime, zone: str) -> dict[str, Any]:
    return {
        "arrived_at": arrived.isoformat(),
        "due_at": due.isoformat(),
        "zone": zone,
        "tzdata": TZDATA_VERSION,
    }
