"""Answers of routes whose change may have to wait for another person."""

from signet.api.http.call import HttpAnswer, VersionedRecord, show_record
from signet.engine.control.proposals import ControlChange


def show_saved(
    saved: VersionedRecord | ControlChange, status: int = 200, location: str | None = None
) -> HttpAnswer:
    """Answer the record that was saved, or 202 with the change that another person must confirm."""
    if isinstance(saved, ControlChange):
        return show_proposed(saved)
    return show_record(saved, status, location)


def show_proposed(change: ControlChange) -> HttpAnswer:
    return HttpAnswer(change, 202, location=f"/v1/control_changes/{change.id}")
