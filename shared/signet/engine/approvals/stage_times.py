"""The moments of a stage: when it reminds, escalates and expires. They are computed once, as it begins."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from signet.core.approvals.policy import Stage
from signet.core.calendars.terms import find_due
from signet.core.compiler.node_configurations import Deadline
from signet.core.moments.durations import parse_duration_seconds
from signet.engine.calendars.stored_calendars import find_stored_calendar
from signet.store.approvals.requests import LiveRequest
from signet.store.database import Connection


@dataclass(frozen=True, slots=True)
class StageTimes:
    escalate_at: datetime | None
    expire_at: datetime | None
    remind_at: datetime | None

    def set_on(self, request: LiveRequest) -> None:
        """Let a request wait for these moments; its reminders are counted from none."""
        request.escalate_at, request.expire_at = self.escalate_at, self.expire_at
        request.remind_at, request.reminders = self.remind_at, 0


def find_stage_times(connection: Connection, tenant_id: UUID, now: datetime, stage: Stage) -> StageTimes:
    """Find the moments of a stage that begins now, or refuse where a calendar gives none."""

    def add(term: Deadline | None) -> datetime | None:
        return None if term is None else add_deadline(connection, tenant_id, now, term)

    return StageTimes(
        escalate_at=add(stage.escalate.after if stage.escalate is not None else None),
        expire_at=add(stage.expire_after),
        remind_at=add(stage.remind.after if stage.remind is not None else None),
    )


def add_deadline(connection: Connection, tenant_id: UUID, now: datetime, term: Deadline) -> datetime:
    """Add time that passes, or a term of a calendar."""
    if isinstance(term, str):
        return now + timedelta(seconds=parse_duration_seconds(term))
    return find_due(find_stored_calendar(connection, tenant_id, term.calendar).working, now, term)
