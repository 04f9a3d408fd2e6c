"""Seats that came by a reporting line of several levels: a vote rests on each line that was climbed (A5).

Stores reports to middle, and middle to strict. Beside them other reports to lenient.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.engine.approvals.inbox import Approvals
from signet.engine.tenants.org_chart import OrgChart
from tests.scenarios.authority.acts import edit, list_asked, list_lapse_reasons, newest, vote
from tests.scenarios.authority.test_benches_by_another_role import (
    BARRED,
    NOBODY,
    asked,
    give,
    reason_of,
    resume,
)
from tests.scenarios.authority.test_benches_by_another_role import stage as stage_by_another_role
from tests.scenarios.authority.test_benches_by_giving import may_decide, set_manager
from tests.support.core.approval_policies import manager, role
from tests.support.workflow_stage import Made, WorkflowStage

stage = stage_by_another_role
ABOVE = manager("'stores'", levels=2)
ESCALATES = {"after": "P1D", "to": role("finance")}


@pytest.fixture
def led(stage: WorkflowStage) -> Iterator[WorkflowStage]:
    for user_id in ("middle", "other"):
        give(stage, "frank", user_id)
    for user_id, above in (("stores", "middle"), ("middle", "strict"), ("other", "lenient")):
        set_manager(stage, "frank", user_id, above)
    yield stage


def remove_manager(stage: WorkflowStage, by: str, user_id: str) -> None:
    company = stage.standing.company
    OrgChart(company.database).remove_manager(company.caller(by, "admin"), user_id)
    stage.drain()


def ask_again(stage: WorkflowStage, document: Made, number: str = "X") -> None:
    edit(stage, document, "carl", number=number)
    stage.drain()
    resume(stage, document)


@pytest.mark.parametrize(
    ("user_id", "above"),
    [("stores", "other"), ("middle", "lenient")],
    ids=["the lower line", "the upper line"],
)
def test_no_line_below_draws_another_to_the_vote(led: WorkflowStage, user_id: str, above: str) -> None:
    """Carl changes a line, so that lenient is asked in place of strict. Frank sets it again."""
    document = asked(led, ABOVE)
    assert list_asked(led, document) == ["strict"]
    set_manager(led, "carl", user_id, above)
    ask_again(led, document)
    assert reason_of(led, document) == NOBODY
    assert vote(led, document.id, "lenient") == "APPROVAL_NOT_YOURS"
    assert led.status_of(document.id) == "submitted"
    set_manager(led, "frank", user_id, {"stores": "middle", "middle": "strict"}[user_id])
    ask_again(led, document, "Y")
    assert vote(led, document.id, "strict") == "approved"
    assert led.status_of(document.id) == "active"


def test_it_bars_the_rest_of_the_stage_too(led: WorkflowStage) -> None:
    document = asked(led, ABOVE, role("finance"))
    set_manager(led, "carl", "stores", "other")
    assert [vote(led, document.id, voter) for voter in ("strict", "lenient")] == [BARRED, BARRED]
    ask_again(led, document)
    assert reason_of(led, document) == NOBODY
    set_manager(led, "frank", "stores", "middle")
    ask_again(led, document, "Y")
    assert list_asked(led, document) == ["strict", "@finance"]
    assert vote(led, document.id, "lenient") == "approved"


@pytest.mark.parametrize("escalates", [False, True], ids=["beside a role", "by its escalation"])
def test_a_line_that_leads_to_nobody_bars_those_who_are_asked_instead(
    led: WorkflowStage, escalates: bool
) -> None:
    """Carl takes the manager from stores, so that strict has no seat."""
    more: dict[str, Any] = {"escalate": ESCALATES} if escalates else {}
    document = asked(led, *([ABOVE] if escalates else [ABOVE, role("finance")]), **more)
    remove_manager(led, "carl", "stores")
    ask_again(led, document)
    assert reason_of(led, document) == NOBODY
    assert vote(led, document.id, "lenient") != "approved"
    set_manager(led, "frank", "stores", "middle")
    ask_again(led, document, "Y")
    assert vote(led, document.id, "strict") == "approved"


def test_a_line_beside_those_that_were_climbed_bars_nobody(led: WorkflowStage) -> None:
    """Carl makes strict the manager of another person as well, and changes that line back and forth."""
    document = asked(led, ABOVE)
    for above in ("strict", "lenient", "strict"):
        set_manager(led, "carl", "other", above)
    assert may_decide(led, "strict")
    assert vote(led, document.id, "strict") == "approved"
    assert led.status_of(document.id) == "active", "nor does the gate mind"


def test_many_changes_of_a_line_bar_until_a_person_without_a_part_sets_it(led: WorkflowStage) -> None:
    document = asked(led, ABOVE)
    for above in ("other", "first", "idle", "middle"):
        set_manager(led, "carl", "stores", above)
    assert not may_decide(led, "strict")
    assert vote(led, document.id, "strict") == BARRED
    remove_manager(led, "frank", "stores")
    set_manager(led, "frank", "stores", "middle")
    assert may_decide(led, "strict")
    assert vote(led, document.id, "strict") == "approved"


def test_the_gate_asks_for_the_lines_of_its_seats(led: WorkflowStage) -> None:
    """Strict votes, and carl changes the line before the gate looks: the vote lapses."""
    document, company = asked(led, ABOVE), led.standing.company
    approvals, request_id = Approvals(company.database, led.caches()), newest(led, document.id)
    approvals.decide(company.caller("strict"), request_id, "approved", "seen")
    OrgChart(company.database).set_manager(company.caller("carl", "admin"), "stores", "other")
    led.drain()
    assert led.status_of(document.id) == "submitted"
    (reason,) = list_lapse_reasons(led, document)
    assert reason is not None and reason.startswith("carl changed who manages stores")


def test_a_seat_of_an_older_release_tells_its_holder_alone(led: WorkflowStage) -> None:
    give(led, "frank", "middle", "lax")
    document = asked(led, manager("'stores'"))
    assert list_asked(led, document) == ["middle"]
    led.standing.run("UPDATE approval_seats SET lines = NULL")
    set_manager(led, "carl", "stores", "other")
    assert vote(led, document.id, "middle") == BARRED
