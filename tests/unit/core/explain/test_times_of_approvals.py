"""Explanations name the times of open approvals alone: those of approvals that are over do nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from signet.core.explain.instance_record import ApprovalRecord, TriggerRecord
from tests.support.core.instance_records import DRAFT, LATER, record, tell, token
from tests.unit.core.explain.test_approval_requests import REQUEST

LATEST = LATER + timedelta(days=1)
TIME = TriggerRecord(UUID(int=8), "continue", "pending", 0, 5, LATER, None, is_scheduled=True)
OTHER = replace(TIME, id=UUID(int=9), due_at=LATEST)
OPEN = replace(REQUEST, escalate_at=LATER)
VOIDED = replace(REQUEST, id=UUID(int=43), status="voided", escalate_at=LATEST, expire_at=LATEST)


def count_told(*triggers: TriggerRecord, approvals: Sequence[ApprovalRecord] = (OPEN, VOIDED)) -> int:
    return tell(replace(record(), triggers=triggers, approvals=approvals)).count("The trigger continue")


def test_the_time_of_a_voided_approval_is_not_named() -> None:
    assert count_told(TIME, OTHER) == 1
    assert count_told(TIME, OTHER, approvals=()) == 0
    assert count_told(OTHER, approvals=(replace(OPEN, escalate_at=None, expire_at=LATEST),)) == 1


def test_other_triggers_are_named_as_ever() -> None:
    for other in (
        replace(OTHER, is_scheduled=False),
        replace(OTHER, attempts=1),
        replace(OTHER, status="dead_letter"),
    ):
        assert count_told(other) == 1
    assert "The trigger mutation" in tell(replace(record(), triggers=[replace(OTHER, event_type="mutation")]))


def test_it_wakes_nothing() -> None:
    stuck = record(tokens=[token(DRAFT, "ready")])
    assert "nothing will wake it" in tell(replace(stuck, triggers=[OTHER]))
