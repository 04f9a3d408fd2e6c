"""A bench that is cleared by giving: the strict approver is given what their vote needs not (A5).

Nobody votes by a gift. And nobody is kept from the vote that they had without it.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from signet.engine.approvals.inbox import Approvals
from signet.engine.tenants.org_chart import OrgChart
from tests.scenarios.authority.acts import edit, list_asked, vote
from tests.scenarios.authority.test_benches_by_another_role import (
    BARRED,
    NOBODY,
    PERMITTING,
    STRICT,
    asked,
    explain_instance,
    give,
    give_back,
    reason_of,
    resume,
    set_role,
)
from tests.scenarios.authority.test_benches_by_another_role import stage as stage_by_another_role
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

GIFTS = ("redundant role", "wider role", "wider role of the seat", "line")
stage = stage_by_another_role
LINE = {"by": "manager", "of": "'stores'"}


def set_manager(stage: WorkflowStage, by: str, user_id: str, manager: str) -> None:
    company = stage.standing.company
    OrgChart(company.database).set_manager(company.caller(by, "admin"), user_id, manager)
    stage.drain()


def present(stage: WorkflowStage, gift: str, by: str = "carl") -> None:
    """Give the strict approver something that they need not."""
    match gift:
        case "redundant role":
            give(stage, by, "strict", *STRICT, "spare")
        case "wider role":
            set_role(stage, by, "paying", *PERMITTING, "*:file")
        case "wider role of the seat":
            set_role(stage, by, "finance", "*:approve")
        case _:
            set_manager(stage, by, "stores", "strict")


def may_decide(stage: WorkflowStage, user_id: str) -> bool:
    company = stage.standing.company
    (item,) = Approvals(company.database, stage.caches()).inbox(company.caller(user_id))
    return item.may_decide


@pytest.mark.parametrize("voter", ["strict", "lenient"])
@pytest.mark.parametrize("gift", GIFTS)
def test_a_gift_bars_nobody_who_needs_it_not(stage: WorkflowStage, gift: str, voter: str) -> None:
    document = asked(stage)
    present(stage, gift)
    assert may_decide(stage, "strict") and may_decide(stage, "lenient")
    codes = {told.person: told.code for told in explain_instance(stage, document).approvals[-1].voters}
    assert codes["strict"] is None and codes["lenient"] is None
    assert vote(stage, document.id, voter) == "approved"
    assert stage.status_of(document.id) == "active", "nor does the gate mind"


def test_many_gifts_one_after_another_bar_nobody(stage: WorkflowStage) -> None:
    document = asked(stage)
    for gift in GIFTS:
        present(stage, gift)
    give(stage, "carl", "strict", *STRICT)
    edit(stage, document, "carl", number="X")
    stage.drain()
    assert vote(stage, document.id, "strict") == "approved"


@pytest.mark.parametrize("gift", ["redundant role", "wider role"])
def test_a_vote_that_was_cast_does_not_lapse_by_a_gift(stage: WorkflowStage, gift: str) -> None:
    document = asked(stage, role("finance"), role("finance"), quorum="all")
    assert vote(stage, document.id, "strict") == "open"
    present(stage, gift)
    assert vote(stage, document.id, "lenient") == "approved"
    assert stage.status_of(document.id) == "active"


def test_nobody_votes_by_a_permission_that_they_were_given(stage: WorkflowStage) -> None:
    """A role that has it is given to them, or a role of theirs is given it."""
    for gift in ("role", "permission"):
        document = asked(stage)
        if gift == "role":
            give(stage, "carl", "idle", "finance", "spare")
        else:
            give(stage, "frank", "idle", "finance", "warehouse")
            set_role(stage, "carl", "warehouse", "*:approve", "*:print")
        assert vote(stage, document.id, "idle") == BARRED
        assert vote(stage, document.id, "strict") == "approved"


def test_neither_by_two_gifts_of_which_each_would_do(stage: WorkflowStage) -> None:
    document = asked(stage)
    give(stage, "carl", "idle", "finance", "spare", "paying")
    assert vote(stage, document.id, "idle") == BARRED
    assert vote(stage, document.id, "strict") == "approved"


def test_what_a_person_without_a_part_gave_is_had_without_the_gift(stage: WorkflowStage) -> None:
    """Frank gives it after the asking, or takes it from a role and gives it back. Carl adds to it."""
    document = asked(stage)
    give(stage, "frank", "idle", "finance", "paying")
    set_role(stage, "frank", "paying")
    set_role(stage, "frank", "paying", *PERMITTING)
    present(stage, "wider role")
    give(stage, "carl", "idle", "finance", "paying", "spare")
    assert vote(stage, document.id, "idle") == "approved"


def test_a_role_that_carl_emptied_and_filled_is_no_way_to_have_it(stage: WorkflowStage) -> None:
    document = asked(stage)
    set_role(stage, "carl", "paying")
    set_role(stage, "carl", "paying", *PERMITTING)
    set_role(stage, "carl", "paying", *PERMITTING, "*:file")
    assert vote(stage, document.id, "strict") == BARRED
    assert vote(stage, document.id, "lenient") == BARRED, "it was taken from strict"
    give_back(stage, "frank")
    set_role(stage, "frank", "paying", "*:approve")
    resume(stage, document)
    assert vote(stage, document.id, "strict") == "approved"


def test_a_seat_by_a_role_that_was_given_is_another_seat(stage: WorkflowStage) -> None:
    """Strict votes from the seat of finance. If that is taken, the other one is theirs by the gift alone."""
    for first, answer in (("strict", "open"), ("hana", "APPROVAL_SEAT_TAKEN")):
        give(stage, "frank", "strict", *STRICT)
        document = asked(stage, role("finance"), role("lax"), quorum="all")
        give(stage, "carl", "strict", *STRICT, "lax")
        assert vote(stage, document.id, first) == "open"
        if first == "hana":
            assert vote(stage, document.id, "strict") == answer
        assert vote(stage, document.id, "lenient") == "approved"


# --- a condition that reads roles ---


def by_roles(stage: WorkflowStage) -> Made:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"]["approve"] = {**contract["transitions"]["approve"], "permission": "thing:approve"}
    contract["conditions"] = {"thing:approve": "!('spare' in actor.roles)"}
    return asked(stage, contract=contract)


def test_where_a_condition_reads_roles_a_gift_bars_the_whole_stage(stage: WorkflowStage) -> None:
    """It may have taken the vote from strict, as here. Frank takes it away."""
    document = by_roles(stage)
    present(stage, "redundant role")
    assert vote(stage, document.id, "strict") == "PERMISSION_CONDITION"
    assert vote(stage, document.id, "lenient") == BARRED
    give(stage, "frank", "strict", *STRICT)
    resume(stage, document)
    assert may_decide(stage, "strict")
    assert vote(stage, document.id, "lenient") == "approved"


def test_such_a_gift_bars_its_person_until_another_has_given_it(stage: WorkflowStage) -> None:
    document = by_roles(stage)
    give(stage, "carl", "strict", *STRICT, "lax")
    assert vote(stage, document.id, "strict") == BARRED
    assert vote(stage, document.id, "lenient") == BARRED
    give(stage, "frank", "strict", *STRICT)
    give(stage, "frank", "strict", *STRICT, "lax")
    resume(stage, document)
    assert vote(stage, document.id, "strict") == "approved"


def test_who_is_not_asked_may_be_given_any_role(stage: WorkflowStage) -> None:
    """A person that carl has asked by a role is barred alone."""
    document = by_roles(stage)
    give(stage, "carl", "first", "spare", "warehouse")
    give(stage, "carl", "stores", "warehouse", "finance", "lax")
    assert vote(stage, document.id, "stores") == BARRED
    assert vote(stage, document.id, "lenient") == "approved"


# --- a seat that came by a reporting line ---


@pytest.fixture
def led(stage: WorkflowStage) -> Iterator[WorkflowStage]:
    """Strict manages stores."""
    set_manager(stage, "frank", "stores", "strict")
    yield stage


def asked_by_line(stage: WorkflowStage, *more: Any) -> Made:
    return asked(stage, LINE, role("finance"), *more)


@pytest.mark.parametrize("manager", ["lenient", "hana"])
def test_a_line_that_a_seat_came_by_bars_the_whole_stage(led: WorkflowStage, manager: str) -> None:
    """Carl takes the line from strict, so that strict is not asked again. Frank sets it again."""
    document = asked_by_line(led)
    assert list_asked(led, document) == ["strict", "@finance"]
    set_manager(led, "carl", "stores", manager)
    for voter in ("strict", "lenient"):
        assert vote(led, document.id, voter) == BARRED
    set_manager(led, "frank", "stores", "strict")
    resume(led, document)
    assert vote(led, document.id, "strict") == "approved"


def test_who_has_a_line_by_the_creator_does_not_vote_by_it(led: WorkflowStage) -> None:
    document = asked(led, LINE)
    set_manager(led, "carl", "stores", "lenient")
    edit(led, document, "carl", number="X")
    led.drain()
    resume(led, document)
    assert reason_of(led, document) == NOBODY
    assert vote(led, document.id, "lenient") == "APPROVAL_NOT_YOURS"
    set_manager(led, "frank", "stores", "strict")
    edit(led, document, "carl", number="Y")
    led.drain()
    resume(led, document)
    assert vote(led, document.id, "strict") == "approved"


# --- what is taken back ---


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("given", ["finance", "paying"])
def test_what_another_person_gave_in_between_is_not_taken_back(
    stage: WorkflowStage, given: str, between: bool
) -> None:
    """Carl gave it by a slip, and takes it back. If frank has given it again, carl takes what frank gave."""
    had = ("finance",) if given == "paying" else ("lax",)
    user_id = "idle" if given == "paying" else "first"
    give(stage, "frank", user_id, *had)
    document = asked(stage)
    give(stage, "carl", user_id, *had, given)
    if between:
        give(stage, "frank", user_id, *had)
        give(stage, "frank", user_id, *had, given)
    give(stage, "carl", user_id, *had)
    assert vote(stage, document.id, "lenient") == (BARRED if between else "approved")
    if between:
        give(stage, "frank", user_id, *had, given)
        resume(stage, document)
        assert vote(stage, document.id, "lenient") == "approved"


def test_the_creators_own_giving_hides_no_taking_of_a_permission(stage: WorkflowStage) -> None:
    document = asked(stage)
    for roles in (("finance",), STRICT, ("finance",)):
        give(stage, "carl", "strict", *roles)
    assert vote(stage, document.id, "lenient") == BARRED
    assert reason_of(stage, document)[0] == "paused"
